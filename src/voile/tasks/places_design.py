"""Designing a mechanism for a map: the public map in, a certified design out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Indices
from voile.domains.places.city import synthetic_city
from voile.domains.places.design import PlacesDesign
from voile.domains.places.problems import (
    counted_prior,
    projection_around,
    road_problem,
    sampled_tasks,
    straight_problem,
)
from voile.domains.places.projection import Projection
from voile.domains.places.readers import read_roads
from voile.errors import InvalidInput, require, require_epsilon
from voile.optimise.anchored import aipo, aipo_relaxed
from voile.optimise.best import best
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import LaplaceRemap, exponential_law, laplace_remap
from voile.optimise.lower_bounds import paper_bound, partition_bound
from voile.optimise.problem import Problem
from voile.optimise.smooth import SmoothMechanism
from voile.tasks.places_files import read_degrees

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
        south, west, north, east = _checked_box(box)
        around = projection_around((south, north), (west, east))
        corners = around.to_km(np.array([south, north]), np.array([west, east]))
        low, high = corners.min(axis=0), corners.max(axis=0)
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
    _check_epsilon(epsilon)
    require(method in METHODS, "method", f"one of {', '.join(METHODS)}", repr(method))
    problem, cells, begun = public.problem, public.cells, time.monotonic()
    note(public.description)
    losses: dict[str, float] = {}
    name, mechanism, loss = _solved(problem, method, epsilon, cells, p, resolution, losses, note)
    seconds = time.monotonic() - begun
    if against_aipo:
        note("AIPO, for comparison")
        losses["AIPO"] = aipo(
            problem, epsilon=epsilon, cells=cells, p=p, splits=3, tolerance=1e-3
        ).loss
    if p in (1.0, 2.0) and "Laplace + remap" not in losses:
        noisy = laplace_remap(problem, epsilon=epsilon, cells=cells, p=p)
        losses["Laplace + remap"] = problem.expected(noisy.probabilities(problem.places))
    facts: dict[str, Any] = {
        "method": name,
        "epsilon": epsilon,
        "p": "inf" if np.isinf(p) else p,
        "unit": "km",
        "loss": loss,
        "certificate": _certified(mechanism),
        "basis": str(mechanism.guarantee.basis),
        "lower_bound": None,
        "gap": None,
        "seconds": seconds,
        "losses": losses,
        "cells": [cells[1], cells[0]],
        "outputs": len(mechanism.outputs),
        "resolution": resolution,
        "map": public.description,
    }
    if bound:
        note("lower bound: no private mechanism goes below it")
        found = partition_bound(problem, epsilon=epsilon, p=p, size=bound_size)
        facts |= {
            "lower_bound": found.value,
            "gap": found.gap(loss),
            "bound_seconds": found.seconds,
        }
    return PlacesDesign(
        mechanism, public.projection, problem.places, problem.prior, public.streets, facts
    )


def compare_places(
    public: PublicMap, *, epsilon: float, p: float = 2.0, note: Note = lambda text: None
) -> list[dict[str, Any]]:
    """All methods on one map: loss, certified or proved supremum, seconds."""
    _check_epsilon(epsilon)
    problem, cells = public.problem, public.cells
    rows: list[dict[str, Any]] = []

    def add(name: str, work: Callable[[], tuple[float, float | None]]) -> None:
        note(name)
        begun = time.monotonic()
        loss, supremum = work()
        rows.append(
            {
                "method": name,
                "loss": loss,
                "supremum": supremum,
                "seconds": time.monotonic() - begun,
            }
        )

    def smooth(build: Callable[..., Any]) -> tuple[float, float]:
        found = build(problem, epsilon=epsilon, cells=cells, p=p, tolerance=1e-4)
        return found.loss, found.mechanism.certificate().epsilon

    def exponential() -> tuple[float, float]:
        law = exponential_law(problem.places, problem.outputs, epsilon=epsilon, p=p)
        return problem.expected(law), epsilon

    def noise(bayes: bool) -> tuple[float, float]:
        found = laplace_remap(problem, epsilon=epsilon, cells=cells, p=p, bayes=bayes)
        return problem.expected(found.probabilities(problem.places)), epsilon

    def anchored(build: Callable[..., Any]) -> tuple[float, float]:
        found = build(problem, epsilon=epsilon, cells=cells, p=p, tolerance=1e-4)
        return found.loss, found.supremum

    def chosen() -> tuple[float, float]:
        found = best(problem, epsilon=epsilon, cells=cells, p=p, note=note)
        return found.loss, _certified(found.mechanism)

    add("exponential", exponential)
    if p in (1.0, 2.0):
        add("Laplace", lambda: noise(False))
        add("Laplace + remap", lambda: noise(True))
    add("AIPO", lambda: anchored(aipo))
    add("AIPO-R (not private)", lambda: anchored(aipo_relaxed))
    add("(d) bilinear, axis budgets", lambda: smooth(bilinear_axis))
    add("(e) bilinear, exact cone", lambda: smooth(bilinear_cone))
    add("(f) smooth spline", lambda: smooth(smooth_spline))
    add("best", chosen)
    add(
        "bound of the AIPO paper",
        lambda: (paper_bound(problem, epsilon=epsilon, cells=cells, p=p).value, None),
    )
    add("lower bound", lambda: (partition_bound(problem, epsilon=epsilon, p=p).value, None))
    return rows


def _solved(
    problem: Problem,
    method: str,
    epsilon: float,
    cells: tuple[int, int],
    p: float,
    resolution: float,
    losses: dict[str, float],
    note: Note,
) -> tuple[str, SmoothMechanism | LaplaceRemap, float]:
    if method == "best":
        found = best(problem, epsilon=epsilon, cells=cells, p=p, resolution=resolution, note=note)
        losses.update(found.losses)
        return found.name, found.mechanism, found.loss
    if method in ("laplace", "laplace-remap"):
        noisy = laplace_remap(
            problem, epsilon=epsilon, cells=cells, p=p, bayes=method == "laplace-remap"
        )
        name = "Laplace" if method == "laplace" else "Laplace + remap"
        loss = problem.expected(noisy.probabilities(problem.places))
        losses[name] = loss
        return name, noisy, loss
    builders: dict[str, Callable[..., Any]] = {
        "spline": smooth_spline,
        "bilinear": bilinear_cone,
        "axis": bilinear_axis,
    }
    made = builders[method](problem, epsilon=epsilon, cells=cells, p=p, resolution=resolution)
    return made.name, made.mechanism, made.loss


def _certified(mechanism: SmoothMechanism | LaplaceRemap) -> float:
    if isinstance(mechanism, SmoothMechanism):
        return mechanism.certificate().epsilon
    return mechanism.guarantee.epsilon


def _check_epsilon(epsilon: float) -> None:
    epsilon = require_epsilon(epsilon)
    require(
        epsilon <= LARGEST_EPSILON,
        "epsilon",
        f"at most {LARGEST_EPSILON:g} per km",
        epsilon,
        "it is per km: 0.2 to 2 are usual",
    )


def _checked_box(box: Sequence[float]) -> tuple[float, float, float, float]:
    require(len(box) == 4, "a box", "south,west,north,east", f"{len(box)} numbers")
    south, west, north, east = map(float, box)
    ok = -90 <= south < north <= 90 and -180 <= west < east <= 180
    require(ok, "a box", "south < north within ±90 and west < east within ±180", tuple(box))
    return south, west, north, east
