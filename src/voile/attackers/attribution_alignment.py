"""Attribution by word vectors, word against word: what a mechanism that moves words leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.attackers.attribution_surface import words_of
from voile.core.arrays import Floats, Indices

WordVectors = Callable[[Sequence[str]], Any]
"""Words in, a row each out; a row of NaN for a word without a vector."""


def no_vectors(words: Sequence[str]) -> Floats:
    """Where there are none: a word is equal to another or it is not."""
    return np.full((len(words), 1), np.nan)


@dataclass(frozen=True)
class Alignment:
    """The candidate whose words lie nearest to those of the release, in order: −Σ d(c_i, r_i).

    Words are paired one by one where there are as many, else by the cheapest alignment that keeps
    the order, in which a word without a partner costs `GAP` typical distances. A word without a
    vector is as far from every other word as two words typically are.

    It needs no law: only that words were moved to words nearby, with any public vectors.

    >>> import numpy as np
    >>> places = {"oslo": [0.0], "bergen": [0.1], "rome": [9.0], "to": [4.0]}
    >>> def vectors(words):
    ...     return np.array([places.get(word, [np.nan]) for word in words])
    >>> Alignment(vectors).scores(["to oslo", "to rome"], np.array([[0, 1]]), ["to bergen"])
    array([[-0.1, -8.9]])
    """

    word_vectors: WordVectors = no_vectors
    name: str = "alignment"

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Minus the summed distance, the cheaper the likelier."""
        check_trials(pool, sets, releases)
        texts = {int(i): words_of(pool[i]) for i in np.unique(sets)}
        read = [words_of(str(release)) for release in releases]
        index: dict[str, int] = {}
        for words in (*texts.values(), *read):
            for word in words:
                index.setdefault(word, len(index))
        distances = _Distances.of(self.word_vectors, list(index))
        numbers = {i: _numbers(words, index) for i, words in texts.items()}
        table = np.zeros(sets.shape)
        for row, words in enumerate(read):
            drawn = _numbers(words, index)
            for column, member in enumerate(sets[row].tolist()):
                table[row, column] = 0.0 - distances.cost(numbers[member], drawn)
        return table


GAP = 2.0


def _numbers(words: Sequence[str], index: dict[str, int]) -> Indices:
    return np.array([index[word] for word in words], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class _Distances:
    """Vectors of all words that occur, and how far apart two of them typically are."""

    table: Floats
    known: Any
    typical: float

    @classmethod
    def of(cls, word_vectors: WordVectors, words: list[str]) -> _Distances:
        table = np.asarray(word_vectors(words), dtype=np.float64) if words else np.zeros((0, 1))
        known = ~np.isnan(table).any(axis=1)
        seen = np.flatnonzero(known)
        if len(seen) < 2:
            return cls(np.nan_to_num(table), known, 1.0)
        # every word against the one half the list away: as good as random pairs, and repeatable
        apart = np.linalg.norm(table[seen] - table[np.roll(seen, len(seen) // 2)], axis=1)
        return cls(np.nan_to_num(table), known, float(np.median(apart)) or 1.0)

    def cost(self, first: Indices, second: Indices) -> float:
        """What it takes to turn one list of words into the other."""
        if len(first) == len(second):
            return float(self._between(first, second).sum())
        gap = GAP * self.typical
        columns = np.arange(len(second) + 1) * gap
        costs = columns.copy()
        for word in first:
            here = self._between(np.full(len(second), word), second)
            moved = np.concatenate(
                [[costs[0] + gap], np.minimum(costs[:-1] + here, costs[1:] + gap)]
            )
            costs = np.minimum.accumulate(moved - columns) + columns
        return float(costs[-1])

    def _between(self, first: Indices, second: Indices) -> Floats:
        apart = np.linalg.norm(self.table[first] - self.table[second], axis=1)
        strange = (first != second) & ~(self.known[first] & self.known[second])
        return np.where(strange, self.typical, apart)
