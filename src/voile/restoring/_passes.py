"""Forward–backward over the candidates of a text's words with pairs, and what is made of it.

Imported on first use only: it loads numba.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voile.mechanisms._word_kernels import njit
from voile.restoring._kernels import (
    arranged,
    dense_sum,
    normalise,
    place_of,
    step_forward,
)

Array = Any


@njit(cache=True, nogil=True)
def to_edge(words: Array, width: int, edge: int, chain: Array, chances: Array) -> None:
    """P(edge | b) of each candidate b."""
    for j in range(width):
        b = words[j]
        place = place_of(chain.columns, chain.starts[b], chain.starts[b + 1], edge)
        counted = chain.shares[place] if place >= 0 else 0.0
        chances[j] = counted + chain.back[b] * chain.unigram[edge]


@njit(cache=True, nogil=True)
def pair_beliefs(
    words: Array, likely: Array, widths: Array, edge: int, chain: Array, slots: Array,
    faint: float, hits: Array, hit_shares: Array, beliefs: Array,
) -> Any:  # fmt: skip
    """P(x_t | all that was released) for each place's candidates, and ln P(released).

    α_t(b) = K(y_t|b)·Σ_a α_(t−1)(a)·P(b|a) and β_t(a) = Σ_b P(b|a)·K(y_(t+1)|b)·β_(t+1)(b), each
    step scaled; the product is left in `beliefs`. P(b|a) is a back-off of rank one, one number for
    all, and what was counted. `edge` is the state before the first place and after the last.
    """
    size, most = words.shape
    outside, one = np.full(1, edge, dtype=words.dtype), np.ones(1)
    unigram, back = chain.unigram, chain.back
    begins, dense = np.zeros(size + 1, dtype=np.int64), np.empty(size, dtype=np.int64)
    orders = np.empty((size, most), dtype=np.int32)
    columns = np.empty((size, most), dtype=np.int32)
    after, sums = np.empty(most, dtype=np.int32), np.empty(most)
    evidence = 0.0
    for t in range(size):
        previous = outside if t == 0 else words[t - 1]
        believed = one if t == 0 else beliefs[t - 1]
        wide, width, order = 1 if t == 0 else widths[t - 1], widths[t], orders[t]
        dense[t] = arranged(words[t], width, chain, order, columns[t])
        mixed = 0.0
        for i in range(wide):
            mixed += believed[i] * back[previous[i]]
        for p in range(width):
            after[p] = words[t, order[p]]
            sums[p] = mixed * unigram[after[p]]
        begins[t + 1], hits, hit_shares = step_forward(
            previous, believed, wide, after, width, dense[t], columns[t], slots, chain, faint,
            begins[t], hits, hit_shares, sums,
        )  # fmt: skip
        for p in range(width):
            beliefs[t, order[p]] = sums[p] * likely[t, order[p]]
        evidence += math.log(max(normalise(beliefs[t], width), 1e-300))
    values, later = np.empty(most), np.empty(most)
    for t in range(size - 1, -1, -1):
        if t == size - 1:
            to_edge(words[t], widths[t], edge, chain, later)
        else:
            mixed, order = 0.0, orders[t + 1]
            for p in range(widths[t + 1]):
                values[p] = likely[t + 1, order[p]] * later[order[p]]
            normalise(values, widths[t + 1])
            for p in range(widths[t + 1]):
                mixed += unigram[words[t + 1, order[p]]] * values[p]
            for i in range(widths[t]):
                word = words[t, i]
                later[i] = back[word] * mixed
                row = chain.dense_rows[word]
                if row >= 0 and beliefs[t, i] >= faint:
                    later[i] += dense_sum(chain.dense[row], columns[t + 1], values, dense[t + 1])
            for h in range(begins[t + 1], begins[t + 2]):
                later[hits[h, 0]] += hit_shares[h] * values[hits[h, 1]]
        for j in range(widths[t]):
            beliefs[t, j] *= later[j]
        normalise(beliefs[t], widths[t])
    return evidence, hits, hit_shares


@njit(cache=True, nogil=True)
def tie(rows: Array, chances: Array, widths: Array, likely: Array, beliefs: Array) -> bool:
    """What equal draws tell each other, where they are one: written into `likely`.

    Places of one row hold one word x, drawn once. A belief is K(y|x)·m_t(x), with m_t what the
    context of place t says (its case too); the word's own is K(y|x)·Π_t m_t(x), K once for all. So
    the other places tell place t Π_(s≠t) m_s(x). That is exact where they hang together through
    this word alone, and a step of belief propagation where through others as well.
    """
    size, most = likely.shape
    order = np.argsort(rows, kind="mergesort")
    logs, summed = np.empty((size, most)), np.empty(most)
    first, found = 0, False
    while first < size:
        last = first + 1
        row = rows[order[first]]
        while last < size and rows[order[last]] == row:
            last += 1
        if row >= 0 and last - first > 1:
            found = True
            width = widths[order[first]]
            summed[:width] = 0.0
            for k in range(first, last):
                t = order[k]
                for j in range(width):
                    logs[t, j] = math.log(max(beliefs[t, j], 1e-300) / chances[row, j])
                    summed[j] += logs[t, j]
            for k in range(first, last):
                t, best = order[k], -np.inf
                for j in range(width):
                    best = max(best, summed[j] - logs[t, j])
                for j in range(width):
                    likely[t, j] *= math.exp(summed[j] - logs[t, j] - best)
        first = last
    return found


@njit(cache=True, nogil=True)
def keep_best(beliefs: Array, width: int, kept: Array) -> int:
    """The places of the largest beliefs, largest first, the earlier of equals."""
    count = 0
    for j in range(width):
        k = count if count < len(kept) else len(kept) - 1
        if count == len(kept) and beliefs[j] <= beliefs[kept[k]]:
            continue
        while k > 0 and beliefs[j] > beliefs[kept[k - 1]]:
            kept[k] = kept[k - 1]
            k -= 1
        kept[k] = j
        count = min(count + 1, len(kept))
    return count


@njit(cache=True, nogil=True)
def least_loss(words: Array, beliefs: Array, width: int, directions: Array, unread: int) -> int:
    """The candidate of least expected (1 − cos)/2: the one nearest to the mean direction."""
    mean = np.zeros(directions.shape[1])
    for j in range(width):
        if beliefs[j] < 1e-6:
            continue
        for k in range(len(mean)):
            mean[k] += beliefs[j] * directions[words[j], k]
    best, chosen = -2.0, -1
    for j in range(width):
        if words[j] == unread or beliefs[j] < 1e-4:
            continue
        total = 0.0
        for k in range(len(mean)):
            total += mean[k] * directions[words[j], k]
        if total > best:
            best, chosen = total, words[j]
    return chosen
