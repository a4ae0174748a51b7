"""Distances that occur between words: how far the nearest other word is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voile.core.metric import Metric

LOOKED_AT = 1000
"""So many words of a vocabulary, spread evenly by rank, stand for all."""


@dataclass(frozen=True)
class NearestWords:
    """The distance that half of the words have to their nearest one at most, and one in twenty.

    None where there is no bound: the metric tells such words apart altogether.
    """

    five_percent: float | None
    median: float | None
    looked_at: int

    def distances(self) -> tuple[float, ...]:
        """Those that are known, the smaller first."""
        return tuple(d for d in (self.five_percent, self.median) if d is not None)


def nearest_words(metric: Metric, size: int) -> NearestWords:
    """How far the nearest other word is, of at most 1,000 words spread evenly, the same each time.

    It depends on the vocabulary alone, which is public. Costs 1,000 passes over the vocabulary.
    """
    chosen = np.unique(np.linspace(0, size - 1, min(size, LOOKED_AT)).astype(np.intp))
    found = np.empty(len(chosen))
    for rows, distances in metric.blocks(chosen, np.arange(size), elements=2**22):
        others = np.array(distances, dtype=float)
        others[np.arange(len(others)), chosen[rows]] = np.inf
        found[rows] = others.min(axis=1)
    five, middle = np.quantile(found, (0.05, 0.5), method="lower").tolist()
    return NearestWords(
        five if math.isfinite(five) else None,
        middle if math.isfinite(middle) else None,
        len(chosen),
    )
