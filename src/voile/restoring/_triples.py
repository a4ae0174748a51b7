"""Forward–backward with triples, over the few best candidates of each place.

Imported on first use only: it loads numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voile.mechanisms._word_kernels import njit
from voile.restoring._kernels import grown, normalise, pair_places, place_of
from voile.restoring._passes import to_edge

Array = Any


@njit(cache=True, nogil=True)
def counted_triples(
    words: Array, widths: Array, places: Array, chain: Array, slots: Array
) -> Any:  # fmt: skip
    """Which candidates were seen after which pairs of candidates, place by place.

    For each place t from `begins[t]` on: candidates of t − 2, t − 1 and t, and the share. They are
    in the order of t − 1, then t − 2, then t, whatever the order of the tables.
    """
    size, most = words.shape
    starts, columns, shares = chain.triple_starts, chain.triple_columns, chain.triple_shares
    begins = np.zeros(size + 1, dtype=np.int64)
    hits = np.empty((64 * size + most, 3), dtype=np.int8)
    found = np.empty(len(hits))
    count = 0
    for t in range(size):
        width = widths[t]
        if t > 0:
            for j in range(width):
                slots[words[t, j]] = j
            for i in range(widths[t - 1]):
                for h in range(1 if t == 1 else widths[t - 2]):
                    place = places[t - 1, h, i]
                    if place < 0:
                        continue
                    if count + most > len(hits):
                        hits, found = grown(hits, found, count, most)
                    low, high = starts[place], starts[place + 1]
                    first = count
                    if high - low > 4 * width:
                        for j in range(width):
                            at = place_of(columns, low, high, words[t, j])
                            if at >= 0:
                                hits[count, 2], found[count] = j, shares[at]
                                count += 1
                    else:
                        for at in range(low, high):
                            j = slots[columns[at]]
                            if j < 0:
                                continue
                            k = count
                            while k > first and hits[k - 1, 2] > j:
                                hits[k, 2], found[k] = hits[k - 1, 2], found[k - 1]
                                k -= 1
                            hits[k, 2], found[k] = j, shares[at]
                            count += 1
                    for k in range(first, count):
                        hits[k, 0], hits[k, 1] = h, i
            for j in range(width):
                slots[words[t, j]] = -1
        begins[t + 1] = count
    return begins, hits, found


@njit(cache=True, nogil=True)
def triple_beliefs(
    words: Array, likely: Array, widths: Array, edge: int, chain: Array, slots: Array,
    beliefs: Array,
) -> None:  # fmt: skip
    """The same with P(c | a, b), over pairs of neighbouring candidates, few a place.

    Σ_a α(a, b)·P(c | a, b) = w(b)·P(c | b) + Σ_a α(a, b)·share(a, b, c), with w(b) the mass that
    backs off: so a step costs candidates², not candidates³, and what was counted, found once.
    """
    size, most = words.shape
    alpha = np.empty((size, most, most))
    pairs = np.empty((size, most, most))
    backs = np.empty((size, most, most))
    places = np.empty((size, most, most), dtype=np.int64)
    for t in range(size):
        wide = 1 if t == 0 else widths[t - 1]
        for i in range(wide):
            a = edge if t == 0 else words[t - 1, i]
            pair_places(a, words[t], widths[t], chain, places[t, i])
            for j in range(widths[t]):
                place = places[t, i, j]
                counted = chain.shares[place] if place >= 0 else 0.0
                pairs[t, i, j] = counted + chain.back[a] * chain.unigram[words[t, j]]
                backs[t, i, j] = 1.0 if place < 0 else chain.triple_back[place]
    begins, hits, shares = counted_triples(words, widths, places, chain, slots)
    for t in range(size):
        wide = 1 if t == 0 else widths[t - 1]
        total = 0.0
        for i in range(wide):
            mixed = 1.0
            if t > 0:
                mixed = 0.0
                for h in range(1 if t == 1 else widths[t - 2]):
                    mixed += alpha[t - 1, h, i] * backs[t - 1, h, i]
            for j in range(widths[t]):
                alpha[t, i, j] = mixed * pairs[t, i, j]
        for k in range(begins[t], begins[t + 1]):
            h, i, j = hits[k, 0], hits[k, 1], hits[k, 2]
            alpha[t, i, j] += alpha[t - 1, h, i] * shares[k]
        for i in range(wide):
            for j in range(widths[t]):
                alpha[t, i, j] *= likely[t, j]
                total += alpha[t, i, j]
        for i in range(wide):
            for j in range(widths[t]):
                alpha[t, i, j] /= total
    values, later, ending = np.empty((most, most)), np.empty((most, most)), np.empty(most)
    for t in range(size - 1, -1, -1):
        # values(j, c) = P(y | c)·β(j, c) of the next place, here one step back to (i, j)
        wide = 1 if t == 0 else widths[t - 1]
        if t == size - 1:
            to_edge(words[t], widths[t], edge, chain, ending)
            for i in range(wide):
                for j in range(widths[t]):
                    place, share = places[t, i, j], 0.0
                    if place >= 0:
                        low, high = chain.triple_starts[place], chain.triple_starts[place + 1]
                        place = place_of(chain.triple_columns, low, high, edge)
                        share = chain.triple_shares[place] if place >= 0 else 0.0
                    later[i, j] = share + ending[j] * backs[t, i, j]
        else:
            later[:wide, : widths[t]] = 0.0
            for k in range(begins[t + 1], begins[t + 2]):
                h, i, j = hits[k, 0], hits[k, 1], hits[k, 2]
                later[h, i] += shares[k] * values[i, j]
            for j in range(widths[t]):
                mixed = 0.0
                for c in range(widths[t + 1]):
                    mixed += pairs[t + 1, j, c] * values[j, c]
                for i in range(wide):
                    later[i, j] += mixed * backs[t, i, j]
        for j in range(widths[t]):
            total = 0.0
            for i in range(wide):
                total += alpha[t, i, j] * later[i, j]
            beliefs[t, j] = total
        normalise(beliefs[t], widths[t])
        scale = 0.0
        for i in range(wide):
            for j in range(widths[t]):
                values[i, j] = likely[t, j] * later[i, j]
                scale += values[i, j]
        for i in range(wide):
            for j in range(widths[t]):
                values[i, j] /= scale
