"""The loops behind reading a release as a whole; sums in a fixed order, so the same anywhere.

Imported on first use only: it loads numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voile.mechanisms._word_kernels import njit, weight

Array = Any


@njit(cache=True, nogil=True)
def add_weights(table: Array, rate: float, cap: float, across: Array, down: Array) -> None:
    """Weights of a block of pairs, added to their rows and, beyond the block's own, columns."""
    own = len(across)
    for i in range(own):
        total = 0.0
        for j in range(table.shape[1]):
            value = weight(table[i, j], rate, cap)
            total += value
            if j >= own:
                down[j] += value
        across[i] = total


@njit(cache=True, nogil=True)
def choose(
    near_words: Array, squared: Array, common: Array, is_common: Array, far: Array,
    scale: Array, totals: Array, rate: float, cap: float, smallest: float,
    words: Array, chances: Array, widths: Array, left_out: Array,
) -> None:  # fmt: skip
    """The likeliest words of each draw: see `Candidates`. Of equals the first met are kept."""
    near, most = near_words.shape[1], words.shape[1]
    room = near + len(common)
    found, scores = np.empty(room, dtype=np.int32), np.empty(room)
    values = np.empty(room)
    everything = 0.0
    for x in range(len(scale)):
        everything += scale[x]
    for row in range(len(words)):
        count, best = 0, 0.0
        for k in range(near):
            x = near_words[row, k]
            if not is_common[x]:
                values[count] = weight(squared[row, k], rate, cap)
                found[count] = x
                count += 1
        for k in range(len(common)):
            values[count] = weight(far[row, k], rate, cap)
            found[count] = common[k]
            count += 1
        looked_at, mass = 0.0, 0.0
        for k in range(count):
            x = found[k]
            scores[k] = values[k] * scale[x]
            best = max(best, scores[k])
            looked_at += scale[x]
            mass += scores[k]
        threshold = best * smallest
        if count > most:
            threshold = max(threshold, np.partition(scores[:count], count - most)[count - most])
        kept, inside = 0, 0.0
        for k in range(count):
            if scores[k] >= threshold and kept < most:
                words[row, kept] = found[k]
                chances[row, kept] = values[k] / totals[found[k]]
                inside += scores[k]
                kept += 1
        widths[row] = kept
        beyond = max(0.0, everything - looked_at) * weight(squared[row, near - 1], rate, cap)
        left_out[row] = max(0.0, mass + beyond - inside) / (mass + beyond)


@njit(cache=True, nogil=True)
def place_of(columns: Array, low: int, high: int, column: int) -> int:
    """Where a column stands in a sorted row, −1 if it does not."""
    last = high
    while low < high:
        middle = (low + high) >> 1
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low if low < last and columns[low] == column else -1


@njit(cache=True, nogil=True, inline="always")
def ones_in(bits: Any) -> Any:
    """How many bits of 64 are set."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low, pairs = bits & np.uint64(0x3333333333333333), bits >> np.uint64(2)
    bits = low + (pairs & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def place_by_bits(bits: Any, rank: int, b: int) -> Any:
    """Where a word stands in a long row, −1 if it does not: how many bits are set before its own.

    `bits` are the 64 that hold its own, `rank` how many are set before these.
    """
    bit = np.uint64(1) << np.uint64(b & 63)
    return rank + ones_in(bits & (bit - np.uint64(1))) if bits & bit else -1


@njit(cache=True, nogil=True)
def pair_places(a: int, words: Array, width: int, chain: Array, places: Array) -> None:
    """Where each pair of `a` and a candidate stands among those counted, −1 if it was not."""
    low, high, row = chain.starts[a], chain.starts[a + 1], chain.bit_rows[a]
    for j in range(width):
        b = words[j]
        if row < 0:
            places[j] = place_of(chain.columns, low, high, b)
        else:
            place = place_by_bits(chain.bits[row, b >> 6], chain.ranks[row, b >> 6], b)
            places[j] = low + place if place >= 0 else -1


@njit(cache=True, nogil=True)
def arranged(words: Array, width: int, chain: Array, order: Array, columns: Array) -> int:
    """Candidates in the order of a step: first those with a dense column; how many these are."""
    dense = 0
    for j in range(width):
        column = chain.dense_columns[words[j]]
        if column >= 0:
            order[dense], columns[dense] = j, column
            dense += 1
    last = dense
    for j in range(width):
        if chain.dense_columns[words[j]] < 0:
            order[last] = j
            last += 1
    return dense


@njit(cache=True, nogil=True)
def step_forward(
    before: Array, beliefs: Array, wide: int, after: Array, width: int, dense: int,
    columns: Array, slots: Array, chain: Array, faint: float, start: int, hits: Array,
    hit_shares: Array, sums: Array,
) -> Any:  # fmt: skip
    """Σ_a belief(a)·share(a, b) added to `sums` for all candidates b, as arranged.

    Words that many others follow have a dense row over the commonest words. What it does not hold
    is written to `hits` from `start` on, for the way back; the tables grow if full. Writing before
    it is known whether to keep costs less than a branch that nobody can foretell. Words believed
    less than `faint` are passed over.
    """
    count: Any = start
    starts, listed, shares = chain.starts, chain.columns, chain.shares
    for p in range(width):
        slots[after[p]] = p
    for i in range(wide):
        belief = beliefs[i]
        if belief < faint:
            continue
        word = before[i]
        low, high, first = starts[word], starts[word + 1], count
        if count + max(width, high - low) >= len(hits):
            hits, hit_shares = grown(hits, hit_shares, count, max(width, high - low))
        row = chain.dense_rows[word]
        if row >= 0:
            values = chain.dense[row]
            for p in range(dense):
                sums[p] += belief * values[columns[p]]
        if chain.bit_rows[word] < 0:
            for place in range(low, high):
                p = slots[listed[place]]
                hits[count, 0], hits[count, 1], hit_shares[count] = i, p, shares[place]
                count += p >= 0
        else:
            long = chain.bit_rows[word]
            bits, ranks = chain.bits[long], chain.ranks[long]
            for p in range(dense if row >= 0 else 0, width):
                b = after[p]
                hits[count, 1] = p
                count += np.int64((bits[b >> 6] >> np.uint64(b & 63)) & np.uint64(1))
            for h in range(first, count):
                b = after[hits[h, 1]]
                place = place_by_bits(bits[b >> 6], ranks[b >> 6], b)
                hits[h, 0], hit_shares[h] = i, shares[low + place]
        for h in range(first, count):
            sums[hits[h, 1]] += belief * hit_shares[h]
    for p in range(width):
        slots[after[p]] = -1
    return count, hits, hit_shares


@njit(cache=True, nogil=True)
def grown(hits: Array, shares: Array, count: int, more: int) -> Any:
    """Tables of twice the size with the same beginning, and room for so many more."""
    size = 2 * len(hits) + more
    wider, longer = np.empty((size, hits.shape[1]), dtype=hits.dtype), np.empty(size)
    wider[:count], longer[:count] = hits[:count], shares[:count]
    return wider, longer


@njit(cache=True, nogil=True)
def dense_sum(row: Array, columns: Array, values: Array, count: int) -> float:
    """Σ_p row(columns(p))·values(p) in four sums of a fixed order, none waiting for another."""
    a = b = c = d = 0.0
    whole = count - count % 4
    for p in range(0, whole, 4):
        a += row[columns[p]] * values[p]
        b += row[columns[p + 1]] * values[p + 1]
        c += row[columns[p + 2]] * values[p + 2]
        d += row[columns[p + 3]] * values[p + 3]
    for p in range(whole, count):
        a += row[columns[p]] * values[p]
    return (a + b) + (c + d)


@njit(cache=True, nogil=True)
def normalise(values: Array, width: int) -> float:
    """Values divided by their sum, which is returned; all alike if they are all 0."""
    total = 0.0
    for j in range(width):
        total += values[j]
    for j in range(width):
        values[j] = values[j] / total if total > 0 else 1.0 / width
    return total
