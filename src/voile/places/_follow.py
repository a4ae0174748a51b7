"""`voile.places.follow`: what an attacker who reads whole traces finds, in metres."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require, require_epsilon
from voile.jobs import open_source
from voile.options import Data, Option, use_case
from voile.places.columns import read_degrees, read_names, read_times, read_traces
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.earth import carrier
from voile.places.following import Follower, Home, follower
from voile.places.lengths import length_km
from voile.places.traces import TraceLaw
from voile.places.tracing import ALONE, Tracing
from voile.progress import tell
from voile.report.charts_common import bar_chart
from voile.report.model import Chart, Report, Table
from voile.report.result import SILENT, Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, counted


@dataclass(frozen=True, repr=False, eq=False)
class Followed(Result):
    """How far off (m) releases and guesses are, place by place, and whose home was found.

    `restored` has the guesses, latitudes and longitudes row by row: made of public trips and the
    release alone, it may stand in for the release, at the same ε.
    """

    traces: int
    places: int
    squares: int
    released_error_m: float
    guess_error_m: float
    homes: int
    homes_in_release: int
    homes_found: int
    home_within_m: float
    restored: tuple[Floats, Floats] = field(metadata=SILENT)

    def _report(self) -> Report:
        closer = 1 - self.guess_error_m / max(self.released_error_m, 1e-9)
        return Report(
            title="Following traces",
            answer=(
                f"Somebody who reads whole traces and knows how people move is "
                f"{self.guess_error_m:,.0f} m off on average, where releases are "
                f"{self.released_error_m:,.0f} m off; of {counted(self.homes, 'home')} "
                f"{self.homes_found:,} {'is' if self.homes_found == 1 else 'are'} found within "
                f"{self.home_within_m:g} m."
            ),
            notes=(
                f"Forward–backward over {self.squares:,} squares, on a chain fitted to the public "
                f"trips; reading together {_gained(closer)}.",
                "The guesses are made of public trips and the release alone: they are a restored "
                "trace that may be used in its place, at the same ε.",
            ),
            tables=(
                Table(
                    "What was found",
                    ("what", "value"),
                    (
                        ("traces", self.traces),
                        ("places", self.places),
                        ("releases off by (m)", self.released_error_m),
                        ("guesses off by (m)", self.guess_error_m),
                        ("homes: the likeliest square of a trace", self.homes),
                        ("found in the release as it is", self.homes_in_release),
                        ("found in the guesses", self.homes_found),
                    ),
                ),
            ),
            not_protected=(ONE_ATTACKER, OWN_FIGURES),
            draw=self._charts,
            terms=("attacker", "epsilon", "release"),
            about="What was tested",
        )

    def _charts(self) -> tuple[Chart, ...]:
        rows = [("as released", self.released_error_m), ("read together", self.guess_error_m)]
        return (
            bar_chart(
                rows,
                name="followed",
                title="How far off places are",
                alt=f"Releases are {rows[0][1]:,.0f} m off on average, guesses of an attacker who "
                f"reads whole traces {rows[1][1]:,.0f} m.",
                axis="m off, on average",
                columns=("what", "m off"),
            ),
        )


def _gained(closer: float) -> str:
    if closer < 0.005:
        return "brings nothing"
    return f"takes {100 * closer:.0f} % of the error away"


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
    side: Annotated[
        str, Option("Of the squares that the attacker thinks in.", shown=True)
    ] = "500m",
    home: Annotated[str, Option("How close counts as finding a home.", shown=True)] = "250m",
) -> Followed:
    """Attack released traces as a whole: forward–backward on how people move; homes; in metres.

    Example: `voile places follow trips.csv trips.protected.csv --public others.csv --epsilon 20
    --trace vehicle --way each`

    Give the options of traces that the release was made with: the attacker knows the mechanism.
    A home is the square where a trace has most of its places. For `stays` the attacker uses each
    square's draw once, where it occurs first; that is not all that could be read.
    """
    if tracing.trace is None:
        raise InvalidInput("--trace must name the column of traces")
    truth, shown = (np.stack(read_degrees(data, columns), axis=1) for data in (original, released))
    require(len(truth) == len(shown), "the files", "of equally many rows", (len(truth), len(shown)))
    _same_rows(original, released, tracing)
    law = TraceLaw(require_epsilon(epsilon), tracing, carrier(box))
    tell("how people move")
    others = np.stack(read_degrees(public, columns), axis=1)
    known = [others[rows] for rows in _in_order(public, tracing)]
    reader = follower(law, [(t[:, 0], t[:, 1]) for t in known], side=length_km(side, "--side"))
    return _followed(reader, truth, shown, _in_order(original, tracing), length_km(home, "--home"))


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


def _in_order(data: Data, tracing: Tracing) -> list[Indices]:
    """The rows of each trace, in the order of their times where they have some."""
    assert tracing.trace is not None
    traces = read_traces(data, tracing.trace)
    if tracing.time is None:
        return traces
    times = read_times(data, tracing.time)
    return [rows[np.argsort(times[rows], kind="stable")] for rows in traces]


def _followed(
    reader: Follower, truth: Floats, shown: Floats, traces: list[Indices], within: float
) -> Followed:
    around = reader.around
    true, seen = (around.to_km(*table.T) for table in (truth, shown))
    guesses = np.empty_like(true)
    homes = [0, 0]
    for count, rows in enumerate(traces):
        tell("following", done=count, total=len(traces))
        guesses[rows] = reader.guesses(*shown[rows].T)
        here = Home.of(true[rows], within).place
        for kind, points in enumerate((seen, guesses)):
            apart = float(np.linalg.norm(Home.of(points[rows], within).place - here))
            homes[kind] += apart <= within
    off = [float(np.linalg.norm(p - true, axis=1).mean()) * 1000 for p in (seen, guesses)]
    return Followed(
        traces=len(traces),
        places=len(true),
        squares=len(reader.squares),
        released_error_m=off[0],
        guess_error_m=off[1],
        homes=len(traces),
        homes_in_release=homes[0],
        homes_found=homes[1],
        home_within_m=1000 * within,
        restored=around.to_degrees(guesses),
    )
