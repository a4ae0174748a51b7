"""From a map to what a mechanism is solved for: outputs, prior, and losses on the streets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.optimise.problem import Problem
from voile.optimise.region_problem import Apart, RegionProblem
from voile.places.roads import RoadNetwork


def road_problem(
    network: RoadNetwork,
    *,
    cells: Sequence[int],
    tasks: Indices,
    prior: Floats | None = None,
    resolution: float = 0.001,
) -> Problem:
    """One output a cell, and loss[x, y] = mean over tasks t of |path(x, t) − path(y, t)|.

    The loss is how wrong a travel distance becomes if y is believed instead of x (AIPO, section
    6.1). The output of a cell is the junction nearest its centre. Junctions are snapped to the
    resolution, as the mechanism will. A uniform prior unless one is given.
    """
    places, chosen, low, high = _outputs(network, cells, tasks, resolution)
    loss = travel_loss(network, tasks, chosen)
    weights = np.ones(len(network)) if prior is None else prior
    return Problem(places, weights, places[chosen], loss, tuple(low), tuple(high))


def road_region(
    network: RoadNetwork,
    *,
    cells: Sequence[int],
    tasks: Indices,
    prior: Floats,
    resolution: float = 0.001,
) -> RegionProblem:
    """The same for a region: losses are worked out from path lengths where they are needed."""
    places, chosen, low, high = _outputs(network, cells, tasks, resolution)
    paths = network.distances_to(tasks).T
    losses = Apart(paths, paths[chosen], "cityblock", float(len(tasks)))
    return RegionProblem(places, prior, places[chosen], losses, tuple(low), tuple(high))


def _outputs(
    network: RoadNetwork, cells: Sequence[int], tasks: Indices, resolution: float
) -> tuple[Floats, Indices, Floats, Floats]:
    """Junctions at the resolution, those nearest the cells' centres, and the box."""
    require(len(tasks) > 0, "tasks", "at least one junction to travel to", "none")
    columns, rows = _two(cells)
    low, high = _box(network.points, resolution)
    places = low + np.rint((network.points - low) / resolution) * resolution
    places = np.clip(places, low, high)
    steps = (high - low) / np.array([columns, rows])
    centres = np.stack(
        np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5, indexing="ij"), -1
    ).reshape(-1, 2)
    return places, np.unique(network.nearest(low + centres * steps)), low, high


def straight_problem(
    low: Sequence[float],
    high: Sequence[float],
    *,
    cells: Sequence[int],
    prior_points: Floats | None = None,
    per_cell: int = 3,
) -> Problem:
    """No roads at hand: straight-line loss on a box, one output a cell, at its centre.

    Places are `per_cell` × `per_cell` even points a cell; the prior is uniform, or the counts of
    public points in each of those little squares.
    """
    from scipy.spatial.distance import cdist

    places, weights, outputs = _lattices(low, high, cells, prior_points, per_cell)
    return Problem(places, weights, outputs, cdist(places, outputs), tuple(low), tuple(high))


def straight_region(
    low: Sequence[float],
    high: Sequence[float],
    *,
    cells: Sequence[int],
    prior_points: Floats | None = None,
) -> RegionProblem:
    """The same for a region, one place a cell; distances are worked out where they are needed."""
    places, weights, outputs = _lattices(low, high, cells, prior_points, 1)
    losses = Apart(places, outputs, "euclidean")
    return RegionProblem(places, weights, outputs, losses, tuple(low), tuple(high))


def _lattices(
    low: Sequence[float],
    high: Sequence[float],
    cells: Sequence[int],
    prior_points: Floats | None,
    per_cell: int,
) -> tuple[Floats, Floats, Floats]:
    """Places with their weights, and outputs, evenly over a box."""
    columns, rows = _two(cells)
    base, size = np.asarray(low, dtype=float), np.asarray(high, dtype=float) - np.asarray(low)
    require(bool((size > 0).all()), "a box", "wider than zero on each axis", tuple(size))

    def lattice(a: int, b: int) -> Floats:
        grid = np.meshgrid((np.arange(a) + 0.5) / a, (np.arange(b) + 0.5) / b, indexing="ij")
        return np.asarray(base + np.stack(grid, -1).reshape(-1, 2) * size)

    places, outputs = lattice(per_cell * columns, per_cell * rows), lattice(columns, rows)
    weights = np.ones(len(places))
    if prior_points is not None:
        weights = counted_prior(places, prior_points)
    return places, weights, outputs


def travel_loss(network: RoadNetwork, tasks: Indices, chosen: Indices) -> Floats:
    """Mean over tasks of |path(x, task) − path(y, task)| for all junctions x and chosen y."""
    from scipy.spatial.distance import cdist

    total = np.zeros((len(network), len(chosen)))
    for start in range(0, len(tasks), 256):
        paths = network.distances_to(tasks[start : start + 256]).T
        if not np.isfinite(paths).all():
            raise InvalidInput(
                "every junction must reach every task; keep the largest connected "
                "part of the network"
            )
        total += cdist(paths, paths[chosen], "cityblock")
    return np.asarray(total / len(tasks))


def sampled_tasks(network: RoadNetwork, *, count: int, prior: Floats, seed: int) -> Indices:
    """Junctions that people travel to, drawn from the prior without repeats."""
    require(count >= 1, "tasks", "at least 1", count)
    rng = np.random.default_rng(seed)
    shares = np.asarray(prior, dtype=float) / np.sum(prior)
    count = min(count, int((shares > 0).sum()))
    return np.asarray(rng.choice(len(network), count, replace=False, p=shares), dtype=np.intp)


def counted_prior(places: Floats, public: Floats, *, smoothing: float = 0.25) -> Floats:
    """Counts of *public* points at their nearest place, mixed with an even share.

    The points must not be the ones to be protected: a prior made of secrets is a release of them.
    """
    from scipy.spatial import cKDTree

    require(len(public) > 0, "public points", "at least one", "none")
    counts = np.bincount(cKDTree(places).query(public)[1], minlength=len(places))
    return np.asarray((1 - smoothing) * counts / counts.sum() + smoothing / len(places))


def box_edge(box: Sequence[float], *, steps: int = 64) -> tuple[Floats, Floats]:
    """Latitudes and longitudes along the edge of a box south, west, north, east.

    West may be above east: the box then lies across the antimeridian. The edge is followed and not
    only its corners, because in the plane its sides are curved.
    """
    require(len(box) == 4, "a box", "south,west,north,east", f"{len(box)} numbers")
    south, west, north, east = map(float, box)
    ok = -90 <= south < north <= 90 and abs(west) <= 180 and abs(east) <= 180 and west != east
    require(
        ok, "a box", "south < north within ±90 and west, east within ±180 and different", tuple(box)
    )
    share = np.linspace(0, 1, steps + 1)
    up = south + share * (north - south)
    along = west + share * ((east - west) % 360 or 360)
    lat = np.concatenate([up, up, np.full(steps + 1, south), np.full(steps + 1, north)])
    lon = np.concatenate([np.full(steps + 1, west), np.full(steps + 1, east), along, along])
    return lat, (lon + 180) % 360 - 180


def _box(points: Floats, resolution: float) -> tuple[Floats, Floats]:
    """The bounding box with a margin of 2 %, in whole steps of the resolution."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.02 * (high - low) + resolution
    low = np.floor((low - margin) / resolution) * resolution
    steps = np.ceil((high + margin - low) / resolution)
    return low, low + steps * resolution


def _two(cells: Sequence[int]) -> tuple[int, int]:
    require(
        len(cells) == 2 and all(c >= 1 for c in cells), "cells", "two numbers >= 1", tuple(cells)
    )
    if cells[0] * cells[1] < 2:
        raise InvalidInput(
            "a map must be cut into at least two cells, got one: a single output "
            "says nothing; use for example --cells 15x20"
        )
    return int(cells[0]), int(cells[1])
