"""Least-loss mechanisms on a whole box: (d), (e) and (f) of docs/explanation/continuous-mechanisms.

All three choose spline coefficients of least expected loss under a condition that makes
‖∇p_y‖_q ≤ ε·p_y hold at *every* point: (ε, ℓ_p)-privacy on the continuum, with no normalisation
step, hence no halved budget, and an objective that is exactly linear.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Indices
from voile.errors import require, require_epsilon
from voile.optimise.block_solver import BlockSolution, solve_blocks
from voile.optimise.building import Family, built, margin_of, smooth_family
from voile.optimise.cones import Cones, axis_cones, dual_exponent, gradient_cones
from voile.optimise.problem import Problem
from voile.optimise.repair import Mending
from voile.optimise.smooth import DEFAULT_RESOLUTION, SmoothMechanism
from voile.optimise.splines import SplineGrid


@dataclass(frozen=True, eq=False)
class Design:
    """A mechanism that was solved for, its expected loss, and how it came about."""

    name: str
    mechanism: SmoothMechanism
    loss: float
    solution: BlockSolution
    mending: Mending
    seconds: float


def bilinear_axis(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float = 2.0,
    budgets: Sequence[float] | None = None,
    splits: int = 5,
    resolution: float = DEFAULT_RESOLUTION,
    unit: str = "km",
    tolerance: float = 1e-5,
) -> Design:
    """(d): multilinear p_y, with |∂_ℓ p| ≤ ε_ℓ·p along each axis and ‖(ε_ℓ)‖_q ≤ ε.

    ε_ℓ·p ± ∂_ℓ p is multilinear on a cell, so it is non-negative there iff it is at the corners:
    z_hi ≤ (1 + ε_ℓΔ_ℓ)·z_lo between neighbours, a linear program. Without `budgets`, splits of
    the budget are compared on a coarser grid and the best is used.
    """
    if budgets is None:
        budgets = best_split(
            lambda trial: (
                bilinear_axis(
                    problem,
                    epsilon=epsilon,
                    cells=coarser(cells),
                    p=p,
                    budgets=trial,
                    resolution=resolution,
                    unit=unit,
                    tolerance=1e-3,
                ).solution.loss
            ),
            epsilon=epsilon,
            p=p,
            dimensions=len(problem.low),
            count=splits,
        )
    chosen = tuple(map(float, budgets))
    size = float(np.linalg.norm(chosen, dual_exponent(p)))
    require(size <= epsilon * (1 + 1e-12), "the budgets' dual norm", f"at most {epsilon}", size)

    def cones(grid: SplineGrid, strength: float) -> Cones:
        index, rows = grid.rows()
        inside = tuple(b * strength / epsilon for b in chosen)
        return axis_cones(index, rows, grid.size, budgets=inside)

    return _solved(
        "(d) bilinear, axis budgets",
        problem,
        cones,
        problem.grid(cells, degree=1),
        epsilon,
        p,
        resolution,
        unit,
        tolerance,
    )


def bilinear_cone(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float = 2.0,
    resolution: float = DEFAULT_RESOLUTION,
    unit: str = "km",
    tolerance: float = 1e-5,
) -> Design:
    """(e): multilinear p_y, with ‖∇p‖_q ≤ ε·p at the corners of each cell.

    Both sides are multilinear in the corner's neighbours and the norm is convex, so corners
    suffice: exact for this family, and no budget is split. For ℓ₂ one second-order cone a corner.
    """

    def cones(grid: SplineGrid, strength: float) -> Cones:
        index, rows = grid.rows()
        return gradient_cones(index, rows, grid.size, epsilon=strength, p=p)

    return _solved(
        "(e) bilinear, exact cone",
        problem,
        cones,
        problem.grid(cells, degree=1),
        epsilon,
        p,
        resolution,
        unit,
        tolerance,
    )


def smooth_spline(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float = 2.0,
    pieces: int | None = None,
    tension: float | None = None,
    resolution: float = DEFAULT_RESOLUTION,
    unit: str = "km",
    tolerance: float = 1e-5,
    hopeless: float = math.inf,
) -> Design:
    """(f): smooth splines under tension, with ‖g_k‖_q ≤ ε·b_k for each Bernstein coefficient.

    Where multilinear functions grow by 1 + εΔ a cell and quadratics (`tension=0`) by about
    e^asinh(εΔ), these grow along an axis by e^(tension·Δ) exactly. By default the tension is the
    rate along each axis of what falls as fast as it may along the diagonal, ε·N^(−1/q), up to 3 a
    cell. `pieces` cuts cells for the condition (default 2 where εΔ > 0.8). Spline coefficients may
    be negative while p > 0: only values of the spline are ever sampled. The solver gives up,
    and the design is a worse one, once its dual value shows a loss above `hopeless`.

    >>> places = np.array([[0.5], [1.5], [2.5], [3.5]])
    >>> line = Problem(places, np.ones(4), places, np.abs(places - places.T), (0.0,), (4.0,))
    >>> design = smooth_spline(line, epsilon=1.0, cells=[8])
    >>> design.mechanism.certificate().epsilon <= 1.0
    True
    """
    grid, cones = smooth_family(
        problem, epsilon=epsilon, cells=cells, p=p, pieces=pieces, tension=tension
    )
    return _solved(
        "(f) smooth spline",
        problem,
        cones,
        grid,
        epsilon,
        p,
        resolution,
        unit,
        tolerance,
        hopeless,
    )


def used_outputs(problem: Problem, design: Design, *, share: float = 1e-5) -> Indices:
    """Outputs that a design releases with more than this share of all probability."""
    mass = np.zeros(len(problem.outputs))
    for start in range(0, len(problem.places), 4096):
        rows = slice(start, start + 4096)
        mass += problem.prior[rows] @ design.mechanism.probabilities(problem.places[rows])
    return np.flatnonzero(mass > share)


def best_split(
    loss: Callable[[tuple[float, ...]], float],
    *,
    epsilon: float,
    p: float,
    dimensions: int,
    count: int,
) -> tuple[float, ...]:
    """The axis budgets of least loss among splits with ‖(ε_ℓ)‖_q = ε.

    q = ∞ (ℓ₁) needs no split: every axis gets ε. Otherwise directions of the positive orthant are
    tried on a grid of `count` angles.
    """
    q = dual_exponent(p)
    if dimensions == 1 or q == math.inf:
        return (epsilon,) * dimensions
    angles = (np.arange(count) + 0.5) / count * math.pi / 2
    if dimensions == 2:
        directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    else:
        a, b = (grid.ravel() for grid in np.meshgrid(angles, angles))
        directions = np.stack([np.cos(a), np.sin(a) * np.cos(b), np.sin(a) * np.sin(b)], axis=1)
    scaled = directions / np.linalg.norm(directions, q, axis=1)[:, None] * epsilon * (1 - 1e-12)
    trials = [tuple(map(float, row)) for row in scaled]
    return min(trials, key=loss)


def coarser(cells: Sequence[int]) -> tuple[int, ...]:
    """A grid of at most 64 cells or so of the same shape, for comparing splits."""
    factor = min(1.0, (64 / math.prod(cells)) ** (1 / len(cells)))
    return tuple(max(1, round(c * factor)) for c in cells)


def _named(name: str, grid: SplineGrid) -> str:
    """What is being solved, on how many cells, in words."""
    return f"solving: {name} on {'×'.join(map(str, grid.cells))} cells"


def _solved(
    name: str,
    problem: Problem,
    cones: Family,
    grid: SplineGrid,
    epsilon: float,
    p: float,
    resolution: float,
    unit: str,
    tolerance: float,
    hopeless: float = math.inf,
) -> Design:
    """Solve a hair inside epsilon, mend, certify, build; mend harder if rounding asks for it."""
    epsilon = require_epsilon(epsilon)
    begun = time.monotonic()
    solution = solve_blocks(
        problem.costs(grid),
        cones(grid, epsilon * (1 - margin_of(epsilon, resolution))),
        tolerance=tolerance,
        hopeless=hopeless,
        name=_named(name, grid),
    )
    mechanism, mending = built(
        solution.coefficients, grid, problem.outputs, cones,
        epsilon=epsilon, p=p, resolution=resolution, unit=unit,
    )  # fmt: skip
    loss = mechanism.expected_loss(problem.places, problem.loss, problem.prior)
    return Design(name, mechanism, loss, solution, mending, time.monotonic() - begun)
