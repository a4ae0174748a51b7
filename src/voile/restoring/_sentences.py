"""The likeliest whole sentences over the candidates of their words.

Imported on first use only: it loads numba.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voile.mechanisms._word_kernels import njit
from voile.restoring._kernels import place_of

Array = Any

TINY = 1e-300
"""Stands for a chance that rounding has made nothing."""


@njit(cache=True, nogil=True)
def follows(chain: Array, before: int, word: int, after: int) -> float:
    """The logarithm of P(after | before, word); of P(after | word) if `before` < 0."""
    first = place_of(chain.columns, chain.starts[word], chain.starts[word + 1], after)
    chance = chain.back[word] * chain.unigram[after]
    if first >= 0:
        chance += chain.shares[first]
    if before >= 0:
        pair = place_of(chain.columns, chain.starts[before], chain.starts[before + 1], word)
        if pair >= 0:
            low, high = chain.triple_starts[pair], chain.triple_starts[pair + 1]
            third = place_of(chain.triple_columns, low, high, after)
            chance *= chain.triple_back[pair]
            if third >= 0:
                chance += chain.triple_shares[third]
    return math.log(max(chance, TINY))


@njit(cache=True, nogil=True)
def best_sentences(
    words: Array, likely: Array, widths: Array, first: int, last: int, chain: Array, count: int
) -> Any:  # fmt: skip
    """The `count` sentences of largest Π P(x_t | x_(t−1))·K(y_t | x_t), best first, exactly.

    Each candidate of each place keeps its `count` best beginnings (Seshadri and Sundberg, 1994):
    a beginning of one of the best sentences is among the best of those that end as it does. `first`
    and `last` are the states before and after. Also ln P of each sentence with triples, and ln K.
    """
    size, most = words.shape
    scores = np.full((size, most, count), -np.inf)
    origins = np.full((size, most, count), -1, dtype=np.int64)
    room = np.empty(most * count)
    for t in range(size):
        wide = 1 if t == 0 else widths[t - 1]
        for j in range(widths[t]):
            seen = math.log(max(likely[t, j], TINY))
            if t == 0:
                scores[0, j, 0] = follows(chain, -1, first, words[0, j]) + seen
                continue
            for i in range(wide):
                step = follows(chain, -1, words[t - 1, i], words[t, j]) + seen
                for k in range(count):
                    room[i * count + k] = -(scores[t - 1, i, k] + step)
            order = np.argsort(room[: wide * count], kind="mergesort")
            for k in range(min(count, wide * count)):
                scores[t, j, k], origins[t, j, k] = -room[order[k]], order[k]
    for j in range(widths[size - 1]):
        step = follows(chain, -1, words[size - 1, j], last)
        for k in range(count):
            room[j * count + k] = -(scores[size - 1, j, k] + step)
    order = np.argsort(room[: widths[size - 1] * count], kind="mergesort")
    found = 0
    while found < min(count, len(order)) and room[order[found]] < np.inf:
        found += 1
    chosen = np.empty((found, size), dtype=np.int64)
    prior, drawn = np.zeros(found), np.zeros(found)
    for n in range(found):
        at = order[n]
        for t in range(size - 1, -1, -1):
            j, k = at // count, at % count
            chosen[n, t] = words[t, j]
            drawn[n] += math.log(max(likely[t, j], TINY))
            at = origins[t, j, k]
        before, word = -1, first
        for t in range(size):
            prior[n] += follows(chain, before, word, chosen[n, t])
            before, word = word, chosen[n, t]
        prior[n] += follows(chain, before, word, last)
    return chosen, prior, drawn
