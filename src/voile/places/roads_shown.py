"""Streets to be drawn under a map: of a file, or of the made-up cities that voile carries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voile.core.arrays import Floats
from voile.places.city import synthetic_city
from voile.places.readers import read_roads
from voile.places.roads import RoadNetwork
from voile.places.sample_trips import city

MOST_STREETS = 30_000
_AT_HOME = 0.05
"""Km: half of the places must be so near a junction of a made-up city to lie in it."""


@dataclass(frozen=True)
class RoadsShown:
    """Streets by the degrees of both their ends, one after the other; and what they are."""

    description: str
    streets: tuple[tuple[float, float, float, float], ...]
    left_out: int = 0
    """So many of the shortest are not drawn."""


NONE = RoadsShown("", ())


def roads_shown(points: Floats, roads: str | Path | None = None) -> RoadsShown:
    """The streets of a file; without one, those of the made-up city that the places lie in."""
    if roads is not None:
        return _shown(read_roads(roads), Path(roads).name)
    for network in (city()[0], synthetic_city()[0]):
        at = network.projection.to_km(*points.T)
        away = np.linalg.norm(at - network.points[network.nearest(at)], axis=1)
        if float(np.median(away)) <= _AT_HOME:
            return _shown(network, "the made-up city")
    return NONE


def _shown(network: RoadNetwork, name: str) -> RoadsShown:
    ends = np.sort(network.edges, axis=1)
    ends, first = np.unique(ends, axis=0, return_index=True)
    kept = np.argsort(-network.lengths[first], kind="stable")[:MOST_STREETS]
    degrees = np.stack(network.projection.to_degrees(network.points), axis=1).round(5)
    streets = tuple((a, b, c, d) for a, b, c, d in degrees[ends[kept]].reshape(-1, 4).tolist())
    words = f"{name}: {len(ends):,} streets"
    return RoadsShown(words, streets, len(ends) - len(kept))
