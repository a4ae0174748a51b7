"""Public trips on one map: what lies too far from where most of them are is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from voile.errors import InvalidInput
from voile.places.earth import Globe
from voile.places.geodesy import LARGEST_REACH
from voile.places.knowing import Trip
from voile.places.projection import projection_around

NEAR = LARGEST_REACH / 2
"""Km from the place that most others lie near: what is kept fits on one plane."""
_TRIED = 500


@dataclass(frozen=True, eq=False)
class OneMap:
    """Trips cut to the parts that lie on one map, and how many of their places do not."""

    trips: Sequence[Trip] = field(repr=False)
    left_out: int


def on_one_map(trips: Sequence[Trip]) -> OneMap:
    """Trips that one plane can bear, as they are; of others, what is within 750 km of most places.

    Its middle is the public place that has most others so near. A trip that leaves the map and
    returns becomes two: the journey between is no step of people who are there. Which map it is
    follows from public trips alone.

    >>> there = Trip(np.array([45.0, 45.1, 10.0, 45.2]), np.array([5.0, 5.0, 90.0, 5.0]))
    >>> found = on_one_map([there])
    >>> [len(trip) for trip in found.trips], found.left_out
    ([2, 1], 1)
    """
    from scipy.spatial import cKDTree

    if _fit(trips):
        return OneMap(trips, 0)
    places = [Globe().to_km(trip.latitudes, trip.longitudes)[0] for trip in trips]
    tree = cKDTree(np.concatenate(places))
    tried = tree.data[:: max(1, len(tree.data) // _TRIED)]
    counts = tree.query_ball_point(tried, NEAR, return_length=True)
    centre = tried[int(np.argmax(counts))]
    kept = [np.linalg.norm(points - centre, axis=1) <= NEAR for points in places]
    parts = [part for trip, some in zip(trips, kept, strict=True) for part in _runs(trip, some)]
    return OneMap(parts, int(sum(len(some) - some.sum() for some in kept)))


def _fit(trips: Sequence[Trip]) -> bool:
    lat = np.concatenate([trip.latitudes for trip in trips])
    try:
        projection_around(lat, np.concatenate([trip.longitudes for trip in trips]))
    except InvalidInput:
        return False
    return True


def _runs(trip: Trip, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[Trip]:
    """The stretches of a trip that are kept."""
    edges = np.flatnonzero(np.diff(kept)) + 1
    rows = [some for some in np.split(np.arange(len(kept)), edges) if kept[some[0]]]
    return [
        Trip(
            trip.latitudes[some],
            trip.longitudes[some],
            None if trip.times is None else trip.times[some],
        )
        for some in rows
    ]


def left_out_words(count: int) -> str:
    """What a reader should know of it."""
    them = "place lies" if count == 1 else "places lie"
    return (
        f"{count:,} public {them} farther than {NEAR:g} km from where most are, off the map: left "
        "out. Released places off it are read as they stand."
    )
