"""Tensor B-splines on a box: hat functions (degree 1) and smooth quadratics (degree 2).

Both are partitions of unity with non-negative basis functions: coefficients that sum to one over
the outputs give probabilities that sum to one at *every* point of the box.

Under *tension* τ the quadratics 1, x, x² of a cell give way to 1, sinh τx, cosh τx (hyperbolic
splines; Schumaker, Spline Functions, ch. 11; τ → 0 gives the quadratics back). All that is said of
Bernstein coefficients holds of theirs: on a piece of width h the functions

    B₀ = (cosh τ(h − x) − 1)/(cosh τh − 1),  B₂ = (cosh τx − 1)/(cosh τh − 1),  B₁ = 1 − B₀ − B₂

are non-negative (cosh is convex) and sum to one, a function of the space is a convex combination
of its coefficients, and its derivative lies in the same space. What they are for: e^(±τx) itself
is a spline, and a mechanism wants to fall off like e^(−εx).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import require


@dataclass(frozen=True)
class SplineGrid:
    """A box cut into equal cells, and the splines of one degree on it.

    >>> grid = SplineGrid((0.0, 0.0), (4.0, 2.0), (4, 2), degree=2)
    >>> grid.size                                   # (4 + 2) × (2 + 2) coefficients
    24
    >>> index, weight = grid.basis(np.array([[1.3, 0.7]]))
    >>> weight.shape, float(weight.sum().round(12))
    ((1, 9), 1.0)
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    cells: tuple[int, ...]
    degree: int
    tension: float = 0.0
    """Of degree 2, per unit of length."""

    def __post_init__(self) -> None:
        count = len(self.low)
        require(1 <= count <= 3, "a box", "of 1, 2 or 3 dimensions", count)
        require(
            len(self.high) == count == len(self.cells),
            "low, high and cells",
            "of one length",
            (count, len(self.high), len(self.cells)),
        )
        good = all(
            np.isfinite([a, b]).all() and a < b for a, b in zip(self.low, self.high, strict=True)
        )
        require(good, "a box", "finite and wider than zero on each axis", (self.low, self.high))
        require(
            all(c >= 1 and int(c) == c for c in self.cells),
            "cells",
            "at least 1 an axis",
            self.cells,
        )
        require(self.degree in (1, 2), "degree", "1 or 2", self.degree)
        ok = 0 <= self.tension * max(self.steps) <= 20 and (self.degree == 2 or not self.tension)
        require(ok, "tension", "0, or for degree 2 up to 20 a cell", self.tension)

    @property
    def dimensions(self) -> int:
        """Of the box."""
        return len(self.low)

    @property
    def steps(self) -> tuple[float, ...]:
        """Side lengths of a cell."""
        sides = zip(self.low, self.high, self.cells, strict=True)
        return tuple((high - low) / count for low, high, count in sides)

    @property
    def shape(self) -> tuple[int, ...]:
        """Coefficients along each axis."""
        return tuple(count + self.degree for count in self.cells)

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return int(np.prod(self.shape))

    @property
    def strides(self) -> tuple[int, ...]:
        """The longest axis varies slowest: constraints then touch a narrow band."""
        stride, found = 1, [0] * self.dimensions
        for axis in sorted(range(self.dimensions), key=lambda a: self.shape[a]):
            found[axis] = stride
            stride *= self.shape[axis]
        return tuple(found)

    @property
    def numbers(self) -> Indices:
        """The number of the coefficient at each place of the grid, axis by axis."""
        along = [np.arange(c) * s for c, s in zip(self.shape, self.strides, strict=True)]
        return np.asarray(reduce(np.add.outer, along))

    @property
    def middles(self) -> Floats:
        """The middle of each coefficient's reach, by its number: (size, N)."""
        axes = [
            low + (np.arange(count) - 0.5) * step
            for low, count, step in zip(self.low, self.shape, self.steps, strict=True)
        ]
        spots = np.empty((self.size, self.dimensions))
        spots[self.numbers] = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
        return spots

    def cube(self, coefficients: Floats) -> Floats:
        """Coefficients in the last axis, unfolded to one axis for each of the box's."""
        order = sorted(range(self.dimensions), key=lambda a: -self.strides[a])
        lead = coefficients.ndim - 1
        stacked = coefficients.reshape(*coefficients.shape[:-1], *(self.shape[a] for a in order))
        return np.moveaxis(stacked, range(lead, lead + self.dimensions), [lead + a for a in order])

    def locate(self, points: Floats) -> tuple[Indices, Floats]:
        """The cell of each point and its position in it; points outside are projected first."""
        inside = np.clip(points, self.low, self.high)
        scaled = (inside - np.asarray(self.low)) / np.asarray(self.steps)
        cell = np.clip(scaled.astype(np.intp), 0, np.asarray(self.cells) - 1)
        return cell, np.clip(scaled - cell, 0.0, 1.0)

    def axis_weights(self, points: Floats, axis: int) -> Floats:
        """By how much the coefficients along one axis count at each point: (points, degree + 1)."""
        _, offset = self.locate(points)
        return _basis(offset[:, axis], self.degree, self.tension * self.steps[axis])

    def basis(self, points: Floats) -> tuple[Indices, Floats]:
        """Which coefficients count at each point, and by how much: two arrays (points, L)."""
        cell, offset = self.locate(points)
        index = np.zeros((len(points), 1), dtype=np.intp)
        weight = np.ones((len(points), 1))
        for axis, stride in enumerate(self.strides):
            here = (cell[:, axis, None] + np.arange(self.degree + 1)) * stride
            value = _basis(offset[:, axis], self.degree, self.tension * self.steps[axis])
            index = (index[:, :, None] + here[:, None, :]).reshape(len(points), -1)
            weight = (weight[:, :, None] * value[:, None, :]).reshape(len(points), -1)
        return index, weight

    def rows(self, *, pieces: int = 1) -> tuple[Indices, Floats]:
        """Value and gradient in Bernstein form on each cell, cut into pieces an axis.

        Returns `index` (m, L) and `rows` (m, 1 + N, L): row 0 gives a Bernstein coefficient of
        the function, rows 1 … N of its partial derivatives, raised to the same degree. A function
        is a convex combination of its Bernstein coefficients at every point of the piece, so a
        convex homogeneous condition on the coefficients holds on the whole box.
        """
        axes = [axis_tables(self, axis, pieces=pieces) for axis in range(self.dimensions)]
        starts = [np.asarray(table.starts) * s for table, s in zip(axes, self.strides, strict=True)]
        local = [np.arange(self.degree + 1) * s for s in self.strides]
        index = reduce(_outer_sum, starts)[:, None] + reduce(_outer_sum, local)[None, :]
        rows = [reduce(_outer_product, [table.values for table in axes])]
        for chosen in range(self.dimensions):
            factors = [t.slopes if a == chosen else t.values for a, t in enumerate(axes)]
            rows.append(reduce(_outer_product, factors))
        return index, np.ascontiguousarray(np.stack(rows, axis=1))


@dataclass(frozen=True)
class AxisTables:
    """Along one axis, the Bernstein points: first coefficient, value weights, slope weights.

    `attained` marks points where the Bernstein coefficient is the function's value itself.
    """

    starts: Indices
    values: Floats
    slopes: Floats
    attained: Indices


def axis_tables(grid: SplineGrid, axis: int, *, pieces: int) -> AxisTables:
    """The Bernstein points along one axis, each cell cut into equal pieces.

    Degree 2 is once differentiable, so the last point of a piece is the first of the next and is
    left out; degree 1 has a slope on either side, and keeps both ends of each cell.
    """
    cells, step = grid.cells[axis], grid.steps[axis]
    starts, values, slopes, attained = [], [], [], []
    for cell in range(cells):
        if grid.degree == 1:
            for end in (0.0, 1.0):
                starts.append(cell)
                values.append([1.0 - end, end])
                slopes.append([-1.0 / step, 1.0 / step])
                attained.append(True)
            continue
        for piece in range(pieces):
            a, b = piece / pieces, (piece + 1) / pieces
            last = cell == cells - 1 and piece == pieces - 1
            for u, v in ((a, a), (a, b), (b, b))[: 3 if last else 2]:
                starts.append(cell)
                values.append(_value(u, v, grid.tension * step))
                slopes.append([slope / step for slope in _slope(u, v, grid.tension * step)])
                attained.append(u == v)
    return AxisTables(
        np.array(starts, dtype=np.intp), np.array(values), np.array(slopes), np.array(attained)
    )


def _basis(offset: Floats, degree: int, tension: float) -> Floats:
    if degree == 1:
        return np.stack([1 - offset, offset], axis=1)
    rest = 1 - offset
    if tension < _SLACK:
        return np.stack([rest * rest / 2, 0.5 + offset * rest, offset * offset / 2], axis=1)
    scale = math.sqrt(2) * math.sinh(tension / 2)
    first, last = (np.sinh(tension / 2 * t) / scale for t in (rest, offset))
    first, last = first * first, last * last
    return np.stack([first, 1 - first - last, last], axis=1)


_SLACK = 1e-4
"""Tension a cell below which the quadratics are used: the two differ by parts in 10⁹."""


def _value(u: float, v: float, tension: float) -> list[float]:
    """On the piece from u to v of a cell, a Bernstein coefficient of the three basis functions.

    The middle one, or with u = v the value there.
    """
    if tension < _SLACK:
        return [(1 - u) * (1 - v) / 2, 0.5 + (u + v) / 2 - u * v, u * v / 2]
    first, last = _risen(1 - v, 1 - u, tension), _risen(u, v, tension)
    return [first, 1 - first - last, last]


def _risen(u: float, v: float, tension: float) -> float:
    """The coefficient of the function that rises from 0 to ½ over the cell, without cancellation.

    For f = cosh τx − 1 the middle coefficient is f(u) + f'(u)·tanh(τ(v − u)/2)/τ.
    """
    risen = 2 * math.sinh(tension * u / 2) ** 2
    risen += math.sinh(tension * u) * math.tanh(tension * (v - u) / 2)
    return risen / (4 * math.sinh(tension / 2) ** 2)


def _slope(u: float, v: float, tension: float) -> list[float]:
    """The same of their derivatives, per cell."""
    middle = (u + v) / 2
    if tension < _SLACK:
        return [middle - 1, 1 - 2 * middle, middle]
    scale = tension / (4 * math.sinh(tension / 2) ** 2) / math.cosh(tension * (v - u) / 2)
    return [
        -scale * math.sinh(tension * (1 - middle)),
        2 * scale * math.cosh(tension / 2) * math.sinh(tension * (0.5 - middle)),
        scale * math.sinh(tension * middle),
    ]


def _outer_sum(left: Indices, right: Indices) -> Indices:
    return np.asarray((left[:, None] + right[None, :]).reshape(-1))


def _outer_product(left: Floats, right: Floats) -> Floats:
    table = left[:, None, :, None] * right[None, :, None, :]
    return np.asarray(table.reshape(left.shape[0] * right.shape[0], -1))
