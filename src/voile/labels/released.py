"""What a release of labelled records is, what it promises, and its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from voile.audit.finding import Verdict
from voile.core.guarantee import Basis, Guarantee
from voile.core.rounding import at_most, percent_at_most
from voile.files.locations import location
from voile.jobs.ledger_choice import Charged
from voile.labels.charts import belief_chart
from voile.labels.protection import Protection
from voile.report.charts_common import bar_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table
from voile.report.result import SILENT, Result
from voile.report.words import COUNTS, columns_in_clear, counted, ground, sentence

LEARNED = (
    "LEARNED FROM THE PRIVATE FILE: the output shows ranges, names of categories and classes, "
    "or typical records that were taken from it, and nothing bounds that."
)
"""What a release by a recipe that was learned in private must say first."""


@dataclass(frozen=True)
class LabelBounds:
    """The epsilons of a release; None where nothing bounds it.

    Of the label to somebody who knows the features, of the label by the whole release, of the
    whole record.
    """

    label: float | None
    conditional: float | None
    local: float | None


@dataclass(frozen=True)
class Shape:
    """What a release of typical records can hold: how many rows differ, and in what."""

    different_rows: int
    typical_records: int
    features_that_vary: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False)
class ProtectedLabels(Result):
    """A release of labelled records: what was written, and the strongest bound on a label."""

    releases: ClassVar[bool] = True

    guarantee: Guarantee
    """Of the label by the whole release if there is one, of the label alone otherwise."""
    output: str
    recipe: str | None
    """Its file; none for one that was given in memory."""
    learned_from_private: bool
    records: int
    skipped: int
    masked: int
    mechanism: str
    epsilon: LabelBounds
    basis: Basis
    explanation: str
    not_covered: tuple[str, ...]
    kept_cells: float
    shape: Shape | None
    passed_in_clear: tuple[str, ...]
    passed_all: bool
    dropped: tuple[str, ...]
    looks_like_identifiers: Mapping[str, str]
    stamp: str
    ledger: Charged | None
    protection: Protection = field(metadata=SILENT)
    resumed: int = field(default=0, metadata=SILENT)
    """Parts that an interrupted run had drawn."""

    @property
    def data(self) -> str:
        """What may be handed on: the file that was written."""
        return self.output

    def _outputs(self) -> tuple[str, ...]:
        return (self.output,)

    def _report(self) -> Report:
        clear = self._in_clear()
        return Report(
            title="A release of labelled records",
            at_risk=(LEARNED,) if self.learned_from_private else (),
            in_clear=(clear,) if clear else (),
            answer=self._answer(),
            verdict=Verdict.OPEN if self.basis is Basis.CLAIMED or clear else Verdict.HOLDS,
            because=self._because(),
            guarantee=tuple(
                line for line in self.explanation.splitlines() if not line.startswith("Not covered")
            ),
            not_protected=self._not_protected(),
            notes=self._notes(),
            tables=self._tables(),
            for_owner=(self._files(),),
            draw=self._charts,
            terms=(
                "epsilon",
                "odds",
                "label DP",
                "conditional epsilon",
                "mechanism",
                str(self.basis),
                "secure",
                "seeded",
            ),
        )

    def _in_clear(self) -> str:
        return columns_in_clear(
            {
                "passed_in_clear": self.passed_in_clear,
                "looks_like_identifiers": self.looks_like_identifiers,
            }
        )

    def _answer(self) -> str:
        whole = self.epsilon.conditional is not None
        what = "by all that was released" if whole else "by the released label, for known features"
        half = self.guarantee.best_guess(candidates=2)
        return (
            f"{counted(self.records, 'record')} released to {location(self.output).name} by "
            f"{self.mechanism}: a half-sure guess of a label becomes at most "
            f"{percent_at_most(half)} sure, {what}."
        )

    def _because(self) -> str:
        first = "What stands in clear may give the label away. " if self.passed_in_clear else ""
        epsilon = at_most(self.guarantee.epsilon)
        basis = ground(str(self.basis))
        return f"{first}ε = {epsilon} is {self.guarantee.ground()}. {basis}"

    def _not_protected(self) -> tuple[str, ...]:
        clear = self._in_clear()
        return (
            *((LEARNED,) if self.learned_from_private else ()),
            *((clear,) if clear else ()),
            *((_FEATURES,) if self.protection.passes_features else ()),
            *(sentence(item) for item in self.not_covered),
            "Two records of one person: each spends ε anew.",
            COUNTS,
        )

    def _notes(self) -> tuple[str, ...]:
        found = [] if self.shape is None else [self._shape_sentence(self.shape)]
        if self.dropped:
            found.append(f"Left out: the columns {', '.join(self.dropped)}.")
        if self.kept_cells < 1:
            found.append(
                f"{100 * self.kept_cells:.0f} % of the records keep their cell of features."
            )
        if self.ledger is not None:
            found += self.ledger.sentences()
        if self.stamp:
            found.append(self.stamp)
        return tuple(found)

    def _shape_sentence(self, shape: Shape) -> str:
        """How many different rows the output can hold, and what varies in them."""
        vary = ", ".join(shape.features_that_vary) or "none"
        typical = counted(shape.typical_records, "typical record")
        apart = "Apart from the columns in clear, the" if self.passed_in_clear else "The"
        return (
            f"{apart} output holds at most {counted(shape.different_rows, 'different row')} for "
            f"{counted(self.records, 'record')}: {typical} with each class. "
            f"Features that vary: {vary}; the others are one constant each."
        )

    def _tables(self) -> tuple[Table, ...]:
        bounds = (
            ("label, features known (label DP)", self.epsilon.label),
            ("label, by the whole release (CF)", self.epsilon.conditional),
            ("whole record (local DP)", self.epsilon.local),
        )
        written = (
            ("records released", self.records),
            ("bad rows skipped", self.skipped),
            ("bad rows masked", self.masked),
        )
        rows = tuple((what, _bound(epsilon)) for what, epsilon in bounds)
        return (
            Table("What is bounded", ("what is protected", "bound"), rows),
            Table("What was released", ("what", "value"), written),
        )

    def _files(self) -> Table:
        """Where all of it lies; a page that is handed on tells no folder."""
        files = (
            ("release", self.output),
            ("guarantee", f"{self.output}.guarantee.json"),
            ("recipe", self.recipe or "in memory"),
        )
        return Table("Files", ("what", "where"), files)

    def _charts(self) -> tuple[Chart, ...]:
        belief = belief_chart(
            epsilon=self.guarantee.epsilon,
            noun=self.guarantee.granularity.removeprefix("one "),
            distance=min(1.0, self.guarantee.metric.largest),
        )
        if self.kept_cells >= 1:
            return (belief,)
        kept = self.kept_cells
        cells = bar_chart(
            [("kept", kept), ("replaced by another cell's", 1 - kept)],
            name="cells",
            title="How often a record keeps its cell of features",
            alt=f"{percent(kept)} of the records keep the cell that their features fall into.",
            axis="share of records",
            columns=("cell", "share"),
            shares=True,
        )
        return (belief, cells)


_FEATURES = "The features: they were released as they are, and may give the label away."


def _bound(epsilon: float | None) -> str:
    return "not bounded" if epsilon is None else f"ε = {at_most(epsilon, digits=4)}"
