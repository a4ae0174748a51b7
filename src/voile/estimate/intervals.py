"""An estimate with its interval, and how many records an interval of some width needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.channel import Channel
from voile.errors import InvalidInput, require
from voile.estimate.debiasing import unbiased_scores
from voile.leakage.bounds import bernstein_interval, clopper_pearson

EXACT = "exact (Clopper–Pearson), for records drawn independently of one population"
NORMAL = "normal approximation, for records drawn independently of one population"
BOUNDED = "empirical Bernstein, for records drawn independently of one population"
FEWEST = 100
"""Below so many records a normal approximation is not offered."""

FEWEST_CARRYING = 25
"""Nor where fewer records than about so many carry the score."""


@dataclass(frozen=True)
class Estimate:
    """A number of a population, the interval that holds it with `confidence`, and its ground."""

    value: float
    lower: float
    upper: float
    confidence: float
    records: int
    ground: str

    def __str__(self) -> str:
        return (
            f"{self.value:.4g} ({100 * self.confidence:g} % {self.lower:.4g} to {self.upper:.4g})"
        )


def interval(scores: Floats, counts: Indices, *, confidence: float) -> Estimate:
    """The mean of scores that outputs have, from how often each was released.

    Scores of two values make the number of outputs with the larger one binomial, and the interval
    is exact: Clopper–Pearson's for its share, moved by the same affine map as the estimate.
    Otherwise it is the normal one with the scores' own variance, from 100 records on, where they
    are enough for it; else the one that holds whatever the scores' law, `bounded_interval`.
    """
    _check(confidence)
    records = int(counts.sum())
    mean = float(scores @ counts / records)
    low, high = float(scores.min()), float(scores.max())
    spread = high - low
    upper_group = scores > (low + high) / 2
    two = bool(np.minimum(scores - low, high - scores).max() <= 1e-9 * max(spread, 1e-300))
    if two:
        share = clopper_pearson(
            int(counts[upper_group].sum()), records, failure_probability=1 - confidence
        )
        ends = (low + spread * share[0], low + spread * share[1])
        return Estimate(mean, *ends, confidence, records, EXACT)
    require(
        records >= FEWEST,
        "records",
        f">= {FEWEST} for a normal approximation",
        records,
        "gather more, or use randomised response, whose intervals are exact",
    )
    if records < FEWEST_CARRYING * _berry_esseen(scores, counts):
        return bounded_interval(scores, counts, confidence=confidence)
    variance = float((scores - mean) ** 2 @ counts) / (records - 1)
    half = quantile(confidence) * math.sqrt(variance / records)
    return Estimate(mean, mean - half, mean + half, confidence, records, NORMAL)


def _berry_esseen(scores: Floats, counts: Indices) -> float:
    """(E|s − m|³)²/(E|s − m|²)³ of the scores: how far from normal is their mean, times n.

    1/p for a score that a rare share p carries, so that n·p is asked for; 2.5 for normal scores.
    One more record is added at either end, since what is rare need not have been seen.
    """
    weights = counts + (scores == scores.min()) + (scores == scores.max())
    weights = weights / weights.sum()
    apart = np.abs(scores - scores @ weights)
    return float((apart**3 @ weights) ** 2 / (apart**2 @ weights) ** 3)


def bounded_interval(scores: Floats, counts: Indices, *, confidence: float) -> Estimate:
    """The mean of scores with an interval that holds whatever their law: empirical Bernstein's.

    For skewed scores, of which the rare large ones make the mean: the normal interval misses it
    where few or none of them were seen.
    """
    _check(confidence)
    seen, low, high = np.repeat(scores, counts), float(scores.min()), float(scores.max())
    ends = bernstein_interval(seen, low=low, high=high, failure_probability=1 - confidence)
    return Estimate(float(seen.mean()), *ends, confidence, len(seen), BOUNDED)


ROUNDING = 1e-6
"""So far beyond 0 or 1 an interval may end by the rounding of a table's inverse."""
UNLIKELY = 1e-6
"""Releases that a law gives seldomer than this, whatever the population, are not taken for its."""


def contradicted(scores: Floats, counts: Indices, *, times: int = 1) -> bool:
    """Whether a share with these scores lies below 0 or above 1 whatever chance did.

    A share near 0 comes out below it half of the time, interval and all now and then: that is no
    contradiction. This is one: an interval of confidence 1 − 10⁻⁶ / `times`, the number of shares
    that are looked at, which holds whatever the law of the scores is, and lies wholly outside.
    """
    if 0 <= scores @ counts / counts.sum() <= 1:
        return False
    low, high = float(scores.min()), float(scores.max())
    two = np.minimum(scores - low, high - scores).max() <= 1e-9 * max(high - low, 1e-300)
    how = interval if two else bounded_interval
    found = how(scores, counts, confidence=1 - UNLIKELY / times)
    return found.upper < -ROUNDING or found.lower > 1 + ROUNDING


def impossible(epsilon: float) -> InvalidInput:
    """What is said of releases that a law at this epsilon does not give."""
    return InvalidInput(
        f"the releases must come from the law that is said, and at ε = {epsilon:g} they cannot: a "
        "share would lie wholly below 0 or above 1 (by chance less than once in a million times); "
        "give the guarantee file, or the epsilon and mechanism of the release"
    )


def quantile(confidence: float) -> float:
    """The two-sided normal quantile: 1.96 for 95 %."""
    from scipy.special import ndtri

    _check(confidence)
    return float(ndtri(0.5 + confidence / 2))


def records_for(scores: Floats, counts: Indices, half_width: float, confidence: float) -> int:
    """How many records of this population would make the interval of a mean ± half_width."""
    records = int(counts.sum())
    mean = float(scores @ counts / records)
    variance = float((scores - mean) ** 2 @ counts) / records
    return max(1, math.ceil(quantile(confidence) ** 2 * variance / half_width**2))


def worst_variance(channel: Channel, values: Floats) -> float:
    """The largest variance of one record's score for Σ_x f_x·values[x], over all populations f.

    With m_x the second moment of the score for secret x the variance is Σ f·m − (Σ f·v)². On the
    hull of the points (v_x, m_x) that is largest on an edge, and there at a known place.
    """
    scores = values @ unbiased_scores(channel)
    moments = channel.probabilities() @ scores**2
    points = np.unique(np.stack([values, moments], axis=1), axis=0)
    v, m = points[:, 0], points[:, 1]
    rise, run = m[:, None] - m[None, :], v[:, None] - v[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        place = (rise / (2 * run) - v[None, :]) / run
    share = np.clip(np.nan_to_num(place, nan=1.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
    mean = v[None, :] + share * run
    return float((m[None, :] + share * rise - mean**2).max())


def sample_size(
    channel: Channel,
    *,
    half_width: float,
    confidence: float = 0.95,
    values: Floats | None = None,
) -> int:
    """How many records make every share's interval (or the mean's) at most ± half_width.

    Whatever the population: z²·σ²/half_width² with σ² the worst variance over all populations, in
    the normal approximation; the exact interval of few records is a little wider.

    >>> import voile
    >>> warner = voile.mechanisms.randomised_response(["ill", "well"], epsilon=1.0)
    >>> sample_size(warner, half_width=0.02)
    11243
    """
    require(half_width > 0, "half_width", "> 0", half_width)
    size = len(channel.space)
    asked = np.eye(size) if values is None else np.atleast_2d(np.asarray(values, dtype=np.float64))
    require(asked.shape[1] == size, "values", f"{size} numbers", asked.shape[1])
    worst = max(worst_variance(channel, row) for row in asked)
    return math.ceil(quantile(confidence) ** 2 * worst / half_width**2)


def _check(confidence: float) -> None:
    require(0 < confidence < 1, "confidence", "between 0 and 1", confidence)
