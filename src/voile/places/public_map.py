"""The public map that a mechanism is designed for: of roads, of a box, or made up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput
from voile.optimise.problem import Problem
from voile.optimise.region_problem import RegionProblem, as_region
from voile.options import Data
from voile.places.city import synthetic_city
from voile.places.columns import read_degrees
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.geodesy import plane_epsilon, reach_of, stretch
from voile.places.problems import (
    box_edge,
    counted_prior,
    road_problem,
    road_region,
    sampled_tasks,
    straight_problem,
    straight_region,
)
from voile.places.projection import Projection, projection_around
from voile.places.readers import read_roads
from voile.places.roads import RoadNetwork
from voile.places.settings import Map
from voile.places.size import require_tables
from voile.places.usefulness import losses, own_loss
from voile.progress import tell


@dataclass(frozen=True, eq=False)
class PublicMap:
    """What is known to everybody: places with a prior, losses, projection, streets.

    Of a whole region no table of losses is made: only `region` can be solved for.
    """

    problem: Problem | RegionProblem
    projection: Projection
    streets: Indices
    description: str
    cells: tuple[int, int]  # columns, rows

    @property
    def dense(self) -> Problem:
        """The problem with its table of losses."""
        if isinstance(self.problem, RegionProblem):
            raise InvalidInput("a map of so many cells is solved as a region: --method region")
        return self.problem

    @property
    def region(self) -> RegionProblem:
        """The problem without one."""
        problem = self.problem
        return problem if isinstance(problem, RegionProblem) else as_region(problem)

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
    area: Map, columns: Coordinates = DEGREES, *, step: float = 0.001, region: bool = False
) -> PublicMap:
    """The map that these options name; junctions are moved to whole steps (km).

    With `region` no table of losses is made, unless they are the user's own.
    """
    tell("reading the map")
    region = region and area.loss is None
    if area.box is None:
        return _own_loss(_road_map(area, columns, step, region), area)
    if area.roads is not None:
        raise InvalidInput("give either roads or a box, and not both")
    return _own_loss(_box_map(area, area.box, columns, region), area)


def _own_loss(made: PublicMap, area: Map) -> PublicMap:
    """The same map, with the user's loss of each output at each place in place of travel."""
    if area.loss is None:
        return made
    problem = made.dense
    places, outputs = (
        np.stack(made.projection.to_degrees(np.asarray(points, dtype=float)), axis=1)
        for points in (problem.places, problem.outputs)
    )
    table = losses(own_loss(area.loss), places, outputs, shape=(len(places), len(outputs)))
    if (table < 0).any():
        raise InvalidInput("loss must not be below 0, and some of yours is")
    return replace(
        made,
        problem=replace(problem, loss=table),
        description=f"{made.description}; a loss of one's own",
    )


def _box_map(
    area: Map, box: tuple[float, float, float, float], columns: Coordinates, region: bool
) -> PublicMap:
    edge = box_edge(box)
    around = projection_around(*edge)
    border = around.to_km(*edge)
    low, high = border.min(axis=0), border.max(axis=0)
    outputs = area.shape[0] * area.shape[1]
    public = None if area.prior is None else _points(area.prior, columns, around)
    problem: Problem | RegionProblem
    if region:
        problem = straight_region(low, high, cells=area.shape, prior_points=public)
    else:
        require_tables(9 * outputs, outputs)
        problem = straight_problem(low, high, cells=area.shape, prior_points=public)
    words = f"a box of {high[0] - low[0]:.1f} × {high[1] - low[1]:.1f} km, straight lines"
    return PublicMap(problem, around, np.zeros((0, 2), dtype=np.intp), words, area.shape)


def _road_map(area: Map, columns: Coordinates, step: float, region: bool) -> PublicMap:
    if area.roads is None:
        network, prior = synthetic_city(seed=area.seed)
        name = "the made-up city"
    else:
        network = read_roads(area.roads)
        prior, name = np.full(len(network), 1 / len(network)), Path(area.roads).name
    if not region:
        require_tables(len(network), min(area.shape[0] * area.shape[1], len(network)))
    if area.prior is not None:
        prior = counted_prior(network.points, _points(area.prior, columns, network.projection))
    tasks = _tasks(area, columns, network, prior)
    make = road_region if region else road_problem
    problem = make(network, cells=area.shape, tasks=tasks, prior=prior, resolution=step)
    words = f"{name}: {len(network)} junctions, {len(network.edges)} directed streets"
    if network.dropped:
        words += f"; {network.dropped}"
    return PublicMap(problem, network.projection, network.edges, words, area.shape)


def _tasks(area: Map, columns: Coordinates, network: RoadNetwork, prior: Floats) -> Indices:
    """The junctions that people travel to, given or sampled."""
    if area.tasks is None:
        return sampled_tasks(network, count=area.task_count, prior=prior, seed=area.seed)
    goals = _points(area.tasks, columns, network.projection)
    return np.asarray(np.unique(network.nearest(goals)), dtype=np.intp)


def _points(data: Data, columns: Coordinates, around: Projection) -> Floats:
    """The points of public data, in km."""
    return around.to_km(*read_degrees(data, columns))
