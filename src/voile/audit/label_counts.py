"""An attacker's success on labels, counted record by record, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.leakage.bounds import (
    Interval,
    bernstein_interval,
    chernoff_interval,
    clopper_pearson,
)
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
    confidence: float = 0.95,
) -> tuple[LeakageAt, ...]:
    """The success of an attacker with these beliefs, counted on the records, with intervals.

    The beliefs must not have seen the labels they are judged by. For each record
    Σ_ỹ R(ỹ|y)·1[argmax p̂·R(ỹ|·) = y] is the exact mean over the answers ỹ, so the total is an
    unbiased estimate of this attacker's accuracy.

    It is the mean of quantities in [0, 1], whose interval is Hoeffding's in KL form; a normal
    approximation or a bootstrap is too narrow where the rare mistakes of a sure attacker are not
    among the records. What the answer adds is a mean of paired differences (empirical Bernstein).
    For what is unexpected, total and prior are bracketed at half of α each: `expected_range`.
    """
    classes = posteriors.shape[1]
    counts = np.bincount(labels, minlength=classes)
    alone = (posteriors.argmax(axis=1) == labels).astype(np.float64)
    missed, free = 1 - confidence, float(alone.mean())
    points = []
    for epsilon in map(float, epsilons):
        success = attack_success(posteriors, labels, epsilon=epsilon)
        expected = label_only_utility(counts / len(labels), epsilon=epsilon)
        total = min(1.0, float(success.mean()))
        least, most = expected_range(counts, epsilon=epsilon, failure_probability=missed / 2)
        low, high = _share(total, len(labels), missed / 2)
        added = bernstein_interval(success - alone, low=-1, high=1, failure_probability=missed)
        points.append(
            LeakageAt(
                epsilon=epsilon,
                expected=expected,
                total=Interval(total, *_share(total, len(labels), missed)),
                unexpected=Interval(total - expected, low - most, high - least),
                features_alone=free,
                advantage=Interval(total - free, *added),
                advantage_bound=advantage_bound(epsilon),
                believed=_believed(posteriors, response_law(classes, epsilon=epsilon)),
            )
        )
    return tuple(points)


def _share(mean: float, records: int, failure_probability: float) -> tuple[float, float]:
    return chernoff_interval(mean=mean, clusters=records, failure_probability=failure_probability)


def expected_range(
    counts: Indices, *, epsilon: float, failure_probability: float
) -> tuple[float, float]:
    """Between what ends `label_only_utility` of the true prior lies, from counts of the classes.

    Clopper–Pearson brackets all k probabilities at once, α/k each. The m largest together are at
    least the m largest lower ends, and 1 less the k − m smallest upper ends; at most the m largest
    upper ends, and 1 less the k − m smallest lower ends.
    """
    classes, records = len(counts), int(counts.sum())
    ends = [
        clopper_pearson(int(c), records, failure_probability=failure_probability / classes)
        for c in counts
    ]
    lower, upper = (np.sort(part)[::-1] for part in np.array(ends).T)
    others = 1 + np.arange(classes) * math.exp(-epsilon)

    def largest(inside: Floats, rest: Floats) -> tuple[Floats, Floats]:
        after = np.append(np.cumsum(rest[::-1])[::-1][1:], 0.0)
        return np.cumsum(inside), 1 - after

    least = np.maximum(*largest(lower, upper))
    most = np.minimum(*largest(upper, lower))
    return float((least / others).max()), float(min(1.0, (most / others).max()))


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
