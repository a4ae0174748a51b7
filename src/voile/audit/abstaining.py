"""Epsilon from guesses that an attacker is sure of: it may abstain, and shows more where it speaks.

ε bounds every event, so it bounds the guesses of an attacker who speaks only when sure. Write A
for "he speaks and names j": for every j and every other source i, P(A | j) ≤ e^ε·P(A | i) + δ.
Averaged over j and over the k − 1 others, with a source uniform in its set,

    (k − 1)·P(right) ≤ e^ε·P(wrong) + (k − 1)·δ,        right, wrong: he speaks, and is so

for *any* rule of when to speak that looks at the set and the release alone. At δ = 0 the same
holds release by release: given the set and what was released, the odds of the named source are at
most e^ε to k − 1. So among trials in which he speaks the number of right guesses is at most a
binomial count with p = e^ε/(e^ε + k − 1), whichever trials these are, and the exact binomial bound
on the kept trials bounds ε. With δ > 0, or where sources are balanced over a set's trials rather
than drawn for each, both rates are bounded, each with half of the failure probability.

The rule here is a threshold on the attack's own margin, chosen on trials that are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from voile.audit.empirical import epsilon_of_success
from voile.core.arrays import Floats
from voile.core.rounding import at_least
from voile.leakage.bounds import clopper_pearson

CHOOSING = 1 / 3
"""The share of trials on which the threshold is chosen; the others are counted."""
FEWEST = 20
"""A threshold keeps at least so many of the trials it is chosen on."""


@dataclass(frozen=True)
class Sure:
    """What an attack showed when it spoke only where it was sure: one bound, from below."""

    lower: float
    right: int
    kept: int
    trials: int
    failure_probability: float
    ceiling: float = 0.0
    """What it would have shown if it had spoken in all counted trials, right each time."""

    @property
    def share(self) -> float:
        """The share of the counted trials in which it spoke."""
        return self.kept / self.trials if self.trials else 0.0

    def __str__(self) -> str:
        return f"{at_least(self.lower)} ({self.right:,} right of {self.kept:,} kept)"


def margins(scores: Floats) -> Floats:
    """How far the best candidate of each row stands above the next; 0 where they are level.

    >>> margins(np.array([[0.0, 3.0, 1.0], [2.0, 2.0, 0.0]]))
    array([2., 0.])
    """
    best = np.partition(np.asarray(scores, dtype=np.float64), -2, axis=1)[:, -2:]
    level = best[:, 0] == best[:, 1]
    return np.where(level, 0.0, best[:, 1] - np.where(level, 0.0, best[:, 0]))


def from_kept(
    right: int,
    kept: int,
    trials: int,
    *,
    candidates: int,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    drawn: bool = True,
) -> float:
    """The least epsilon that allows so many right guesses among those kept; one-sided, exact.

    `drawn` says that each trial's source was drawn uniformly from its set by itself.

    >>> round(from_kept(300, 300, 2000, candidates=2), 3)    # always right when it spoke
    4.169
    >>> from_kept(150, 300, 2000, candidates=2)
    0.0
    """
    if kept == 0:
        return 0.0
    if drawn and delta == 0:
        low, _ = clopper_pearson(right, kept, failure_probability=2 * failure_probability)
        return epsilon_of_success(low, candidates=candidates)
    low, _ = clopper_pearson(right, trials, failure_probability=failure_probability)
    _, high = clopper_pearson(kept - right, trials, failure_probability=failure_probability)
    if low <= delta:
        return 0.0
    return max(0.0, math.log((candidates - 1) * (low - delta)) - math.log(high))


def surest(
    right: NDArray[np.bool_],
    margin: Floats,
    choosing: NDArray[np.bool_],
    *,
    candidates: int,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    drawn: bool = True,
) -> Sure:
    """Choose the threshold on the trials marked `choosing`, and count on the others."""
    bound = partial(
        from_kept,
        candidates=candidates,
        delta=delta,
        failure_probability=failure_probability,
        drawn=drawn,
    )
    if not choosing.any() or choosing.all():
        return Sure(0.0, 0, 0, int((~choosing).sum()), failure_probability)
    threshold = _threshold(right[choosing], margin[choosing], bound)
    counted = ~choosing
    spoke = counted & (margin >= threshold)
    kept, correct, trials = int(spoke.sum()), int((right & spoke).sum()), int(counted.sum())
    lower = bound(correct, kept, trials)
    most = bound(trials, trials, trials)
    return Sure(lower, correct, kept, trials, failure_probability, most)


def _threshold(
    right: NDArray[np.bool_], margin: Floats, bound: Callable[[int, int, int], float]
) -> float:
    """The margin from which on these trials would show most."""
    order = np.argsort(-margin, kind="stable")
    falling, correct = margin[order], np.cumsum(right[order])
    best, threshold = -1.0, 0.0
    for count in np.unique(np.geomspace(min(FEWEST, len(right)), len(right), 40).astype(int)):
        # all trials of equal margin are kept together, as they will be when it counts
        last = int(np.searchsorted(-falling, -falling[count - 1], side="right"))
        shown = bound(int(correct[last - 1]), last, len(right))
        if shown > best:
            best, threshold = shown, float(falling[last - 1])
    return threshold
