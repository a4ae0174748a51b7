"""Losses that no private mechanism can go below, proved by weak duality.

For any multipliers μ ≥ 0 of the pairwise constraints, and any mechanism p that obeys them,
Σ_y ⟨c_y, p_y⟩ ≥ Σ_y ⟨c_y − Mᵀμ_y, p_y⟩ ≥ Σ_i min_y (c_y − Mᵀμ_y)_i, since the p_y are
non-negative and sum to one. The solver's multipliers need not be exact for this: whatever they
are, the value below is a bound, and every rounding is made downwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import require, require_epsilon
from voile.interrupts import asked_to_stop
from voile.optimise.block_solver import solve_blocks
from voile.optimise.cones import Cones, ratio_cones
from voile.optimise.problem import Problem
from voile.progress import tell

_ROUNDING = 2.0**-44


@dataclass(frozen=True)
class LowerBound:
    """A loss that no (ε, ℓ_p)-private mechanism with these outputs goes below."""

    value: float
    parts: int
    seconds: float
    whole: bool = True
    """Whether all parts were added up; some of them are a bound as well, since no loss is < 0."""

    def gap(self, loss: float) -> float:
        """How far above the optimum a loss can be at most, as a share of the bound."""
        return math.inf if self.value <= 0 else loss / self.value - 1


def dual_value(costs: Floats, cones: Cones, multipliers: Floats) -> float:
    """Σ_i min_y (c_y − Mᵀμ_y)_i for linear constraints (D = 1), rounded down.

    Each entry is a sum of few terms; its error is below 2⁻⁴⁴ times the sum of their sizes, which
    is subtracted. Multipliers below zero are replaced by zero.
    """
    require(cones.matrix.shape[1] == 1, "constraints", "linear", cones.matrix.shape)
    lowest = np.full(cones.size, np.inf)
    columns = cones.index.ravel()
    matrix = cones.matrix[:, 0, :]
    for cost, row in zip(costs, multipliers[:, :, 0], strict=True):
        terms = (matrix * np.maximum(row, 0.0)[:, None]).ravel()
        pulled = np.bincount(columns, weights=terms, minlength=cones.size)
        sizes = np.bincount(columns, weights=np.abs(terms), minlength=cones.size)
        value = cost - pulled - _ROUNDING * (np.abs(cost) + sizes)
        np.minimum(lowest, value, out=lowest)
    return float(math.fsum(lowest) - _ROUNDING * math.fsum(np.abs(lowest)))


def partition_bound(
    problem: Problem,
    *,
    epsilon: float,
    p: float = 2.0,
    size: int = 100,
    neighbours: int = 8,
    tolerance: float = 2e-3,
) -> LowerBound:
    """Split the places into well-spread parts, bound each by its own linear program, and add up.

    A mechanism restricted to some of the places still obeys their pairwise constraints, and its
    expected loss is the sum over the parts. Within a part only pairs of near neighbours are
    constrained: dropping constraints can only lower the bound. Larger parts (`size`) are denser,
    hence tighter, at a cost of size³ each.

    >>> places = np.array([[0.5], [1.5], [2.5]])
    >>> line = Problem(places, np.ones(3), places, np.abs(places - places.T), (0.0,), (3.0,))
    >>> bound = partition_bound(line, epsilon=1.0)
    >>> 0 < bound.value < 1
    True
    """
    import time

    epsilon = require_epsilon(epsilon)
    require(size >= 2, "size", ">= 2", size)
    begun = time.monotonic()
    parts = max(1, round(len(problem.places) / size))
    order = np.argsort(_curve(problem.places, problem.low, problem.high), kind="stable")
    total = 0.0
    for part in range(parts):
        if asked_to_stop():
            break
        tell(f"lower bound: {total:.4f} so far", done=part, total=parts)
        some = _part_bound(problem, order[part::parts], epsilon, p, neighbours, tolerance)
        total += max(0.0, some)  # no loss is negative, whatever the solver found
    value = max(0.0, total - abs(total) * 2.0**-40)
    return LowerBound(value, parts, time.monotonic() - begun, whole=not asked_to_stop())


def paper_bound(
    problem: Problem, *, epsilon: float, cells: tuple[int, ...], p: float = 2.0, reach: int = 3
) -> LowerBound:
    """AIPO's Proposition 5: cells as secrets, their *largest* distance, their *least* loss.

    Kept for comparison: at useful grids it is far below `partition_bound`.
    """
    import time

    begun = time.monotonic()
    grid = problem.grid(cells, degree=1)
    cell, _ = grid.locate(problem.places)
    steps = np.asarray(grid.steps)
    used, member = np.unique(cell, axis=0, return_inverse=True)
    mass = np.bincount(member.ravel(), weights=problem.prior)
    least = np.full((len(used), len(problem.outputs)), np.inf)
    np.minimum.at(least, member.ravel(), problem.loss)
    offset = np.abs(used[:, None, :] - used[None, :, :])
    near = (offset.max(axis=2) <= reach) & (offset.max(axis=2) > 0)
    pairs = np.argwhere(near)
    largest = (offset[near] + 1) * steps
    exponents = epsilon * np.linalg.norm(largest, p, axis=1) * (1 + 2.0**-40)
    if not len(pairs):
        return LowerBound(float((mass[:, None] * least).min(axis=1).sum()), 1, 0.0)
    cones = ratio_cones(pairs, exponents, len(used))
    costs = np.ascontiguousarray((mass[:, None] * least).T)
    answer = solve_blocks(costs, cones, tolerance=1e-4)
    value = max(0.0, dual_value(costs, cones, answer.multipliers))
    return LowerBound(value, 1, time.monotonic() - begun)


def _part_bound(
    problem: Problem, chosen: Indices, epsilon: float, p: float, neighbours: int, tolerance: float
) -> float:
    places, member = np.unique(problem.places[chosen], axis=0, return_inverse=True)
    costs = np.zeros((len(places), len(problem.outputs)))
    np.add.at(costs, member.ravel(), problem.prior[chosen, None] * problem.loss[chosen])
    if len(places) == 1:
        return float(costs.min()) * (1 - 2.0**-40)
    # Number along the longer side, so that neighbours lie in a narrow band.
    extent = np.asarray(problem.high) - np.asarray(problem.low)
    order = np.argsort(places[:, int(extent.argmax())], kind="stable")
    places, costs = places[order], costs[order]
    pairs = _neighbour_pairs(places, p, neighbours)
    gaps = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], p, axis=1)
    cones = ratio_cones(pairs, epsilon * gaps * (1 + 2.0**-40) + 2.0**-40, len(places))
    table = np.ascontiguousarray(costs.T)
    answer = solve_blocks(table, cones, tolerance=tolerance)
    return dual_value(table, cones, answer.multipliers)


def _neighbour_pairs(places: Floats, p: float, neighbours: int) -> Indices:
    from scipy.spatial import cKDTree

    count = min(neighbours + 1, len(places))
    _, found = cKDTree(places).query(places, count, p=p)
    first = np.repeat(np.arange(len(places)), count - 1)
    second = np.asarray(found)[:, 1:].ravel()
    both = np.concatenate([np.stack([first, second], 1), np.stack([second, first], 1)])
    return np.unique(both[both[:, 0] != both[:, 1]], axis=0)


def _curve(places: Floats, low: tuple[float, ...], high: tuple[float, ...]) -> Indices:
    """Position along a Z-order curve: neighbours on it are neighbours on the map."""
    scaled = (places - np.asarray(low)) / (np.asarray(high) - np.asarray(low))
    whole = np.minimum((scaled * 1024).astype(np.int64), 1023)
    code = np.zeros(len(places), dtype=np.int64)
    for bit in range(10):
        for axis in range(places.shape[1]):
            code |= ((whole[:, axis] >> bit) & 1) << (bit * places.shape[1] + axis)
    return code
