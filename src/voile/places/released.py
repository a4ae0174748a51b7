"""What a release of places promised, and its report."""

from __future__ import annotations

from dataclasses import dataclass, field

from voile.audit.finding import Verdict
from voile.core.guarantee import Basis
from voile.core.rounding import odds_at_most
from voile.jobs.release import Release, Rows
from voile.places.design_report import REPEATED, likely_place
from voile.places.designs import PlacesDesign
from voile.report.charts_common import guarantee_chart
from voile.report.model import Report, Table, promised
from voile.report.result import SILENT
from voile.report.words import COUNTS, counted, ground, sentence, times_in_clear


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class PlacesRelease(Release):
    """A release of places: what ε is per, and what became of places off the map."""

    distance: str
    times_in_clear: tuple[str, ...]
    """Columns that passed in clear and look like times."""
    mechanism_sha256: str
    places_outside_the_map: int
    design: PlacesDesign = field(metadata=SILENT)

    def _report(self) -> Report:
        """What was promised for the released places."""
        guarantee, rows = self.guarantee, self.rows or Rows()
        claim, unit = guarantee.epsilon, guarantee.metric.unit
        clear = tuple(
            line for line in (self.columns.sentence(), times_in_clear(self.times_in_clear)) if line
        )
        unsure = guarantee.basis == Basis.CLAIMED or clear
        outside = (sentence(item) for item in guarantee.outside)
        return Report(
            title="A release of places",
            answer=(
                f"{counted(rows.released, 'place')} {'was' if rows.released == 1 else 'were'} "
                f"replaced by draws: between two places 1 {unit} apart, one release moves the odds "
                f"by at most {odds_at_most(guarantee.odds_factor(1.0))}."
            ),
            verdict=Verdict.OPEN if unsure else Verdict.HOLDS,
            because=f"ε = {claim:g} per {unit} is {guarantee.basis}. {ground(guarantee.basis)}",
            guarantee=promised(guarantee),
            not_protected=(*clear, *outside, REPEATED, COUNTS),
            notes=tuple(self._notes(rows)),
            tables=(self._table(rows),),
            draw=lambda: (likely_place(self.design), guarantee_chart(guarantee, farthest=2.0)),
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
        )

    def _notes(self, rows: Rows) -> list[str]:
        """How the release went, in sentences."""
        said = []
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
                ("places that can be reported", len(self.design.mechanism.outputs)),
                ("columns in clear", ", ".join(self.columns.passed_in_clear) or "none"),
                ("columns left out", ", ".join(self.columns.dropped) or "none"),
            ),
        )
