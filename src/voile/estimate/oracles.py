"""Shares from the reports of a frequency oracle: mechanisms too large for a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from voile.core.arrays import Indices, Items
from voile.core.space import Space
from voile.errors import require
from voile.estimate.frequencies import CONFIDENCE, Frequencies
from voile.estimate.intervals import EXACT
from voile.leakage.bounds import clopper_pearson


class FrequencyOracle(Protocol):
    """A report supports its own label with probability `own`, any other one with `other`."""

    @property
    def space(self) -> Space:
        """The labels."""
        ...

    @property
    def own(self) -> float:
        """How often a report supports its own label."""
        ...

    @property
    def other(self) -> float:
        """How often a report supports any other label."""
        ...

    def support(self, releases: Sequence[Any] | Items) -> Indices:
        """How many of the reports support each label."""
        ...


def supported_frequencies(
    oracle: FrequencyOracle, releases: Sequence[Any] | Items, *, confidence: float = CONFIDENCE
) -> Frequencies:
    """Unbiased shares (c_x/n − q)/(p − q), c_x the number of reports that support label x.

    c_x is binomial with mean q + (p − q)·f_x (Wang et al. 2017, "pure" protocols), so the interval
    is exact: Clopper–Pearson's, moved by the same map.

    >>> import voile
    >>> oracle = voile.mechanisms.local_hashing(list("abcdefgh"), epsilon=2.0)
    >>> reports = oracle.release(["a"] * 900 + ["b"] * 100, voile.seeded_rng(1))
    >>> found = supported_frequencies(oracle, reports)
    >>> bool(found.lower[0] < 0.9 < found.upper[0] and found.lower[7] < 0 < found.upper[7])
    True
    """
    records = len(releases)
    require(records > 0, "releases", "at least one", "none")
    require(0 < confidence < 1, "confidence", "between 0 and 1", confidence)
    counts = oracle.support(releases)
    ends = np.array(
        [clopper_pearson(int(c), records, failure_probability=1 - confidence) for c in counts]
    )
    low, span = oracle.other, oracle.own - oracle.other
    return Frequencies(
        oracle.space.items,
        (counts / records - low) / span,
        (ends[:, 0] - low) / span,
        (ends[:, 1] - low) / span,
        confidence,
        records,
        EXACT,
    )
