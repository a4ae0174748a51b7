"""What a reader of whole traces knows: public trips, and the ground that it thinks in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from voile.core.arrays import Indices
from voile.options import Data, Option, Options
from voile.places.columns import read_degrees, read_times, read_traces
from voile.places.coordinates import Coordinates
from voile.places.lengths import length_km
from voile.places.traces import TraceLaw
from voile.places.tracing import Tracing
from voile.progress import tell

if TYPE_CHECKING:
    from voile.places.following import Follower, Trip


@dataclass(frozen=True)
class Knowing(Options):
    """The states that a reader of traces thinks in."""

    side: Annotated[
        str, Option("Of the squares that a reader of whole traces thinks in.", shown=True)
    ] = "500m"
    roads: Annotated[
        str | Path | None,
        Option("Public streets: it thinks in their junctions instead.", reads="public"),
    ] = None

    def reader(
        self, law: TraceLaw, public: Sequence[Trip], *, longest: int, within: float
    ) -> Follower:
        """A reader who knows these trips, rehearsed on them."""
        from voile.places.following import follower
        from voile.places.readers import read_roads
        from voile.places.rehearsing import rehearsed

        tell("how people move")
        streets = None if self.roads is None else read_roads(self.roads)
        made = follower(law, public, side=length_km(self.side, "--side"), roads=streets)
        return rehearsed(made, public, longest=longest, within=within)


def read_trips(data: Data, columns: Coordinates, tracing: Tracing) -> list[Trip]:
    """The traces of public data, in order."""
    from voile.places.following import Trip

    degrees = np.stack(read_degrees(data, columns), axis=1)
    times = None if tracing.time is None else read_times(data, tracing.time)
    return [
        Trip(degrees[rows, 0], degrees[rows, 1], None if times is None else times[rows])
        for rows in in_order(data, tracing)
    ]


def in_order(data: Data, tracing: Tracing) -> list[Indices]:
    """The rows of each trace, in the order of their times where they have some."""
    assert tracing.trace is not None
    traces = read_traces(data, tracing.trace)
    if tracing.time is None:
        return traces
    times = read_times(data, tracing.time)
    return [rows[np.argsort(times[rows], kind="stable")] for rows in traces]
