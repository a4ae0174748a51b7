"""Which features carry a label: by shuffling one, and by leaving it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.label_classifier import fit_classifier, halves
from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import require


@dataclass(frozen=True)
class FeatureShare:
    """How much an attacker who has the features alone loses without one of them, in accuracy.

    `shuffled` keeps the classifier and scrambles the feature among records; `left_out` fits anew
    without it (None where it was not tried). A feature with a twin loses much by shuffling and
    little by leaving out; `alone` is what it gains over guessing when it is the only one.
    """

    name: str
    shuffled: float
    left_out: float | None
    alone: float | None


def feature_shares(
    features: Floats,
    labels: Indices,
    *,
    groups: Sequence[Indices],
    names: Sequence[str],
    classes: int,
    rng: Generator,
    refit: int = 40,
    shuffles: int = 3,
) -> tuple[FeatureShare, ...]:
    """Shares of each feature, the largest of its three figures first; `groups` are its columns.

    Measured on a half of the records that the classifiers have not seen. Refits, for `left_out`
    and `alone`, are done for the `refit` features that lose most by shuffling.
    """
    require(len(groups) == len(names), "names", f"{len(groups)}, one a feature", len(names))
    fitting, counting = halves(labels, rng=rng)
    test, truth = features[counting], labels[counting]
    whole = fit_classifier(features[fitting], labels[fitting], classes=classes, rng=rng)

    def score(table: Floats) -> float:
        return float((whole.posteriors(table).argmax(axis=1) == truth).mean())

    base = score(test)
    guess = float(np.bincount(truth, minlength=classes).max() / len(truth))
    drops = []
    for columns in groups:
        lost = 0.0
        for _ in range(shuffles):
            mixed = test.copy()
            mixed[:, columns] = test[rng.permutation(len(test))][:, columns]
            lost += base - score(mixed)
        drops.append(lost / shuffles)
    order = np.argsort(-np.array(drops), kind="stable")

    def refitted(columns: Indices) -> float:
        part = features[:, columns]
        model = fit_classifier(
            part[fitting], labels[fitting], classes=classes, rng=rng, only=whole.name
        )
        return float((model.posteriors(part[counting]).argmax(axis=1) == truth).mean())

    shares = []
    every = np.arange(features.shape[1])
    for place, feature in enumerate(order):
        left_out = alone = None
        if place < refit:
            rest = np.setdiff1d(every, groups[feature])
            left_out = base - (refitted(rest) if len(rest) else guess)
            alone = refitted(np.asarray(groups[feature])) - guess
        shares.append(FeatureShare(names[feature], drops[feature], left_out, alone))
    return tuple(sorted(shares, key=_largest, reverse=True))


def _largest(share: FeatureShare) -> float:
    return max(share.shuffled, share.left_out or 0.0, share.alone or 0.0)
