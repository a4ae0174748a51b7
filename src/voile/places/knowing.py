"""What a reader of whole traces knows: public trips, and the ground that it thinks in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput
from voile.options import Data, Option, Options
from voile.places.columns import read_degrees, read_times, read_traces
from voile.places.coordinates import Coordinates
from voile.places.lengths import length_km
from voile.places.tracing import Tracing
from voile.progress import tell

if TYPE_CHECKING:
    from voile.places.following import Follower
    from voile.places.trace_evidence import TraceEvidence


@dataclass(frozen=True, eq=False)
class Trip:
    """A trace in degrees, in order, with times where there are some."""

    latitudes: Floats
    longitudes: Floats
    times: Floats | None = None

    def __len__(self) -> int:
        return len(self.latitudes)

    @property
    def gaps(self) -> Floats | None:
        """Seconds between one place and the next."""
        return None if self.times is None else np.asarray(np.diff(self.times))

    def cut(self, count: int) -> Trip:
        """Its first places."""
        times = None if self.times is None else self.times[:count]
        return Trip(self.latitudes[:count], self.longitudes[:count], times)


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
        self, law: TraceEvidence, public: Sequence[Trip], *, longest: int, within: float
    ) -> Follower:
        """A reader who knows these trips, rehearsed on them."""
        from voile.places.following import follower
        from voile.places.readers import read_roads
        from voile.places.rehearsing import rehearsed

        tell("how people move")
        streets = None if self.roads is None else read_roads(self.roads)
        made = follower(law, public, side=length_km(self.side, "--side"), roads=streets)
        return rehearsed(made, public, longest=longest, within=within)


@dataclass(frozen=True)
class Following(Knowing):
    """What an attacker who reads whole traces knows, and what counts as finding a home."""

    public: Annotated[
        Data,
        Option("Other people's trips, of the same columns: how people move.", reads="public"),
    ] = None
    home: Annotated[str, Option("How close counts as finding a home.", shown=True)] = "250m"
    named: Annotated[
        Data,
        Option("Public places with a column `name`: homes are called by them.", reads="public"),
    ] = None

    def trips(self, columns: Coordinates, tracing: Tracing) -> list[Trip]:
        """The public trips, without which nobody knows how people move."""
        if self.public is None:
            raise InvalidInput(
                "--public must name other people's trips, of the same columns: from them an "
                "attacker knows how people move"
            )
        return read_trips(self.public, columns, tracing)


def read_trips(data: Data, columns: Coordinates, tracing: Tracing) -> list[Trip]:
    """The traces of public data, in order."""
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
