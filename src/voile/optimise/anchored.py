"""AIPO: probabilities at anchors, logarithms interpolated between them, rows normalised."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.guarantee import Basis, Guarantee
from voile.errors import GuaranteeBroken, InvalidInput, require_epsilon
from voile.metrics.lp_norms import lp
from voile.optimise.block_solver import BlockSolution, solve_blocks
from voile.optimise.cones import Cones, dual_exponent, ratio_cones
from voile.optimise.continuous import best_split, coarser
from voile.optimise.problem import Problem
from voile.optimise.repair import mend
from voile.optimise.smooth import FLOOR
from voile.optimise.splines import SplineGrid


@dataclass(frozen=True, eq=False)
class LogInterpolation:
    """p_y(x) ∝ exp(Σ_i B_i(x)·ln z_i(y)) with hat functions B: AIPO's Definitions 5 and 6.

    It has a law at every place and no guarantee by itself: `supremum` computes what it has.
    """

    grid: SplineGrid
    outputs: Items
    logs: Floats  # (Y, n)

    def probabilities(self, places: Floats) -> Floats:
        """p_y at each place, in doubles."""
        index, weight = self.grid.basis(np.asarray(places, dtype=float))
        table = self.logs.T
        values = np.zeros((len(index), len(self.outputs)))
        for j in range(index.shape[1]):
            values += weight[:, j, None] * table[index[:, j]]
        values = np.exp(values - values.max(axis=1, keepdims=True))
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    def supremum(self, p: float) -> float:
        """An upper bound on the largest ‖∇ ln p_y‖_q over the box.

        On a cell, ∂_ℓ ln f_y is multilinear, so it lies between its values on the cell's edges
        along ℓ. Normalising subtracts Σ_y' p_y'·∂_ℓ ln f_y', a mean over outputs; so the result's
        ℓ-th component is at most the *range* of those edge slopes over all outputs of the cell.
        """
        logs = self.grid.cube(self.logs)
        ranges = []
        for axis in range(self.grid.dimensions):
            slopes = np.diff(logs, axis=1 + axis) / self.grid.steps[axis]
            high, low = slopes.max(axis=0), slopes.min(axis=0)
            for other in range(self.grid.dimensions):
                if other != axis:
                    high, low = _pair(high, other, np.maximum), _pair(low, other, np.minimum)
            ranges.append(high - low)
        norm = np.linalg.norm(np.stack(ranges), dual_exponent(p), axis=0)
        return float(norm.max()) * (1 + 1e-12)


def _pair(table: Floats, axis: int, combine: np.ufunc) -> Floats:
    """Combine neighbours along an axis: from corners to cells."""
    count = table.shape[axis]
    first = np.take(table, range(count - 1), axis=axis)
    second = np.take(table, range(1, count), axis=axis)
    return np.asarray(combine(first, second))


@dataclass(frozen=True, eq=False)
class AnchoredDesign:
    """What AIPO found; `guarantee` is None for the relaxed variant, which is not private."""

    name: str
    law: LogInterpolation
    loss: float
    guarantee: Guarantee | None
    supremum: float
    solution: BlockSolution
    seconds: float
    budgets: tuple[float, ...] = field(default=())


def aipo(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float = 2.0,
    budgets: Sequence[float] | None = None,
    splits: int = 5,
    unit: str = "km",
    tolerance: float = 1e-5,
) -> AnchoredDesign:
    """AIPO as printed: z_i ≤ e^(ε_ℓΔ_ℓ)·z_j between axis neighbours, ‖(ε_ℓ)‖_q ≤ ε/2.

    The logarithms are interpolated multilinearly, which keeps ‖(ε_ℓ)‖_q, and rows are normalised,
    which can double it: hence the half. The objective is the paper's linear surrogate
    (Proposition 4, with Definition 3's convention that λ weighs the *lower* corner). The loss
    reported is the true one of the normalised mechanism.
    """
    epsilon = require_epsilon(epsilon)
    begun = time.monotonic()
    inside = epsilon / 2 * (1 - 1e-7)
    if budgets is None:
        budgets = best_split(
            lambda trial: (
                aipo(
                    problem,
                    epsilon=epsilon,
                    cells=coarser(cells),
                    p=p,
                    budgets=trial,
                    unit=unit,
                    tolerance=1e-3,
                ).loss
            ),
            epsilon=inside,
            p=p,
            dimensions=len(problem.low),
            count=splits,
        )
    grid = problem.grid(cells, degree=1)
    cones = _neighbour_cones(grid, tuple(map(float, budgets)))
    solution = solve_blocks(problem.costs(grid), cones, tolerance=tolerance)
    table, _ = mend(solution.coefficients, cones, floor=FLOOR)
    law = LogInterpolation(grid, problem.outputs, np.log(table))
    supremum = law.supremum(p)
    if supremum > epsilon:
        raise GuaranteeBroken(
            f"AIPO's gradient supremum must not exceed epsilon {epsilon:g}, got {supremum:.6g}; "
            f"its budgets must have a dual norm of at most epsilon / 2"
        )
    guarantee = Guarantee(epsilon, lp(p, unit=unit), "one location", Basis.PROVED)
    return AnchoredDesign(
        "AIPO",
        law,
        _loss(problem, law),
        guarantee,
        supremum,
        solution,
        time.monotonic() - begun,
        tuple(map(float, budgets)),
    )


def aipo_relaxed(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float = 2.0,
    reach: int = 2,
    tolerance: float = 1e-5,
) -> AnchoredDesign:
    """AIPO-R: pairwise constraints between anchors at the full ε, then the same interpolation.

    **Not private**: between anchors, and through the normaliser, the bound is exceeded. It is a
    yardstick, has no guarantee, and cannot be deployed. Pairs within `reach` cells are
    constrained (directly, with their own distance), which the paper's baseline does for all.
    """
    epsilon = require_epsilon(epsilon)
    begun = time.monotonic()
    grid = problem.grid(cells, degree=1)
    cones = _nearby_cones(grid, epsilon * (1 - 1e-7), p, reach)
    solution = solve_blocks(problem.costs(grid), cones, tolerance=tolerance)
    table, _ = mend(solution.coefficients, cones, floor=FLOOR)
    law = LogInterpolation(grid, problem.outputs, np.log(table))
    return AnchoredDesign(
        "AIPO-R (not private)",
        law,
        _loss(problem, law),
        None,
        law.supremum(p),
        solution,
        time.monotonic() - begun,
    )


def _neighbour_cones(grid: SplineGrid, budgets: tuple[float, ...]) -> Cones:
    numbers = grid.cube(np.arange(grid.size)[None, :].astype(float))[0].astype(np.intp)
    pairs, exponents = [], []
    for axis, (budget, step) in enumerate(zip(budgets, grid.steps, strict=True)):
        count = grid.shape[axis]
        low = np.take(numbers, range(count - 1), axis=axis).ravel()
        high = np.take(numbers, range(1, count), axis=axis).ravel()
        pairs += [np.stack([low, high], axis=1), np.stack([high, low], axis=1)]
        exponents.append(np.full(2 * len(low), budget * step))
    return ratio_cones(np.concatenate(pairs), np.concatenate(exponents), grid.size)


def _nearby_cones(grid: SplineGrid, epsilon: float, p: float, reach: int) -> Cones:
    if reach < 1:
        raise InvalidInput(f"reach must be at least 1 cell, got {reach}")
    numbers = grid.cube(np.arange(grid.size)[None, :].astype(float))[0].astype(np.intp)
    where = np.argwhere(np.ones(grid.shape, dtype=bool))
    span = range(-reach, reach + 1)
    offsets = np.stack(np.meshgrid(*[span] * grid.dimensions, indexing="ij"), -1)
    pairs, exponents = [], []
    for offset in offsets.reshape(-1, grid.dimensions):
        if np.gcd.reduce(np.abs(offset)) != 1:  # multiples follow from their primitive offset
            continue
        target = where + offset
        inside = ((target >= 0) & (target < np.asarray(grid.shape))).all(axis=1)
        first, second = numbers[tuple(where[inside].T)], numbers[tuple(target[inside].T)]
        length = float(np.linalg.norm(offset * np.asarray(grid.steps), p))
        pairs.append(np.stack([first, second], axis=1))
        exponents.append(np.full(len(first), epsilon * length))
    return ratio_cones(np.concatenate(pairs), np.concatenate(exponents), grid.size)


def _loss(problem: Problem, law: LogInterpolation) -> float:
    total = 0.0
    for start in range(0, len(problem.places), 4096):
        rows = slice(start, start + 4096)
        inner = (law.probabilities(problem.places[rows]) * problem.loss[rows]).sum(axis=1)
        total += float(problem.prior[rows] @ inner)
    return total
