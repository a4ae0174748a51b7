"""Probabilities as integers: every row of a channel sums to exactly 2**62.

A row of integer weights *is* the law that is sampled: K(y|x) = W[x, y] / 2**62. A draw takes 62
uniform bits and walks the running sum of the row, integers compared with integers, so no
floating-point number decides what is released and no bits are rejected. The certificate is
computed from the same integers.
"""

from __future__ import annotations

import math

import numpy as np

from voile.core.arrays import Floats, Indices, Weights
from voile.core.randomness import Generator, uniform_bits
from voile.errors import InvalidInput, require

TOTAL_BITS = 62
TOTAL = 1 << TOTAL_BITS
_SCALE = float(TOTAL)
_AT_ONCE = 2**16
"""Weights that are worked on together: half a megabyte."""


def floor_bits(*, outputs: int, smallest_step: float) -> int:
    """How large the smallest weight must be, as a power of two.

    A weight of about 2**f is rounded by at most one unit, which moves its logarithm by 2**-f.
    `smallest_step` is the smallest log-ratio that the guarantee allows between two secrets,
    epsilon times their smallest distance: f is chosen so that rounding takes about a millionth
    of it. The floor never holds more than 2**-8 of a row's mass.
    """
    room = TOTAL_BITS - 8 - math.ceil(math.log2(outputs))
    if not 0 < smallest_step < math.inf:
        return min(21, room)
    return int(min(max(21 - math.floor(math.log2(smallest_step)), 11), room))


def quantise(log_weights: Floats, *, floor: int) -> Weights:
    """Integer weights proportional to exp(log_weights), each row summing to 2**62.

    Weights below 2**floor are raised to it: a maximum with a constant keeps a Lipschitz bound on
    logarithms, where a zero beside a non-zero would break it. `floor` = -1 keeps zeros.
    """
    require(log_weights.ndim == 2 and log_weights.size > 0, "log_weights", "a table", "none")
    weights = np.empty(log_weights.shape, dtype=np.uint64)
    rows, columns = log_weights.shape
    step = min(rows, max(1, _AT_ONCE // columns))
    scratch = np.empty((2, step, columns))
    for start in range(0, rows, step):
        here = slice(start, start + step)
        _fill(weights[here], log_weights[here], floor, scratch)
    return weights


def _fill(weights: Weights, log_weights: Floats, floor: int, scratch: Floats) -> None:
    """Some rows, all of whose steps find their numbers in the processor's cache."""
    shares, scaled = scratch[:, : len(weights)]
    highest = log_weights.max(axis=1, keepdims=True)  # NaN if there is one
    if not np.isfinite(highest).all():
        raise InvalidInput("log_weights must hold a finite largest value in each row and no NaN")
    np.subtract(log_weights, highest, out=shares)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=1, keepdims=True)
    if floor >= 0:
        np.maximum(shares, 2.0 ** (floor - TOTAL_BITS), out=shares)
        shares /= shares.sum(axis=1, keepdims=True)
    np.multiply(shares, _SCALE, out=scaled)
    weights[:] = scaled
    scaled -= weights  # the fractions, from here on
    for row, share, fraction in zip(weights, shares, scaled, strict=True):
        row[:] = _completed(row, share, fraction)


def _completed(weights: Weights, shares: Floats, fractions: Floats) -> Weights:
    """Spread what rounding left over: in proportion first, then a unit to the next in line."""
    missing = TOTAL - int(weights.sum())
    if abs(missing) > len(weights):
        signed = weights.astype(np.int64) + np.trunc(missing * shares).astype(np.int64)
        weights = signed.astype(np.uint64)
        missing = TOTAL - int(weights.sum())
    while missing:
        count = min(abs(missing), len(weights))
        order = fractions if missing > 0 else weights
        chosen = np.argpartition(order, len(order) - count)[len(order) - count :]
        weights[chosen] += np.uint64(1) if missing > 0 else np.uint64(2**64 - 1)
        missing = TOTAL - int(weights.sum())
    return weights


def check_rows(weights: Weights) -> None:
    """Each row must sum to exactly 2**62."""
    wrong = [i for i, total in enumerate(_totals(weights)) if total != TOTAL]
    if wrong:
        raise InvalidInput(
            f"weights must sum to exactly 2**62 in each row, {len(wrong)} of {len(weights)} do "
            f"not (the first is row {wrong[0]}); build them with quantise()"
        )


def check_one_total(weights: Weights) -> None:
    """All rows must have one sum, above 0: then ratios of weights are ratios of probabilities."""
    totals = _totals(weights)
    wrong = [i for i, total in enumerate(totals) if total != totals[0]]
    if wrong or not totals[0]:
        raise InvalidInput(
            f"weights must sum to the same number above 0 in each row, {len(wrong)} of "
            f"{len(weights)} rows do not (the first is row {wrong[0] if wrong else 0}); scale rows "
            "to one total, or build them with quantise()"
        )


def _totals(weights: Weights) -> list[int]:
    """The sum of each row, exactly."""
    require(weights.dtype == np.uint64, "weights", "of dtype uint64", weights.dtype)
    require(weights.ndim == 2 and weights.size > 0, "weights", "a table", weights.shape)
    if int(weights.max()) > TOTAL:
        raise InvalidInput("weights must be at most 2**62 each")
    # Halves cannot overflow: a row of m weights has at most m * 2**31 in each.
    high = (weights >> np.uint64(32)).sum(axis=1, dtype=np.uint64).tolist()
    low = (weights & np.uint64(2**32 - 1)).sum(axis=1, dtype=np.uint64).tolist()
    return [(above << 32) + below for above, below in zip(high, low, strict=True)]


def draw(cumulative: Weights, rows: Indices, rng: Generator) -> Indices:
    """One column for each entry of `rows`: exact draws from rows of running sums."""
    return columns_at(cumulative, rows, uniform_bits(rng, len(rows), bits=TOTAL_BITS))


def columns_at(cumulative: Weights, rows: Indices, targets: Weights) -> Indices:
    """The first column of each of `rows` whose running sum exceeds the target."""
    if len(rows) <= 16:  # sorting them out would cost more than drawing
        each = zip(rows, targets, strict=True)
        found = [cumulative[row].searchsorted(target, side="right") for row, target in each]
        return np.array(found, dtype=np.intp)
    used, inverse, counts = np.unique(rows, return_inverse=True, return_counts=True)
    if len(rows) < 16 * len(used):
        return _bisect(cumulative, rows, targets)
    columns = np.empty(len(rows), dtype=np.intp)
    order = np.argsort(inverse, kind="stable") if len(used) > 1 else np.arange(len(rows))
    start = 0
    for row, count in zip(used, counts, strict=True):
        here = order[start : start + count]
        columns[here] = np.searchsorted(cumulative[row], targets[here], side="right")
        start += count
    return columns


def _bisect(cumulative: Weights, rows: Indices, targets: Weights) -> Indices:
    """The first column whose running sum exceeds the target, for many rows at once."""
    low = np.zeros(len(rows), dtype=np.intp)
    high = np.full(len(rows), cumulative.shape[1] - 1, dtype=np.intp)
    for _ in range(int(cumulative.shape[1] - 1).bit_length()):
        middle = (low + high) >> 1
        beyond = cumulative[rows, middle] > targets
        high = np.where(beyond, middle, high)
        low = np.where(beyond, low, np.minimum(middle + 1, high))
    return high
