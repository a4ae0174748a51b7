"""What was estimated from a released file, and its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from voile.estimate.intervals import Estimate
from voile.report.charts_common import bar_chart
from voile.report.model import Chart, Report, Table
from voile.report.result import SILENT, Result
from voile.report.words import counted

COLUMNS = ("what", "value", "estimate", "from", "to", "likeliest")


@dataclass(frozen=True)
class Share:
    """A share (or mean) of a column's value: unbiased with its interval, and the likeliest."""

    column: str
    value: str
    estimate: Estimate
    likeliest: float

    def row(self) -> tuple[str, str, float, float, float, float]:
        """As it stands in a table."""
        one = self.estimate
        return (self.column, self.value, one.value, one.lower, one.upper, self.likeliest)

    def between(self) -> tuple[float, float]:
        """The interval of a share within 0 and 1, widened to the likeliest share."""
        one, likely = self.estimate, self.likeliest
        return max(0.0, min(one.lower, likely)), min(1.0, max(one.upper, likely))


@dataclass(frozen=True, repr=False, eq=False)
class EstimatedLabels(Result):
    """Shares of classes and of the features' values, means, and one two-way table if asked for."""

    mechanism: str
    records: int
    confidence: float
    classes: tuple[Share, ...]
    features: tuple[Share, ...]
    means: tuple[Share, ...]
    column: str
    table: tuple[Share, ...]
    half_width: float
    records_needed: int | None
    label_edges: tuple[float, ...]
    """The edges of the bins of a label that is a number; none for names."""
    vouched: bool
    """Whether the release's guarantee file says how it was drawn; else its reader does."""
    word: str = field(metadata=SILENT)

    def _records(self) -> Iterator[dict[str, Any]]:
        every = (*self.classes, *self.features, *self.means, *self.table)
        return (dict(zip(COLUMNS, share.row(), strict=True)) for share in every)

    def _report(self) -> Report:
        return Report(
            title="What a release says about the population",
            about="Estimates from released records",
            answer=self._answer(),
            guarantee=(
                f"Each interval holds the population's value {100 * self.confidence:g} % of the "
                f"time by itself, on these grounds. {self._grounds()}",
            ),
            notes=(*self._notes(), self.word),
            tables=self._tables(),
            draw=lambda: (self._chart(),),
            terms=("epsilon", "mechanism"),
        )

    def _answer(self) -> str:
        top = max(self.classes, key=lambda share: share.likeliest)
        low, high = top.between()
        return (
            f"{counted(self.records, 'report')} by {self.mechanism}: {top.value} is "
            f"{100 * top.likeliest:.1f} % of the population at the likeliest, between "
            f"{100 * low:.1f} % and {100 * high:.1f} %."
        )

    def _notes(self) -> tuple[str, ...]:
        return (*self._bins(), *self._needed())

    def _bins(self) -> tuple[str, ...]:
        """How far the mean of bins may be from that of the numbers themselves."""
        if not self.label_edges:
            return ()
        ends = self.label_edges
        widest = max(high - low for low, high in pairwise(ends))
        if len(self.classes) == len(ends):  # one more than there are bins
            return (
                f"The label is a number in bins between {ends[0]:g} and {ends[-1]:g}, or missing: "
                "the shares of its bins are given, and no mean.",
            )
        return (
            f"The label is a number in bins between {ends[0]:g} and {ends[-1]:g}: its mean is that "
            f"of the bins' middles, at most {widest / 2:g} from that of numbers in that range.",
        )

    def _needed(self) -> tuple[str, ...]:
        if self.records_needed is None:
            return ("The releases do not tell the classes apart: only the likeliest is given.",)
        return (
            f"For intervals of ± {self.half_width:g} about {self.records_needed:,} records are "
            "needed.",
        )

    def _grounds(self) -> str:
        """What the intervals of each table rest on, and how many of them where they differ."""
        found = []
        for title, shares in self._parts():
            seen = Counter(share.estimate.ground for share in shares)
            each = (f"{g} ({n} of {len(shares)})" if len(seen) > 1 else g for g, n in seen.items())
            found.append(f"{title}: {'; '.join(each)}.")
        return " ".join(found)

    def _parts(self) -> tuple[tuple[str, tuple[Share, ...]], ...]:
        parts = (
            ("Classes", self.classes),
            ("Means of levels or groups (not of the numbers themselves)", self.means),
            (f"{self.column} with each class", self.table),
            ("Features", self.features),
        )
        return tuple((title, shares) for title, shares in parts if shares)

    def _tables(self) -> tuple[Table, ...]:
        return tuple(
            Table(title, COLUMNS, tuple(_shown(share) for share in shares))
            for title, shares in self._parts()
        )

    def _chart(self) -> Chart:
        return bar_chart(
            [(share.value, max(0.0, share.likeliest)) for share in self.classes],
            name="classes",
            title="The likeliest share of each class",
            alt="The share of each class in the population, as the releases say it.",
            axis="share of records",
            columns=("class", "share"),
            shares=True,
        )


def _shown(share: Share) -> tuple[str, str, str, str, str, str]:
    name, value, *numbers = share.row()
    first, low, high, likely = ("" if n != n else f"{n:.4g}" for n in numbers)
    return (name, value, first, low, high, likely)
