"""A label that is a number: cut at public edges into bins, which are classes like any others.

Randomised response over bins is what is released (Ghazi et al., ICLR 2023, *Regression with Label
Differential Privacy*): a record's bin stays, or becomes any other alike. A number beyond the range
is in the bin at that end, so that every number has one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.labels.values import numbers_of, shown
from voile.options import Option, Options

MOST = 100
FEW = 5
"""Bins of a range where nobody says how many, and no one epsilon says it either."""


@dataclass(frozen=True)
class Cut(Options):
    """How a label that is a number is cut into classes; nothing for names."""

    edges: Annotated[
        tuple[float, ...],
        Option("For a label that is a number: its PUBLIC range a,b, or all edges a,b,c of bins."),
    ] = ()
    bins: Annotated[
        int | None, Option("With a range: into how many bins; 5, or by epsilon in a release.")
    ] = None

    def at(self, epsilon: float | None = None) -> tuple[float, ...]:
        """All edges, or none: as they were given, or the range cut evenly."""
        require(self.bins is None or len(self.edges) == 2, "bins", "with --edges of a range a,b",
                f"{len(self.edges)} edges")  # fmt: skip
        if not self.edges:
            return ()
        given = checked_edges(self.edges)
        if len(given) > 2:
            return given
        count = (
            self.bins if self.bins is not None else FEW if epsilon is None else bins_for(epsilon)
        )
        require(2 <= count <= MOST, "bins", f"between 2 and {MOST}", count)
        return checked_edges(np.linspace(given[0], given[1], count + 1).tolist())


def checked_edges(edges: Sequence[float]) -> tuple[float, ...]:
    """Edges of bins, if they are that: two or more finite numbers that increase."""
    found = tuple(float(edge) for edge in edges)
    rising = all(a < b for a, b in pairwise(found))
    good = 2 <= len(found) <= MOST + 1 and rising and bool(np.isfinite(found).all())
    require(good, "edges", f"2 to {MOST + 1} finite numbers that increase", f"{len(found)} numbers")
    return found


def bins_for(epsilon: float) -> int:
    """The number of even bins that leaves a debiased label nearest to the true one.

    With k middles v in a range of 1, a number even in it, and p − q = (e^ε − 1)/(e^ε + k − 1), the
    debiased label v̄ + (v − v̄)/(p − q) has a mean squared error of Var(v)·((p − q)⁻² − 1) by
    noise, Var(v) = (1 − k⁻²)/12, and k⁻²/12 by cutting.

    >>> [bins_for(epsilon) for epsilon in (0.5, 2.0, 4.0, 8.0)]
    [2, 2, 4, 14]
    """
    top = math.exp(min(epsilon, 50.0))

    def error(k: int) -> float:
        kept = (top - 1) / (top + k - 1)
        return (1 - k**-2) * (kept**-2 - 1) + k**-2

    return min(range(2, 33), key=error)


def middles(edges: Sequence[float]) -> Floats:
    """The middle of each bin: what it stands for in means."""
    ends = np.array(edges)
    return np.asarray((ends[1:] + ends[:-1]) / 2)


def bin_names(edges: Sequence[float]) -> tuple[str, ...]:
    """What a bin is released as: its middle, rounded down where all edges are whole numbers.

    >>> bin_names((0, 5, 10, 20)), bin_names((0, 0.5, 1))
    (('2', '7', '15'), ('0.25', '0.75'))
    """
    found = middles(edges)
    whole = all(float(edge).is_integer() for edge in edges)
    return tuple(shown(float(np.floor(v) if whole else v)) for v in found)


def rounded(edges: Sequence[float]) -> bool:
    """Whether some bin is released as another number than its middle."""
    return any(
        float(n) != middle for n, middle in zip(bin_names(edges), middles(edges), strict=True)
    )


def bin_codes(edges: Sequence[float], values: Sequence[Any]) -> Indices:
    """The bin of each number, −1 for what is none; a bin holds its lower edge."""
    numbers = numbers_of(list(values))
    codes = np.searchsorted(np.array(edges)[1:-1], numbers, side="right")
    return np.where(np.isnan(numbers), -1, codes).astype(np.intp)
