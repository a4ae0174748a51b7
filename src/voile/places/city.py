"""A made-up city: streets, a river with bridges, and districts where people are."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.places.projection import Projection
from voile.places.roads import RoadNetwork, connected

WIDTH, HEIGHT = 20.0, 15.0
"""Kilometres."""
_CENTRE = Projection(45.0, 5.0)
_BRIDGES = (2.5, 6.5, 10.5, 14.0, 18.0)
_DISTRICTS = (((6.0, 5.0), 2.0, 0.4), ((13.0, 10.0), 2.5, 0.4), ((16.0, 3.5), 1.2, 0.2))


def synthetic_city(
    *, seed: int = 0, columns: int = 64, rows: int = 48
) -> tuple[RoadNetwork, Floats]:
    """A road network of about columns × rows junctions on 20 × 15 km, and a prior over them.

    Junctions of a jittered lattice; a fifth of the street segments is missing and a tenth is
    one-way; a river winds through the middle and is crossed at five bridges. A quarter of the
    prior is even, the rest sits in three districts whose weights depend on the seed.

    >>> network, prior = synthetic_city(seed=1, columns=16, rows=12)
    >>> len(prior) == len(network), round(float(prior.sum()), 9)
    (True, 1.0)
    """
    require(columns >= 4 and rows >= 4, "columns and rows", "at least 4", (columns, rows))
    rng = np.random.default_rng(seed)
    step = np.array([WIDTH / columns, HEIGHT / rows])
    lattice = np.stack(
        np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5, indexing="ij"), -1
    ).reshape(-1, 2)
    points = lattice * step + rng.uniform(-0.35, 0.35, (columns * rows, 2)) * step
    edges = _streets(points, columns, rows, rng)
    one_way = rng.random(len(edges)) < 0.1
    directed = np.concatenate([edges, edges[~one_way][:, ::-1]])
    lengths = np.linalg.norm(points[directed[:, 0]] - points[directed[:, 1]], axis=1) * 1.05
    centred = points - np.array([WIDTH, HEIGHT]) / 2
    network = connected(centred, directed, lengths, _CENTRE)
    return network, _people(network.points + np.array([WIDTH, HEIGHT]) / 2, rng)


def _streets(points: Floats, columns: int, rows: int, rng: np.random.Generator) -> Indices:
    number = np.arange(columns * rows).reshape(columns, rows)
    edges = np.concatenate(
        [
            np.stack([number[:-1].ravel(), number[1:].ravel()], 1),
            np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1),
        ]
    )
    side = points[:, 1] - (HEIGHT / 2 + 2 * np.sin(points[:, 0] / 3))
    crosses = side[edges[:, 0]] * side[edges[:, 1]] < 0
    middle = points[edges, 0].mean(axis=1)
    bridge = np.abs(middle[:, None] - np.array(_BRIDGES)).min(axis=1) < 0.6 * WIDTH / columns
    return np.asarray(edges[(rng.random(len(edges)) > 0.22) & (~crosses | bridge)])


def _people(points: Floats, rng: np.random.Generator) -> Floats:
    density = np.zeros(len(points))
    for centre, spread, share in _DISTRICTS:
        blob = np.exp(-((points - np.array(centre)) ** 2).sum(axis=1) / (2 * spread**2))
        density += share * rng.uniform(0.7, 1.3) * blob / blob.sum()
    even = np.full(len(points), 1 / len(points))
    prior = 0.25 * even + 0.75 * density / density.sum()
    return np.asarray(prior / prior.sum())
