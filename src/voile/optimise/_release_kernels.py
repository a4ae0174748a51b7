"""Evaluating a spline mechanism at a place and drawing from it, integers throughout.

A place has L basis weights u_l, integers of 52 bits that sum to 2**52, and each coefficient k a
row A_k of cumulative sums over the outputs, integers of 62 bits that end at 2**62. Then

    S_y = ⌊Σ_l u_l·A_l[y] / 2**52⌋,   S_last = 2**62,

and the integer weight of output y is S_y − S_(y−1). One y costs L products, so a draw, the first
y with S_y above a target, costs L·log₂(outputs) of them and not L·outputs. Products have up to
114 bits and are summed in limbs: u = u₁·2**26 + u₀, A = A₁·2**31 + A₀, each sum of at most 27
products within 63 bits. A compiler with 128-bit integers finds the same (`places.export`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled

Signed = NDArray[np.int64]
WEIGHT_BITS = 52
WEIGHTS = np.int64(1 << WEIGHT_BITS)
SCALE = float(1 << WEIGHT_BITS)
LOW26, LOW31, LOW21 = np.int64((1 << 26) - 1), np.int64((1 << 31) - 1), np.int64((1 << 21) - 1)


@compiled
def integer_weights(weight: Floats, whole: Signed) -> None:
    """Basis weights as integers that sum to 2**52: truncated, the remainder to the largest."""
    total = np.int64(0)
    largest = 0
    for j in range(len(weight)):
        whole[j] = np.int64(weight[j] * SCALE)
        total += whole[j]
        if whole[j] > whole[largest]:
            largest = j
    whole[largest] += WEIGHTS - total


@compiled
def cumulative(index: Indices, whole: Signed, table: Signed, y: int) -> np.int64:
    """S_y at one place."""
    high = np.int64(0)
    mixed = np.int64(0)
    other = np.int64(0)
    low = np.int64(0)
    for j in range(len(index)):
        value = table[index[j], y]
        above, below = value >> 31, value & LOW31
        first, last = whole[j] >> 26, whole[j] & LOW26
        high += first * above
        mixed += last * above
        other += first * below
        low += last * below
    rest = ((mixed & LOW21) << 5) + other + (low >> 26)
    return (high << 5) + (mixed >> 21) + (rest >> 26)


@compiled
def integer_rows(index: Indices, weight: Floats, table: Signed, rows: Signed) -> None:
    """The integer weights at many places."""
    whole = np.empty(weight.shape[1], dtype=np.int64)
    for i in range(len(index)):
        integer_weights(weight[i], whole)
        before = np.int64(0)
        for y in range(table.shape[1]):
            here = cumulative(index[i], whole, table, y)
            rows[i, y] = here - before
            before = here


@compiled
def draw_each(
    index: Indices, weight: Floats, table: Signed, targets: Signed, drawn: Indices
) -> None:
    """One output for each place: the first whose running sum exceeds the target."""
    whole = np.empty(weight.shape[1], dtype=np.int64)
    for i in range(len(index)):
        integer_weights(weight[i], whole)
        first, last = 0, table.shape[1] - 1
        while first < last:
            middle = (first + last) // 2
            if cumulative(index[i], whole, table, middle) > targets[i]:
                last = middle
            else:
                first = middle + 1
        drawn[i] = first
