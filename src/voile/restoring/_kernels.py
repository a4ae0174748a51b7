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
def ones_in(bits: Any) -> int:
    """How many bits of 64 are set."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low, pairs = bits & np.uint64(0x3333333333333333), bits >> np.uint64(2)
    bits = low + (pairs & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def counted_pairs(
    before: Array, beliefs: Array, wide: int, after: Array, width: int, slots: Array,
    chain: Array, faint: float, start: int, hits: Array, hit_shares: Array,
) -> Any:  # fmt: skip
    """Which candidates were seen to follow which, written from `start` on; the tables grow if full.

    A long row is a set of bits beside its list: most candidates never followed the word, and a bit
    tells that without a search; how many bits stand before it tells where it is in the list.
    Writing before it is known whether to keep costs less than a branch that nobody can foretell.
    Words believed less than `faint` are passed over.
    """
    count = start
    starts, columns, shares = chain.starts, chain.columns, chain.shares
    bits, ranks, bit_rows = chain.bits, chain.ranks, chain.bit_rows
    one = np.uint64(1)
    for j in range(width):
        slots[after[j]] = j
    for i in range(wide):
        if beliefs[i] < faint:
            continue
        low, high, row = starts[before[i]], starts[before[i] + 1], bit_rows[before[i]]
        room = count + max(width, high - low if row < 0 else 0) + 1
        if room > len(hits):
            more = np.empty((2 * room, 2), dtype=hits.dtype)
            more[:count] = hits[:count]
            more_shares = np.empty(len(more))
            more_shares[:count] = hit_shares[:count]
            hits, hit_shares = more, more_shares
        if row < 0:
            for place in range(low, high):
                j = slots[columns[place]]
                hits[count, 0], hits[count, 1], hit_shares[count] = i, j, shares[place]
                count += j >= 0
            continue
        first = count
        for j in range(width):
            word = after[j]
            hits[count, 1] = j
            count += np.int64((bits[row, word >> 6] >> np.uint64(word & 63)) & one)
        for h in range(first, count):
            word = after[hits[h, 1]]
            earlier = bits[row, word >> 6] & ((one << np.uint64(word & 63)) - one)
            hits[h, 0] = i
            hit_shares[h] = shares[low + ranks[row, word >> 6] + ones_in(earlier)]
    for j in range(width):
        slots[after[j]] = -1
    return count, hits, hit_shares


@njit(cache=True, nogil=True)
def normalise(values: Array, width: int) -> float:
    """Values divided by their sum, which is returned; all alike if they are all 0."""
    total = 0.0
    for j in range(width):
        total += values[j]
    for j in range(width):
        values[j] = values[j] / total if total > 0 else 1.0 / width
    return total
