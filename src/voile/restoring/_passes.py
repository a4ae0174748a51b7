"""Forward–backward over the candidates of a text's words, with pairs and then with triples.

Imported on first use only: it loads numba.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voile.mechanisms._word_kernels import njit
from voile.restoring._kernels import counted_pairs, normalise, place_of

Array = Any


@njit(cache=True, nogil=True)
def pair_place(chain: Array, a: int, b: int) -> int:
    """Where the pair stands among those counted, −1 if it was not."""
    return place_of(chain.columns, chain.starts[a], chain.starts[a + 1], b)


@njit(cache=True, nogil=True)
def pair(chain: Array, a: int, b: int, place: int) -> float:
    """P(b | a), given where the pair stands."""
    counted = chain.shares[place] if place >= 0 else 0.0
    return counted + chain.back[a] * chain.unigram[b]


@njit(cache=True, nogil=True)
def triple_share(chain: Array, place: int, c: int) -> float:
    """What was counted of c after the pair at `place`."""
    low, high = chain.triple_starts[place], chain.triple_starts[place + 1]
    found = place_of(chain.triple_columns, low, high, c)
    return chain.triple_shares[found] if found >= 0 else 0.0


@njit(cache=True, nogil=True)
def pair_beliefs(
    words: Array, likely: Array, widths: Array, edge: int, chain: Array, slots: Array,
    faint: float, hits: Array, hit_shares: Array, beliefs: Array,
) -> Any:  # fmt: skip
    """P(x_t | all that was released) for each place's candidates, and ln P(released).

    α_t(b) = K(y_t|b)·Σ_a α_(t−1)(a)·P(b|a) and β_t(a) = Σ_b P(b|a)·K(y_(t+1)|b)·β_(t+1)(b), each
    step scaled; the product is left in `beliefs`. P(b|a) is a back-off of rank one, one number for
    all, and what was counted, found once and kept for the way back. `edge` is the state before the
    first place and after the last.
    """
    size, most = words.shape
    outside, one = np.full(1, edge, dtype=words.dtype), np.ones(1)
    unigram, back = chain.unigram, chain.back
    begins = np.zeros(size + 1, dtype=np.int64)
    evidence = 0.0
    for t in range(size):
        previous = outside if t == 0 else words[t - 1]
        believed = one if t == 0 else beliefs[t - 1]
        wide = 1 if t == 0 else widths[t - 1]
        count, hits, hit_shares = counted_pairs(
            previous, believed, wide, words[t], widths[t], slots, chain, faint, begins[t], hits,
            hit_shares,
        )  # fmt: skip
        begins[t + 1] = count
        mixed = 0.0
        for i in range(wide):
            mixed += believed[i] * back[previous[i]]
        for j in range(widths[t]):
            beliefs[t, j] = mixed * unigram[words[t, j]]
        for h in range(begins[t], count):
            beliefs[t, hits[h, 1]] += believed[hits[h, 0]] * hit_shares[h]
        for j in range(widths[t]):
            beliefs[t, j] *= likely[t, j]
        evidence += math.log(max(normalise(beliefs[t], widths[t]), 1e-300))
    values, later = np.empty(most), np.empty(most)
    for t in range(size - 1, -1, -1):
        if t == size - 1:
            for i in range(widths[t]):
                word = words[t, i]
                later[i] = pair(chain, word, edge, pair_place(chain, word, edge))
        else:
            mixed = 0.0
            for j in range(widths[t + 1]):
                values[j] = likely[t + 1, j] * later[j]
            normalise(values, widths[t + 1])
            for j in range(widths[t + 1]):
                mixed += unigram[words[t + 1, j]] * values[j]
            for i in range(widths[t]):
                later[i] = back[words[t, i]] * mixed
            for h in range(begins[t + 1], begins[t + 2]):
                later[hits[h, 0]] += hit_shares[h] * values[hits[h, 1]]
        for j in range(widths[t]):
            beliefs[t, j] *= later[j]
        normalise(beliefs[t], widths[t])
    return evidence, hits, hit_shares


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
                        more = np.empty((2 * len(hits), 3), dtype=hits.dtype)
                        more[:count] = hits[:count]
                        more_found = np.empty(len(more))
                        more_found[:count] = found[:count]
                        hits, found = more, more_found
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
            for j in range(widths[t]):
                place = pair_place(chain, a, words[t, j])
                places[t, i, j] = place
                pairs[t, i, j] = pair(chain, a, words[t, j], place)
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
    values, later = np.empty((most, most)), np.empty((most, most))
    for t in range(size - 1, -1, -1):
        # values(j, c) = P(y | c)·β(j, c) of the next place, here one step back to (i, j)
        wide = 1 if t == 0 else widths[t - 1]
        if t == size - 1:
            for i in range(wide):
                for j in range(widths[t]):
                    b, place = words[t, j], places[t, i, j]
                    share = 0.0 if place < 0 else triple_share(chain, place, edge)
                    followed = pair(chain, b, edge, pair_place(chain, b, edge))
                    later[i, j] = share + followed * backs[t, i, j]
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
