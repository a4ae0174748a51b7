"""How often words occurred, from how often words were released: the exact law, turned round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput
from voile.estimate.frequencies import likeliest_of_many, likeliest_shares
from voile.mechanisms._word_law import WordLaw
from voile.progress import tell

KEPT = 1000
"""So many of the words that occur most in public text, and of those released most, are told apart.
"""
_SAMPLED = 400
"""Of all other words, so many stand for them."""
_BLOCK_ROWS = 128
_STEPS, _AGAIN = 400, 60
"""Of EM, and for a resample, which begins where the release's own ended."""
_LEAST = 1e-7


@dataclass(frozen=True, eq=False)
class WordTable:
    """K[x, y] of the words that are told apart; the last row and column are all other words.

    Releases of other words are one output: a coarser view of the same law, so its chances are
    exact. As *secrets*, other words are one too, and how they divide among themselves is taken
    from public frequencies: that row alone is an assumption.
    """

    words: Indices
    law: Floats

    def outputs(self, drawn: Indices) -> Indices:
        """Released words as columns of the table."""
        at = np.searchsorted(self.words, drawn)
        inside = at < len(self.words)
        inside[inside] = self.words[at[inside]] == drawn[inside]
        return np.where(inside, at, len(self.words))


def word_table(law: WordLaw, words: Indices, public: Floats) -> WordTable:
    """The law between these words and all others together; costs a pass over all for each."""
    size = len(law.embedding)
    if len(law.neighbours.outputs) != size:
        raise InvalidInput("a law must be able to release every word to be turned round")
    words = np.unique(words)
    left = np.setdiff1d(np.arange(size), words)
    shares = public[left]
    if not len(left) or not shares.any():
        left, shares = left[:1], np.ones(min(1, len(left)))
    if len(left) > _SAMPLED:  # evenly by frequency, the same whenever it is done
        ends = np.cumsum(shares) / shares.sum()
        middles = (np.arange(_SAMPLED) + 0.5) / _SAMPLED
        left, shares = left[np.searchsorted(ends, middles)], np.ones(_SAMPLED)
    rows = rows_of(law, np.concatenate([words, left]), words)
    others = np.average(rows[len(words) :], axis=0, weights=shares) if len(left) else 0 * rows[0]
    table = np.vstack([rows[: len(words)], others])
    rest = np.maximum(1 - table.sum(axis=1, keepdims=True), 0.0)
    return WordTable(words, np.hstack([table, rest]))


def rows_of(law: WordLaw, secrets: Indices, outputs: Indices) -> Floats:
    """K(y|x) = exp(−min(s·d/2, cap)) over its sum: the law that is drawn from, within 10⁻¹²."""
    found = np.empty((len(secrets), len(outputs)))
    everything = np.arange(len(law.embedding))
    for start in range(0, len(secrets), _BLOCK_ROWS):
        tell("the law of words", done=start, total=len(secrets))
        squared = law.embedding.squared(secrets[start : start + _BLOCK_ROWS], everything)
        weights = np.exp(-np.minimum(law.rate * np.sqrt(squared), law.cap))
        found[start : start + _BLOCK_ROWS] = weights[:, outputs] / weights.sum(
            axis=1, keepdims=True
        )
    return found


@dataclass(frozen=True, eq=False)
class WordShares:
    """Likeliest shares of the table's words (the last: all others), and those of resamples."""

    table: WordTable
    shares: Floats
    resampled: Floats

    @property
    def kept(self) -> float:
        """How often a word was released as itself, by these shares."""
        told = self.shares[:-1]
        return float(told @ np.diagonal(self.table.law)[:-1] / max(told.sum(), _LEAST))

    def of(self, words: Sequence[int], confidence: float) -> tuple[float, float, float]:
        """The share of some words together, and the percentiles of resamples."""
        return self._at(self.table.outputs(np.array(words, dtype=np.intp)), confidence)

    def others(self, confidence: float) -> tuple[float, float, float]:
        """The same of all words that are not told apart."""
        return self._at(np.array([len(self.table.words)]), confidence)

    def _at(self, columns: Indices, confidence: float) -> tuple[float, float, float]:
        value, drawn = float(self.shares[columns].sum()), self.resampled[:, columns].sum(axis=1)
        low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
        low = 0.0 if low < _LEAST else float(low)
        return value, min(low, value), max(float(high), value)


def word_shares(
    table: WordTable, drawn: Indices, texts: Indices, *, resamples: int, seed: int
) -> WordShares:
    """The shares of words under which the releases are likeliest, by EM, and of resampled texts.

    `drawn` are released words, `texts` says of each in which text it stands. Words of a text hang
    together, so texts are resampled, whole.
    """
    size, count = len(table.law), int(texts.max()) + 1
    at = table.outputs(drawn)
    tell("the likeliest shares")
    shares = likeliest_shares(table.law, np.bincount(at, minlength=size), steps=_STEPS)
    rng = np.random.default_rng(seed)
    counts = np.zeros((resamples, size), dtype=np.intp)
    for row in counts:
        times = np.bincount(rng.integers(0, count, count), minlength=count)
        row += np.bincount(at, weights=times[texts], minlength=size).astype(np.intp)
    begun = (shares + 1e-9) / (shares + 1e-9).sum()
    tell("resampling texts")
    return WordShares(table, shares, likeliest_of_many(table.law, counts, begun, steps=_AGAIN))
