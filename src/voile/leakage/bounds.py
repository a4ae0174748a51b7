"""Confidence bounds on a share: what samples say about how often something happens."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput, require


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval."""

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.value:.3f} (95 % {self.lower:.3f} to {self.upper:.3f})"


def hoeffding_log10_failure(*, samples: int, delta: float, share: float) -> float:
    """log10 of 2·exp(−2·S·(δ − p̂)²), the failure probability of «the true share is ≤ δ».

    mPL paper, Proposition 4, with ξδ = p̂, in logarithms: its Table 3 holds exponents far below
    what a double does. It counts S triples as independent, which triples that share a release
    are not: see `chernoff_interval` for what the releases themselves support.

    >>> round(hoeffding_log10_failure(samples=11_214_777, delta=0.063, share=0.0344), 2)
    -7967.47
    """
    _check(samples, share)
    require(0 < delta < 1, "delta", "in (0, 1)", delta)
    if share >= delta:
        return 0.0  # no statement: the failure probability is 1
    exponent = -2 * samples * (delta - share) ** 2
    return min(0.0, math.log10(2) + exponent / math.log(10))


def clopper_pearson(
    successes: int, samples: int, *, failure_probability: float
) -> tuple[float, float]:
    """The exact two-sided interval of a binomial share (Clopper and Pearson, 1934).

    Each end is missed with probability at most half of `failure_probability`, whatever the truth.
    The ends are beta quantiles; with all successes the lower end is (α/2)^(1/samples).

    >>> low, high = clopper_pearson(0, 100, failure_probability=0.05)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    >>> low, high = clopper_pearson(10_000, 10_000, failure_probability=0.01)
    >>> round(low, 6), high
    (0.99947, 1.0)
    """
    from scipy.special import betainccinv, betaincinv

    require(samples >= 1, "samples", ">= 1", samples)
    require(0 <= successes <= samples, "successes", f"between 0 and {samples}", successes)
    _check_failure(failure_probability)
    tail, misses = failure_probability / 2, samples - successes
    low = float(betaincinv(successes, misses + 1, tail)) if successes else 0.0
    high = float(betainccinv(successes + 1, misses, tail)) if misses else 1.0
    return low, high


def chernoff_interval(
    *, mean: float, clusters: int, failure_probability: float
) -> tuple[float, float]:
    """An interval for the expected value of independent quantities in [0, 1].

    Hoeffding (1963), Theorem 1: P(mean ≤ m) ≤ exp(−n·KL(m ‖ p)), so the ends are where
    n·KL(mean ‖ p) = ln(2/α). Here each quantity is the violation share of one *group* (a
    document, a trace): groups are independent, the many triples inside one are not.

    >>> low, high = chernoff_interval(mean=0.02, clusters=500, failure_probability=0.05)
    >>> round(low, 4), round(high, 4)
    (0.0074, 0.0419)
    """
    _check(clusters, mean)
    _check_failure(failure_probability)
    budget = math.log(2 / failure_probability) / clusters
    high = _solve(mean, 1.0, budget) if mean < 1 else 1.0
    low = _solve(mean, 0.0, budget) if mean > 0 else 0.0
    return low, high


def bernstein_interval(
    values: Floats, *, low: float, high: float, failure_probability: float
) -> tuple[float, float]:
    """An interval for the expected value of independent quantities in [low, high].

    Empirical Bernstein (Maurer and Pontil, 2009, Theorem 4), both sides at half of α each:
    mean ± (√(2·V·L/n) + 7·(high − low)·L/(3(n − 1))), V the sample variance, L = ln(4/α). Narrow
    where most quantities are alike, such as the differences of two paired successes.

    >>> low, high = bernstein_interval(
    ...     np.array([0.0, 0.0, 0.0, 1.0] * 250), low=-1, high=1, failure_probability=0.05
    ... )
    >>> round(low, 3), round(high, 3)
    (0.189, 0.311)
    """
    require(len(values) >= 2, "values", "at least 2", len(values))
    inside = bool((values >= low).all() and (values <= high).all())
    require(inside, "values", f"between {low:g} and {high:g}", "others")
    _check_failure(failure_probability)
    count, mean, log = len(values), float(np.mean(values)), math.log(4 / failure_probability)
    wide = math.sqrt(2 * float(np.var(values, ddof=1)) * log / count)
    wide += 7 * (high - low) * log / (3 * (count - 1))
    return max(low, mean - wide), min(high, mean + wide)


def betting_lower(values: Floats, *, low: float, high: float, failure_probability: float) -> float:
    """The least that the expected value of independent quantities in [low, high] may be.

    The largest mean at which `log_stakes` reaches −ln of the failure probability. Narrow where a
    wide range is hardly used, and one-sided.

    >>> values = np.array([0.0, 0.0, 0.0, 1.0] * 250)
    >>> round(betting_lower(values, low=-1, high=1, failure_probability=0.025), 3)
    0.206
    """
    require(len(values) >= 1, "values", "at least 1", len(values))
    inside = bool((values >= low).all() and (values <= high).all())
    require(inside, "values", f"between {low:g} and {high:g}", "others")
    _check_failure(failure_probability)
    below, above = low, float(values.mean())
    for _ in range(60):
        middle = (below + above) / 2
        reached = middle > low and log_stakes(values, mean=middle, low=low)
        below, above = (
            (middle, above) if reached > -math.log(failure_probability) else (below, middle)
        )
    return below


def log_stakes(values: Floats, *, mean: float, low: float) -> float:
    """What bets that the expected value is above `mean` have become, in logarithms.

    Waudby-Smith and Ramdas (2024, section 4), for a fixed number of values that are at least `low`:
    if the mean is m or less, stakes f of what is owned, bet at the odds (v − low)/(m − low) on each
    value, become Π(1 − f + f·(v − low)/(m − low)), whose expectation is at most 1; so they reach
    1/α with probability at most α (Markov). So does a weighted mean of several gamblers', the bold
    ones first: where much is to be shown, few values do.
    """
    won = (values - low) / (mean - low) - 1
    each = np.log1p(_STAKES[:, None] * won[None, :]).sum(axis=1)
    most = float(each.max())
    return most + math.log(float(_WEIGHTS @ np.exp(each - most)))


_STAKES = 0.98 * 0.5 ** np.arange(8)
_WEIGHTS = 1 / np.arange(1, 9) / (1 / np.arange(1, 9)).sum()


def groups_needed(*, delta: float, share: float, failure_probability: float) -> int:
    """How many independent groups certify «≤ delta» if the share observed will be `share`.

    >>> groups_needed(delta=0.05, share=0.02, failure_probability=0.01)
    437
    """
    require(0 < delta < 1, "delta", "in (0, 1)", delta)
    _check_failure(failure_probability)
    if not 0 <= share < delta:
        raise InvalidInput(f"share must be >= 0 and below delta = {delta}, got {share}")
    return math.ceil(math.log(2 / failure_probability) / _divergence(share, delta))


def _solve(mean: float, end: float, budget: float) -> float:
    """The p between mean and end with KL(mean ‖ p) = budget, from the outside."""
    inner, outer = mean, end
    for _ in range(200):
        middle = (inner + outer) / 2
        if _divergence(mean, middle) > budget:
            outer = middle
        else:
            inner = middle
    return outer


def _divergence(mean: float, p: float) -> float:
    """KL between two coins."""
    total = 0.0
    for a, b in ((mean, p), (1 - mean, 1 - p)):
        if a > 0:
            if b <= 0:
                return math.inf
            total += a * math.log(a / b)
    return total


def _check(samples: int, share: float) -> None:
    require(samples >= 1, "samples", ">= 1", samples)
    require(0 <= share <= 1, "share", "in [0, 1]", share)


def _check_failure(failure_probability: float) -> None:
    inside = 0 < failure_probability < 1
    require(inside, "failure_probability", "in (0, 1)", failure_probability)
