"""The exponential mechanism on integers: what is drawn is what the bound was computed from.

A candidate at distance d from what the data want has the integer weight w_d, where w falls and
w_d ≤ e^step · w_(d+1) holds exactly: w_(d+1) = ⌈w_d·p/q⌉ with p/q ≥ e^(−step). If a change of the
data moves every distance by at most 1, each weight changes by at most e^step, their sum too, and so
no choice becomes more likely than e^(2·step)-fold. Rounding up makes the weights end at a floor
instead of 0, which costs usefulness at a scale of 2^−64 and no privacy.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np

from voile.core.arrays import Indices
from voile.core.randomness import Generator
from voile.errors import require

TOP = 2**64
SMALLEST_STEP = 1e-4
"""Below it tables grow long, and nothing useful is chosen."""
_BITS = 2**53


def falling_weights(step: float) -> tuple[int, ...]:
    """w_0 = 2^64, w_1, …, down to where the rounding holds them.

    >>> weights = falling_weights(1.0)
    >>> len(weights), max(a / b for a, b in zip(weights, weights[1:])) <= math.e
    (46, True)
    """
    require(step >= SMALLEST_STEP, "step", f">= {SMALLEST_STEP:g}", step, "give more epsilon")
    # exp is good to a unit in the last place; two more make p/q a bound from above.
    numerator = min(_BITS - 1, math.ceil(math.exp(-step) * _BITS) + 2)
    weights = [TOP]
    while (lower := -(-weights[-1] * numerator // _BITS)) < weights[-1]:
        weights.append(lower)
    return tuple(weights)


def choose(distances: Indices, weights: Sequence[int], rng: Generator) -> int:
    """A position, drawn with a chance proportional to the weight at its distance."""
    at = np.minimum(distances, len(weights) - 1)
    found, counts = np.unique(at, return_counts=True)
    ends = list(
        accumulate(n * weights[d] for d, n in zip(found.tolist(), counts.tolist(), strict=True))
    )
    drawn = below(ends[-1], rng)
    place = bisect_right(ends, drawn)
    distance = int(found[place])
    left = drawn - (ends[place - 1] if place else 0)
    return int(np.flatnonzero(at == distance)[left // weights[distance]])


def noise(count: int, weights: Sequence[int], rng: Generator) -> tuple[int, ...]:
    """Whole numbers z with a chance proportional to w(|z|), none beyond the table's end.

    Added to a count: between counts that differ by 1, e^step, except with the probability of the
    value at the end, which the other cannot reach: `end`.
    """
    last = len(weights) - 1
    ends = list(accumulate(weights[abs(z)] for z in range(-last, last + 1)))
    return tuple(bisect_right(ends, below(ends[-1], rng)) - last for _ in range(count))


def unlikely(chance: float, weights: Sequence[int]) -> int | None:
    """The smallest noise that is reached or passed with at most this chance; None if there is none.

    Decided on the integers: above/total ≤ chance, with the chance as the fraction that it is.
    """
    total, above = 2 * sum(weights) - weights[0], 0
    most = Fraction(chance)
    for size in range(len(weights) - 1, 0, -1):
        above += weights[size]
        if above > most * total:
            return size + 1 if size + 1 < len(weights) else None
    return 1


def end(weights: Sequence[int]) -> float:
    """The chance of the largest noise there is, rounded up."""
    return math.nextafter(weights[-1] / (2 * sum(weights) - weights[0]), 1.0)


def below(bound: int, rng: Generator) -> int:
    """A whole number below the bound, each with the same chance: bits are drawn until one fits."""
    size = bound.bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes((size + 7) // 8), "big") >> (-size % 8)
        if drawn < bound:
            return drawn
