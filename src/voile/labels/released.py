"""What a release of labelled records is, what it promises, and its report."""

from __future__ import annotations

from dataclasses import dataclass, field

from voile.audit.finding import Verdict
from voile.core.guarantee import Basis
from voile.core.rounding import at_most, percent_at_most
from voile.files.locations import location
from voile.jobs.release import Release
from voile.labels.bins import rounded
from voile.labels.charts import belief_chart
from voile.labels.handing import Shuffling
from voile.labels.law import Draws
from voile.labels.protection import Protection
from voile.labels.recipes import Recipe
from voile.report.charts_common import bar_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table
from voile.report.result import SILENT
from voile.report.words import COUNTS, counted, ground, sentence

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

    @classmethod
    def of(cls, protection: Protection) -> LabelBounds:
        """The bounds of a protection."""
        bounds = (protection.label, protection.conditional, protection.local)
        return cls(*(None if bound is None else bound.epsilon for bound in bounds))


@dataclass(frozen=True)
class Shape:
    """What a release of typical records can hold: how many rows differ, and in what."""

    different_rows: int
    typical_records: int
    features_that_vary: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class ProtectedLabels(Release):
    """A release of labelled records; `guarantee` is its strongest bound on a label.

    That is the bound by the whole release if there is one, of the label alone otherwise. `recipe`
    is a file, or nothing for one that was made or given in memory.
    """

    recipe: str | None
    learned_from_private: bool
    draws: Draws
    drawn: tuple[str, ...]
    """The columns that were drawn: the label, and the features that did not pass."""
    epsilon: LabelBounds
    kept_cells: float
    shape: Shape | None
    shuffled: Shuffling | None = None
    """What holds of the whole file, where rows are in a random order."""
    memo: bool = False
    """Whether a person's report is the same whenever the record is."""
    protection: Protection = field(metadata=SILENT)
    by: Recipe = field(metadata=SILENT)
    """The recipe itself."""

    @property
    def records(self) -> int:
        """How many records were released."""
        return 0 if self.rows is None else self.rows.released

    def _report(self) -> Report:
        clear = self.columns.sentence()
        basis = self.guarantee.basis
        return Report(
            title="A release of labelled records",
            at_risk=(LEARNED,) if self.learned_from_private else (),
            in_clear=(clear,) if clear else (),
            answer=self._answer(),
            verdict=Verdict.OPEN if basis is Basis.CLAIMED or clear else Verdict.HOLDS,
            because=self._because(),
            guarantee=tuple(
                line for line in self.explanation if not line.startswith("Not covered")
            ),
            not_protected=self._not_protected(),
            notes=self._notes(),
            tables=self._tables(),
            for_owner=self._files(),
            draw=self._charts,
            terms=(
                "epsilon",
                "odds",
                "label DP",
                "conditional epsilon",
                "mechanism",
                str(basis),
                "secure",
                "seeded",
            ),
        )

    def _answer(self) -> str:
        whole = self.epsilon.conditional is not None
        what = "by all that was released" if whole else "by the released label, for known features"
        half = self.guarantee.best_guess(candidates=2)
        where = "" if self.output is None else f" to {location(self.output).name}"
        return (
            f"{counted(self.records, 'record')} released{where} by {self.mechanism}: a half-sure "
            f"guess of a label becomes at most {percent_at_most(half)} sure, {what}."
        )

    def _because(self) -> str:
        clear = bool(self.columns.passed_in_clear)
        first = "What stands in clear may give the label away. " if clear else ""
        epsilon = at_most(self.guarantee.epsilon)
        basis = ground(str(self.guarantee.basis))
        return f"{first}ε = {epsilon} is {self.guarantee.ground()}. {basis}"

    def _not_protected(self) -> tuple[str, ...]:
        clear = self.columns.sentence()
        return (
            *((LEARNED,) if self.learned_from_private else ()),
            *((clear,) if clear else ()),
            *((_FEATURES,) if self.protection.passes_features else ()),
            *(sentence(item) for item in self.guarantee.outside),
            "Two records of one person: each spends ε anew."
            if not self.memo
            else "Several records of one person: each different one spends ε.",
            COUNTS,
        )

    def _notes(self) -> tuple[str, ...]:
        found = [] if self.shape is None else [self._shape_sentence(self.shape)]
        if self.protection.sampler is not None:
            listed = ", ".join(self.drawn[1:])
            found.append(f"Reported with the label, one of them a record: {listed}.")
        if self.by.edges and rounded(self.by.edges):
            found.append(
                "A bin of the label is released as its middle, rounded down, since all edges are "
                "whole; estimates take the middle itself."
            )
        if self.columns.dropped:
            found.append(f"Left out: the columns {', '.join(self.columns.dropped)}.")
        if self.kept_cells < 1:
            kept = f"{100 * self.kept_cells:.0f} %"
            found.append(f"{kept} of the records keep their cell of features.")
        if self.ledger is not None:
            found += self.ledger.sentences()
        return tuple(found)

    def _shape_sentence(self, shape: Shape) -> str:
        """How many different rows the output can hold, and what varies in them."""
        vary = ", ".join(shape.features_that_vary) or "none"
        typical = counted(shape.typical_records, "typical record")
        clear = bool(self.columns.passed_in_clear)
        apart = "Apart from the columns in clear, the" if clear else "The"
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
        shown = tuple((what, _bound(epsilon)) for what, epsilon in bounds)
        if self.shuffled is not None and self.shuffled.delta:
            central = f"{_bound(self.shuffled.epsilon)}, δ = {at_most(self.shuffled.delta)}"
            shown = (*shown, ("whole record, by the shuffled file alone (central)", central))
        found = [Table("What is bounded", ("what is protected", "bound"), shown)]
        if self.rows is not None:
            written = (
                ("records released", self.rows.released),
                ("bad rows skipped", self.rows.skipped),
                ("bad rows masked", self.rows.masked),
            )
            found.append(Table("What was released", ("what", "value"), written))
        return tuple(found)

    def _files(self) -> tuple[Table, ...]:
        """Where all of it lies; a page that is handed on tells no folder."""
        if self.output is None:
            return ()
        files = (
            ("release", self.output),
            ("guarantee", f"{self.output}.guarantee.json"),
            ("recipe", self.recipe or "in memory"),
        )
        return (Table("Files", ("what", "where"), files),)

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


_FEATURES = (
    "The features: they were released as they are, and may give the label away; so may how a cell "
    "is written (blanks, decimals) and the order of rows."
)


def _bound(epsilon: float | None) -> str:
    return "not bounded" if epsilon is None else f"ε = {at_most(epsilon, digits=4)}"
