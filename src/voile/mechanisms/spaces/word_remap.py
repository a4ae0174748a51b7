"""Bayesian remap over a whole vocabulary: release the word that serves best, given the draw."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items, Weights
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.errors import InvalidInput, require
from voile.mechanisms._embedding import Embedding, positions_in
from voile.mechanisms._kept_array import kept_array
from voile.mechanisms._word_law import WordLaw

_BLOCK_ELEMENTS = 2**21
"""Weights are held this many at a time: 16 MB, whatever the vocabulary's size."""


@dataclass(frozen=True, eq=False)
class RemappedWords:
    """See `word_remap`. `targets[y]` is released where the law drew y."""

    law: WordLaw
    targets: Indices

    @property
    def guarantee(self) -> Guarantee:
        """The law's own: a public function of its release cannot weaken it."""
        return self.law.guarantee

    @property
    def space(self) -> Space:
        """The words' positions and their metric."""
        return self.law.space

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One position for each position: a draw of the law, then its target."""
        return np.asarray(self.targets[self.law.release(secrets, rng)])

    def release_from(self, secrets: Sequence[Any] | Items, bits: Weights) -> Items:
        """One position for each, from its own row of bits; −1 where they do not suffice."""
        drawn = self.law.release_from(secrets, bits)
        return np.where(drawn < 0, drawn, self.targets[drawn])

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """ln of the summed probability of all draws that are released so."""  # noqa: D403
        words = self.law.embedding
        rows, columns = positions_in(words, secrets), positions_in(words, releases)
        answer = np.empty((len(rows), len(columns)))
        for word in np.unique(rows):
            proposals, accepts = self.law.law(int(word))
            masses = proposals * accepts
            merged = np.bincount(self.targets, weights=masses, minlength=len(words))
            with np.errstate(divide="ignore"):
                answer[rows == word] = np.log(merged[columns]) - np.log(masses.sum())
        return answer


def word_remap(
    law: WordLaw,
    *,
    prior: Sequence[float] | Floats,
    cache: str | Path | None = None,
) -> RemappedWords:
    """Replace each drawn y by the word of least expected loss (1 − cos(x, ·))/2 given y.

    f(y) = argmin over y' of Σ_x π(x) K(y|x) c(x, y') (mPL paper, Eq. 15), y' a word with π > 0 or
    y itself. π must be public: f is then a fixed function of the release, so post-processing, and
    the guarantee is the law's own. The expected loss under π never rises, as f(y) = y is allowed.

    The loss is linear in the direction x̂ of the secret, so all that f needs of the posterior is its
    mean direction m_y = Σ_x π(x) K(y|x) x̂, and f(y) is the word whose direction has the largest
    product with m_y. So the exact remap costs four blocked products of vocabulary² × dimension
    and no table of that size: a minute for 50,000 words, once; `cache` keeps the answer. Every
    sum has a fixed order and of equally good words the first is taken, so that f is the same on
    any processor, number of cores and size of blocks.

    The weaker the release, the fewer words are left: without information every y goes to the one
    word that is best under the prior alone. `targets` shows it.

    >>> import voile
    >>> words = Embedding.of([[1.0, 0.0], [1.0, 0.2], [0.0, 1.0]])
    >>> law = voile.mechanisms.word_exponential(words, epsilon=0.5)
    >>> word_remap(law, prior=[0.1, 0.8, 0.1]).targets.tolist()
    [1, 1, 1]
    """
    words = law.embedding
    weights = np.asarray(prior, dtype=np.float64)
    one_each = weights.shape == (len(words),)
    require(one_each, "prior", f"{len(words)} numbers", f"shape {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise InvalidInput("prior must be finite numbers >= 0, not all zero")
    if len(law.neighbours.outputs) != len(words):
        raise InvalidInput("a law must be able to release every word to be remapped")
    weights = weights / math.fsum(weights)
    if cache is None:
        return RemappedWords(law, _targets(law, weights))
    key = hashlib.sha256(f"{words.digest} {law.rate!r} {law.cap!r}".encode())
    key.update(weights.tobytes())
    return RemappedWords(law, _kept(Path(cache) / f"{key.hexdigest()[:24]}.npy", law, weights))


def _kept(path: Path, law: WordLaw, prior: Floats) -> Indices:
    """The targets from a file, or computed and put there in one move."""
    size = len(law.embedding)

    def good(stored: Indices) -> bool:
        whole = stored.shape == (size,) and stored.dtype.kind == "i"
        return bool(whole and stored.min() >= 0 and stored.max() < size)

    return np.asarray(kept_array(path, lambda: _targets(law, prior), good), dtype=np.intp)


def _targets(law: WordLaw, prior: Floats) -> Indices:
    from voile.mechanisms import _remap_kernels as kernels

    words = law.embedding
    directions = _directions(words)
    likely = np.flatnonzero(prior > 0)
    aims = np.ascontiguousarray(directions[likely].T)
    targets = np.arange(len(words))

    def total_of(rows: Indices) -> Floats:
        table, totals = words.squared(rows), np.empty(len(rows))
        kernels.weigh(table, law.rate, law.cap, totals)
        return totals

    def aim_at(rows: Indices) -> None:
        table, unused = words.squared(rows), np.empty(len(rows))
        kernels.weigh(table, law.rate, law.cap, unused)
        means = np.empty((len(rows), directions.shape[1]))
        kernels.mean_directions(table, scaled, means)  # symmetric: rows of x are columns of y
        best = np.empty(len(rows), dtype=np.intp)
        kernels.best_aims(means, aims, directions[rows], best)
        targets[rows] = np.where(best >= 0, likely[best], rows)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        totals = np.concatenate(list(pool.map(total_of, _blocks(words, likely))))
        scaled = np.zeros_like(directions)
        scaled[likely] = directions[likely] * (prior[likely] / totals)[:, None]
        list(pool.map(aim_at, _blocks(words, np.arange(len(words)))))
    return targets


def _directions(words: Embedding) -> Floats:
    """Unit vectors; a zero vector has no direction and a cosine of 0 to every other."""
    lengths = np.sqrt(words.squared_norms)[:, None]
    return np.asarray(words.points / np.where(lengths > 0, lengths, 1))


def _blocks(words: Embedding, rows: Indices) -> list[Indices]:
    step = max(1, _BLOCK_ELEMENTS // len(words))
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def examples() -> list[RemappedWords]:
    """Forty words under a skewed prior, most of them keeping their own meaning."""
    from voile.mechanisms._word_law import word_law

    words = Embedding.of(np.random.default_rng(5).normal(size=(40, 5)))
    law = word_law(
        words, epsilon=4.0, gamma=np.inf, neighbours=6, cache=None, granularity="one word"
    )
    return [word_remap(law, prior=1 / np.arange(1, 41))]
