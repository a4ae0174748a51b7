"""How much of a label a release gives away: what epsilon announces, and what the features add."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.label_beliefs import LabelBeliefs, cross_fit
from voile.attackers.label_classifier import Columns, check_records
from voile.audit.finding import Finding
from voile.audit.label_classes import ClassLeakage, class_leakage, mean_area
from voile.audit.label_counts import LeakageAt, counted_leakage
from voile.audit.label_features import Halved, fit_half, information
from voile.core.arrays import Floats, Indices
from voile.core.pieces_of_work import Over, in_turn
from voile.core.randomness import Generator
from voile.errors import require, require_epsilon
from voile.leakage.bounds import clopper_pearson
from voile.leakage.labels import mean_belief_gain, response_law
from voile.leakage.labels_privacy import log_ratios
from voile.progress import tell

LOG_RATIO_STEPS = np.arange(0.25, 8.01, 0.25)
"""Where the held-out bound cuts the scores: fixed beforehand, so that the cut cannot overfit."""


@dataclass(frozen=True, eq=False)
class LabelAudit:
    """What `audit_labels` found; `gains` is each record's leakage at the first epsilon.

    `believed` is how surely its label is read off its features, `nats` what the features say about
    labels on average, mean ln P(y|x)/P(y), `auc` how well they rank the records of a class above
    the others; `halved` is a classifier that saw half of the records.

    `surest` is the largest ln r that the classifiers believe in, `proved` the largest that counting
    on held-out records proves, except with probability `failure_probability`.
    """

    records: int
    prior: Floats
    at: tuple[LeakageAt, ...]
    by_class: tuple[ClassLeakage, ...]
    nats: float
    auc: float
    halved: Halved
    surest: float
    proved: float
    failure_probability: float
    gains: Floats
    believed: Floats
    ranked: Indices
    classifier: str
    losses: tuple[tuple[str, float], ...]
    warnings: tuple[str, ...]

    def effective(self, epsilon: float) -> float:
        """The CF-ε of randomised response beside these features, as the classifiers see it."""
        return epsilon + self.surest

    def finding(self, epsilon: float) -> Finding:
        """Whether epsilon, read as a bound on the whole release, stands: proved by counting."""
        return Finding(
            question="Odds between two labels, by the release as a whole (effective CF-ε):",
            claim=epsilon,
            lower=epsilon + self.proved,
            failure_probability=self.failure_probability,
            samples=self.records - self.records // 2,
            unit="change of label",
            detail=f"{self.proved:.3g} of it comes from the features",
        )


def audit_labels(
    features: Columns,
    labels: Indices,
    *,
    classes: int,
    epsilons: Sequence[float],
    rng: Generator,
    folds: int = 5,
    failure_probability: float = 1e-3,
    confidence: float = 0.95,
    over: Over = in_turn,
) -> LabelAudit:
    """Attack the labels of records whose features stay clear and whose label is randomised.

    Success is counted, not believed (`counted_leakage`), with beliefs from classifiers that have
    not seen the record: up to its interval, a lower bound for the best attacker's.

    The effective CF-ε is ε + max ln r. Its estimate rests on the classifier at its surest; the
    *finding* does not: on half of the records that no classifier saw, the share of each label in
    {x: ln r̂(x) ≥ t}, bracketed by Clopper–Pearson at all t, y, y' together, gives
    ln P(G|y) − ln P(G|y') ≤ max ln r. It is violated when that is above 0.

    The folds are fitted `over` here or elsewhere.
    """
    labels = np.asarray(labels, dtype=np.intp)
    require(len(epsilons) > 0, "epsilons", "at least one", "none")
    for epsilon in epsilons:
        epsilon = require_epsilon(epsilon)
    require(0 < confidence < 1, "confidence", "between 0 and 1", confidence)
    check_records(features, labels, classes)
    prior = np.bincount(labels, minlength=classes) / len(labels)
    beliefs = cross_fit(features, labels, classes=classes, rng=rng, folds=folds, over=over)
    posteriors = beliefs.posteriors
    tell("fitting to one half, to count on the other")
    halved = fit_half(features, labels, classes=classes, rng=rng)
    proved = support_log_ratio(halved, failure_probability=failure_probability)
    surest = max(0.0, float(log_ratios(posteriors, prior).max()))
    at = counted_leakage(posteriors, labels, epsilons=epsilons, confidence=confidence)
    gains = mean_belief_gain(posteriors, prior, labels, response_law(classes, epsilon=epsilons[0]))
    return LabelAudit(
        records=len(labels),
        prior=prior,
        at=at,
        by_class=class_leakage(posteriors, labels, beliefs.folds, confidence=confidence),
        nats=information(posteriors, labels, prior),
        auc=mean_area(posteriors, labels),
        halved=halved,
        surest=surest,
        proved=proved,
        failure_probability=failure_probability,
        gains=gains,
        believed=posteriors[np.arange(len(labels)), labels],
        ranked=np.argsort(-gains, kind="stable"),
        classifier=beliefs.strongest(),
        losses=_mean_losses(beliefs),
        warnings=tuple(_warnings(at, labels, classes, surest, proved)),
    )


def support_log_ratio(halved: Halved, *, failure_probability: float = 1e-3) -> float:
    """A lower bound on max ln r that holds with probability ≥ 1 − failure_probability.

    Sets G are cut by a classifier fitted on one half; the shares P(G|y) are counted on the other,
    so given the classifier each count is binomial. Clopper–Pearson at failure_probability shared
    over all cuts, pairs and both ends. sup_x P(x|y)/P(x|y') ≥ P(G|y)/P(G|y') for every G. At least
    0; assumes that records are independent draws.
    """
    classes, truth = halved.classes, halved.truth
    fitted = halved.labels[halved.fitting]
    prior = np.bincount(fitted, minlength=classes) / len(fitted)
    posteriors = halved.model.posteriors([values[halved.counting] for values in halved.features])
    ratios = log_ratios(posteriors, prior)
    sizes = np.bincount(truth, minlength=classes)
    # Every cut and ordered pair of labels has two intervals of which one end each is used.
    share = failure_probability / (len(LOG_RATIO_STEPS) * classes * (classes - 1))
    best = 0.0
    for y in range(classes):
        for other in range(classes):
            above = ratios[:, y, other][:, None] >= LOG_RATIO_STEPS
            inside, outside = above[truth == y].sum(axis=0), above[truth == other].sum(axis=0)
            for hits, strays in set(zip(inside.tolist(), outside.tolist(), strict=True)):
                if y == other or not hits:
                    continue
                low, _ = clopper_pearson(
                    successes=hits, samples=int(sizes[y]), failure_probability=share
                )
                _, high = clopper_pearson(
                    successes=strays, samples=int(sizes[other]), failure_probability=share
                )
                best = max(best, math.log(low) - math.log(high))
    return best


def _mean_losses(beliefs: LabelBeliefs) -> tuple[tuple[str, float], ...]:
    tables = [dict(fold.losses) for fold in beliefs.kept]
    return tuple((name, float(np.mean([t[name] for t in tables]))) for name in tables[0])


def _warnings(
    at: Sequence[LeakageAt], labels: Indices, classes: int, surest: float, proved: float
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
    if surest > proved + 1.0:
        found.append(
            f"the classifier puts the largest ln r at {surest:.2f}, the held-out records prove no "
            f"more than {proved:.2f}: the effective ε estimate goes beyond the data"
        )
    return found
