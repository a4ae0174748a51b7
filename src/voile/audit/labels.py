"""How much of a label a release gives away: what epsilon announces, and what the features add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from voile.attackers.label_classifier import LabelBeliefs, cross_fit, fit_classifier, halves
from voile.audit.finding import Finding
from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import require, require_epsilon
from voile.leakage.labels import (
    advantage_bound,
    label_only_utility,
    mean_belief_gain,
    response_law,
)
from voile.leakage.labels_privacy import log_ratios

LOG_RATIO_STEPS = np.arange(0.25, 8.01, 0.25)
"""Where the held-out bound cuts the scores: fixed beforehand, so that the cut cannot overfit."""


@dataclass(frozen=True)
class Interval:
    """An estimate with a bootstrap interval."""

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.lower:.3f}, {self.upper:.3f}]"


@dataclass(frozen=True)
class LeakageAt:
    """Randomised response of the label at one epsilon, features released as they are.

    `total` is the success of an attacker who sees features and answer, `expected` the most that
    epsilon alone would allow, `unexpected` their difference; `without_release` is the success
    from the features alone, which no label mechanism lowers, and `advantage` what the answer adds
    to it. `believed` is the success that the attacker's own beliefs predict: near `total` if they
    are calibrated.
    """

    epsilon: float
    expected: float
    total: Interval
    unexpected: Interval
    without_release: float
    advantage: Interval
    advantage_bound: float
    believed: float
    effective: float
    finding: Finding


@dataclass(frozen=True, eq=False)
class LabelAudit:
    """What `audit_labels` found; `gains` is each record's leakage at the first epsilon."""

    records: int
    prior: Floats
    at: tuple[LeakageAt, ...]
    gains: Floats
    ranked: Indices
    classifier: str
    losses: tuple[tuple[str, float], ...]
    warnings: tuple[str, ...]


def audit_labels(
    features: Floats,
    labels: Indices,
    *,
    classes: int,
    epsilons: Sequence[float],
    rng: Generator,
    folds: int = 5,
    failure_probability: float = 1e-3,
    resamples: int = 500,
    confidence: float = 0.95,
) -> LabelAudit:
    """Attack the labels of records whose features stay clear and whose label is randomised.

    Success is counted, not believed: for each record, with beliefs p̂ from classifiers that have
    not seen it, Σ_ỹ R(ỹ|y)·1[argmax p̂·R(ỹ|·) = y], the exact mean over the answers ỹ. So the total
    is an unbiased estimate of a real attacker's accuracy and, up to its interval, a lower bound
    for the best one's. Intervals are percentile bootstraps over the records.

    The effective CF-ε is ε + max ln r. Its estimate rests on the classifier at its surest; the
    *finding* does not: on half of the records that no classifier saw, the share of each label in
    {x: ln r̂(x) ≥ t}, bracketed by Clopper–Pearson at all t, y, y' together, gives
    ln P(G|y) − ln P(G|y') ≤ max ln r. It is violated when that is above 0.
    """
    labels = np.asarray(labels, dtype=np.intp)
    require(len(epsilons) > 0, "epsilons", "at least one", "none")
    for epsilon in epsilons:
        require_epsilon(epsilon)
    require(0 < confidence < 1, "confidence", "between 0 and 1", confidence)
    prior = np.bincount(labels, minlength=classes) / len(labels)
    beliefs = cross_fit(features, labels, classes=classes, rng=rng, folds=folds)
    posteriors = beliefs.posteriors
    revealed = support_log_ratio(
        features, labels, classes=classes, rng=rng, failure_probability=failure_probability
    )
    surest = max(0.0, float(log_ratios(posteriors, prior).max()))
    at = [
        replace(
            point,
            effective=point.epsilon + surest,
            finding=_finding(point.epsilon, revealed, len(labels), failure_probability),
        )
        for point in counted_leakage(
            posteriors,
            labels,
            epsilons=epsilons,
            rng=rng,
            resamples=resamples,
            confidence=confidence,
        )
    ]
    gains = mean_belief_gain(posteriors, prior, labels, response_law(classes, epsilon=epsilons[0]))
    return LabelAudit(
        records=len(labels),
        prior=prior,
        at=tuple(at),
        gains=gains,
        ranked=np.argsort(-gains, kind="stable"),
        classifier=beliefs.strongest(),
        losses=_mean_losses(beliefs),
        warnings=tuple(_warnings(at, labels, classes, surest, revealed)),
    )


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

    The beliefs must not have seen the labels they are judged by. `effective` and `finding` speak
    of the beliefs' surest record and of nothing yet: `audit_labels` fills them in.
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
                without_release=free,
                advantage=_interval(total - free, drawn - samples[:, count], tail),
                advantage_bound=advantage_bound(float(epsilon)),
                believed=_believed(posteriors, response_law(classes, epsilon=epsilon)),
                effective=float(epsilon),
                finding=_finding(float(epsilon), 0.0, len(labels), 0.0),
            )
        )
    return tuple(points)


def support_log_ratio(
    features: Floats,
    labels: Indices,
    *,
    classes: int,
    rng: Generator,
    failure_probability: float = 1e-3,
) -> float:
    """A lower bound on max ln r that holds with probability ≥ 1 − failure_probability.

    Sets G are cut by a classifier fitted on one half; the shares P(G|y) are counted on the other,
    so given the classifier each count is binomial. Clopper–Pearson at failure_probability shared
    over all cuts, pairs and both ends. sup_x P(x|y)/P(x|y') ≥ P(G|y)/P(G|y') for every G. At least
    0; assumes that records are independent draws.
    """
    from scipy.stats import beta

    fitting, counting = halves(labels, rng=rng)
    model = fit_classifier(features[fitting], labels[fitting], classes=classes, rng=rng)
    prior = np.bincount(labels[fitting], minlength=classes) / len(fitting)
    ratios = log_ratios(model.posteriors(features[counting]), prior)
    truth = labels[counting]
    sizes = np.bincount(truth, minlength=classes)
    share = failure_probability / (2 * len(LOG_RATIO_STEPS) * classes * (classes - 1))
    best = 0.0
    for y in range(classes):
        for other in range(classes):
            if y == other:
                continue
            score = ratios[:, y, other][:, None] >= LOG_RATIO_STEPS
            inside = score[truth == y].sum(axis=0)
            outside = score[truth == other].sum(axis=0)
            seen = inside > 0
            low = beta.ppf(share, inside[seen], sizes[y] - inside[seen] + 1)
            full = outside[seen] == sizes[other]
            high = np.where(
                full,
                1.0,
                beta.isf(share, outside[seen] + 1, np.maximum(sizes[other] - outside[seen], 1)),
            )
            if seen.any():
                best = max(best, float((np.log(low) - np.log(high)).max()))
    return best


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


def _finding(epsilon: float, revealed: float, records: int, failure: float) -> Finding:
    return Finding(
        question="Odds between two labels, by the release as a whole (effective CF-ε):",
        claim=epsilon,
        lower=epsilon + revealed,
        failure_probability=failure,
        samples=records - records // 2,
        unit="change of label",
        detail=f"{revealed:.3g} of it comes from the features",
    )


def _mean_losses(beliefs: LabelBeliefs) -> tuple[tuple[str, float], ...]:
    tables = [dict(model.losses) for model in beliefs.models]
    return tuple((name, float(np.mean([t[name] for t in tables]))) for name in tables[0])


def _warnings(
    at: list[LeakageAt], labels: Indices, classes: int, surest: float, revealed: float
) -> list[str]:
    found = []
    fewest = int(np.bincount(labels, minlength=classes).min())
    if fewest < 50:
        found.append(
            f"the rarest class has {fewest} records: intervals and ratios for it are guesses"
        )
    for point in at:
        spread = max(3 * (point.total.upper - point.total.lower) / 4, 0.01)
        if abs(point.believed - point.total.value) > spread:
            how = "too sure" if point.believed > point.total.value else "not sure enough"
            found.append(
                f"at ε = {point.epsilon:g} the classifier is {how} (it believes "
                f"{point.believed:.3f}, it scores {point.total.value:.3f}): trust the counted "
                "total, not the effective ε or single records"
            )
            break
    if surest > revealed + 1.0:
        found.append(
            f"the classifier puts the largest ln r at {surest:.2f}, the held-out records prove no "
            f"more than {revealed:.2f}: the effective ε estimate goes beyond the data"
        )
    return found
