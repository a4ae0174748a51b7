"""A feature as codes: a number by the nearest of its levels, a category by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.labels.table import Table
from voile.labels.values import ABSENT, MISSING, as_listed, names_of, numbers_of

Bools = NDArray[np.bool_]

OTHER = "(other)"
LEVELS = 16
CATEGORIES = 32


@dataclass(frozen=True)
class NumberColumn:
    """A number, coded as the position of the nearest level; levels increase.

    With `missing` the code after the last level stands for no number. Coding is *total*: without
    that code what is no number takes the middle level, so that no record lacks a code, and none is
    told apart by being left out. `unknown` says which those are.
    """

    name: str
    levels: tuple[float, ...]
    missing: bool = False

    def __len__(self) -> int:
        return len(self.levels) + self.missing

    def read(self, values: Sequence[Any]) -> Floats:
        """The values of a file, NaN for what is no finite number."""
        return numbers_of(values)

    def unknown(self, values: NDArray[Any]) -> Bools:
        """Which of them no code of their own stands for."""
        return np.isnan(values) & (not self.missing)

    def encode(self, values: NDArray[Any]) -> Indices:
        """Codes; a value beyond the ends takes the end."""
        levels = np.array(self.levels)
        codes = np.searchsorted((levels[1:] + levels[:-1]) / 2, values)
        stand_in = len(levels) if self.missing else len(levels) // 2
        return np.where(np.isnan(values), stand_in, codes).astype(np.intp)

    def decode(self, codes: Indices) -> Floats:
        """The levels at these codes, NaN for the missing."""
        return np.array([*self.levels, np.nan])[codes]

    def wide(self, values: NDArray[Any]) -> Floats:
        """The column as it enters a classifier: the number, and whether it is missing."""
        gone = np.isnan(values.astype(np.float64))
        filled = np.where(gone, self.levels[len(self.levels) // 2], values)
        return np.stack([filled, gone], axis=1) if self.missing else filled[:, None]


@dataclass(frozen=True)
class CategoryColumn:
    """A category, coded by its position; `(missing)` and `(other)` may be among them.

    Coding is total: a name that is not listed takes `(other)`, what is missing `(missing)`; each
    takes the other's place where its own is not listed, and the first category where neither is.
    """

    name: str
    categories: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.categories)

    def read(self, values: Sequence[Any]) -> NDArray[np.str_]:
        """The names in a file; a listed name is itself, even if it is NA or None (`as_listed`)."""
        names = names_of(values).tolist()
        listed = as_listed(names, self.categories)
        return np.array(
            [listed.get(n) or (MISSING if n.lower() in ABSENT else n) for n in names], dtype=np.str_
        )

    def unknown(self, values: NDArray[Any]) -> Bools:
        """Which of them neither a category of their own nor `(other)` stands for."""
        open_to_all = OTHER in self.categories
        told = ~np.isin(values, np.array(self.categories))
        return told & ~((values != MISSING) & open_to_all)

    def encode(self, values: NDArray[Any]) -> Indices:
        """Codes, for every name there may be."""
        known = {name: code for code, name in enumerate(self.categories)}
        other = known.get(OTHER, known.get(MISSING, 0))
        gone = known.get(MISSING, other)
        return np.array(
            [known.get(name, gone if name == MISSING else other) for name in values.tolist()],
            dtype=np.intp,
        )

    def decode(self, codes: Indices) -> NDArray[np.str_]:
        """The names at these codes."""
        return np.array(self.categories, dtype=np.str_)[codes]

    def wide(self, values: NDArray[Any]) -> Floats:
        """One column a category (a single one for two)."""
        table = np.eye(len(self.categories))[self.encode(values)]
        return table[:, 1:] if len(self.categories) == 2 else table


Column = NumberColumn | CategoryColumn


def columns_of(table: Table, *, levels: int = LEVELS, fewest: int = 1) -> tuple[Column, ...]:
    """A coding for each feature, learned from the table.

    Numbers get up to `levels` levels at even quantiles, each with at least `fewest` records at or
    beyond it on either side: 1 includes the ends. Categories that fewer records have, or that are
    not among the commonest 31, become `(other)`. A column in which something is missing has a code
    for that. What is learned (ranges, names) shows the records it was learned from.
    """
    return tuple(
        _numbers(name, values, levels, fewest)
        if values.dtype.kind == "f"
        else _categories(name, values, fewest)
        for name, values in zip(table.names, table.columns, strict=True)
    )


def _numbers(name: str, values: NDArray[Any], levels: int, fewest: int) -> NumberColumn:
    there = np.sort(values[~np.isnan(values)])
    inner = there[fewest - 1 : len(there) - fewest + 1]
    if not len(inner):  # too few to show any
        inner = np.zeros(1)
    cuts = np.quantile(inner, np.linspace(0, 1, levels), method="nearest")
    return NumberColumn(name, tuple(np.unique(cuts).tolist()), len(there) < len(values))


def _categories(name: str, values: NDArray[Any], fewest: int) -> CategoryColumn:
    names, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    common = order[counts[order] >= fewest]
    if len(common) == len(names) <= CATEGORIES:
        return CategoryColumn(name, tuple(names.tolist()))
    gone = set(names.tolist()) & {MISSING}  # what is missing is not one of the others
    kept = {*names[common[: CATEGORIES - 1]].tolist(), *gone}
    return CategoryColumn(name, (*sorted(kept - {OTHER}), OTHER))


def matrix_of(
    columns: Sequence[Column], values: Sequence[NDArray[Any]]
) -> tuple[Floats, tuple[Indices, ...]]:
    """All features side by side for a classifier, and which columns belong to which feature."""
    parts = [column.wide(part) for column, part in zip(columns, values, strict=True)]
    ends = np.cumsum([part.shape[1] for part in parts])
    groups = [np.arange(end - part.shape[1], end) for part, end in zip(parts, ends, strict=True)]
    return np.hstack(parts), tuple(groups)


def constant(values: NDArray[Any]) -> bool:
    """Whether a feature says nothing."""
    return bool((values == values[0]).all()) or bool((values != values).all())


def determines(values: NDArray[Any], labels: NDArray[Any]) -> bool:
    """Whether every value that occurs more than once comes with one label, and some do repeat.

    Such a feature gives the label away whatever is done to the label. A column of distinct
    values (an identifier) does not count: it determines everything in the sample and nothing else.
    """
    names, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(names) < 2 or counts[inverse].min() < 2:
        return False
    classes, code = np.unique(labels, return_inverse=True)
    seen = np.zeros((len(names), len(classes)), dtype=bool)
    seen[inverse, code] = True
    return bool((seen.sum(axis=1) == 1).all())
