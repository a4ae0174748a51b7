"""What a reader of whole traces found, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from voile.core.arrays import Floats
from voile.options import Data
from voile.places.columns import read_degrees, read_names
from voile.places.coordinates import Coordinates
from voile.places.lengths import length_words
from voile.places.one_map import left_out_words
from voile.places.point_charts import Walk, walks_map
from voile.places.projection import Projection
from voile.report.charts_common import bar_chart
from voile.report.model import Chart, Report, Table
from voile.report.result import SILENT, Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, counted

SHOWS_ROWS = "This page shows places as they were before the release: do not hand it on."
_SHOWN = 12
"""Homes that a report calls by name."""


@dataclass(frozen=True)
class NamedHome:
    """Which public place the home of a trace was taken for, by number of the trace."""

    trace: int
    called: str
    right: bool
    off_m: float


@dataclass(frozen=True, eq=False)
class NamedPlaces:
    """Public places with names, km on the plane."""

    points: Floats
    names: Sequence[str]

    @classmethod
    def read(cls, data: Data, columns: Coordinates, around: Projection) -> NamedPlaces:
        """From a file or table with the columns of places and `name`."""
        points = around.to_km(*read_degrees(data, columns))
        return cls(
            points, read_names(data, "name", do="--named must have a column `name`").tolist()
        )

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.points)

    def nearest(self, place: Floats) -> str:
        """The name of the place nearest a row of km."""
        return self.names[int(self._tree.query(place)[1][0])]


@dataclass(frozen=True, repr=False, eq=False)
class Followed(Result):
    """How far off (m) releases and guesses are, place by place, and whose home was found.

    `restored` has the guesses, latitudes and longitudes row by row: made of public trips and the
    release alone, it may stand in for the release, at the same ε.
    """

    traces: int
    places: int
    states: int
    """Squares or junctions that the attacker thinks in."""
    released_error_m: float
    guess_error_m: float
    homes: int
    homes_in_release: int
    homes_found: int
    seconds_found: int
    """Traces whose second place, such as work, was found."""
    home_within_m: float
    chain_weight: float
    """Of the chain in a guess, against the release as it stands: as public trips had it."""
    own_places: bool
    """Whether a trace's own places were learned from it: as public trips had it."""
    homes_named: tuple[NamedHome, ...] | None
    public_left_out: int
    """Public places that lie off the map, which is where most of them are."""
    restored: tuple[Floats, Floats] = field(metadata=SILENT)
    walks: tuple[Walk, ...] = field(default=(), metadata=SILENT)
    """Some traces, for their owner's own page."""

    @property
    def _answer(self) -> str:
        return (
            f"Somebody who reads whole traces and knows how people move is "
            f"{length_words(self.guess_error_m / 1000)} off on average, where releases are "
            f"{length_words(self.released_error_m / 1000)} off; of {counted(self.homes, 'home')} "
            f"{self.homes_found:,} {'is' if self.homes_found == 1 else 'are'} found within "
            f"{length_words(self.home_within_m / 1000)}."
        )

    def sentences(self) -> tuple[str, ...]:
        """What was found, for the report of an audit."""
        return (self._answer, *self._called(), *self._notes())

    def tables(self) -> tuple[Table, ...]:
        """What was found in figures, and homes by name."""
        return (self._table(), *self._names())

    def _report(self) -> Report:
        return Report(
            title="Following traces",
            answer=self._answer,
            notes=(*self._called(), *self._notes()),
            tables=self.tables(),
            not_protected=(ONE_ATTACKER, OWN_FIGURES),
            draw=self._charts,
            terms=("attacker", "epsilon", "release"),
            about="What was tested",
            at_risk=(SHOWS_ROWS,) if self.walks else (),
        )

    def _called(self) -> tuple[str, ...]:
        if self.homes_named is None:
            return ()
        right = sum(home.right for home in self.homes_named)
        return (f"{right:,} of {counted(self.homes, 'home')} called by the right name.",)

    def _notes(self) -> tuple[str, ...]:
        closer = 1 - self.guess_error_m / max(self.released_error_m, 1e-9)
        gained = (
            "brings nothing" if closer < 0.005 else f"takes {100 * closer:.0f} % of the error away"
        )
        left = (left_out_words(self.public_left_out),) if self.public_left_out else ()
        own = ", and where a trace seems to be most for its person's own places"
        return (
            f"Forward–backward over {self.states:,} states, on chains fitted to the public trips; "
            f"reading together {gained}.",
            f"Rehearsed on public trips: guesses weigh the chain {100 * self.chain_weight:.0f} % "
            f"and each place by itself {100 - 100 * self.chain_weight:.0f} %"
            f"{own if self.own_places else ''}.",
            "The guesses are made of public trips and the release alone: they are a restored "
            "trace that may be used in its place, at the same ε.",
            *left,
        )

    def _table(self) -> Table:
        return Table(
            "What reading whole traces finds",
            ("what", "value"),
            (
                ("traces", self.traces),
                ("places", self.places),
                ("releases off by (m)", round(self.released_error_m)),
                ("guesses off by (m)", round(self.guess_error_m)),
                ("homes: the likeliest square of a trace", self.homes),
                ("found in the release as it is", self.homes_in_release),
                ("found by the reader", self.homes_found),
                ("second places (work) found", self.seconds_found),
            ),
        )

    def _names(self) -> tuple[Table, ...]:
        if self.homes_named is None:
            return ()
        return (
            Table(
                "Homes by name"
                + ("" if len(self.homes_named) <= _SHOWN else f", the first {_SHOWN}"),
                ("trace", "taken for", "right", "m off"),
                tuple(
                    (home.trace, home.called, "yes" if home.right else "no", round(home.off_m))
                    for home in self.homes_named[:_SHOWN]
                ),
            ),
        )

    def _charts(self) -> tuple[Chart, ...]:
        walks = (walks_map(self.walks),) if self.walks else ()
        rows = [("as released", self.released_error_m), ("read together", self.guess_error_m)]
        return (
            *walks,
            bar_chart(
                rows,
                name="followed",
                title="How far off places are",
                alt=f"Releases are {length_words(rows[0][1] / 1000)} off on average, guesses of an "
                f"attacker who reads whole traces {length_words(rows[1][1] / 1000)}.",
                axis="m off, on average",
                columns=("what", "m off"),
            ),
        )
