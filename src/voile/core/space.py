"""A finite set of secrets and the metric between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items, frozen
from voile.core.metric import Metric
from voile.errors import InvalidInput, OutsideSpace, require


def as_items(values: Sequence[Any] | Items, *, name: str = "items") -> Items:
    """Values as a read-only array whose first axis counts items: labels, or rows of numbers."""
    require(not np.ma.is_masked(values), name, "without gaps", "a mask; drop those rows")
    try:
        array = np.array(values)
    except (ValueError, TypeError, OverflowError) as problem:
        raise InvalidInput(
            f"{name} must be labels, or rows of numbers of one length; the rows differ in length"
        ) from problem
    require(array.ndim in (1, 2), name, "one- or two-dimensional", f"{array.ndim} dimensions")
    require(array.size > 0, name, "at least one", "none")
    _check_kept(values, array, name)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        array = array.astype(np.float64)  # in less precision distances would be others
    rows = array.reshape(len(array), -1)
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad):
            raise InvalidInput(
                f"{name} must be finite numbers, got NaN or infinity in {len(bad)} of "
                f"{len(array)} rows (the first is row {bad[0]}); drop or mend those rows"
            )
    elif array.dtype.kind not in "biuUS":
        _check_equal_themselves(rows, name)
    return frozen(array)


def _check_kept(values: Any, array: Items, name: str) -> None:
    """NumPy may have made one kind out of several: numbers into texts, integers into doubles."""
    if isinstance(values, np.ndarray):
        return
    if array.dtype.kind in "US" and array.ndim == 1:
        texts = all(issubclass(kind, str | bytes) for kind in set(map(type, values)))
        require(texts, name, "all texts or all numbers", "both", "write the numbers as texts")
    if array.dtype.kind == "f" and float(np.abs(array).max()) >= 2**53:
        given = np.array(values, dtype=object).ravel().tolist()
        whole = [isinstance(value, int) and value != float(value) for value in given]
        require(not any(whole), name, "numbers that doubles hold", "larger integers among others",
                "give an array of integers")  # fmt: skip


def _check_equal_themselves(rows: Items, name: str) -> None:
    """NaN, NaT and NA are no items: they differ from themselves."""
    try:
        bad = np.flatnonzero(~(rows == rows).astype(bool).all(axis=1))
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"{name} must be plain values that can be compared") from problem
    if len(bad):
        raise InvalidInput(
            f"{name} must not be missing, got {len(bad)} of {len(rows)} rows with NaN or the like "
            f"(the first is row {bad[0]}); drop or mend those rows"
        )


def as_positions(
    values: Sequence[int] | Indices, *, name: str, below: int | None = None
) -> Indices:
    """Whole numbers as they are: nothing is rounded, read or counted from the end."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InvalidInput(
            f"{name} must be a list of whole numbers, got {array.ndim} dimensions of {array.dtype}"
        )
    if below is not None and array.size and (array.min() < 0 or array.max() >= below):
        raise InvalidInput(f"{name} must be positions below {below}, got others")
    return array.astype(np.intp, copy=False)


@dataclass(frozen=True, eq=False)
class Space:
    """The possible secrets and how far apart they are.

    Items are labels (one axis) or points (two axes, one row a point). Items at distance 0 are
    allowed: they are one secret under two names, and every mechanism treats them alike.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean(unit="km"))
    >>> len(line), line.diameter(), line.smallest_distance()
    (3, 2.0, 1.0)
    """

    items: Items
    metric: Metric

    def __init__(self, items: Sequence[Any] | Items, metric: Metric) -> None:
        object.__setattr__(self, "items", as_items(items))
        object.__setattr__(self, "metric", metric)
        metric.check_items(self.items)

    def __reduce__(self) -> tuple[Any, ...]:
        return Space, (self.items, self.metric)  # checked and frozen again

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"Space({len(self)} items, {self.metric})"

    def distances(self, rows: slice | Indices | None = None) -> Floats:
        """Distances from the given rows (default: all of them) to every item."""
        chosen = self.items if rows is None else self.items[rows]
        return self.metric.pairwise(chosen, self.items)

    def diameter(self) -> float:
        """The largest distance between two items."""
        blocks = self.metric.blocks(self.items, self.items)
        return max(float(block.max()) for _, block in blocks)

    def smallest_distance(self) -> float:
        """The smallest distance above zero; infinity if there is none."""
        blocks = self.metric.blocks(self.items, self.items)
        return min(float(np.min(b, where=b > 0, initial=np.inf)) for _, b in blocks)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return positions_of(self.items)

    def index(self, values: Sequence[Any] | Items) -> Indices:
        """Positions of values in the space; `OutsideSpace` if one is not there."""
        return lookup(self._positions, values, size=len(self))

    def nearest(self, points: Sequence[Any] | Items) -> Indices:
        """Position of the item nearest to each point (the first of equals)."""
        points = _one_form(points)
        if len(points):
            self.metric.check_items(points)
        found = np.empty(len(points), dtype=np.intp)
        for rows, block in self.metric.blocks(points, self.items):
            found[rows] = block.argmin(axis=1)
        return found


def lookup(positions: dict[Any, int], values: Sequence[Any] | Items, *, size: int) -> Indices:
    """Positions of values by exact match; the error counts strangers and never shows one."""
    try:
        found = [positions.get(key, -1) for key in _keys(_one_form(values))]
    except TypeError as problem:
        raise InvalidInput("values must be plain values, one an item") from problem
    strangers = [i for i, position in enumerate(found) if position < 0]
    if strangers:
        raise OutsideSpace(
            f"values must be among the {size} items, got {len(strangers)} of {len(found)} that "
            f"are not (the first at position {strangers[0]}); snap them first, e.g. with "
            f"space.items[space.nearest(values)]"
        )
    return np.array(found, dtype=np.intp)


def positions_of(items: Items) -> dict[Any, int]:
    """A table from item to its first position."""
    return {key: i for i, key in reversed(list(enumerate(_keys(items))))}


def _one_form(values: Sequence[Any] | Items) -> Items:
    try:
        array = np.asarray(values)
    except ValueError as problem:
        raise InvalidInput("values must be of one form; their rows differ in length") from problem
    require(array.ndim in (1, 2), "values", "one- or two-dimensional", f"{array.ndim} dimensions")
    return array


def _keys(items: Items) -> list[Any]:
    if items.dtype.kind == "b":  # True is not the number 1
        return [("bool", *np.atleast_1d(row).tolist()) for row in items]
    if items.ndim == 1:
        return list(items.tolist())
    return [tuple(row) for row in items.tolist()]
