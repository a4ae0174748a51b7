"""A feature as codes: a number by the nearest of its levels, a category by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.domains.labels.table import Table
from voile.errors import InvalidInput

OTHER = "(other)"
LEVELS = 16
CATEGORIES = 32


@dataclass(frozen=True)
class NumberColumn:
    """A number, coded as the position of the nearest level; levels increase."""

    name: str
    levels: tuple[float, ...]

    def encode(self, values: NDArray[Any], lines: Indices) -> Indices:
        """Codes; a value beyond the ends takes the end."""
        if values.dtype.kind not in "fiu":
            raise InvalidInput(f"column {self.name!r} must hold numbers, as its recipe says")
        levels = np.array(self.levels)
        middles = (levels[1:] + levels[:-1]) / 2
        return np.asarray(np.searchsorted(middles, values), dtype=np.intp)

    def decode(self, codes: Indices) -> NDArray[Any]:
        """The levels at these codes."""
        return np.array(self.levels)[codes]

    def wide(self, values: NDArray[Any]) -> Floats:
        """The column as it enters a classifier."""
        return values.astype(np.float64)[:, None]


@dataclass(frozen=True)
class CategoryColumn:
    """A category; a name that is not listed is `(other)` where that is listed, else an error."""

    name: str
    categories: tuple[str, ...]

    def encode(self, values: NDArray[Any], lines: Indices) -> Indices:
        """Codes; the error names the line of a stranger and not the value."""
        known = {name: code for code, name in enumerate(self.categories)}
        fallback = known.get(OTHER, -1)
        codes = np.array([known.get(str(v), fallback) for v in values.tolist()], dtype=np.intp)
        strangers = np.flatnonzero(codes < 0)
        if len(strangers):
            raise InvalidInput(
                f"line {lines[strangers[0]]}: the category of {self.name!r} is not in the recipe "
                f"({len(strangers)} such records); add it there, or add {OTHER!r}"
            )
        return codes

    def decode(self, codes: Indices) -> NDArray[Any]:
        """The names at these codes."""
        return np.array(self.categories)[codes]

    def wide(self, values: NDArray[Any]) -> Floats:
        """One column a category (a single one for two)."""
        codes = self.encode(values, np.zeros(len(values), dtype=np.intp))
        table = np.eye(len(self.categories))[codes]
        return table[:, 1:] if len(self.categories) == 2 else table


Column = NumberColumn | CategoryColumn


def columns_of(table: Table, *, levels: int = LEVELS) -> tuple[Column, ...]:
    """A coding for each feature, learned from the table.

    Numbers get up to `levels` levels at even quantiles of the distinct range, ends included;
    categories beyond the commonest become `(other)`. What is learned (ranges, names) is taken
    from the records: a fixed recipe avoids that.
    """
    found: list[Column] = []
    for name, values in zip(table.names, table.columns, strict=True):
        if values.dtype.kind == "f":
            cuts = np.quantile(values, np.linspace(0, 1, levels), method="nearest")
            found.append(NumberColumn(name, tuple(np.unique(cuts).tolist())))
        else:
            names, counts = np.unique(values, return_counts=True)
            if len(names) <= CATEGORIES:
                found.append(CategoryColumn(name, tuple(names.tolist())))
            else:
                common = np.sort(names[np.argsort(-counts, kind="stable")[: CATEGORIES - 1]])
                found.append(CategoryColumn(name, (*common.tolist(), OTHER)))
    return tuple(found)


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
    return bool((values == values[0]).all())


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
