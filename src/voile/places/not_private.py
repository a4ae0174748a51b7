"""Public trips and public places that are the private ones, or made from them: refused.

What is learned from private places, or moved to them, passes the noise by. A place is known again
to a metre (five decimals of a degree), whatever the order of the rows, the names of the traces, and
however many rows were left out or put among them. People share stations and junctions, so places
count for a copy only beyond what public trips share among each other. A list of public
places has no trips: it is refused where most of it are places of the private file, as rare there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput
from voile.files.source import Source
from voile.jobs import RowProblem, open_source
from voile.options import Data
from voile.places.columns import instant
from voile.places.coordinates import Coordinates
from voile.places.public_places import PublicPlaces
from voile.places.tracing import Tracing

_MOST_SHARED = 0.2
"""A larger share of steps, or of places beyond those that are shared anyway, is no chance."""
_MOST_LISTED = 0.5
"""Of a list of public places, those that are private ones."""
_FEWEST = 3
"""Places that must be shared: one station or two say nothing."""
_DECIMALS = 5
Place = tuple[float, float]


def refuse_private_trips(
    public: Data, private: Source, columns: Coordinates, tracing: Tracing, name: str
) -> None:
    """Refuse public trips that are the private ones, or hold a good part of their steps or places.

    A step is two places that follow each other in a trace, in the order of their times where
    there are some. Nothing is said of the private file but that it is refused.
    """
    told = open_source(public)
    if told.fingerprint() == private.fingerprint() or _are_alike(
        _trips(private, columns, tracing), _trips(told, columns, tracing)
    ):
        raise InvalidInput(
            f"{name} must not be the private file, or made from it: what was learned from it "
            "would pass the noise by. Give other people's trips, which are public"
        )


def refuse_private_places(public: PublicPlaces, private: Source, columns: Coordinates) -> None:
    """Refuse public places of which more than half, and three at least, or all are private ones.

    A station where people are stands in their file more often than in a list of stations: a place
    is taken for a private one if it stands in the private file and no more often than in the list.
    """
    listed = Counter(_rounded(np.stack([public.latitudes, public.longitudes], axis=1)))
    visits = Counter(_rounded(_degrees(_rows(private), columns)))
    shared = sum(0 < visits[place] <= count for place, count in listed.items())
    most = shared >= _FEWEST and shared > _MOST_LISTED * len(listed)
    if most or 0 < shared == len(listed):
        raise InvalidInput(
            "--remap must not be the private file, or made from it: releases would be its true "
            "places. Give places that are public whoever was there, such as all junctions or all "
            "shops of the area"
        )


def _are_alike(private: Sequence[Sequence[Place]], public: Sequence[Sequence[Place]]) -> bool:
    """Whether public trips share more with private ones than people do."""
    steps = [
        {pair for trip in trips for pair in pairwise(trip) if pair[0] != pair[1]}
        for trips in (private, public)
    ]
    if len(steps[0] & steps[1]) > _MOST_SHARED * max(1, len(steps[0])):
        return True
    mine, theirs = (
        Counter(place for trip in trips for place in set(trip)) for trips in (private, public)
    )
    if len(mine.keys() & theirs.keys()) < _FEWEST:
        return False
    usual = sum(count for count in theirs.values() if count > 1) / theirs.total()
    found = (_share(mine, theirs), _share(theirs, mine))
    return max(found) > usual + _MOST_SHARED


def _share(visits: Counter[Place], places: Counter[Place]) -> float:
    """The share of traces' places that other traces have."""
    return sum(count for place, count in visits.items() if place in places) / visits.total()


def _trips(source: Source, columns: Coordinates, tracing: Tracing) -> list[list[Place]]:
    """The usable places of each trace, in order; none where a column is missing, told elsewhere."""
    needed = [name for name in (*columns.names, tracing.trace, tracing.time) if name is not None]
    if not set(needed) <= set(source.columns):
        return []
    rows = _rows(source)
    found: dict[str, list[tuple[float, Place]]] = {}
    degrees = _degrees(rows, columns)
    for place, row in zip(map(tuple, degrees.round(_DECIMALS).tolist()), rows, strict=True):
        at = 0.0 if tracing.time is None else instant(row.get(tracing.time))
        if not np.isnan([*place, at]).any():
            found.setdefault(str(row.get(str(tracing.trace))), []).append((at, place))
    ordered = (sorted(trip, key=lambda visit: visit[0]) for trip in found.values())
    return [[place for _, place in trip] for trip in ordered]


def _rows(source: Source) -> list[dict[str, object]]:
    return [dict(row) for _, row in source.rows() if not isinstance(row, RowProblem)]


def _degrees(rows: Sequence[dict[str, object]], columns: Coordinates) -> Floats:
    return columns.degrees([[row.get(name) for row in rows] for name in columns.names])


def _rounded(degrees: Floats) -> list[Place]:
    good = degrees[np.isfinite(degrees).all(axis=1)].round(_DECIMALS)
    return [(lat, lon) for lat, lon in good.tolist()]
