"""How far apart two secrets are, and in which unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from voile.core.arrays import Floats, Items
from voile.errors import BadFile, InvalidInput, NotAMetric, require

BLOCK_ELEMENTS = 2**22
"""Distances are computed in blocks of about this many (32 MB of doubles)."""


def _any_items(items: Items) -> None:
    """Nothing is asked of items. A function, so that metrics travel to other processes."""


class MetricRecord(TypedDict):
    """A metric as JSON holds it."""

    name: str
    unit: str
    parameters: dict[str, Any]
    largest: float | str | None


@dataclass(frozen=True)
class Metric:
    """A distance with a name and a unit; epsilon is always *per unit* of it.

    Two metrics are equal when name, unit, parameters and distance are. The metrics of voile have
    distances that compare by what defines them; a function is equal to itself only.
    `instead` is empty for a true metric; for a dissimilarity without the triangle inequality it
    names the metric to use. With `extended`, secrets may be infinitely far apart: the guarantee
    says nothing about such a pair. Otherwise a distance is finite or an error.
    The distance between two secrets *is* the double that `pairwise` returns: guarantees and
    certificates speak of that number.
    """

    name: str
    unit: str
    distance: Callable[[Items, Items], Floats] = field(repr=False)
    parameters: tuple[tuple[str, float | str], ...] = ()
    largest: float = math.inf
    instead: str = ""
    extended: bool = False
    check_items: Callable[[Items], None] = field(default=_any_items, compare=False, repr=False)

    @property
    def is_metric(self) -> bool:
        """Whether the triangle inequality holds."""
        return not self.instead

    def require_metric(self) -> None:
        """Raise `NotAMetric`, naming what to use, unless this is a true metric."""
        if self.instead:
            raise NotAMetric(
                f"a guarantee needs a true metric, and {self.name} violates the triangle "
                f"inequality; use {self.instead}"
            )

    def pairwise(self, left: Items, right: Items) -> Floats:
        """All distances, shape (len(left), len(right)), held in memory at once."""
        if left.shape[1:] != right.shape[1:]:
            raise InvalidInput(
                f"items must be of one form to have a distance, got rows of shape "
                f"{left.shape[1:]} and {right.shape[1:]}"
            )
        table = self.distance(left, right)
        self._check(table)
        return table

    def _check(self, table: Floats) -> None:
        """Refuse what is no distance: at an infinite one, anything would be certified as ε = 0."""
        if not table.size:
            return
        low, high = float(table.min()), float(table.max())  # NaN if there is one
        good = low >= 0 and (high < math.inf or self.extended)
        require(
            good,
            "distances",
            "finite numbers >= 0",
            f"some beyond the range of a double in {self}" if high == math.inf else "others",
            "give coordinates in a larger unit",
        )
        if high > self.largest * (1 + 1e-9):
            raise InvalidInput(f"distances must be at most {self.largest:g}, the largest of {self}")

    def blocks(
        self, left: Items, right: Items, *, elements: int = BLOCK_ELEMENTS
    ) -> Iterator[tuple[slice, Floats]]:
        """The rows of `pairwise` a block at a time: (which rows, their distances)."""
        step = max(1, elements // max(1, len(right)))
        for start in range(0, len(left), step):
            rows = slice(start, min(start + step, len(left)))
            yield rows, self.pairwise(left[rows], right)

    # ── in a file ──────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> MetricRecord:
        """Name, unit, parameters and largest distance, as JSON holds them: infinity is null."""
        return {
            "name": self.name,
            "unit": self.unit,
            "parameters": {name: _finite(value) for name, value in self.parameters},
            "largest": _finite(self.largest),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Metric:
        """The metric that `to_dict` wrote, by name only: it compares, and measures nothing.

        >>> Metric.from_dict(Metric("mine", "km", max).to_dict()).unit
        'km'
        """
        try:
            pairs = dict(record["parameters"]).items()
            parameters = tuple((str(name), _infinite(value)) for name, value in pairs)
            largest = _infinite(record["largest"])
            name, unit = record["name"], record["unit"]
        except (KeyError, TypeError, ValueError) as problem:
            raise BadFile("a metric must have name, unit, parameters and largest") from problem
        named = isinstance(name, str) and isinstance(unit, str)
        if not named or isinstance(largest, str) or not largest >= 0:
            raise BadFile("a metric must have a name, a unit and a largest distance")
        return cls(name, unit, _only_named, parameters, largest)

    def __str__(self) -> str:
        return f"{self.name} distance in {self.unit}"


@dataclass(frozen=True)
class KnownBy:
    """A distance that equals another if their definitions do, such as a digest of the vectors."""

    definition: Hashable
    function: Callable[[Items, Items], Floats] = field(compare=False, repr=False)

    def __call__(self, left: Items, right: Items) -> Floats:
        """All distances."""
        return self.function(left, right)


def _only_named(left: Items, right: Items) -> Floats:
    raise InvalidInput(
        "a metric that was read from a guarantee has a name and no distances; take those of "
        "the mechanism's own space"
    )


def _finite(value: float | str) -> float | str | None:
    """A parameter as JSON holds it."""
    return None if isinstance(value, float) and value == math.inf else value


def _infinite(value: Any) -> float | str:
    """The parameter that JSON holds."""
    if value is None:
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError("a parameter must be a number, a text or null")
    return value
