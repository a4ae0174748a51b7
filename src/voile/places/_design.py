"""Designing a mechanism for a map: the public map in, a certified design out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Indices
from voile.errors import InvalidInput, require, require_epsilon
from voile.optimise.anchored import aipo
from voile.optimise.best import best
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import LaplaceRemap, laplace_remap
from voile.optimise.lower_bounds import partition_bound
from voile.optimise.problem import Problem
from voile.optimise.smooth import SmoothMechanism
from voile.places.city import synthetic_city
from voile.places.columns import read_degrees
from voile.places.designs import (
    PlacesDesign,
    distance_words,
    geodesic_epsilon,
    plane_epsilon,
    reach_of,
)
from voile.places.geodesy import stretch
from voile.places.problems import (
    box_edge,
    counted_prior,
    road_problem,
    sampled_tasks,
    straight_problem,
)
from voile.places.projection import Projection, projection_around
from voile.places.readers import read_roads
from voile.places.size import require_solver, require_tables

METHODS = ("best", "spline", "bilinear", "axis", "laplace", "laplace-remap")
LARGEST_EPSILON = 100.0
"""Above this a place 100 m off may be e^10 less likely: no privacy worth the name."""
Note = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class PublicMap:
    """What is known to everybody: places with a prior, losses, projection, streets."""

    problem: Problem
    projection: Projection
    streets: Indices
    description: str
    cells: tuple[int, int]  # columns, rows

    @property
    def reach(self) -> float:
        """How far from the centre (km) a place to be released may lie."""
        return reach_of(np.asarray(self.problem.low), np.asarray(self.problem.high))

    @property
    def stretch(self) -> float:
        """The most by which the plane lengthens a distance within reach."""
        return stretch(self.reach)

    def plane_epsilon(self, epsilon: float) -> float:
        """The ε per km of the plane to solve for, so that `epsilon` holds per geodesic km."""
        return plane_epsilon(epsilon, self.stretch)


def public_map(
    *,
    roads: str | Path | None = None,
    box: Sequence[float] | None = None,
    rows: int = 15,
    columns: int = 20,
    prior_file: str | Path | None = None,
    tasks_file: str | Path | None = None,
    tasks: int = 80,
    lat: str = "lat",
    lon: str = "lon",
    resolution: float = 0.001,
    seed: int = 0,
) -> PublicMap:
    """The map of a road file, of a bounding box (south, west, north, east), or the made-up city."""
    cells = (columns, rows)
    if box is not None:
        if roads is not None:
            raise InvalidInput("give either roads or a box, and not both")
        edge = box_edge(box)
        around = projection_around(*edge)
        border = around.to_km(*edge)
        low, high = border.min(axis=0), border.max(axis=0)
        require_tables(9 * rows * columns, rows * columns)
        public = None
        if prior_file is not None:
            public = around.to_km(*read_degrees(prior_file, lat=lat, lon=lon))
        problem = straight_problem(low, high, cells=cells, prior_points=public)
        words = f"a box of {high[0] - low[0]:.1f} × {high[1] - low[1]:.1f} km, straight lines"
        return PublicMap(problem, around, np.zeros((0, 2), dtype=np.intp), words, cells)
    if roads is None:
        network, prior = synthetic_city(seed=seed)
        words = f"the made-up city: {len(network)} junctions, {len(network.edges)} directed streets"
    else:
        network = read_roads(roads)
        prior = np.full(len(network), 1 / len(network))
        words = (
            f"{Path(roads).name}: {len(network)} junctions, {len(network.edges)} directed streets"
        )
    require_tables(len(network), min(rows * columns, len(network)))
    if network.dropped:
        words += f"; {network.dropped}"
    if prior_file is not None:
        public = network.projection.to_km(*read_degrees(prior_file, lat=lat, lon=lon))
        prior = counted_prior(network.points, public)
    if tasks_file is not None:
        goals = network.projection.to_km(*read_degrees(tasks_file, lat=lat, lon=lon))
        chosen = np.unique(network.nearest(goals))
    else:
        chosen = sampled_tasks(network, count=tasks, prior=prior, seed=seed)
    problem = road_problem(network, cells=cells, tasks=chosen, prior=prior, resolution=resolution)
    return PublicMap(problem, network.projection, network.edges, words, cells)


def design_places(
    public: PublicMap,
    *,
    epsilon: float,
    method: str = "best",
    p: float = 2.0,
    resolution: float = 0.001,
    bound: bool = True,
    bound_size: int = 100,
    against_aipo: bool = True,
    note: Note = lambda text: None,
) -> PlacesDesign:
    """Solve, repair, certify; then the lower bound and the losses to compare with."""
    check_epsilon(epsilon)
    require(method in METHODS, "method", f"one of {', '.join(METHODS)}", repr(method))
    problem, cells, begun = public.problem, public.cells, time.monotonic()
    require_solver(len(problem.outputs), cells, method=method, against_aipo=against_aipo)
    note(public.description)
    plane = public.plane_epsilon(epsilon)
    solved = _solved(problem, method, plane, cells, p, resolution, note)
    mechanism, loss, losses = solved.mechanism, solved.loss, solved.losses
    seconds = time.monotonic() - begun
    if against_aipo:
        note("AIPO, for comparison")
        losses["AIPO"] = aipo(
            problem, epsilon=plane, cells=cells, p=p, splits=3, tolerance=1e-3
        ).loss
    if p in (1.0, 2.0) and "Laplace + remap" not in losses:
        noisy = laplace_remap(problem, epsilon=plane, cells=cells, p=p)
        losses["Laplace + remap"] = problem.expected(noisy.probabilities(problem.places))
    facts: dict[str, Any] = {
        "method": solved.name,
        "epsilon": epsilon,
        "p": "inf" if np.isinf(p) else p,
        "unit": "km",
        "loss": loss,
        "certificate": geodesic_epsilon(certified(mechanism), public.stretch),
        "basis": str(mechanism.guarantee.basis),
        "lower_bound": None,
        "gap": None,
        "seconds": seconds,
        "losses": losses,
        "cells": [cells[1], cells[0]],
        "outputs": len(mechanism.outputs),
        "resolution": resolution,
        "map": public.description,
        "distance": distance_words(p, public.reach),
        "stretch": public.stretch,
        "reach": public.reach,
        "spline_cells": solved.spline_cells,
        "spline_capped": solved.capped,
    }
    if bound:  # at the full ε: whatever keeps it per geodesic km keeps it per km of the plane
        note("lower bound: no private mechanism goes below it")
        found = partition_bound(problem, epsilon=epsilon, p=p, size=bound_size)
        facts |= {
            "lower_bound": found.value,
            "gap": found.gap(loss),
            "bound_seconds": found.seconds,
        }
    return PlacesDesign(
        mechanism, public.projection, problem.places, problem.prior, public.streets, facts, epsilon
    )


@dataclass(frozen=True, eq=False)
class _Solved:
    """A mechanism, the losses it was compared with, and the grid that a spline was solved on."""

    name: str
    mechanism: SmoothMechanism | LaplaceRemap
    loss: float
    losses: dict[str, float]
    spline_cells: list[int] | None = None
    capped: bool = False


def _solved(
    problem: Problem,
    method: str,
    epsilon: float,
    cells: tuple[int, int],
    p: float,
    resolution: float,
    note: Note,
) -> _Solved:
    if method == "best":
        found = best(problem, epsilon=epsilon, cells=cells, p=p, resolution=resolution, note=note)
        grid = list(found.spline_cells[::-1])
        return _Solved(
            found.name, found.mechanism, found.loss, dict(found.losses), grid, found.capped
        )
    if method in ("laplace", "laplace-remap"):
        noisy = laplace_remap(
            problem, epsilon=epsilon, cells=cells, p=p, bayes=method == "laplace-remap"
        )
        name = "Laplace" if method == "laplace" else "Laplace + remap"
        loss = problem.expected(noisy.probabilities(problem.places))
        return _Solved(name, noisy, loss, {name: loss})
    builders: dict[str, Callable[..., Any]] = {
        "spline": smooth_spline,
        "bilinear": bilinear_cone,
        "axis": bilinear_axis,
    }
    made = builders[method](problem, epsilon=epsilon, cells=cells, p=p, resolution=resolution)
    return _Solved(made.name, made.mechanism, made.loss, {}, [cells[1], cells[0]])


def certified(mechanism: SmoothMechanism | LaplaceRemap) -> float:
    """The largest loss per km of the plane that is certified or proved."""
    if isinstance(mechanism, SmoothMechanism):
        return mechanism.certificate().epsilon
    return mechanism.guarantee.epsilon


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
