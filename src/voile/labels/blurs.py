"""The channel of one column of a record: a code in, a code out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from voile.core.arrays import Floats
from voile.core.channel import Channel
from voile.core.guarantee import Guarantee
from voile.core.space import Space
from voile.errors import InvalidInput
from voile.labels.columns import Column, NumberColumn

Made = TypeVar("Made")
_STRONGEST = 300.0
"""Far more tells nothing more, and its powers are no doubles."""


def blurred(column: Column, *, epsilon: float) -> Channel:
    """A channel over the codes of a column, ε between any two of them.

    A category by randomised response, a number by two-sided geometric noise among its levels, and
    where a number may be missing by `levels_or_missing`. A column of one code costs nothing.
    """
    from voile.mechanisms import geometric, randomised_response
    from voile.metrics import euclidean

    if not isinstance(column, NumberColumn) or len(column) == 1:
        codes = list(range(len(column)))
        return randomised_response(codes, epsilon=epsilon, granularity="one value")
    if column.missing:
        return levels_or_missing(len(column.levels), epsilon=epsilon)
    steps = len(column.levels) - 1
    line = Space([[i / steps] for i in range(steps + 1)], metric=euclidean(unit="range"))
    return geometric(line, epsilon=epsilon, granularity="one value")


def levels_or_missing(levels: int, *, epsilon: float) -> Channel:
    """Levels on a line by geometric noise, and one more code, the last, for a missing number.

    A level y is released as missing with probability m, else by the geometric law G(·|y); a missing
    value stays missing with probability M = E·m, E = e^ε, else it becomes a level by a law u in the
    middle of the rows of G (u(z) is proportional to the root of the largest times the smallest
    G(z|y)). With r = max G(z|y)/u(z), m = 1/(E + c) and c = max(levels, r(E − 1)/(E − r)), the
    ratio of the two kinds of row is E at "missing" and r(E + c − 1)/c ≤ E at a level; its inverse
    is below (E + 1)/2. Between levels it is the geometric law's. So ε between any two codes, and
    whether a value was missing is as well hidden as the value.

    >>> levels_or_missing(1, epsilon=1.0).probabilities().round(4).tolist()  # Warner's
    [[0.7311, 0.2689], [0.2689, 0.7311]]
    """
    from voile.metrics import discrete

    def log_weights(wanted: float) -> Floats:
        strength = min(wanted, _STRONGEST)
        law = _geometric(levels, strength)
        middle = np.sqrt(law.max(axis=0) * law.min(axis=0))
        middle /= middle.sum()
        top, reach = np.exp(strength), float((law / middle).max())
        room = max(float(levels), reach * (top - 1) / (top - reach))
        table = np.empty((levels + 1, levels + 1))
        table[:levels, :levels] = law * (top + room - 1)
        table[:levels, levels] = 1.0
        table[levels, :levels] = middle * room
        table[levels, levels] = top
        return np.log(table)

    codes = Space(list(range(levels + 1)), metric=discrete())
    return Channel.build(codes, log_weights, epsilon=epsilon, granularity="one value")


def _geometric(levels: int, strength: float) -> Floats:
    """Two-sided geometric noise with its tails folded onto the ends (see `geometric`)."""
    if levels == 1:
        return np.ones((1, 1))
    steps = np.abs(np.subtract.outer(np.arange(levels), np.arange(levels))) / (levels - 1)
    table = np.exp(-strength * steps)
    table[:, 1:-1] *= -np.expm1(-strength / (levels - 1))
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def within(
    epsilon: float, build: Callable[[float], Made], said: Callable[[Made], Guarantee], first: float
) -> Made:
    """What is built for all of epsilon, or for so much less that its own bound is not beyond it.

    A bound is computed from the probabilities that are drawn from and rounded up, which is much
    where epsilon itself is hardly more than the rounding.
    """
    total = first
    for _ in range(8):
        made = build(total)
        beyond = said(made).epsilon - epsilon
        if beyond <= 0:
            return made
        total -= 2 * beyond
        if total < epsilon / 2:
            break
    raise InvalidInput(
        f"epsilon must be larger, got {epsilon:g}: divided among the columns it is lost in rounding"
    )
