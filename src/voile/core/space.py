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
    try:
        array = np.array(values)
    except ValueError as problem:
        raise InvalidInput(
            f"{name} must be labels, or rows of numbers of one length; the rows differ in length"
        ) from problem
    require(array.ndim in (1, 2), name, "one- or two-dimensional", f"{array.ndim} dimensions")
    require(len(array) > 0, name, "at least one", "none")
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
        if len(bad):
            raise InvalidInput(
                f"{name} must be finite numbers, got NaN or infinity in {len(bad)} of "
                f"{len(array)} rows (the first is row {bad[0]}); drop or mend those rows"
            )
    return frozen(array)


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
        return lookup(self._positions, np.asarray(values), size=len(self))

    def nearest(self, points: Sequence[Any] | Items) -> Indices:
        """Position of the item nearest to each point (the first of equals)."""
        points = np.asarray(points)
        found = np.empty(len(points), dtype=np.intp)
        for rows, block in self.metric.blocks(points, self.items):
            found[rows] = block.argmin(axis=1)
        return found


def lookup(positions: dict[Any, int], values: Items, *, size: int) -> Indices:
    """Positions of values by exact match; the error counts strangers and never shows one."""
    found = [positions.get(key, -1) for key in _keys(values)]
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


def _keys(items: Items) -> list[Any]:
    if items.ndim == 1:
        return list(items.tolist())
    return [tuple(row) for row in items.tolist()]
