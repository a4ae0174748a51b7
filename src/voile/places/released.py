"""What a release of places promised, and its report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from voile.audit.finding import Verdict
from voile.core.guarantee import Basis
from voile.core.rounding import odds_at_most
from voile.jobs.release import Release, Rows
from voile.places.design_report import REPEATED, likely_place
from voile.places.design_words import distance_words
from voile.places.designs import PlacesDesign
from voile.places.earth import Globe
from voile.places.fallen import Fall, TraceFall
from voile.places.noise import PlacesNoise
from voile.places.noise_charts import fall_chart
from voile.places.one_map import left_out_words
from voile.places.releaser import Blur
from voile.places.traces import TraceLaw
from voile.report.charts_common import guarantee_chart
from voile.report.model import Chart, Report, Table, promised
from voile.report.result import SILENT
from voile.report.words import COUNTS, counted, ground, sentence, times_in_clear

_ORDER = (
    "The order of rows, which is the file's: of rows that were sorted by place, neighbours tell "
    "what the noise hides."
)


@dataclass(frozen=True)
class Traces:
    """Traces, and how many of their places were drawn; the rest repeats or lies between those."""

    way: str
    per: str
    traces: int
    draws: int
    restored: bool = False
    """Whether traces were then read as a whole under public trips."""
    every: int | None = None
    """One new place in so many, where public trips decided that (`--every-by`)."""
    fall: TraceFall | None = None
    """How far draws fall from the truth, by the law."""
    public_left_out: int = 0
    """Public places off the map that traces were read on, which is where most of them are."""

    def sentence(self, places: int) -> str:
        """What a reader should know of it."""
        rest = {
            "every": "those between lie on straight lines",
            "predict": "the others repeat the release before them",
            "stays": "the others repeat what was drawn for their square",
        }
        more = f"; {rest[self.way]}" if self.way in rest and self.draws < places else ""
        fitted = (
            "" if self.every is None else f" (--every {self.every}, as serves public trips best)"
        )
        whole = (
            ". Then each was read as a whole under public trips: post-processing, at the same ε"
            if self.restored
            else ""
        )
        return (
            f"{counted(self.traces, 'trace')} of {counted(places, 'place')}, of which "
            f"{self.draws:,} {'was' if self.draws == 1 else 'were'} drawn{fitted}{more}{whole}"
        )


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class PlacesRelease(Release):
    """A release of places: what ε is per, and what became of places off the map."""

    distance: str
    times_in_clear: tuple[str, ...]
    """Columns that passed in clear and look like times."""
    heights_in_clear: tuple[str, ...] = ()
    """Columns that passed in clear and are called heights."""
    mechanism_sha256: str
    places_outside_the_map: int
    reference_system: str | None = None
    """Of the columns, where it was named: `--crs`."""
    places_outside_the_system: int = 0
    """Places where that system is not for, such as feet that were taken for metres."""
    traces: Traces | None = None
    """What became of traces, where places were released in traces."""
    fall: Fall | None
    """How far releases of noise lie from the truth; a design's report says it of designs."""
    blur: Blur | TraceLaw = field(metadata=SILENT)

    def _report(self) -> Report:
        """What was promised for the released places."""
        guarantee, rows = self.guarantee, self.rows or Rows()
        claim, unit = guarantee.epsilon, guarantee.metric.unit
        clear = tuple(
            line
            for line in (
                self.columns.sentence(),
                times_in_clear(self.times_in_clear),
                _heights_in_clear(self.heights_in_clear),
            )
            if line
        )
        elsewhere = self._elsewhere(rows.released)
        unsure = guarantee.basis == Basis.CLAIMED or clear or elsewhere
        outside = (sentence(item) for item in guarantee.outside)
        return Report(
            title="A release of places",
            answer=(
                f"{counted(rows.released, 'place')} {'was' if rows.released == 1 else 'were'} "
                f"replaced by draws: {self._between()}, one release moves the odds "
                f"by at most {odds_at_most(guarantee.odds_factor(1.0))}."
            ),
            verdict=Verdict.OPEN if unsure else Verdict.HOLDS,
            because=f"ε = {claim:g} per {unit} is {guarantee.basis}. "
            + ground(guarantee.basis, clear=bool(clear)),
            guarantee=promised(guarantee),
            not_protected=(*elsewhere, *clear, *outside, *self._again(), _ORDER, COUNTS),
            notes=tuple(self._notes(rows)),
            tables=(self._table(rows),),
            draw=self._charts,
            terms=(
                "epsilon",
                "odds",
                "certified",
                "proved",
                "mechanism",
                "release",
                "secure",
                "seeded",
            ),
            in_clear=clear,
            at_risk=elsewhere,
        )

    def _elsewhere(self, places: int) -> tuple[str, ...]:
        """That the columns may hold another system's numbers: many are no places of this one."""
        if 10 * self.places_outside_the_system <= places:
            return ()
        return (
            f"{self.places_outside_the_system:,} of {counted(places, 'place')} lie outside the "
            f"area that {self.reference_system} is for. Are they of another system, in other "
            "units, or are northing and easting swapped? Then ε is per another length.",
        )

    def _between(self) -> str:
        if self.traces is None or self.traces.per == "place":
            return f"between two places 1 {self.guarantee.metric.unit} apart"
        which = "" if self.traces.per == "trace" else f" {self.guarantee.granularity} differ and"
        return f"between two traces of which{which} no place differs by more than 1 km"

    def _again(self) -> tuple[str, ...]:
        if self.traces is None:
            return (REPEATED,)
        return ("The same person in another trace: each trace has a budget of its own.",)

    def _charts(self) -> tuple[Chart, ...]:
        unit = self.guarantee.granularity if self.traces is None else "one trace"
        odds = guarantee_chart(replace(self.guarantee, granularity=unit), farthest=2.0)
        if isinstance(self.blur, PlacesDesign):
            return likely_place(self.blur), odds
        return (fall_chart(self.blur), odds) if isinstance(self.blur, PlacesNoise) else (odds,)

    def _notes(self, rows: Rows) -> list[str]:
        """How the release went, in sentences."""
        said = [] if self.fall is None else [self.fall.sentence()]
        said += [] if self.traces is None else [self.traces.sentence(rows.released)]
        if self.traces is not None and self.traces.fall is not None:
            said.append(self.traces.fall.sentence(self.traces.restored))
        if self.traces is not None and self.traces.public_left_out:
            said.append(left_out_words(self.traces.public_left_out))
        if self.output is not None and self.seconds is not None:
            speed = rows.released / max(self.seconds, 1e-9)
            said.append(
                f"Released {rows.released:,} places in {self.seconds:.1f} s ({speed:,.0f} a "
                f"second) to {self.output.rpartition('/')[2]}"
            )
        if self.resumed_parts:
            said.append(
                f"Continued an interrupted job: {self.resumed_parts:,} parts were there and were "
                "not drawn again"
            )
        if rows.skipped or rows.masked:
            said.append(f"Bad rows: {rows.skipped:,} skipped, {rows.masked:,} masked")
        if self.places_outside_the_map:
            said.append(
                f"{self.places_outside_the_map:,} places lay outside the map and were moved to its "
                "border first"
            )
        if self.columns.dropped:
            said.append(f"Left out: the columns {', '.join(self.columns.dropped)}")
        return [*said, *(() if self.ledger is None else self.ledger.sentences())]

    def _table(self, rows: Rows) -> Table:
        return Table(
            "What was released",
            ("what", "value"),
            (
                ("places released", rows.released),
                ("bad rows skipped", rows.skipped),
                ("bad rows masked", rows.masked),
                ("moved to the border of the map", self.places_outside_the_map),
                ("method", self.mechanism),
                ("ε is per", self.distance),
                *self._fallen(),
                ("columns in clear", ", ".join(self.columns.passed_in_clear) or "none"),
                ("columns left out", ", ".join(self.columns.dropped) or "none"),
            ),
        )

    def _fallen(self) -> Sequence[tuple[str, int | str]]:
        """How far places were moved, or to how many they can be."""
        if self.fall is not None:
            return self.fall.rows()
        if self.traces is not None:
            fallen = () if self.traces.fall is None else self.traces.fall.rows()
            counts = (("traces", self.traces.traces), ("places drawn", self.traces.draws))
            return (*counts, *fallen)
        assert isinstance(self.blur, PlacesDesign)
        return (("places that can be reported", len(self.blur.mechanism.outputs)),)


def _heights_in_clear(names: Sequence[str]) -> str:
    """That heights beside blurred places narrow these down."""
    if not names:
        return ""
    return (
        f"Heights IN CLEAR ({', '.join(names)}) narrow places down: of the places near a release, "
        "few lie so high."
    )


def named(blur: Blur | TraceLaw) -> str:
    """What releases the places, in a few words."""
    if isinstance(blur, TraceLaw):
        return f"traces: {blur.tracing.way}, with Laplace noise"
    if isinstance(blur, PlacesDesign):
        return blur.solved.method
    assert isinstance(blur, PlacesNoise)
    where = "the whole Earth" if isinstance(blur.ground, Globe) else "a public box"
    return f"Laplace noise, {where}" + ("" if blur.remap is None else ", then a public remap")


def distance(blur: Blur | TraceLaw) -> str:
    """What ε is per, and between which places."""
    if isinstance(blur, TraceLaw):
        whose = "the place moves" if blur.tracing.per == "place" else "any of its places moves"
        return f"geodesic km on the WGS 84 ellipsoid: the most that {whose}"
    if isinstance(blur, PlacesDesign):
        return distance_words(blur.mechanism.p, blur.reach)
    if blur.reach == math.inf:
        return "geodesic km on the WGS 84 ellipsoid, between any two places on Earth"
    return distance_words(2.0, blur.reach)
