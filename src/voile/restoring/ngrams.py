"""A public language prior: how words follow one another, sparse, with a back-off of rank one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from voile.core.arrays import Floats, Indices, Items, Weights
from voile.errors import InvalidInput, require

_BLOCK = 2**21
"""Word pairs and triples are counted so many at a time, so that memory follows what is distinct."""

_LONG = 256
"""From so many different words after one on, a set of bits says which they are."""
_COMMON, _OFTEN = 512, 96
"""Of so many commonest words, those that so many different ones follow have a dense row."""


class Chain(NamedTuple):
    """The tables of `NGrams` as compiled loops take them."""

    unigram: Floats
    starts: Indices
    columns: Items
    shares: Floats
    back: Floats
    triple_starts: Indices
    triple_columns: Items
    triple_shares: Floats
    triple_back: Floats
    bits: Weights
    ranks: Items
    bit_rows: Items
    dense: Floats
    dense_rows: Items
    dense_columns: Items


@dataclass(frozen=True, eq=False)
class NGrams:
    """P(c | a, b) = share(a, b, c) + λ(a, b)·P(c | b),  P(c | b) = share(b, c) + λ(b)·u(c).

    Interpolated absolute discounting (Ney, Essen and Kneser, 1994; Chen and Goodman, 1999, section
    2.6): share is (count − D)/total for what was counted, λ the mass that the discounts left, so
    that every row sums to 1. Each order has Ney's D = n₁/(n₁ + 2·n₂), from how many were seen once
    and twice. u is discounted in the same way towards general frequencies, over all states.

    Pairs are rows of a compressed sparse matrix: `starts[b] … starts[b + 1]` are the places of what
    followed b. A triple's row is its first pair's place there, so no pair is looked up twice.
    """

    unigram: Floats
    starts: Indices
    columns: Items
    shares: Floats
    back: Floats
    triple_starts: Indices
    triple_columns: Items
    triple_shares: Floats
    triple_back: Floats

    def __len__(self) -> int:
        return len(self.unigram)

    @cached_property
    def bits(self) -> tuple[Weights, Items, Items]:
        """For words that many others followed a set of bits, and which word has which set.

        With each 64 bits goes how many are set before them: where they begin in the word's list.
        """
        size = len(self)
        rows = np.full(size, -1, dtype=np.int32)
        long = np.flatnonzero((np.diff(self.starts) > _LONG) | (self.dense[1] >= 0))
        rows[long] = np.arange(len(long))
        sets = np.zeros((len(long), -(-size // 64)), dtype=np.uint64)
        for row, word in enumerate(long):
            found = self.columns[self.starts[word] : self.starts[word + 1]]
            np.bitwise_or.at(sets[row], found >> 6, np.uint64(1) << (found & 63).astype(np.uint64))
        ranks = np.zeros(sets.shape, dtype=np.int32)
        np.cumsum(np.bitwise_count(sets[:, :-1]), axis=1, out=ranks[:, 1:])
        return sets, ranks, rows

    @cached_property
    def dense(self) -> tuple[Floats, Items, Items]:
        """Shares of the commonest words after one another, and the row and column of each word."""
        common = np.sort(np.argsort(-self.unigram, kind="stable")[:_COMMON])
        often = common[np.diff(self.starts)[common] >= _OFTEN]
        rows, columns = (np.full(len(self), -1, dtype=np.int32) for _ in range(2))
        rows[often], columns[common] = np.arange(len(often)), np.arange(len(common))
        table = np.zeros((len(often), len(common)))
        for row, word in enumerate(often):
            here = slice(self.starts[word], self.starts[word + 1])
            found = columns[self.columns[here]]
            table[row, found[found >= 0]] = self.shares[here][found >= 0]
        return table, rows, columns

    @property
    def chain(self) -> Chain:
        """All tables."""
        return Chain(
            self.unigram, self.starts, self.columns, self.shares, self.back, self.triple_starts,
            self.triple_columns, self.triple_shares, self.triple_back, *self.bits,
            *self.dense,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, object]:
        again = ("bits", "dense")  # worked out where they are needed
        return {name: value for name, value in self.__dict__.items() if name not in again}

    def following(self, word: int, before: int | None = None) -> Floats:
        """The probabilities of all states after `word`, or after `before word`; for tests."""
        first, last = self.starts[word], self.starts[word + 1]
        found = self.back[word] * self.unigram
        found[self.columns[first:last]] += self.shares[first:last]
        if before is None:
            return found
        low, high = self.starts[before], self.starts[before + 1]
        place = low + int(np.searchsorted(self.columns[low:high], word))
        if place == high or self.columns[place] != word:
            return found
        first, last = self.triple_starts[place], self.triple_starts[place + 1]
        found *= self.triple_back[place]
        found[self.triple_columns[first:last]] += self.triple_shares[first:last]
        return found


def fit_ngrams(sequences: Iterable[Indices], *, general: Floats) -> NGrams:
    """Count *public* sequences of states, each with its own edges, and smooth what was counted.

    `general` are frequencies over all states, positive: what is believed of what was never seen.

    >>> chain = fit_ngrams([np.array([2, 0, 1, 0, 2])], general=np.ones(4) / 4)
    >>> [round(float(chain.following(word).sum()), 9) for word in range(4)]
    [1.0, 1.0, 1.0, 1.0]
    """
    size = len(general)
    positive = bool(np.isfinite(general).all() and (general > 0).all())
    require(positive, "general frequencies", "finite and > 0", "others")
    base = general / math.fsum(general)
    counts = np.zeros(size)
    pairs, triples = _Counter(), _Counter()
    for block in _blocks(sequences):
        if block.min() < -1 or block.max() >= size:
            raise InvalidInput(f"sequences must hold states below {size}, some are not")
        counts += np.bincount(block[block >= 0], minlength=size)
        first, second, third = block[:-2], block[1:-1], block[2:]
        whole = (block[:-1] >= 0) & (block[1:] >= 0)
        pairs.add(block[:-1][whole] * size + block[1:][whole])
        whole = (first >= 0) & (second >= 0) & (third >= 0)
        triples.add((first * size + second)[whole] * size + third[whole])
    require(bool(counts.any()), "the public text", "of at least one word", "none")
    seen = counts > 0
    lowest = _discount(counts[seen])
    unigram = np.where(seen, counts - lowest, 0.0) / counts.sum()
    unigram = unigram + lowest * seen.sum() / counts.sum() * base
    keys, times = pairs.counted()
    starts, shares, back = _rows(np.searchsorted(keys, np.arange(size + 1) * size), times)
    above, often = triples.counted()
    of_pair = np.searchsorted(above, np.append(keys, size * size) * size)
    triple_starts, triple_shares, triple_back = _rows(of_pair, often)
    return NGrams(
        unigram / math.fsum(unigram), starts, (keys % size).astype(np.int32), shares, back,
        triple_starts, (above % size).astype(np.int32), triple_shares, triple_back,
    )  # fmt: skip


def _rows(starts: Indices, times: Floats) -> tuple[Indices, Floats, Floats]:
    """Discounted shares of each row, and the mass that is left; all of it for an empty row."""
    discount = _discount(times)
    running = np.append(0.0, np.cumsum(times))  # whole numbers: exact in any order
    totals, kinds = np.diff(running[starts]), np.diff(starts)
    back = np.where(totals > 0, discount * kinds / np.maximum(totals, 1), 1.0)
    shares = (times - discount) / np.repeat(np.maximum(totals, 1), kinds)
    return starts.astype(np.int64), shares, back


def _discount(times: Floats) -> float:
    """Ney's estimate from how many were seen once and twice; at most 0.9, so that some is left."""
    once, twice = int((times == 1).sum()), int((times == 2).sum())
    return min(0.9, once / (once + 2 * twice)) if once else 0.5


class _Counter:
    """Numbers and how often each came, merged block by block."""

    def __init__(self) -> None:
        self.keys: Indices = np.empty(0, dtype=np.int64)
        self.times: Floats = np.empty(0)

    def add(self, new: Indices) -> None:
        keys, times = np.unique(new, return_counts=True)
        merged = np.concatenate([self.keys, keys])
        self.keys, where = np.unique(merged, return_inverse=True)
        weights = np.concatenate([self.times, times])
        found = np.bincount(where, weights=weights, minlength=len(self.keys))
        self.times = found.astype(np.float64)

    def counted(self) -> tuple[Indices, Floats]:
        return self.keys, self.times


def _blocks(sequences: Iterable[Indices]) -> Iterable[Indices]:
    """Sequences one after another, −1 between them, some millions at a time."""
    parts: list[Indices] = []
    size = 0
    for sequence in sequences:
        parts += [np.asarray(sequence, dtype=np.int64), np.array([-1, -1], dtype=np.int64)]
        size += len(sequence) + 2
        if size >= _BLOCK:
            yield np.concatenate(parts)
            parts, size = [], 0
    if parts:
        yield np.concatenate(parts)


def without_context(frequencies: Floats) -> NGrams:
    """The prior under which each word stands by itself: P(c | a, b) = u(c)."""
    size, none = len(frequencies), np.empty(0, dtype=np.int32)
    return NGrams(
        frequencies / math.fsum(frequencies), np.zeros(size + 1, dtype=np.int64), none,
        np.empty(0), np.ones(size), np.zeros(1, dtype=np.int64), none, np.empty(0), np.empty(0),
    )  # fmt: skip
