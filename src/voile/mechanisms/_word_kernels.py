"""The loops behind words at scale, compiled; integers and exact doubles decide everything.

Imported on first use only: it loads numba.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voile.errors import MissingExtra

try:
    from numba import njit as njit
except ImportError:
    raise MissingExtra("numba", extra="text") from None

# Types are left to numba, which knows them better than an annotation could say.
Array = Any

_TRY_WORDS = 3
"""A try takes at most this many random words: one to propose, two to accept."""

_PER_LOG2 = 1.4426950408889634
_LOG2_HIGH = 0.6931471803691238
"""The first 33 bits of ln 2, so that its multiples up to 2**20 are exact."""
_LOG2_LOW = 1.9082149292705877e-10
_HALVES = 2.0 ** -np.arange(64)


@njit(cache=True, nogil=True)
def exp_minus(exponent: float) -> float:
    """e^−x for 0 ≤ x < 44, from additions and multiplications alone: the same on any processor.

    A library's exp may differ in its last bit from one processor to the next, and a draw or a tie
    with it. Here x = k·ln 2 + r with |r| ≤ (ln 2)/2, and Taylor's polynomial of degree 13 gives
    e^−r to 2^−57; rounding adds less than one and a half units in the last place.
    """
    halvings = int(exponent * _PER_LOG2 + 0.5)
    t = halvings * _LOG2_LOW - (exponent - halvings * _LOG2_HIGH)
    series = 1 / 479001600 + t * (1 / 6227020800)
    series = 1 / 39916800 + t * series
    series = 1 / 3628800 + t * series
    series = 1 / 362880 + t * series
    series = 1 / 40320 + t * series
    series = 1 / 5040 + t * series
    series = 1 / 720 + t * series
    series = 1 / 120 + t * series
    series = 1 / 24 + t * series
    series = 1 / 6 + t * series
    series = 0.5 + t * series
    return (1.0 + (t + t * t * series)) * _HALVES[halvings]


@njit(cache=True, nogil=True)
def weight(squared: Any, rate: float, cap: float) -> float:
    """exp(−min(rate·√S, cap)): the one definition, for sampler and closed form alike."""
    return exp_minus(min(rate * math.sqrt(squared), cap))


@njit(cache=True, nogil=True)
def squared_distance(left: Array, right: Array) -> Any:
    """S as an exact integer."""
    total = np.int64(0)
    for k in range(len(left)):
        difference = np.int64(left[k]) - np.int64(right[k])
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def near_row(
    squared: Array, size: int, rate: float, cap: float, running: Array, accept: Array
) -> Any:
    """Proposal integers (as running sums) and acceptance probabilities of the near words.

    The scale is the power of two that brings the row's proposals below 2**62. A proposal is the
    least integer above weight·scale, the acceptance their quotient, a double ≤ 1. Returns the
    scale and the proposal of every word beyond the near ones: that of the last near word.
    """
    kept = len(squared)
    total = 0.0
    for i in range(kept):  # apart from their sum, which has an order: so several at a time
        accept[i] = weight(squared[i], rate, cap)
    for i in range(kept):
        total += accept[i]
    if size > kept:
        total += size * accept[kept - 1]
    _, exponent = math.frexp(total)
    scale = math.ldexp(1.0, 62 - exponent)
    reached = np.uint64(0)
    proposal = np.uint64(0)
    for i in range(kept):
        exact = accept[i] * scale
        proposal = np.uint64(exact) + np.uint64(1)
        accept[i] = exact / np.float64(proposal)
        reached += proposal
        running[i] = reached
    return scale, proposal


@njit(cache=True, nogil=True)
def bernoulli(chance: float, bits: Array, position: int) -> tuple[bool, int]:
    """True with probability exactly `chance`, a double in [2**-62, 1].

    The double is a finite binary fraction: its first 62 places are compared with 62 random bits,
    and in the one case in 2**62 where they agree, its next 62 places, which are its last.
    """
    while chance > 0.0:
        places = chance * 4611686018427387904.0  # 2**62: a change of exponent, so exact
        whole = math.floor(places)
        drawn = bits[position] >> np.uint64(2)
        position += 1
        if drawn < np.uint64(whole):
            return True, position
        if drawn > np.uint64(whole):
            return False, position
        chance = places - whole
    return False, position


@njit(cache=True, nogil=True)
def draw(
    words: Array,
    starts: Array,
    coordinates: Array,
    outputs: Array,
    index: Array,
    squared: Array,
    rate: float,
    cap: float,
    bits: Array,
    drawn: Array,
    done: int,
) -> Any:
    """Draw for sorted tokens: starts[i] … starts[i+1] are the tokens of words[i].

    `outputs` are the coordinates of what may be released; near lists and draws count in them.
    Begins at token `done` and stops when the tokens or the random bits are used up. Returns the
    next token to draw for.

    A try takes an integer u uniform below 2**b, b the bits of the row's total T, and starts over
    if u ≥ T. Below the last running sum it names a near word; above it, number (u − N) div B
    of *all* outputs, B the tail's proposal, and starts over if that word is near. So
    near word i has exactly proposal_i values of u, and any other word exactly B: then its
    acceptance decides. Every try proposes y with probability P(y)/2**b and accepts with r(y).
    """
    size, kept = len(outputs), index.shape[1]
    running = np.empty(kept, dtype=np.uint64)
    accept = np.empty(kept, dtype=np.float64)
    position = 0
    which = np.searchsorted(starts, done, side="right") - 1
    while which < len(words):
        word = words[which]
        scale, tail = near_row(squared[word], size, rate, cap, running, accept)
        near_total = running[kept - 1]
        total = near_total
        if size > kept:
            total += np.uint64(size) * tail
        shift = np.uint64(0)
        while (total - np.uint64(1)) >> (np.uint64(63) - shift) == 0 and shift < 63:
            shift += np.uint64(1)
        last_squared, last_index = squared[word, kept - 1], index[word, kept - 1]
        while done < starts[which + 1]:
            if position + _TRY_WORDS > len(bits):
                return done
            u = bits[position] >> shift
            position += 1
            if u >= total:
                continue
            if u < near_total:
                i = np.searchsorted(running, u, side="right")
                released, chance = np.int64(index[word, i]), accept[i]
            else:
                released = np.int64((u - near_total) // tail)
                distance = squared_distance(coordinates[word], outputs[released])
                if distance < last_squared or (distance == last_squared and released <= last_index):
                    continue
                exact = weight(distance, rate, cap) * scale
                chance = min(1.0, exact / np.float64(tail))
            accepted, position = bernoulli(chance, bits, position)
            if accepted:
                drawn[done] = released
                done += 1
        which += 1
    return done


@njit(cache=True, nogil=True)
def draw_each(
    words: Array,
    coordinates: Array,
    outputs: Array,
    index: Array,
    squared: Array,
    rate: float,
    cap: float,
    bits: Array,
    drawn: Array,
) -> None:
    """Draw for words[i] from bits[i] alone; −1 where they are used up before a try is accepted."""
    one = np.array([0, 1])
    for i in range(len(words)):
        end = draw(
            words[i : i + 1], one, coordinates, outputs, index, squared, rate, cap,
            bits[i], drawn[i : i + 1], 0,
        )  # fmt: skip
        if end == 0:
            drawn[i] = -1


@njit(cache=True, nogil=True)
def whole_row(
    point: Array,
    outputs: Array,
    index: Array,
    squared: Array,
    rate: float,
    cap: float,
    proposals: Array,
    accepts: Array,
) -> None:
    """P(y) and r(y) of every output: the law that `draw` follows."""
    size, kept = len(outputs), len(index)
    running = np.empty(kept, dtype=np.uint64)
    accept = np.empty(kept, dtype=np.float64)
    scale, tail = near_row(squared, size, rate, cap, running, accept)
    for y in range(size):
        proposals[y] = tail
        exact = weight(squared_distance(point, outputs[y]), rate, cap) * scale
        accepts[y] = min(1.0, exact / np.float64(tail))
    before = np.uint64(0)
    for i in range(kept):
        proposals[index[i]] = running[i] - before
        accepts[index[i]] = accept[i]
        before = running[i]
