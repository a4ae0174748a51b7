"""The supremum of a spline mechanism's privacy loss over the whole continuous box, with proof.

On each piece of each cell, p = Σ_k B_k(x)·b_k and ∇p = Σ_k B_k(x)·g_k with the same non-negative
Bernstein polynomials B_k. If ‖g_k‖_q ≤ ε·b_k for all k, then ‖∇p(x)‖_q ≤ Σ B_k ‖g_k‖_q ≤ ε·p(x)
at every x, and integrating ∇ ln p along the segment from x to x' gives
|ln p(x) − ln p(x')| ≤ ε·‖x − x'‖_p by Hölder. So max_k ‖g_k‖_q / b_k bounds the supremum from
above; at points where a Bernstein coefficient is the function's own value it bounds it from below.
Cutting cells into pieces closes the bracket at second order.

Every number here is rounded outwards: a sum of at most 27 products of three factors, each right to
a dozen units in its last place (hyperbolic functions included, none of which cancel), is off by
less than 2⁻⁴⁶ times the sum of absolute values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.optimise.cones import dual_exponent
from voile.optimise.splines import AxisTables, SplineGrid, axis_tables

ROUNDING = 2.0**-46


@dataclass(frozen=True)
class SmoothCertificate:
    """The largest ‖∇p_y(x)‖_q / p_y(x) lies between `lower` and `supremum`.

    `epsilon` is the supremum plus what evaluating in doubles and rounding to integers can add
    between two places of the stated resolution; it is what a guarantee may claim. `smallest` is a
    lower bound on every probability, `sum_error` an upper bound on |Σ_y p_y(x) − 1|.
    """

    epsilon: float
    supremum: float
    lower: float
    output: int
    smallest: float
    sum_error: float
    rounding: float
    unit: str

    def __str__(self) -> str:
        return (
            f"certified ε = {self.epsilon:.6g} per {self.unit} on the whole box: gradient supremum "
            f"between {self.lower:.6g} and {self.supremum:.6g} (output {self.output}), rounding "
            f"adds {self.rounding:.1e}"
        )


def certify_splines(
    grid: SplineGrid,
    coefficients: Floats,
    *,
    p: float,
    resolution: float,
    weight_bits: int,
    pieces: int = 4,
    unit: str = "km",
) -> SmoothCertificate:
    """The certificate of splines `coefficients` (Y, n), evaluated and drawn as `smooth` does.

    Rounding term. Basis weights in doubles are off by a relative 2⁻⁴⁴, which is 2⁻⁴⁴·ρ of a
    probability, where ρ is the largest ratio of Σ|coefficient|·basis to value over a piece; as
    integers of 52 bits that sum to 2⁵² the L of them are off by L·2⁻⁵¹ in all, times the largest
    ratio of a coefficient to a value in its reach (`peak`). Integer coefficients are off by half a
    unit in 2**weight_bits and differences of truncated sums by less than one, over the smallest
    probability. What a coefficient's row misses goes to its largest entry, at least 1/Y. A
    coordinate is off by a few units in its last place. Two distinct places are at least
    `resolution` apart, and each side of a ratio errs once:
    epsilon = supremum + 2·(η + …)/resolution.
    """
    q = dual_exponent(p)
    upper, lower, where, smallest, condition, peak = 0.0, 0.0, 0, np.inf, 1.0, 1.0
    axes = _axes(grid, pieces=1 if grid.degree == 1 else pieces)
    for y, row in enumerate(coefficients):
        found = _one_output(grid.cube(row), axes, q)
        if found[0] > upper:
            upper, where = found[0], y
        lower = max(lower, found[1])
        smallest, condition = min(smallest, found[2]), max(condition, found[3])
        peak = max(peak, found[4])
    sums = np.abs(coefficients.sum(axis=0) - 1.0)
    outputs = len(coefficients)
    sum_error = float(sums.max()) + outputs * 2.0**-52
    reach = max(max(abs(a), abs(b)) for a, b in zip(grid.low, grid.high, strict=True))
    evaluation = 4 * ROUNDING * condition + upper * reach * 2.0**-49
    evaluation += (grid.degree + 1) ** grid.dimensions * 2.0**-51 * peak
    unit_error = 1.5 * 2.0**-weight_bits / smallest if smallest > 0 else np.inf
    remainder = outputs * condition * (sum_error + outputs * 2.0**-weight_bits)
    rounding = 2 * (evaluation + unit_error + remainder) / resolution
    total = (upper + rounding) * (1 + 2.0**-50)
    return SmoothCertificate(total, upper, lower, where, smallest, sum_error, rounding, unit)


@dataclass(frozen=True, eq=False)
class _Axis:
    """The Bernstein points along one axis, and which of them begins each cell."""

    table: AxisTables
    begins: Indices

    def values(self, cube: Floats, axis: int) -> Floats:
        """Bernstein coefficients of the function along this axis."""
        return _along(cube, axis, self.table.starts, self.table.values)

    def slopes(self, cube: Floats, axis: int, *, sizes: bool = False) -> Floats:
        """The same of its derivative; with `sizes`, of absolute values."""
        weights = np.abs(self.table.slopes) if sizes else self.table.slopes
        return _along(cube, axis, self.table.starts, weights)


def _axes(grid: SplineGrid, *, pieces: int) -> list[_Axis]:
    tables = [axis_tables(grid, axis, pieces=pieces) for axis in range(grid.dimensions)]
    return [
        _Axis(table, np.searchsorted(table.starts, np.arange(count)))
        for table, count in zip(tables, grid.cells, strict=True)
    ]


def _along(cube: Floats, axis: int, starts: Indices, weights: Floats) -> Floats:
    """A few neighbouring coefficients along an axis, weighted and added up."""
    shape = [1] * cube.ndim
    shape[axis] = len(starts)
    parts = (
        np.take(cube, starts + k, axis=axis) * column.reshape(shape)
        for k, column in enumerate(weights.T)
    )
    return np.asarray(reduce(np.add, parts))


def _one_output(
    cube: Floats, axes: list[_Axis], q: float
) -> tuple[float, float, float, float, float]:
    """Upper and lower bound of the ratio, the smallest value, the conditioning, and the peak."""
    sizes = np.abs(cube)
    values, spread = _values(cube, axes), _values(sizes, axes)
    safe = values - ROUNDING * spread
    smallest = float(safe.min())
    if not smallest > 0:
        return np.inf, 0.0, smallest, np.inf, np.inf
    steep, flat = [], []
    for chosen in range(len(axes)):
        slope = np.abs(_values(cube, axes, slope=chosen))
        error = ROUNDING * _values(sizes, axes, slope=chosen, sizes=True)
        steep.append(slope + error)
        flat.append(np.maximum(slope - error, 0.0))
    grow = 1 + ROUNDING
    upper = _norm(steep, q) * grow / safe
    lower = _norm(flat, q) / grow / (values + ROUNDING * spread)
    attained = np.ix_(*[axis.table.attained.astype(bool) for axis in axes])
    return (
        float(upper.max()) * grow,
        float(lower[attained].max()) / grow,
        smallest,
        float((spread / safe).max()) * grow,
        _peak(sizes, safe, [axis.begins for axis in axes]) * grow,
    )


def _values(
    cube: Floats, axes: list[_Axis], *, slope: int | None = None, sizes: bool = False
) -> Floats:
    """Bernstein coefficients of the function, or of its derivative along one axis."""
    for place, axis in enumerate(axes):
        cube = axis.slopes(cube, place, sizes=sizes) if place == slope else axis.values(cube, place)
    return cube


def _peak(sizes: Floats, values: Floats, begins: list[Any]) -> float:
    """The largest ratio, over cells, of a coefficient that counts there to a value there."""
    low, reach = values, []
    for axis, first in enumerate(begins):
        low = np.minimum.reduceat(low, first, axis=axis)
        # the end of a cell is the beginning of the next and stands with that one
        onward = np.append(np.arange(1, len(first)), len(first) - 1)
        low = np.minimum(low, np.take(low, onward, axis=axis))
        reach.append(sizes.shape[axis] - len(first) + 1)
    high = np.lib.stride_tricks.sliding_window_view(sizes, reach)
    return float((high.max(axis=tuple(range(-len(begins), 0))) / low).max())


def _norm(parts: list[Floats], q: float) -> Floats:
    stacked = np.stack(parts)
    if q == np.inf:
        return np.asarray(stacked.max(axis=0))
    if q == 1:
        return np.asarray(stacked.sum(axis=0))
    if q == 2:
        return np.asarray(np.sqrt((stacked**2).sum(axis=0)))
    largest = np.maximum(stacked.max(axis=0), 1e-300)
    return np.asarray(largest * ((stacked / largest) ** q).sum(axis=0) ** (1 / q))
