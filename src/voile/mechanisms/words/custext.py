"""CusText: small groups of similar words, an exponential law within each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core import weights as integer
from voile.core.arrays import Floats, Indices, Items, Weights
from voile.core.guarantee import Basis, Guarantee
from voile.core.metric import KnownBy, Metric
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.errors import require, require_epsilon
from voile.mechanisms._embedding import Embedding, positions_in


@dataclass(frozen=True, eq=False)
class Custext:
    """See `custext`. `members[g]` are the words of group g, padded with −1."""

    embedding: Embedding
    guarantee: Guarantee
    members: Indices
    group: Indices
    weights: Weights
    """One row of integers a word, over the members of its group, summing to 2**62."""

    @property
    def space(self) -> Space:
        """The words' positions; words of different groups are infinitely far apart."""
        return Space(np.arange(len(self.embedding)), metric=self.guarantee.metric)

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One position for each position, drawn exactly within its group."""
        rows = positions_in(self.embedding, secrets)
        return self.members[self.group[rows], integer.draw(self._running, rows, rng)]

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """ln K(release | secret); −inf across groups."""  # noqa: D403
        rows = positions_in(self.embedding, secrets)
        columns = positions_in(self.embedding, releases)
        found = self.members[self.group[rows]][:, None, :] == columns[None, :, None]
        chance = (found * (self.weights[rows][:, None, :] / integer.TOTAL)).sum(axis=2)
        with np.errstate(divide="ignore"):
            return np.log(chance)

    @cached_property
    def _running(self) -> Weights:
        return np.cumsum(self.weights, axis=1, dtype=np.uint64)


def custext(
    words: Embedding, *, epsilon: float, size: int = 20, granularity: str = "one word"
) -> Custext:
    """Release a word y of x's own group with probability proportional to exp((ε/2)·s(x, y)).

    Chen et al. (Findings of ACL 2023), the "conservative" mapping: words are taken in their
    public order of frequency, and one without a group founds it with its `size` − 1 nearest free
    words. s is the closeness within the group, 1 for the word itself, 0 for the farthest. What ε
    covers: two words of *one group*, ε-LDP between them. The group itself is released in clear,
    since outputs never leave it: about log₂(n / size) bits of every word. The metric says it:
    1 within a group, infinite across. With ε < ∞ and groups of 20 that is k-anonymity of words
    with noise, and not a guarantee over the vocabulary.

    >>> import voile
    >>> words = Embedding.of([[0.0], [0.1], [5.0], [5.2]])
    >>> law = custext(words, epsilon=2.0, size=2)
    >>> np.exp(law.log_prob([0], [0, 1, 2, 3])).round(3)
    array([[0.731, 0.269, 0.   , 0.   ]])
    """
    epsilon = require_epsilon(epsilon)
    # Beyond, the smallest weights of a row would be too short of digits to round inside epsilon.
    require(epsilon <= 40, "epsilon", "at most 40 for custext", epsilon)
    require(size >= 2, "size", ">= 2", size)
    members, group = _groups(words, size)
    table = np.full((len(words), members.shape[1]), -np.inf)
    for row in members:
        own = row[row >= 0]
        distances = words.metric.pairwise(own, own)
        farthest = distances.max(axis=1, keepdims=True)
        closeness = 1 - distances / np.where(farthest > 0, farthest, 1.0)
        table[own, : len(own)] = 0.5 * epsilon * (1 - 2.0**-20) * closeness
    weights = _quantised(table)

    def distance(left: Items, right: Items) -> Floats:
        left, right = np.asarray(left), np.asarray(right)
        apart = np.where(group[left][:, None] == group[right][None, :], 1.0, np.inf)
        return np.where(left[:, None] == right[None, :], 0.0, apart)

    metric = Metric(
        "discrete within a group",
        "change",
        KnownBy((size, words.digest), distance),
        parameters=(("size", float(size)), ("vectors", words.digest[:16])),
        extended=True,
    )
    outside = (
        f"which of the {len(members)} groups a word belongs to: releases never leave the group",
    )
    guarantee = Guarantee(
        epsilon, metric, granularity, Basis.PROVED, outside=outside if len(members) > 1 else ()
    )
    return Custext(words, guarantee, members, group, weights)


def _groups(words: Embedding, size: int) -> tuple[Indices, Indices]:
    free = np.arange(len(words))
    taken = np.zeros(len(words), dtype=bool)
    group = np.empty(len(words), dtype=np.intp)
    rows: list[Indices] = []
    for founder in range(len(words)):
        if taken[founder]:
            continue
        free = free[~taken[free]]
        squared = words.squared(np.array([founder]), free)[0]
        count = min(size, len(free))
        squared[free == founder] = -1.0  # itself first, also among duplicates
        own = np.sort(free[np.argsort(squared, kind="stable")[:count]])
        taken[own] = True
        group[own] = len(rows)
        rows.append(np.pad(own, (0, size - count), constant_values=-1))
    return np.stack(rows), group


def _quantised(table: Floats) -> Weights:
    """Integer rows that keep their zeros; every other weight is at least e^−(ε/2) of the row's."""
    step = 4096
    blocks = [integer.quantise(table[i : i + step], floor=-1) for i in range(0, len(table), step)]
    return np.concatenate(blocks)


def examples() -> list[Custext]:
    """Thirty words in groups of seven, and in one group."""
    words = Embedding.of(np.random.default_rng(12).normal(size=(30, 4)))
    return [custext(words, epsilon=2.0, size=7), custext(words, epsilon=2.0, size=30)]
