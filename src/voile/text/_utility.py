"""How much of a text file's use is left in its release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voile.errors import InvalidInput, require
from voile.files import no_such_column
from voile.jobs import RowProblem, open_source
from voile.leakage.text_utility import (
    Interval,
    accuracy_on_originals,
    similarity,
    universal_sentence_encoder,
    words_gone,
)

TEST_SHARE = 0.3


@dataclass(frozen=True)
class TextUtility:
    """What was measured; None where it was not asked for."""

    rows: int
    words_gone: float
    similarity: Interval | None
    similarity_rows: int
    accuracy: Interval | None
    baseline: Interval | None
    test_rows: int


def text_utility(
    original: str | Path,
    released: str | Path,
    *,
    column: str = "text",
    label: str | None = None,
    encoder: bool = True,
    sample: int = 500,
    seed: int = 0,
) -> TextUtility:
    """Compare two files row by row: words gone, similarity of meaning, accuracy of a classifier.

    The similarity is taken over `sample` rows. With a label column, 70 % of the rows train a
    classifier in their released form and the *other* 30 % test it in their original form; the
    baseline is trained on the originals of the same 70 %.
    """
    before, labels = read_texts(Path(original), column, label)
    after, _ = read_texts(Path(released), column, None)
    same = len(before) == len(after)
    do = "were rows skipped? compare files with the same rows"
    require(same, "the release", f"of {len(before)} rows", len(after), do)
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(len(before))[:sample])
    close = None
    if encoder:
        encode = universal_sentence_encoder()
        close = similarity([before[i] for i in chosen], [after[i] for i in chosen], encode)
    accuracy = baseline = None
    tested = 0
    if label is not None:
        order = rng.permutation(len(before))
        tested = max(1, round(TEST_SHARE * len(before)))
        test, train = order[:tested], order[tested:]
        known = np.array(labels)
        require(len(set(known[train].tolist())) >= 2, "labels", "of two classes or more", "one")
        tests = [before[i] for i in test]
        accuracy, baseline = (
            accuracy_on_originals(
                [texts[i] for i in train], known[train], tests=tests, test_labels=known[test]
            )
            for texts in (after, before)
        )
    return TextUtility(
        rows=len(before),
        words_gone=words_gone(before, after),
        similarity=close,
        similarity_rows=len(chosen) if encoder else 0,
        accuracy=accuracy,
        baseline=baseline,
        test_rows=tested,
    )


def read_texts(path: Path, column: str, label: str | None) -> tuple[list[str], list[str]]:
    """A file's texts and labels, empty where a text is missing."""
    source = open_source(path)
    for name in (column, *([label] if label else [])):
        if name not in source.columns:
            raise no_such_column(name, source.columns, what=f"the column of {path.name}")
    texts, labels = [], []
    for line, row in source.rows():
        if isinstance(row, RowProblem):
            raise InvalidInput(f"{path.name}, line {line}: {row.reason}")
        texts.append(str(row.get(column) or ""))
        labels.append(str(row.get(label)) if label else "")
    return texts, labels
