"""An attacker's success on labels, counted record by record, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import require
from voile.leakage.bounds import Interval
from voile.leakage.labels import advantage_bound, label_only_utility, response_law


@dataclass(frozen=True)
class LeakageAt:
    """Randomised response of the label at one epsilon, features released as they are.

    `total` is the success of an attacker who sees features and answer, `expected` the most that
    epsilon alone would allow, `unexpected` their difference; `features_alone` is the success
    from the features alone, which no label mechanism lowers, and `advantage` what the answer adds
    to it. `believed` is the success that the attacker's own beliefs predict: near `total` if they
    are calibrated.
    """

    epsilon: float
    expected: float
    total: Interval
    unexpected: Interval
    features_alone: float
    advantage: Interval
    advantage_bound: float
    believed: float


def counted_leakage(
    posteriors: Floats,
    labels: Indices,
    *,
    epsilons: Sequence[float],
    rng: Generator,
    resamples: int = 500,
    confidence: float = 0.95,
) -> tuple[LeakageAt, ...]:
    """The success of an attacker with these beliefs, counted on the records, with intervals.

    The beliefs must not have seen the labels they are judged by. For each record
    Σ_ỹ R(ỹ|y)·1[argmax p̂·R(ỹ|·) = y] is the exact mean over the answers ỹ, so the total is an
    unbiased estimate of this attacker's accuracy; intervals are percentile bootstraps over records.
    """
    classes = posteriors.shape[1]
    prior = np.bincount(labels, minlength=classes) / len(labels)
    alone = posteriors.argmax(axis=1) == labels
    success = np.stack([attack_success(posteriors, labels, epsilon=e) for e in epsilons], axis=1)
    samples = _bootstrap(np.column_stack([success, alone, np.eye(classes)[labels]]), rng, resamples)
    count, tail, free = len(epsilons), (1 - confidence) / 2, float(alone.mean())
    points = []
    for column, epsilon in enumerate(epsilons):
        expected = label_only_utility(prior, epsilon=epsilon)
        drawn = samples[:, column]
        drawn_expected = np.array(
            [label_only_utility(p / p.sum(), epsilon=epsilon) for p in samples[:, count + 1 :]]
        )
        total = float(success[:, column].mean())
        points.append(
            LeakageAt(
                epsilon=float(epsilon),
                expected=expected,
                total=_interval(total, drawn, tail),
                unexpected=_interval(total - expected, drawn - drawn_expected, tail),
                features_alone=free,
                advantage=_interval(total - free, drawn - samples[:, count], tail),
                advantage_bound=advantage_bound(float(epsilon)),
                believed=_believed(posteriors, response_law(classes, epsilon=epsilon)),
            )
        )
    return tuple(points)


def attack_success(posteriors: Floats, labels: Indices, *, epsilon: float) -> Floats:
    """Per record, the chance that an attacker with these beliefs names its label.

    Over the answers of randomised response: Σ_ỹ R(ỹ|y)·1[argmax posteriors·R(ỹ|·) = y].
    """
    classes = posteriors.shape[1]
    response = response_law(classes, epsilon=epsilon)
    right = np.zeros(len(labels))
    for answer in range(classes):
        guess = (posteriors * response[:, answer]).argmax(axis=1)
        right += response[labels, answer] * (guess == labels)
    return right


def _believed(posteriors: Floats, response: Floats) -> float:
    return float((posteriors[:, :, None] * response).max(axis=1).sum(axis=1).mean())


def _bootstrap(columns: Floats, rng: Generator, resamples: int) -> Floats:
    """Column means of resampled records, a row a resample."""
    require(resamples >= 100, "resamples", ">= 100", resamples)
    count = len(columns)
    means = np.empty((resamples, columns.shape[1]))
    for row in range(resamples):
        weights = np.bincount(rng.integers(count, size=count), minlength=count)
        means[row] = weights @ columns / count
    return means


def _interval(value: float, drawn: Floats, tail: float) -> Interval:
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(value, min(value, float(low)), max(value, float(high)))
