"""How far apart two secrets are, and in which unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from voile.core.arrays import Floats, Items
from voile.errors import NotAMetric

BLOCK_ELEMENTS = 2**22
"""Distances are computed in blocks of about this many (32 MB of doubles)."""


@dataclass(frozen=True)
class Metric:
    """A distance with a name and a unit; epsilon is always *per unit* of it.

    Two metrics are equal when name, unit and parameters are. `instead` is empty for a true
    metric; for a dissimilarity without the triangle inequality it names the metric to use.
    The distance between two secrets *is* the double that `pairwise` returns: guarantees and
    certificates speak of that number.
    """

    name: str
    unit: str
    distance: Callable[[Items, Items], Floats] = field(compare=False, repr=False)
    parameters: tuple[tuple[str, float | str], ...] = ()
    largest: float = float("inf")
    instead: str = ""
    check_items: Callable[[Items], None] = field(
        default=lambda items: None, compare=False, repr=False
    )

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
        return self.distance(left, right)

    def blocks(
        self, left: Items, right: Items, *, elements: int = BLOCK_ELEMENTS
    ) -> Iterator[tuple[slice, Floats]]:
        """The rows of `pairwise` a block at a time: (which rows, their distances)."""
        step = max(1, elements // max(1, len(right)))
        for start in range(0, len(left), step):
            rows = slice(start, min(start + step, len(left)))
            yield rows, self.distance(left[rows], right)

    def __str__(self) -> str:
        return f"{self.name} distance in {self.unit}"
