"""Solving for a mechanism on a public map: solve, repair, certify, then bound and compare."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from voile.errors import require, require_epsilon
from voile.interrupts import asked_to_stop, worth_keeping
from voile.jobs.engines import Engine, spread_out
from voile.optimise.anchored import aipo
from voile.optimise.best import best
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import LaplaceRemap, laplace_remap
from voile.optimise.lower_bounds import lower_bound
from voile.optimise.on_lattice import SplineMechanism
from voile.optimise.region_descent import region_descent
from voile.optimise.region_problem import RegionProblem
from voile.places.designs import PlacesDesign
from voile.places.method_names import METHODS
from voile.places.public_map import PublicMap
from voile.places.settings import USUAL, Solving
from voile.places.size import require_solver
from voile.places.solved import LARGEST_EPSILON, Solved
from voile.progress import tell

NOISY = "Laplace + remap"

Found = tuple[SplineMechanism | LaplaceRemap, Solved]


def solve(
    public: PublicMap,
    *,
    epsilon: float,
    solving: Solving = USUAL,
    ready: Callable[[PlacesDesign], None] | None = None,
    engine: Engine | None = None,
) -> PlacesDesign:
    """Solve, repair, certify; then the losses to compare with, and the lower bound.

    The design is handed to `ready` as soon as it is certified, before it is compared with others.
    Asked to stop (see `voile.interrupts`), it leaves out what is left to do and hands over the
    best certified mechanism that there is. `engine` solves the windows of a region.
    """
    check_epsilon(epsilon)
    outputs = len(public.problem.outputs)
    method = METHODS.find(solving.method).name
    if isinstance(public.problem, RegionProblem):
        method = "region"
    require_solver(outputs, public.cells, method=method, against_aipo=solving.against_aipo)
    tell(public.description)
    plane, begun = public.plane_epsilon(epsilon), time.monotonic()
    if method == "region":
        mechanism, solved = _region(public, plane, solving, engine)
    else:
        mechanism, solved = _METHODS[method](public, plane, solving)
    worth_keeping()
    cells = (public.cells[1], public.cells[0])
    seconds = time.monotonic() - begun
    solved = replace(solved, cells=cells, map=public.description, seconds=seconds)
    solved = _stopped(solved, "solving")
    made = PlacesDesign(
        mechanism,
        public.projection,
        public.problem.places,
        public.problem.prior,
        public.streets,
        solved,
        epsilon,
    )
    if ready is not None:
        ready(made)
    if method == "region":  # what it is compared with has tables of all places and outputs
        return replace(made, solved=solved)
    solved = _stopped(_compared(public, plane, solving, solved), "the comparison")
    if solving.bound and not asked_to_stop():
        solved = _stopped(_bounded(public, epsilon, solving, solved), "the lower bound")
    return replace(made, solved=solved)


def _stopped(solved: Solved, during: str) -> Solved:
    """Note what an interrupt cut short, if one just did."""
    return replace(solved, stopped=solved.stopped or during) if asked_to_stop() else solved


def _compared(public: PublicMap, plane: float, solving: Solving, solved: Solved) -> Solved:
    """The losses of AIPO and of Laplace + remap at the same ε, where they are wanted."""
    problem, losses, p = public.dense, dict(solved.losses), solving.p
    if solving.against_aipo and not asked_to_stop():
        tell("AIPO, for comparison")
        found = aipo(problem, epsilon=plane, cells=public.cells, p=p, splits=3, tolerance=1e-3)
        if not asked_to_stop():
            losses["AIPO"] = found.loss
    if p in (1.0, 2.0) and NOISY not in losses and not asked_to_stop():
        noisy = laplace_remap(problem, epsilon=plane, cells=public.cells, p=p)
        losses[NOISY] = problem.expected(noisy.probabilities(problem.places))
    return replace(solved, losses=losses)


def _bounded(public: PublicMap, epsilon: float, solving: Solving, solved: Solved) -> Solved:
    """The lower bound, at the full ε: what keeps it per geodesic km does so per km of the plane."""
    tell("lower bound: no private mechanism goes below it")
    found = lower_bound(
        public.dense, epsilon=epsilon, p=solving.p, sweeps=solving.bound_sweeps, loss=solved.loss
    )
    value = found.value if found.value > 0 else None
    return replace(solved, lower_bound=value, bound_seconds=found.seconds)


def _best(public: PublicMap, plane: float, solving: Solving) -> Found:
    found = best(
        public.dense, epsilon=plane, cells=public.cells, p=solving.p, resolution=solving.step
    )
    columns, rows = found.spline_cells
    return found.mechanism, Solved(
        method=found.name,
        loss=found.loss,
        losses=found.losses,
        spline_cells=(rows, columns),
        spline_capped=found.capped,
    )


def _region(public: PublicMap, plane: float, solving: Solving, engine: Engine | None) -> Found:
    found = region_descent(
        public.region,
        epsilon=plane,
        cells=public.cells,
        p=solving.p,
        resolution=solving.step,
        spread=partial(spread_out, engine=engine),
    )
    columns, rows = found.mechanism.grid.cells
    return found.mechanism, Solved(
        method=found.name,
        loss=found.loss,
        losses={found.name: found.loss, "what it began with": found.began_at},
        spline_cells=(rows, columns),
    )


def _noise(bayes: bool, name: str) -> Callable[[PublicMap, float, Solving], Found]:
    def build(public: PublicMap, plane: float, solving: Solving) -> Found:
        problem = public.dense
        made = laplace_remap(problem, epsilon=plane, cells=public.cells, p=solving.p, bayes=bayes)
        loss = problem.expected(made.probabilities(problem.places))
        return made, Solved(method=name, loss=loss, losses={name: loss})

    return build


def _continuous(build: Callable[..., Any]) -> Callable[[PublicMap, float, Solving], Found]:
    def built(public: PublicMap, plane: float, solving: Solving) -> Found:
        made = build(
            public.dense, epsilon=plane, cells=public.cells, p=solving.p, resolution=solving.step
        )
        cells = (public.cells[1], public.cells[0])
        return made.mechanism, Solved(method=made.name, loss=made.loss, spline_cells=cells)

    return built


_METHODS: dict[str, Callable[[PublicMap, float, Solving], Found]] = {
    "best": _best,
    "spline": _continuous(smooth_spline),
    "bilinear": _continuous(bilinear_cone),
    "axis": _continuous(bilinear_axis),
    "laplace": _noise(False, "Laplace"),
    "laplace-remap": _noise(True, NOISY),
}


def check_epsilon(epsilon: float) -> None:
    """Positive, and not so large that nothing is hidden."""
    epsilon = require_epsilon(epsilon)
    require(
        epsilon <= LARGEST_EPSILON,
        "epsilon",
        f"at most {LARGEST_EPSILON:g} per km",
        epsilon,
        "it is per km: 0.2 to 2 are usual",
    )
