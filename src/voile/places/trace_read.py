"""What a reader of one whole trace gets who knows everybody else's: for the owner's eyes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats
from voile.places.knowing import Knowing
from voile.places.trace_attack import read_trips
from voile.places.trace_evidence import NoiseEvidence
from voile.places.tracing import Tracing
from voile.places.workbench import SHOWN, PlacesBench, Points, pairs, trace_law

WITHIN = 0.25
"""Km: so close a home counts as found."""
MOST_OTHERS, OF_EACH = 30, 40
"""Others whose first places are known."""
MOST_PLACES = 120
"""Of the trace itself: a chain over squares takes its time."""


@dataclass(frozen=True)
class TraceRead:
    """How far off (m) the places of a release and a reader's guesses are, and whether a home shows.

    The reader knows the law and the traces of `others` in this data, which is more than the public
    trips of `places follow`.
    """

    places: int
    others: int
    released_error_m: float
    guess_error_m: float
    home_in_release: bool
    home_found: bool
    home_within_m: float
    guesses: Points


def read_trace(
    bench: PlacesBench, name: str, epsilon: float, *, tracing: Tracing | None, seed: int = 0
) -> TraceRead | None:
    """Read the release that `bench.released` shows; None where too little, or too much, is there.

    Places that are each by themselves are read together all the same.
    """
    law = trace_law(epsilon, tracing or Tracing(per="place"))
    others = [own for own in bench.names() if own != name][:MOST_OTHERS]
    if len(others) < 2:
        return None
    known = [bench.trip(bench.rows_of(own)).cut(OF_EACH) for own in others]
    released = bench.released(name, epsilon, tracing=tracing, seed=seed)
    if len(released) > MOST_PLACES:
        return None
    reader = Knowing().reader(NoiseEvidence(law), known, longest=len(released), within=WITHIN)
    truth = bench.trip(bench.rows_of(name))
    true = reader.around.to_km(truth.latitudes, truth.longitudes)
    seen = reader.around.to_km(released.latitudes, released.longitudes)
    (read,) = read_trips((reader, WITHIN), [(released, true)])
    in_release, as_read = read.off[:, 0] <= WITHIN
    lat, lon = reader.around.to_degrees(read.guesses[:SHOWN])
    return TraceRead(
        len(true),
        len(others),
        _metres(seen - true),
        _metres(read.guesses - true),
        bool(in_release),
        bool(as_read),
        1000 * WITHIN,
        pairs(lat, lon),
    )


def _metres(away: Floats) -> float:
    return 1000 * float(np.linalg.norm(away, axis=1).mean())
