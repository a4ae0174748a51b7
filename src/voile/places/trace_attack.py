"""Attacking released traces as a whole, from two files: guesses of places, homes, names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput
from voile.jobs import Engine, open_source, spread
from voile.options import Data
from voile.places.columns import read_both, read_names, read_times
from voile.places.coordinates import Coordinates
from voile.places.followed import Followed, NamedHome, NamedPlaces
from voile.places.following import Follower
from voile.places.geodesy import geodesic_km
from voile.places.homes import apart, homes
from voile.places.knowing import Following, Trip, in_order
from voile.places.lengths import length_km
from voile.places.one_map import on_one_map
from voile.places.rehearsing import found_homes
from voile.places.trace_evidence import TraceEvidence
from voile.places.tracing import Tracing
from voile.progress import tell

_AT_ONCE = 2000
"""Places that travel together to a process."""
_SHOWN = 3
"""Traces on a map for their owner."""


@dataclass(frozen=True, eq=False)
class TraceRows:
    """The rows of two files that correspond: degrees before and after, and whose is which."""

    truth: Floats
    shown: Floats
    traces: Sequence[Indices]
    times: Floats | None

    def released(self, rows: Indices) -> Trip:
        """A trace as it was released."""
        when = None if self.times is None else self.times[rows]
        return Trip(self.shown[rows, 0], self.shown[rows, 1], when)


def read_rows(original: Data, released: Data, columns: Coordinates, tracing: Tracing) -> TraceRows:
    """The traces of two files; refused where their rows are not the same."""
    if tracing.trace is None:
        raise InvalidInput("--trace must name the column of traces")
    truth, shown = read_both(original, released, columns)
    same_rows(original, released, tracing)
    times = None if tracing.time is None else read_times(original, tracing.time)
    return TraceRows(truth, shown, in_order(original, tracing), times)


def same_rows(original: Data, released: Data, tracing: Tracing) -> None:
    """Refuse a release whose rows are others, as far as its columns in clear tell."""
    there = open_source(released).columns
    apart: dict[str, Indices] = {}
    if tracing.trace is not None and tracing.trace in there:
        names = [read_names(data, tracing.trace) for data in (original, released)]
        apart[tracing.trace] = np.flatnonzero(names[0] != names[1])
    if tracing.time is not None and tracing.time in there:
        times = [read_times(data, tracing.time) for data in (original, released)]
        apart[tracing.time] = np.flatnonzero(times[0] != times[1])
    for column, rows in apart.items():
        if len(rows):
            raise InvalidInput(
                f"the files must hold the same rows in the same order, and {len(rows):,} differ in "
                f"{column!r}, the first is row {rows[0] + 1:,}"
            )


def followed(
    law: TraceEvidence,
    rows: TraceRows,
    following: Following,
    columns: Coordinates,
    tracing: Tracing,
    *,
    engine: Engine | None = None,
    preview: bool = False,
) -> Followed:
    """What somebody finds who knows the law and public trips; work is spread trace by trace."""
    within = length_km(following.home, "--home")
    longest = max(len(some) for some in rows.traces)
    public = on_one_map(following.trips(columns, tracing))
    reader = following.reader(law, public.trips, longest=longest, within=within)
    around = reader.around
    true, seen = (around.to_km(*table.T) for table in (rows.truth, rows.shown))
    parts = list(_parts(rows.traces))
    read = spread(
        read_trips,
        [[(rows.released(some), true[some]) for some in part] for part in parts],
        common=(reader, within),
        engine=engine,
        progress=lambda done: tell("following", done=done, total=len(parts)),
    )
    order = np.concatenate([some for part in parts for some in part])
    found = [trace for part in read for trace in part]
    guesses = np.empty_like(true)
    guesses[order] = np.concatenate([trace.guesses for trace in found])
    off = np.stack([trace.off for trace in found])
    hits = (off <= within).sum(axis=0)
    restored = around.to_degrees(guesses)
    errors = [
        1000 * float(geodesic_km(*rows.truth.T, *table).mean())
        for table in (rows.shown.T, restored)
    ]
    names = None
    if following.named is not None:
        known = NamedPlaces.read(following.named, columns, around)
        names = tuple(_called(known, count, trace) for count, trace in enumerate(found, 1))
    return Followed(
        traces=len(rows.traces),
        places=len(true),
        states=len(reader.states),
        released_error_m=errors[0],
        guess_error_m=errors[1],
        homes=len(rows.traces),
        homes_in_release=int(hits[0, 0]),
        homes_found=int(hits[1, 0]),
        seconds_found=int(hits[1, 1]),
        home_within_m=1000 * within,
        chain_weight=reader.reading.weight,
        own_places=reader.reading.own,
        homes_named=names,
        public_left_out=public.left_out,
        restored=restored,
        walks=tuple(
            (true[some], seen[some], guesses[some]) for some in rows.traces[: _SHOWN * preview]
        ),
    )


@dataclass(frozen=True, eq=False)
class FoundTrace:
    """What was found of one trace: guesses, home and second place, and how far off those are."""

    guesses: Floats
    places: Floats
    true_places: Floats
    off: Floats
    """Km: in the release and as read; home and second place."""


def read_trips(
    common: tuple[Follower, float], part: Sequence[tuple[Trip, Floats]]
) -> list[FoundTrace]:
    """Each released trip with its true points, as a follower reads it; homes within so many km."""
    reader, side = common
    found = []
    for trip, true in part:
        read = reader.read(trip)
        there = homes(true, None, side=side)
        believed = (reader.states.points, read.visits)
        places = found_homes(reader.reading.home, read.seen, read.guesses, believed, side=side)
        shown = homes(read.seen, None, side=side)
        off = np.stack([apart(shown, there), apart(places, there)])
        found.append(FoundTrace(read.guesses, places, there, off))
    return found


def _parts(traces: Sequence[Indices]) -> list[list[Indices]]:
    """Traces in their order, some thousand places together."""
    parts: list[list[Indices]] = [[]]
    for some in traces:
        if parts[-1] and sum(map(len, parts[-1])) + len(some) > _AT_ONCE:
            parts.append([])
        parts[-1].append(some)
    return parts


def _called(names: NamedPlaces, number: int, trace: FoundTrace) -> NamedHome:
    guessed, right = names.nearest(trace.places[:1]), names.nearest(trace.true_places[:1])
    return NamedHome(number, guessed, guessed == right, 1000 * float(trace.off[1, 0]))
