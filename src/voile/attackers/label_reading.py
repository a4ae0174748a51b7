"""How an attacker reads each column of a table: numbers, categories, codes, dates, free text.

What is learned in reading (frequencies, means of the label by code, weights of words) is learned
from the records that a classifier is fitted to, never from those that it is judged by.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.label_dates import dates_of, parts_of
from voile.attackers.label_spelling import learn_spelling
from voile.core.arrays import Floats, Indices

FEW = 32
"""Up to so many names are categories; more are codes."""
WORDS = 2.5
"""From so many words a value on, on average, a column is free text."""
BITS_OF_TEXT, BITS_OF_CODE = 2**15, 2**12
FOLDS = 5

Values = NDArray[Any]


class Kind(StrEnum):
    """What the attacker takes a column for."""

    NUMBER = "a number"
    CATEGORIES = "categories"
    CODES = "codes"
    DATE = "a date"
    TEXT = "text"
    SPELLING = "how it is written"
    CONSTANT = "a constant"


@dataclass(frozen=True)
class ReadAs:
    """How a column is read; `coded` if its values are also taken one by one, as codes."""

    kind: Kind
    distinct: int
    coded: bool = False

    def __str__(self) -> str:
        counted = f"{self.distinct:,} {self.kind}"
        if self.kind in (Kind.CATEGORIES, Kind.CODES):
            return counted
        also = f" and as {self.distinct:,} codes" if self.coded else ""
        return f"{'words of free text' if self.kind is Kind.TEXT else self.kind}{also}"


def read_as(values: Values) -> ReadAs:
    """What a column is taken for; labels are not looked at.

    Whole numbers and dates that repeat are taken as codes as well: a postcode is a number too.
    Bytes are how cells are written (`as_written`).
    """
    if values.dtype.kind == "S":
        return ReadAs(Kind.SPELLING, len(np.unique(values)))
    number = values.dtype.kind == "f"
    there = values[~np.isnan(values)] if number else values
    distinct = len(np.unique(there))
    if distinct + (number and len(there) < len(values)) < 2:
        return ReadAs(Kind.CONSTANT, distinct)
    repeats = FEW // 2 < distinct <= len(values) / 2
    if _dates(values) is not None:
        return ReadAs(Kind.DATE, distinct, repeats)
    if number:
        return ReadAs(Kind.NUMBER, distinct, repeats and bool((there % 1 == 0).all()))
    if distinct <= FEW:
        return ReadAs(Kind.CATEGORIES, distinct)
    spaces = np.char.count(np.char.strip(there[:: max(1, len(there) // 2000)]), " ")
    text = float(spaces.mean()) + 1 >= WORDS
    return ReadAs(Kind.TEXT if text else Kind.CODES, distinct, repeats)


def _dates(values: Values) -> Floats | None:
    if values.dtype.kind != "f":
        return dates_of(values)
    there = np.isfinite(values)
    whole = np.where(there, values, 0)
    if not there.any() or (whole % 1 != 0).any() or (values[there] < 19_000_101).any():
        return None
    return dates_of(whole.astype(np.int64).astype(np.str_))


@dataclass(frozen=True, eq=False)
class Block:
    """One column as classifiers read it: sparse for linear ones, dense (NaN allowed) for trees."""

    wide: Any
    dense: Floats
    categorical: bool = False
    number: bool = False
    """Whether the first dense column is the number itself, or the day of a date."""

    def taken(self, rows: Indices) -> Block:
        """The same for these rows."""
        return replace(self, wide=self.wide[rows], dense=self.dense[rows])


Encoded = tuple[Any, Floats]
Encode = Callable[[Values], Encoded]
Learn = Callable[[Values, Indices, int], tuple[Encoded, Encode]]
"""From values and labels: the encoding of these very records, where what looks at labels is
cross-fitted, and the encoding of any others."""


def learn_block(
    how: ReadAs, values: Values, labels: Indices, seed: int
) -> tuple[Block, Callable[[Values], Block]]:
    """Learn to read a column: its block for these records, and the way to that of others."""
    ways: list[Learn] = [_WAYS[how.kind]]
    ways += [_coded] if how.coded or how.kind is Kind.CODES else []
    learned = [way(values, labels, seed) for way in ways]

    def side_by_side(parts: Sequence[Encoded]) -> Block:
        from scipy.sparse import csr_array, hstack

        wide = hstack([csr_array(part[0]) for part in parts], format="csr")
        dense = np.hstack([part[1] for part in parts])
        measured = how.kind in (Kind.NUMBER, Kind.DATE)
        return Block(wide, dense, how.kind is Kind.CATEGORIES, measured)

    first = side_by_side([part for part, _ in learned])
    return first, lambda others: side_by_side([encode(others) for _, encode in learned])


def _nothing(values: Values, labels: Indices, seed: int) -> tuple[Encoded, Encode]:
    """A constant: nothing to read."""

    def encode(others: Values) -> Encoded:
        return np.zeros((len(others), 1)), np.zeros((len(others), 1))

    return encode(values), encode


def _scaled(values: Floats, labels: Indices, seed: int) -> tuple[Encoded, Encode]:
    """A number: scaled beside a mark for missing, and as it is."""
    there = values[~np.isnan(values)]
    middle, width = (float(there.mean()), float(there.std())) if len(there) else (0.0, 0.0)

    def encode(others: Values) -> Encoded:
        gone = np.isnan(others)
        scaled = np.where(gone, 0.0, (others - middle) / (width or 1.0))
        return np.stack([scaled, gone], axis=1), others[:, None]

    return encode(values), encode


def _one_hot(values: Values, labels: Indices, seed: int) -> tuple[Encoded, Encode]:
    """A category: one column each, and its number; NaN for one that was not seen."""
    known = np.unique(values)

    def encode(others: Values) -> Encoded:
        at = np.minimum(np.searchsorted(known, others), len(known) - 1)
        seen = known[at] == others
        return np.eye(len(known))[at] * seen[:, None], np.where(seen, at, np.nan)[:, None]

    return encode(values), encode


def _coded(values: Values, labels: Indices, seed: int) -> tuple[Encoded, Encode]:
    """A code: sparse one by one, the mean of the labels that came with it, and how often it came.

    The means are shrunk towards the prior (empirical Bayes) and, for the records that they are
    learned from, taken over the others' folds: a record never sees its own label.
    """
    from sklearn.preprocessing import OneHotEncoder, TargetEncoder

    apart = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2)
    column, kind = values[:, None], "binary" if labels.max() == 1 else "multiclass"
    with _quiet():
        apart.fit(column)
        means = TargetEncoder(target_type=kind).fit(column, labels)
        own = means.transform(column)
        for rest, part in _folds(labels, seed):
            others = TargetEncoder(target_type=kind).fit(column[rest], labels[rest])
            table = others.transform(column[part])
            own[part] = table if table.shape[1] == own.shape[1] else np.nan  # a class is not there
    names, counts = np.unique(values, return_counts=True)

    def encoded(others: Values, table: Floats) -> Encoded:
        at = np.minimum(np.searchsorted(names, others), len(names) - 1)
        often = np.where(names[at] == others, counts[at], 0)
        with _quiet():
            return apart.transform(others[:, None]), np.column_stack([table, often])

    return encoded(values, own), lambda others: encoded(others, means.transform(others[:, None]))


def _dated(values: Values, labels: Indices, seed: int) -> tuple[Encoded, Encode]:
    """A date by its parts: the day as a number, the others one by one."""
    from sklearn.preprocessing import OneHotEncoder

    def parts(others: Values) -> Floats:
        seconds = _dates(others)
        none = np.full(len(others), np.nan)
        return parts_of(none if seconds is None else seconds)

    own = parts(values)
    known = own[:, 0][np.isfinite(own[:, 0])]
    middle, width = (float(known.mean()), float(known.std())) if len(known) else (0.0, 0.0)
    apart = OneHotEncoder(handle_unknown="ignore").fit(own[:, 1:])

    def encoded(table: Floats) -> Encoded:
        from scipy.sparse import csr_array, hstack

        day = np.nan_to_num((table[:, :1] - middle) / (width or 1.0))
        return hstack([csr_array(day), apart.transform(table[:, 1:])]), table

    return encoded(own), lambda others: encoded(parts(others))


def _worded(values: Values, labels: Indices, seed: int) -> tuple[Encoded, Encode]:
    """Free text: hashed words and pairs of words."""
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(
        n_features=BITS_OF_TEXT, ngram_range=(1, 2), alternate_sign=False, norm=None
    )
    return _weighed(hashing, values, labels, seed)


def _spelt(values: Values, labels: Indices, seed: int) -> tuple[Encoded, Encode]:
    """A code by its spelling: how it begins and ends, and its triples of characters."""
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(
        n_features=BITS_OF_CODE, analyzer=_spelling, alternate_sign=False, norm=None
    )
    return _weighed(hashing, values, labels, seed)


def _spelling(name: str) -> list[str]:
    starts = [f"^{name[:size]}" for size in range(1, min(len(name), 6) + 1)]
    ends = [f"{name[-size:]}$" for size in range(1, min(len(name), 3) + 1)]
    return [*starts, *ends, *(name[at : at + 3] for at in range(len(name) - 2))]


def _weighed(hashing: Any, values: Values, labels: Indices, seed: int) -> tuple[Encoded, Encode]:
    """TF-IDF for linear classifiers; for trees what naive Bayes reads in it, cross-fitted."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.naive_bayes import ComplementNB

    weigh, reader = TfidfTransformer(sublinear_tf=True), ComplementNB()
    own = weigh.fit_transform(hashing.transform(values))
    beliefs = np.full((len(values), len(np.unique(labels))), np.nan)
    for rest, part in _folds(labels, seed):
        found = ComplementNB().fit(own[rest], labels[rest]).predict_log_proba(own[part])
        if found.shape[1] == beliefs.shape[1]:  # else a class is not there: nothing is known
            beliefs[part] = found
    reader.fit(own, labels)

    def encode(others: Values) -> Encoded:
        table = weigh.transform(hashing.transform(others))
        return table, reader.predict_log_proba(table)

    return (own, beliefs), encode


def _folds(labels: Indices, seed: int) -> Iterator[tuple[Indices, Indices]]:
    """Splits of the fitted records, for what looks at their labels."""
    from sklearn.model_selection import StratifiedKFold

    fewest = int(np.bincount(labels)[np.unique(labels)].min())
    folds = StratifiedKFold(max(2, min(FOLDS, fewest)), shuffle=True, random_state=seed)
    with _quiet():
        yield from folds.split(labels, labels)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings about rare classes and codes that were not seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


_WAYS: dict[Kind, Learn] = {
    Kind.NUMBER: _scaled,
    Kind.CATEGORIES: _one_hot,
    Kind.CODES: _spelt,
    Kind.DATE: _dated,
    Kind.TEXT: _worded,
    Kind.SPELLING: learn_spelling,
    Kind.CONSTANT: _nothing,
}
