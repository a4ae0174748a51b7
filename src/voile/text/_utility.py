"""How much of a text's use is left in its release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from voile.audit.finding import Verdict
from voile.errors import require
from voile.leakage.text_utility import (
    Interval,
    accuracy_on_originals,
    similarity,
    universal_sentence_encoder,
    words_gone,
)
from voile.options import Data, Option, use_case
from voile.progress import tell
from voile.report.charts_common import bar_chart, interval_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table, Value
from voile.report.result import Result
from voile.report.words import OWN_FIGURES, TESTED, counted
from voile.text.given import Original, Released, TextColumn
from voile.text.pairs import text_pairs
from voile.text.reading import values_of

TEST_SHARE = 0.3


@dataclass(frozen=True, repr=False, eq=False)
class TextUtility(Result):
    """What was measured; None where it was not asked for."""

    rows: int
    words_gone: float
    similarity: Interval | None
    similarity_rows: int
    accuracy: Interval | None
    baseline: Interval | None
    test_rows: int

    def _records(self) -> Iterator[dict[str, Any]]:
        columns = ("measure", "value", "lower", "upper", "rows")
        return (dict(zip(columns, row, strict=True)) for row in self._table().rows)

    def _report(self) -> Report:
        return Report(
            title="Use of released text",
            about=TESTED,
            answer=self._answer(),
            verdict=Verdict.OPEN,
            because="Usefulness was measured; no claim about privacy was tested.",
            guarantee=(
                f"Originals and release were compared over {counted(self.rows, 'row')}.",
                *(
                    ()
                    if self.accuracy is None
                    else (
                        "The classifier learns from one part of the rows and is tested on "
                        f"originals of {counted(self.test_rows, 'other row')}.",
                    )
                ),
            ),
            not_protected=(
                "How private the release is, which this does not measure: see its guarantee, and "
                "audit it.",
                OWN_FIGURES,
            ),
            tables=(self._table(),),
            draw=self._charts,
            terms=("release", "interval"),
            cards=(("words gone", percent(self.words_gone)),),
        )

    def _answer(self) -> str:
        answer = f"{percent(self.words_gone)} of the words are gone"
        if self.accuracy is not None and self.baseline is not None:
            answer += (
                f", and a classifier trained on the release is right "
                f"{percent(self.accuracy.value)} of the time, instead of "
                f"{percent(self.baseline.value)}"
            )
        elif self.similarity is not None:
            answer += f"; the meaning is {self.similarity.value:.2f} similar on average"
        return answer + "."

    def _estimates(self) -> list[tuple[str, Interval, int]]:
        """What has an interval: its name, its value, and over how many rows."""
        every = (
            ("similarity of meaning", self.similarity, self.similarity_rows),
            ("right, trained on the release", self.accuracy, self.test_rows),
            ("right, trained on the originals", self.baseline, self.test_rows),
        )
        return [(name, found, rows) for name, found, rows in every if found is not None]

    def _table(self) -> Table:
        rows: list[tuple[Value, ...]] = [("words gone", self.words_gone, None, None, self.rows)]
        rows += [(name, e.value, e.lower, e.upper, n) for name, e, n in self._estimates()]
        columns = ("measure", "value", "from (95 %)", "to (95 %)", "rows")
        return Table("What the release is still good for", columns, tuple(rows))

    def _charts(self) -> tuple[Chart, ...]:
        words = bar_chart(
            [("gone", self.words_gone), ("still there", 1 - self.words_gone)],
            name="words",
            title="What is left of the words",
            alt=f"{percent(self.words_gone)} of the originals' words are not in their release.",
            axis="share of words",
            columns=("words", "share"),
            shares=True,
        )
        rows = [(name, e.value, e.lower, e.upper) for name, e, _ in self._estimates()]
        if not rows:
            return (words,)
        use = interval_chart(
            rows,
            name="use",
            title="What the release is still good for",
            alt="; ".join(f"{n} {v:.3f} ({a:.3f} to {b:.3f})" for n, v, a, b in rows) + ".",
            axis="between 0 and 1, with the 95 % interval",
            marks={},
            domain=(min(0.0, *(row[2] for row in rows)), 1.0),
        )
        return use, words


@use_case("text utility")
def utility(
    original: Original,
    released: Released,
    *,
    column: TextColumn = "text",
    label: Annotated[
        Data, Option("A column to predict: how well does the release train?", shown=True)
    ] = None,
    encoder: Annotated[bool, Option("Compare meanings with a sentence encoder.")] = True,
    sample: Annotated[int, Option("Rows to compare by meaning.")] = 500,
    seed: Annotated[int, Option("Repeats the sample and the split.", "Running")] = 0,
) -> TextUtility:
    """Measure what a release is still good for.

    Example: `voile text utility reviews.csv reviews.protected.csv --label label`

    Row by row: words gone, similarity of meaning over `sample` rows, accuracy of a classifier.
    With a label column, 70 % of the rows train a classifier in their released form and the
    *other* 30 % test it in their original form; the baseline is trained on the originals of the
    same 70 %.

    >>> found = utility(["The cat sat", "A dog"], ["the dog sat", "a dog"], encoder=False)
    >>> found
    TextUtility: 20 % of the words are gone.
    """
    before, after = text_pairs(original, released, column)
    labels = values_of(original, label, "label", rows=len(before))
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(len(before))[:sample])
    close = None
    if encoder:
        encode = universal_sentence_encoder()
        close = similarity([before[i] for i in chosen], [after[i] for i in chosen], encode)
    accuracy = baseline = None
    tested = 0
    if labels is not None:
        tested = max(1, round(TEST_SHARE * len(before)))
        accuracy, baseline = _accuracies(before, after, labels, rng, tested=tested)
    return TextUtility(
        rows=len(before),
        words_gone=words_gone(before, after),
        similarity=close,
        similarity_rows=len(chosen) if encoder else 0,
        accuracy=accuracy,
        baseline=baseline,
        test_rows=tested,
    )


def _accuracies(
    before: Sequence[str],
    after: Sequence[str],
    labels: Sequence[str],
    rng: np.random.Generator,
    *,
    tested: int,
) -> list[Interval]:
    """Of classifiers trained on the release and on the originals, on other originals."""
    order = rng.permutation(len(before))
    test, train = order[:tested], order[tested:]
    known = np.array(labels)
    require(len(set(known[train].tolist())) >= 2, "labels", "of two classes or more", "one")
    tests = [before[i] for i in test]
    found = []
    for k, texts in enumerate((after, before)):
        tell("training classifiers", done=k, total=2)
        known_texts = [texts[i] for i in train]
        found.append(
            accuracy_on_originals(known_texts, known[train], tests=tests, test_labels=known[test])
        )
    return found
