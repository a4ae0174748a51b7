"""Where the descent of a region begins: Laplace noise on the nodes of its grid, with a remap.

Node i moves to node c with probability T(c − i), the mass of planar noise of 0.9 ε in a cell that
far away (at the region's edge: in all that lies beyond), and c is released as the output mapping(c)
that serves best there. The nodes' laws, taken as spline coefficients, lie inside the cone.

Cutting off the tails. With κ = 10⁻⁴ and c₀ = κ/N for N nodes, keep of each cell
(1 − κ)·max(T − c₀, 0), and let the floor F have the rest, by shares w_y = n_y/N where n_y cells are
released as y. With λ = (1 − κ)·Σ_c min(T_c, c₀) that rest is F = κ + λ, w_y·F = n_y·(c₀ + λ/N), and

    p_y = (1 − κ)·Σ_{c→y} max(T_c, c₀) + κ·n_y·c₀ + n_y·λ/N.

Each term is a sum of constants and of maxima and minima of constants and masses whose logarithms
are 0.9 ε-Lipschitz from node to node, hence so is p_y: what was cut off costs no privacy. It costs
κ of a release, and T > c₀ only within about 16/ε of a cell: the table is sparse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices, Integers
from voile.errors import InvalidInput
from voile.optimise.memory import physical_memory
from voile.optimise.plane_noise import PlaneNoise
from voile.optimise.region import FLOOR_BITS
from voile.optimise.region_problem import RegionProblem
from voile.optimise.splines import SplineGrid
from voile.progress import tell

STARTS_AT = 0.9
"""Of ε: what the noise that it starts from is given."""
KAPPA = 1e-4
"""Of each release: what goes to the floor."""
MOST_ENTRIES, BYTES = 150_000_000, 24
"""Numbers of a region's table, and what each takes while it is solved for and certified."""
SURELY = 4
"""Times what there is room for: refused without looking which outputs the noise leaves unused."""
HELD = 4_000_000
"""Losses of people and outputs that a remap holds at once."""
BLOCK = 20
"""Nodes along the side of a block that is remapped at once."""
SEES, MOVES = 8.0, 3.0
"""Times 1/ε: how far a remap looks for people, and how far for outputs."""


@dataclass(eq=False)
class Rows:
    """A region's table while it is solved for: rows of doubles, and the floor."""

    rows: Integers
    listed: NDArray[np.int32]
    values: Floats
    floor: Integers

    @property
    def left(self) -> Floats:
        """What each row leaves for the floor."""
        sums = np.add.reduceat(np.append(self.values, 0.0), self.rows[:-1])
        return np.asarray(1.0 - np.where(np.diff(self.rows) > 0, sums, 0.0))

    @property
    def shares(self) -> Floats:
        """Each output's share of the floor."""
        return np.asarray(np.diff(self.floor, prepend=0) * 2.0**-FLOOR_BITS)


def started(
    problem: RegionProblem, grid: SplineGrid, *, epsilon: float, p: float
) -> tuple[RegionProblem, Rows]:
    """The outputs that the remap uses, and the rows that it gives."""
    from voile.optimise._region_rows import count_rows, fill_rows

    tables = kernel(grid, epsilon=STARTS_AT * epsilon, p=p)
    _require_room(most_numbers(tables, grid, problem.outputs) / SURELY, epsilon)
    mapping = remapped(problem, grid, epsilon=STARTS_AT * epsilon)
    used, mapping = np.unique(mapping, return_inverse=True)
    mapping = np.ascontiguousarray(_cube(grid, mapping.astype(np.intp)))
    counts = np.empty(grid.size, dtype=np.int64)
    tell("the table to begin with")
    count_rows(tables, mapping, len(used), counts)
    rows = np.concatenate([[0], np.cumsum(counts)])
    _require_room(rows[-1], epsilon)
    listed, values = np.empty(rows[-1], dtype=np.int32), np.empty(rows[-1])
    fill_rows(tables, mapping, len(used), rows, listed, values)
    return problem.with_outputs(used), Rows(rows, listed, values, _floor(mapping, len(used)))


def most_numbers(tables: Floats, grid: SplineGrid, outputs: Floats) -> float:
    """About how many numbers the table has if each output within reach of a node is used there.

    Counted at some nodes, evenly spread: a few milliseconds, before hours. Outputs that lie far
    apart are released from farther off than they lie, so that of few outputs it counts too few.
    """
    spots, reached = grid.middles, 0
    axes = sorted(range(2), key=lambda axis: -grid.strides[axis])
    far = np.array(tables.shape[2:]) // 2
    looked = np.unique(np.linspace(0, grid.size - 1, min(grid.size, 61)).astype(int))
    for node in looked:
        away = (outputs[:, axes] - spots[node, axes]) / np.array(grid.steps)[axes]
        steps = np.rint(away).astype(int) + far
        near = steps[((steps >= 0) & (steps < tables.shape[2:])).all(axis=1)]
        reached += int((tables[1, 1, near[:, 0], near[:, 1]] > 0).sum())
    return reached / len(looked) * grid.size


def _require_room(numbers: float, epsilon: float) -> None:
    """As many numbers as this machine and an hour have room for, or an error with the estimate."""
    memory = physical_memory()
    room = MOST_ENTRIES if memory is None else min(MOST_ENTRIES, memory // 2 // BYTES)
    if numbers > room:
        raise InvalidInput(
            f"a region's table may have {room / 1e6:,.3g} million numbers "
            f"({room * BYTES / 1e9:,.2g} GB while it is solved for; at most half of the memory); "
            f"this one would have {numbers / 1e6:,.0f} million or more "
            f"({numbers * BYTES / 1e9:,.2g} GB): use fewer --cells, or a larger ε (cells of 0.4/ε, "
            f"{0.4 / epsilon:.2g}, are fine enough)"
        )


def kernel(grid: SplineGrid, *, epsilon: float, p: float) -> Floats:
    """What is kept of the noise in each cell: (3, 3, 2M + 1, 2N + 1), slow axis first.

    By whether a cell is the first along an axis, an inner one, or the last; outer ones reach to
    infinity, so theirs are sums over all that lies beyond.
    """
    least = KAPPA / grid.size
    axes = sorted(range(2), key=lambda axis: -grid.strides[axis])
    steps = [grid.steps[axis] for axis in axes]
    reach = (math.log(1 / least) + 8) / epsilon  # beyond it lies less than `least` in all
    far = [
        min(math.ceil(reach / step) + 1, grid.shape[a]) for step, a in zip(steps, axes, strict=True)
    ]
    one, two = ((np.arange(-m, m + 2) - 0.5) * s for m, s in zip(far, steps, strict=True))
    law = PlaneNoise(epsilon, p).cell_law(np.zeros((1, 2)), np.asarray(one), np.asarray(two))
    inner = law.reshape(2 * far[0] + 1, 2 * far[1] + 1)
    tables = np.empty((3, 3, *inner.shape))
    for i, first in enumerate((_up_to, _as_is, _from)):
        for j, second in enumerate((_up_to, _as_is, _from)):
            tables[i, j] = second(first(inner, 0), 1)
    kept = (1 - KAPPA) * np.maximum(tables - least, 0.0)
    trim = [int(np.flatnonzero(kept.max(axis=other).max(axis=(0, 1))).min()) for other in (3, 2)]
    return np.ascontiguousarray(
        kept[:, :, trim[0] : inner.shape[0] - trim[0], trim[1] : inner.shape[1] - trim[1]]
    )


def _up_to(table: Floats, axis: int) -> Floats:
    return np.cumsum(table, axis=axis)


def _as_is(table: Floats, axis: int) -> Floats:
    return table


def _from(table: Floats, axis: int) -> Floats:
    return np.flip(np.cumsum(np.flip(table, axis), axis=axis), axis)


def remapped(problem: RegionProblem, grid: SplineGrid, *, epsilon: float) -> Indices:
    """For each node the output of least Σ_x π(x)·e^(−ε‖x − node‖)·loss(x, y), nearby ones only.

    A remap may be anything public: that it looks at people within 8/ε and at outputs within 3/ε of
    a block of nodes (or at the nearest few, where there are none) costs loss and no privacy.
    """
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist

    people, outputs = cKDTree(problem.places), cKDTree(problem.outputs)
    numbers, found = grid.numbers, np.empty(grid.size, dtype=np.intp)
    blocks = [
        numbers[i : i + BLOCK, j : j + BLOCK].ravel()
        for i in range(0, numbers.shape[0], BLOCK)
        for j in range(0, numbers.shape[1], BLOCK)
    ]
    centres = grid.middles
    for done, block in enumerate(blocks):
        tell("where to release what the noise finds", done=done, total=len(blocks))
        spots = centres[block]
        middle, radius = spots.mean(axis=0), np.ptp(spots, axis=0).max() * math.sqrt(0.5)
        here = _near(people, middle, radius + SEES / epsilon, 64)
        may = _near(outputs, middle, radius + MOVES / epsilon, 64)
        apart = cdist(spots, problem.places[here])
        shares = np.exp(-epsilon * (apart - apart.min(axis=1, keepdims=True)))
        shares *= problem.prior[here] + 1e-300
        costs = np.zeros((len(block), len(may)))
        some = max(1, HELD // len(may))
        for i in range(0, len(here), some):
            costs += shares[:, i : i + some] @ problem.losses.between(here[i : i + some], may)
        found[block] = may[costs.argmin(axis=1)]
    return found


def _near(tree: object, middle: Floats, radius: float, fewest: int) -> Indices:
    """The points within a radius, or the nearest few if that are not so many."""
    found = tree.query_ball_point(middle, radius)  # type: ignore[attr-defined]
    if len(found) < fewest:
        found = np.atleast_1d(tree.query(middle, min(fewest, tree.n))[1])  # type: ignore[attr-defined]
    return np.sort(np.asarray(found, dtype=np.intp))


def _cube(grid: SplineGrid, by_node: Indices) -> Indices:
    """Numbers by node, unfolded to (slow axis, fast axis)."""
    return by_node.reshape(-1, min(grid.shape))


def _floor(mapping: Indices, outputs: int) -> Integers:
    """Running sums of the floor's shares: of each output as many as cells are released as it."""
    cells = np.bincount(mapping.ravel(), minlength=outputs)
    whole = cells * 2**FLOOR_BITS // mapping.size
    whole[cells.argmax()] += 2**FLOOR_BITS - whole.sum()
    return np.asarray(np.cumsum(whole), dtype=np.int64)
