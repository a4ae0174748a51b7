"""SanText+: the exponential law for rare words, a coin for common ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.guarantee import Guarantee
from voile.core.metric import KnownBy, Metric
from voile.core.randomness import Generator, uniform_bits
from voile.core.space import Space
from voile.errors import require
from voile.mechanisms._embedding import Embedding, positions_in
from voile.mechanisms._neighbours import KEPT, Neighbours
from voile.mechanisms._word_law import WordLaw, word_law

_COIN_BITS = 53


@dataclass(frozen=True, eq=False)
class SantextPlus:
    """See `santext_plus`."""

    law: WordLaw
    first_rare: int
    coin: float
    guarantee: Guarantee

    @property
    def space(self) -> Space:
        """The words' positions; common words are infinitely far from all others."""
        return Space(np.arange(len(self.law.embedding)), metric=self.guarantee.metric)

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One position for each position."""
        rows = positions_in(self.law.embedding, secrets)
        threshold = np.uint64(self.coin * 2**_COIN_BITS)
        tossed = uniform_bits(rng, len(rows), bits=_COIN_BITS) < threshold
        drawn = (rows >= self.first_rare) | tossed
        released = rows.copy()
        released[drawn] = self.law.release(rows[drawn], rng)
        return released

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """ln K(release | secret)."""  # noqa: D403
        rows = positions_in(self.law.embedding, secrets)
        columns = positions_in(self.law.embedding, releases)
        coin = int(self.coin * 2**_COIN_BITS) / 2**_COIN_BITS
        chance = np.exp(self.law.log_prob(rows, columns))
        common = rows < self.first_rare
        same = rows[:, None] == columns[None, :]
        chance[common] = coin * chance[common] + (1 - coin) * same[common]
        with np.errstate(divide="ignore"):
            return np.log(chance)


def santext_plus(
    words: Embedding,
    *,
    epsilon: float,
    rare: float = 0.5,
    coin: float = 0.2,
    neighbours: int | Neighbours = KEPT,
    cache: str | Path | None = None,
    granularity: str = "one word",
) -> SantextPlus:
    """A rare word y ∝ exp(−(ε/2)·d(x, y)) for a rare x; a common x is so with chance `coin`.

    Yue et al. (Findings of ACL 2021), section 4.2. The last share `rare` of the vocabulary, in
    its public order of frequency, is sensitive; otherwise a common word stays as it is. What ε
    covers: two *rare* words. A common word is released as itself with probability 1 − coin, which
    no other word can do, so against any other word it has no bound at all. The metric says it:
    such pairs are infinitely far apart. (The published script builds the vocabulary and its
    frequencies from the private text, which leaks too; here both are public.)

    >>> import voile
    >>> words = Embedding.of([[0.0], [1.0], [2.0], [3.0]])
    >>> law = santext_plus(words, epsilon=1.0)
    >>> np.exp(law.log_prob([0, 3], [0, 1, 2, 3])).round(3)
    array([[0.8  , 0.   , 0.124, 0.076],
           [0.   , 0.   , 0.378, 0.622]])
    """
    require(0 < rare <= 1, "rare", "between 0 and 1", rare)
    require(0 <= coin <= 1, "coin", "between 0 and 1", coin)
    first = first_rare(words, rare)
    law = word_law(
        words,
        epsilon=epsilon,
        gamma=float("inf"),
        neighbours=neighbours,
        cache=cache,
        granularity=granularity,
        outputs=np.arange(first, len(words)),
    )

    def distance(left: Items, right: Items) -> Floats:
        table = words.metric.pairwise(left, right)
        apart = (np.asarray(left) < first)[:, None] | (np.asarray(right) < first)[None, :]
        table[apart & (np.asarray(left)[:, None] != np.asarray(right)[None, :])] = np.inf
        return table

    metric = Metric(
        "euclidean between rare words",
        words.unit,
        KnownBy((first, words.digest), distance),
        parameters=(("first rare", float(first)), ("vectors", words.digest[:16])),
        extended=True,
    )
    note = (
        f"the {first} most frequent words: each is kept with probability {1 - coin:g}, and then "
        "stands in the release as it stood in the text",
        "whether a word is rare, where a common word was kept",
    )
    outside = note if first else ()
    guarantee = replace(law.guarantee, metric=metric, outside=outside)
    return SantextPlus(law, first, float(coin), guarantee)


def first_rare(words: Embedding, rare: float = 0.5) -> int:
    """The position at which the last share `rare` of the vocabulary begins."""
    return len(words) - max(1, round(rare * len(words)))


def examples() -> list[SantextPlus]:
    """Thirty words, half of them rare."""
    words = Embedding.of(np.random.default_rng(11).normal(size=(30, 4)))
    return [santext_plus(words, epsilon=4.0, neighbours=5)]
