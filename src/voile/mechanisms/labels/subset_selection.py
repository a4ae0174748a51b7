"""A random set of labels that holds the truth more often than not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.core.weights import TOTAL
from voile.errors import require, require_epsilon
from voile.mechanisms._records import label_space
from voile.mechanisms._spread import outwards


@dataclass(frozen=True, eq=False)
class SubsetSelection:
    """See `subset_selection`. A release is a row of positions of labels, in increasing order."""

    space: Space
    size: int
    inside: Channel
    """One row: how often the own label is left out, and in."""
    guarantee: Guarantee

    @property
    def own(self) -> float:
        """How often a report supports its own label."""
        return float(self.inside.probabilities()[0, 1])

    @property
    def other(self) -> float:
        """How often a report supports any other label."""
        others = len(self.space) - 1
        return (self.own * (self.size - 1) + (1 - self.own) * self.size) / others

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """A set for each secret: the own label or not, the others alike likely."""
        own = self.space.index(secrets)
        kept = self.inside.draw(np.zeros(len(own), dtype=np.intp), rng).astype(bool)
        others = np.broadcast_to(np.arange(len(self.space) - 1), (len(own), len(self.space) - 1))
        mixed = rng.permuted(others, axis=1)[:, : self.size]
        drawn = mixed + (mixed >= own[:, None])  # the own label is skipped
        drawn[kept, 0] = own[kept]
        return np.sort(drawn, axis=1)

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """The law ln K(release | secret): by whether the set holds the secret."""
        rows, others = self._sets(releases), len(self.space) - 1
        held = (rows[None, :, :] == self.space.index(secrets)[:, None, None]).any(axis=2)
        inside = math.log(self.own) - math.log(math.comb(others, self.size - 1))
        outside = math.log1p(-self.own) - math.log(math.comb(others, self.size))
        return np.where(held, inside, outside)

    def support(self, releases: Sequence[Any] | Items) -> Indices:
        """How many of the reports support each label: whose set holds it."""
        return np.bincount(self._sets(releases).ravel(), minlength=len(self.space))

    def _sets(self, releases: Sequence[Any] | Items) -> Indices:
        rows = np.asarray(releases)
        good = rows.ndim == 2 and rows.shape[1] == self.size and rows.dtype.kind in "iu"
        good = good and bool(((rows >= 0) & (rows < len(self.space))).all())
        good = good and bool((np.diff(rows, axis=1) > 0).all())
        must = f"rows of {self.size} increasing positions below {len(self.space)}"
        require(good, "releases", must, f"shape {rows.shape}")
        return rows.astype(np.intp)


def subset_selection(
    labels: Sequence[Any] | Items, *, epsilon: float, granularity: str = "one value"
) -> SubsetSelection:
    """Release a set of d labels, one with the truth in it e^ε times as likely as one without.

    d = k/(e^ε + 1), rounded, of k labels (Wang et al. 2016; Ye and Barg 2018, who show that no law
    estimates shares better when records are many). The own label is in with probability
    p = d·e^ε/(d·e^ε + k − d), the rest of the set uniform among the others, so the ratio between
    two labels is p·(k − d)/((1 − p)·d) = e^ε at most, computed exactly from the integer that is
    sampled and rounded up: ε-local DP. With d = 1 it is k-ary randomised response. Costs a
    permutation of the labels for each report.

    >>> oracle = subset_selection(list(range(100)), epsilon=1.0)
    >>> oracle.size, round(oracle.own, 4), round(oracle.other, 4)
    (27, 0.5013, 0.2677)
    """
    from voile.metrics.discrete_distance import discrete

    epsilon = require_epsilon(epsilon)
    space = label_space(labels, least=2)
    top = math.exp(min(epsilon, 40.0) * (1 - 2.0**-32))
    size = max(1, min(len(space) - 1, round(len(space) / (top + 1))))
    rest = len(space) - size
    own = int(TOTAL * (size * top / (size * top + rest)))
    ratio = Fraction(own * rest, (TOTAL - own) * size)
    reached = outwards(math.log(ratio.numerator) - math.log(ratio.denominator))
    require(reached <= epsilon, "the certificate", f"at most {epsilon:g}", reached)
    table = np.array([[TOTAL - own, own]], dtype=np.uint64)
    free = Guarantee(float("inf"), discrete(), "one choice")
    inside = Channel(Space([0], metric=discrete()), np.array([0, 1]), table, free)
    claim = Guarantee(epsilon, discrete(), granularity, Basis.CERTIFIED)
    return SubsetSelection(space, size, inside, claim)


def examples() -> list[SubsetSelection]:
    """A few labels, at two strengths."""
    return [
        subset_selection(list("abcdef"), epsilon=1.0),
        subset_selection(list(range(9)), epsilon=0.5),
    ]
