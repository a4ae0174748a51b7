"""From a solver's proposal to a certified mechanism: mend, certify, and mend harder if need be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from voile.core.arrays import Floats, Items
from voile.core.guarantee import Basis, Guarantee
from voile.errors import GuaranteeBroken, require_epsilon
from voile.metrics.lp_norms import lp
from voile.optimise.cones import Cones, dual_exponent, gradient_cones
from voile.optimise.problem import Problem
from voile.optimise.repair import Mending, mend
from voile.optimise.smooth import FLOOR, SmoothMechanism
from voile.optimise.splines import SplineGrid

Family = Callable[[SplineGrid, float], Cones]
"""The constraints on a grid's coefficients at a strength."""


def margin_of(epsilon: float, resolution: float) -> float:
    """The share of epsilon that is left for rounding when solving."""
    return min(1e-6 + 2e-9 / resolution / epsilon, 0.5)


def built(
    coefficients: Floats,
    grid: SplineGrid,
    outputs: Items,
    family: Family,
    *,
    epsilon: float,
    p: float,
    resolution: float,
    unit: str,
) -> tuple[SmoothMechanism, Mending]:
    """The mechanism of these coefficients, moved inside a hair below epsilon and certified."""
    epsilon = require_epsilon(epsilon)
    guarantee = Guarantee(epsilon, lp(p, unit=unit), "one location", Basis.CERTIFIED)
    margin = 1e-6 + 2e-9 / resolution / epsilon
    while margin < 1:
        table, mending = mend(coefficients, family(grid, epsilon * (1 - margin)), floor=FLOOR)
        try:
            return SmoothMechanism(grid, outputs, table, guarantee, resolution), mending
        except GuaranteeBroken:
            margin = 4 * margin
    raise GuaranteeBroken(
        f"epsilon {epsilon:g} per {unit} is too small for a resolution of {resolution:g} {unit}: "
        f"integer weights cannot hold so slight a difference; choose a coarser resolution"
    )


def smooth_family(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float,
    pieces: int | None = None,
    tension: float | None = None,
) -> tuple[SplineGrid, Family]:
    """The splines of (f) on these cells, and their constraints: see `smooth_spline`."""
    grid = problem.grid(cells, degree=2)
    if tension is None:
        epsilon = require_epsilon(epsilon)
        diagonal = len(grid.cells) ** (-1 / dual_exponent(p))
        tension = min(epsilon * diagonal, 3 / max(grid.steps))
    cuts = pieces if pieces is not None else 2 if epsilon * max(grid.steps) > 0.8 else 1

    def cones(grid: SplineGrid, strength: float) -> Cones:
        index, rows = grid.rows(pieces=cuts)
        return gradient_cones(index, rows, grid.size, epsilon=strength, p=p)

    return replace(grid, tension=tension), cones
