"""`voile.places.follow`: what an attacker who reads whole traces finds, in metres."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require, require_epsilon
from voile.jobs import open_source
from voile.options import Data, Option, use_case
from voile.places.columns import read_degrees, read_names, read_times
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.earth import carrier
from voile.places.followed import Followed, NamedHome, NamedPlaces
from voile.places.following import Follower, Trip
from voile.places.homes import apart, homes
from voile.places.knowing import Knowing, in_order, read_trips
from voile.places.lengths import length_km
from voile.places.rehearsing import found_homes
from voile.places.traces import TraceLaw
from voile.places.tracing import ALONE, Tracing
from voile.progress import tell


@use_case("places follow")
def follow(
    original: Annotated[Data, Option("The file of traces.", reads="private")],
    released: Annotated[
        Data, Option("What `voile places protect --trace` made of it.", reads="private")
    ],
    *,
    public: Annotated[
        Data,
        Option("Other people's trips, of the same columns: how people move.", reads="public"),
    ],
    epsilon: Annotated[float, Option("The ε of the release.", "How strong")],
    tracing: Tracing = ALONE,
    box: Annotated[
        tuple[float, float, float, float] | None, Option("The box of the release, if any.")
    ] = None,
    columns: Coordinates = DEGREES,
    knowing: Knowing = Knowing(),
    home: Annotated[str, Option("How close counts as finding a home.", shown=True)] = "250m",
    named: Annotated[
        Data,
        Option("Public places with a column `name`: homes are called by them.", reads="public"),
    ] = None,
) -> Followed:
    """Attack released traces as a whole: forward–backward on how people move; homes; in metres.

    Example: `voile places follow trips.csv trips.protected.csv --public others.csv --epsilon 20
    --trace vehicle --way each`

    Give the options of traces that the release was made with: the attacker knows the mechanism.
    It rehearses on public trips whether to trust the chain or the release, so that it is not
    weaker than reading each place by itself. A home is the square where a trace has most of its
    places, its second place (work) the next such square.
    """
    if tracing.trace is None:
        raise InvalidInput("--trace must name the column of traces")
    truth, shown = (np.stack(read_degrees(data, columns), axis=1) for data in (original, released))
    require(len(truth) == len(shown), "the files", "of equally many rows", (len(truth), len(shown)))
    _same_rows(original, released, tracing)
    law = TraceLaw(require_epsilon(epsilon), tracing, carrier(box))
    traces, times = in_order(original, tracing), None
    if tracing.time is not None:
        times = read_times(original, tracing.time)
    within = length_km(home, "--home")
    reader = knowing.reader(
        law,
        read_trips(public, columns, tracing),
        longest=max(len(rows) for rows in traces),
        within=within,
    )
    names = None if named is None else NamedPlaces.read(named, columns, reader.around)
    return _followed(reader, truth, shown, traces, times, within, names)


def _same_rows(original: Data, released: Data, tracing: Tracing) -> None:
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


def _followed(
    reader: Follower,
    truth: Floats,
    shown: Floats,
    traces: list[Indices],
    times: Floats | None,
    within: float,
    names: NamedPlaces | None,
) -> Followed:
    around = reader.around
    true, seen = (around.to_km(*table.T) for table in (truth, shown))
    guesses = np.empty_like(true)
    off = np.empty((len(traces), 2, 2))  # trace; in the release, as read; home, second place
    called: list[NamedHome] = []
    for count, rows in enumerate(traces):
        tell("following", done=count, total=len(traces))
        when = None if times is None else times[rows]
        read = reader.read(Trip(shown[rows, 0], shown[rows, 1], when))
        guesses[rows] = read.guesses
        there = homes(true[rows], None, side=within)
        found = found_homes(
            reader.reading.home,
            read.seen,
            read.guesses,
            (reader.states.points, read.visits),
            side=within,
        )
        off[count] = apart(homes(read.seen, None, side=within), there), apart(found, there)
        if names is not None:
            guessed, right = names.nearest(found[:1]), names.nearest(there[:1])
            called.append(
                NamedHome(count + 1, guessed, guessed == right, 1000 * float(off[count, 1, 0]))
            )
    errors = [float(np.linalg.norm(p - true, axis=1).mean()) * 1000 for p in (seen, guesses)]
    hits = (off <= within).sum(axis=0)
    return Followed(
        traces=len(traces),
        places=len(true),
        states=len(reader.states),
        released_error_m=errors[0],
        guess_error_m=errors[1],
        homes=len(traces),
        homes_in_release=int(hits[0, 0]),
        homes_found=int(hits[1, 0]),
        seconds_found=int(hits[1, 1]),
        home_within_m=1000 * within,
        chain_weight=reader.reading.weight,
        own_places=reader.reading.own,
        homes_named=tuple(called) if names is not None else None,
        restored=around.to_degrees(guesses),
    )
