"""From counted guesses to an epsilon: exact intervals, a ceiling, a shared failure probability."""

from __future__ import annotations

import math
from dataclasses import dataclass

from voile.errors import require
from voile.leakage.bounds import clopper_pearson


@dataclass(frozen=True)
class Estimate:
    """What counted guesses say of epsilon: an interval, its middle, and the most they could say.

    `lower` bounds the epsilon of the mechanism from below; `upper` bounds what *this attack* can
    show from above, and says nothing of other attacks. `ceiling` is the lower bound that a
    faultless attack would have reached with as many trials: a value near it means "at least".
    """

    lower: float
    middle: float
    upper: float
    ceiling: float
    successes: int
    trials: int
    failure_probability: float

    @property
    def at_ceiling(self) -> bool:
        """Whether every single guess was right: more trials would show more."""
        return self.lower >= self.ceiling


def epsilon_of_success(success: float, *, candidates: int, delta: float = 0.0) -> float:
    """The least epsilon under which an attacker may name one of k candidates this often.

    TeDA (2603.22968), eq. 11: (ε, δ) allows (k − 1)·p ≤ e^ε·(1 − p) + δ·(k − 1), so
    ε ≥ ln((k − 1)(p − δ)/(1 − p)); 0 where that is negative, infinite at p = 1.

    >>> round(epsilon_of_success(0.7311, candidates=2), 3)
    1.0
    """
    require(candidates >= 2, "candidates", ">= 2", candidates)
    require(0 <= delta < 1, "delta", "in [0, 1)", delta)
    if success <= delta:
        return 0.0
    if success >= 1:
        return math.inf
    return max(0.0, math.log(candidates - 1) + math.log(success - delta) - math.log1p(-success))


def ceiling(
    trials: int, *, candidates: int, delta: float = 0.0, failure_probability: float = 0.01
) -> float:
    """The largest lower bound that this many trials can give: every guess right.

    >>> round(ceiling(10_000, candidates=2), 5)
    7.54269
    """
    low, _ = clopper_pearson(trials, trials, failure_probability=failure_probability)
    return epsilon_of_success(low, candidates=candidates, delta=delta)


def from_successes(
    successes: int,
    trials: int,
    *,
    candidates: int,
    delta: float = 0.0,
    failure_probability: float = 0.01,
) -> Estimate:
    """TeDA's reduced form: epsilon from how often the attacker named the source.

    The interval is the Clopper–Pearson interval carried through `epsilon_of_success`, which
    grows with the success probability, so it misses with at most `failure_probability` in all.

    >>> estimate = from_successes(7_400, 10_000, candidates=2)
    >>> round(estimate.lower, 3), round(estimate.upper, 3)
    (0.987, 1.105)
    """
    low, high = clopper_pearson(successes, trials, failure_probability=failure_probability)
    values = [
        epsilon_of_success(p, candidates=candidates, delta=delta)
        for p in (low, successes / trials, high)
    ]
    top = ceiling(
        trials, candidates=candidates, delta=delta, failure_probability=failure_probability
    )
    return Estimate(values[0], values[1], values[2], top, successes, trials, failure_probability)


def from_rates(
    true_positives: int,
    positives: int,
    false_positives: int,
    negatives: int,
    *,
    delta: float = 0.0,
    failure_probability: float = 0.01,
) -> Estimate:
    """The symmetric form: ε = ln((TPR − δ)/FPR), each rate with its own exact interval.

    Arcolezi and Gambs (PoPETs 2024, section 4): how often the attacker says "the first" when it
    is, against when it is not. Half of the failure probability goes to each rate. Needs both
    kinds of trials, and is blind where the first is never named.

    >>> estimate = from_rates(26_720, 1_000_000, 9_830, 1_000_000)
    >>> round(estimate.lower, 3)
    0.955
    """
    half = failure_probability / 2
    true_low, true_high = clopper_pearson(true_positives, positives, failure_probability=half)
    false_low, false_high = clopper_pearson(false_positives, negatives, failure_probability=half)
    perfect_true, _ = clopper_pearson(positives, positives, failure_probability=half)
    _, perfect_false = clopper_pearson(0, negatives, failure_probability=half)
    return Estimate(
        lower=_log_ratio(true_low - delta, false_high),
        middle=_log_ratio(true_positives / positives - delta, false_positives / negatives),
        upper=_log_ratio(true_high - delta, false_low),
        ceiling=_log_ratio(perfect_true - delta, perfect_false),
        successes=true_positives + negatives - false_positives,
        trials=positives + negatives,
        failure_probability=failure_probability,
    )


def _log_ratio(above: float, below: float) -> float:
    if above <= 0:
        return 0.0
    return max(0.0, math.log(above) - math.log(below)) if below > 0 else math.inf


def shared(failure_probability: float, *, among: int) -> float:
    """The failure probability of each of several findings, so that all hold together.

    The union bound: parts of α/m fail with at most α in total, however the findings depend on
    each other. Twenty audits at 1 % each would mislead one run in six.

    >>> shared(0.01, among=4)
    0.0025
    """
    require(0 < failure_probability < 1, "failure_probability", "in (0, 1)", failure_probability)
    require(among >= 1, "among", ">= 1", among)
    return failure_probability / among
