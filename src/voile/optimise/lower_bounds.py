"""Losses that no private mechanism can go below, proved by weak duality.

For any multipliers μ ≥ 0 of the constraints p_y(i) ≤ e^(ε·d(i,j))·p_y(j) between places, and any
mechanism that obeys them, Σ_y ⟨c_y, p_y⟩ ≥ Σ_y ⟨c_y − Mᵀμ_y, p_y⟩ ≥ Σ_i min_y (c_y − Mᵀμ_y)_i,
since the p_y are non-negative and sum to one. Multipliers need not be good for this: whatever they
are, the value is a bound, and every rounding is made downwards. It is a bound for the outputs at
hand: a mechanism that releases other places may lose less.

Good multipliers are found by ascent. The bound itself has kinks, at which a step along one
multiplier, or a block of them, is stuck. So each minimum is smoothed at a heat τ_i,

    G_τ(μ) = −Σ_i τ_i·ln Σ_y exp(−C_iy/τ_i),    C = c − Mᵀμ,

concave and smooth, where cyclic ascent finds the maximum. With p_i = softmax(−C_i/τ_i), the
multiplier of one constraint of one output is best where p_y(j) = e^(−εd)·p_y(i), or at 0. For a
small share p_y that is a closed form in the logarithms,

    μ ← max(0, μ + (ln p_y(i) − εd − ln p_y(j)) / (e^(−εd)/τ_i + 1/τ_j)),

a projection in the sense of Kullback and Leibler; normalising a place is another. (Dykstra's
algorithm with entropic projections: Benamou et al., SIAM J. Sci. Comput. 2015, section 3.) The heat
falls from sweep to sweep. A sweep costs constraints × outputs × 4 multiplications. Besides near
neighbours, neighbours in thinned sets of places take part: what must reach far needs few steps.
"""

from __future__ import annotations

import math
import time
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
_STAGE, _COOLING = 20, 0.8
"""Sweeps at one heat, and by how much the next is cooler."""
_HOT = 0.2
"""The first heat, in units of 1/ε."""


@dataclass(frozen=True)
class LowerBound:
    """A loss that no (ε, ℓ_p)-private mechanism with these outputs goes below."""

    value: float
    sweeps: int
    seconds: float

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


def with_any_output(problem: Problem, value: float) -> float:
    """What no private mechanism goes below that may release *any* of the places, given a bound.

    Needs a loss that is a distance between what is known of two places, as the travel error and
    the straight line are: loss(x, y) ≤ loss(x, z) + loss(z, y). Release, in place of any place z,
    the given output y(z) nearest to it by that distance. This reads the release only, so what was
    private stays private, it has the given outputs, and it loses at most
    max_z loss(z, y(z)) more: the bound for the given outputs, less that much, holds for all. It
    tells where outputs lie denser than 1/ε; `lower_bound` of a problem whose outputs are all
    places is tighter, and costs as many times more as there are more outputs.

    >>> places = np.arange(5.0)[:, None]
    >>> line = Problem(places, np.ones(5), places[::2], np.abs(places - places[::2].T), (0,), (4,))
    >>> with_any_output(line, 1.5)
    0.5
    """
    return value - float(problem.loss.min(axis=1).max())


def lower_bound(
    problem: Problem,
    *,
    epsilon: float,
    p: float = 2.0,
    sweeps: int = 400,
    neighbours: int = 12,
    loss: float | None = None,
) -> LowerBound:
    """A rigorous bound on the loss of every private mechanism with these outputs.

    Each place is held against its near neighbours, and against neighbours among every 4th, 16th, …
    place; leaving out the other constraints can only lower the bound. More sweeps are tighter.
    With a `loss` the gap to it is told. Asked to stop, it hands over the bound of that moment.

    >>> places = np.array([[0.5], [1.5], [2.5]])
    >>> line = Problem(places, np.ones(3), places, np.abs(places - places.T), (0.0,), (3.0,))
    >>> bound = lower_bound(line, epsilon=1.0)
    >>> 0.3 < bound.value < 0.5
    True
    """
    epsilon = require_epsilon(epsilon)
    require(sweeps >= 0, "sweeps", ">= 0", sweeps)
    begun = time.monotonic()
    dual = _Dual(problem, epsilon, p, neighbours)
    value, done = dual.value(), 0
    while done < sweeps and len(dual.pairs) and not asked_to_stop():
        near = "" if loss is None or value <= 0 else f", gap {100 * (loss / value - 1):.1f} %"
        tell(f"lower bound: {value:.4f} so far{near}", done=done, total=sweeps)
        heat = _HOT / epsilon * _COOLING ** (done / _STAGE)
        count = min(_STAGE, sweeps - done)
        dual.ascend(heat, count)
        value, done = max(value, dual.value()), done + count
    return LowerBound(max(0.0, value), done, time.monotonic() - begun)


class _Dual:
    """Multipliers of one program over all places, and the bound that they give."""

    def __init__(self, problem: Problem, epsilon: float, p: float, neighbours: int) -> None:
        from scipy.sparse import csr_array

        along = np.argsort(_curve(problem.places, problem.low, problem.high), kind="stable")
        places, first, member = np.unique(
            problem.places[along], axis=0, return_index=True, return_inverse=True
        )
        rank = np.argsort(np.argsort(first))  # neighbours on the curve stay near in memory
        places, member = places[np.argsort(first)], rank[member.ravel()]
        size = len(places)
        self.costs = np.zeros((size, len(problem.outputs)))
        np.add.at(self.costs, member, problem.prior[along, None] * problem.loss[along])
        mass = np.bincount(member, weights=problem.prior[along], minlength=size)
        self.mass = np.maximum(mass, 0.05 * mass.mean())
        self.pairs = _pairs(places, epsilon, p, neighbours)
        gaps = np.linalg.norm(places[self.pairs[:, 0]] - places[self.pairs[:, 1]], p, axis=1)
        self.exponents = epsilon * gaps * (1 + 2.0**-40) + 2.0**-40
        self.multipliers = np.zeros((len(self.pairs), len(problem.outputs)), dtype=np.float32)
        count = np.arange(len(self.pairs))
        weights = np.concatenate([np.exp(-self.exponents), -np.ones(len(count))])
        where = (self.pairs.T.ravel(), np.concatenate([count, count]))
        self.turned = csr_array((weights, where), shape=(size, len(count)))
        self.reduced = self.costs.copy()

    def value(self) -> float:
        """Σ_i min_y C_iy, rounded down; C is kept for the next ascent.

        An entry is a sum of few terms, off by less than 2⁻⁴⁴ times the sum of their sizes.
        """
        multipliers = self.multipliers.astype(float)
        self.reduced = self.costs + self.turned @ multipliers
        sizes = np.abs(self.costs) + abs(self.turned) @ multipliers
        lowest = (self.reduced - _ROUNDING * sizes).min(axis=1)
        return float(math.fsum(lowest) - _ROUNDING * math.fsum(np.abs(lowest)))

    def ascend(self, heat: float, sweeps: int) -> None:
        """Sweeps over all multipliers at one heat, forwards and backwards in turn."""
        from scipy.special import logsumexp

        from voile.optimise._bound_kernels import sweep

        heats = heat * self.mass
        weights = -self.reduced / heats[:, None]
        logs = (weights - logsumexp(weights, axis=1, keepdims=True)).astype(np.float32)
        for count in range(sweeps):
            sweep(logs, self.multipliers, self.pairs, self.exponents, heats, count % 2 == 1)


def paper_bound(
    problem: Problem, *, epsilon: float, cells: tuple[int, ...], p: float = 2.0, reach: int = 3
) -> LowerBound:
    """AIPO's Proposition 5: cells as secrets, their *largest* distance, their *least* loss.

    Kept for comparison: at useful grids it is far below `lower_bound`.
    """
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
        return LowerBound(float((mass[:, None] * least).min(axis=1).sum()), 0, 0.0)
    cones = ratio_cones(pairs, exponents, len(used))
    costs = np.ascontiguousarray((mass[:, None] * least).T)
    answer = solve_blocks(costs, cones, tolerance=1e-4)
    value = max(0.0, dual_value(costs, cones, answer.multipliers))
    return LowerBound(value, 0, time.monotonic() - begun)


def _pairs(places: Floats, epsilon: float, p: float, neighbours: int) -> Indices:
    """Near neighbours, and those among every 4th, 16th, … place as far as ε·distance allows."""
    size = np.ptp(places, axis=0)
    spacing = float(np.prod(size[size > 0]) / len(places)) ** (1 / max(1, int((size > 0).sum())))
    found, thin = [_neighbour_pairs(places, p, neighbours)], 4
    while epsilon * spacing * math.sqrt(thin) <= 3 and len(places) >= 4 * thin:
        for start in range(thin):
            some = np.arange(start, len(places), thin)
            found.append(some[_neighbour_pairs(places[some], p, 8)])
        thin *= 4
    return np.unique(np.concatenate(found), axis=0)


def _neighbour_pairs(places: Floats, p: float, neighbours: int) -> Indices:
    from scipy.spatial import cKDTree

    count = min(neighbours + 1, len(places))
    _, found = cKDTree(places).query(places, count, p=p)
    first = np.repeat(np.arange(len(places)), count - 1)
    second = np.asarray(found).reshape(-1, count)[:, 1:].ravel()
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
