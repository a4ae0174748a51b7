"""Attribution by the words themselves: shared tokens, and TF-IDF. No model needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.core.arrays import Floats, Indices

_WORD = re.compile(r"\w+", re.UNICODE)


def words_of(text: str) -> list[str]:
    """Lower-cased runs of letters and digits.

    >>> words_of("I'd fly to St. Louis!")
    ['i', 'd', 'fly', 'to', 'st', 'louis']
    """
    return _WORD.findall(text.lower())


@dataclass(frozen=True)
class Overlap:
    """The candidate that shares most distinct words with the release (Jaccard similarity).

    >>> import numpy as np
    >>> pool = ["a flight to boston", "play some jazz"]
    >>> Overlap().scores(pool, np.array([[0, 1]]), ["one flight to denver"])
    array([[0.33333333, 0.        ]])
    """

    name: str = "overlap"

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """|shared| / |either| for each candidate; 0 where both are empty."""
        check_trials(pool, sets, releases)
        bags = {int(i): frozenset(words_of(pool[i])) for i in np.unique(sets)}
        table = np.zeros(sets.shape)
        for row, (members, release) in enumerate(zip(sets.tolist(), releases, strict=True)):
            found = frozenset(words_of(release))
            for column, member in enumerate(members):
                either = len(found | bags[member])
                table[row, column] = len(found & bags[member]) / either if either else 0.0
        return table


@dataclass(frozen=True)
class TfIdf:
    """The candidate nearest to the release by cosine of TF-IDF vectors.

    Weight of a word: count · (1 + ln((1 + N)/(1 + texts with it))), N the size of the pool, so
    that a word few candidates have counts most. Words that the pool lacks are ignored.

    >>> import numpy as np
    >>> pool = ["a flight to boston", "a flight to denver"]
    >>> bool(np.argmax(TfIdf().scores(pool, np.array([[0, 1]]), ["go to denver"])[0]))
    True
    """

    name: str = "tf-idf"

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Cosines of sparse vectors, all trials at once."""
        from scipy.sparse import csr_matrix

        check_trials(pool, sets, releases)
        counts = [Counter(words_of(text)) for text in pool]
        spread = Counter(word for bag in counts for word in bag)
        index = {word: column for column, word in enumerate(spread)}
        rarity = np.array([1 + np.log((1 + len(pool)) / (1 + spread[word])) for word in index])

        def table(bags: Sequence[Counter[str]]) -> Any:
            kept = [[(index[w], c) for w, c in bag.items() if w in index] for bag in bags]
            starts = np.cumsum([0, *(len(entries) for entries in kept)])
            columns = np.array([c for entries in kept for c, _ in entries], dtype=np.intp)
            values = np.array([v for entries in kept for _, v in entries], dtype=np.float64)
            values *= rarity[columns]
            rows = np.repeat(np.arange(len(bags)), np.diff(starts))
            squares = np.bincount(rows, weights=values**2, minlength=len(bags))
            values /= np.sqrt(squares)[rows]
            return csr_matrix((values, columns, starts), shape=(len(bags), len(index)))

        known = table(counts)
        released = table([Counter(words_of(text)) for text in releases])
        return np.column_stack(
            [np.asarray(released.multiply(known[column]).sum(axis=1)).ravel() for column in sets.T]
        )
