"""Which features carry a label: by shuffling one, and by leaving it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.label_classifier import (
    FitDraws,
    FittedClassifier,
    fit_classifier,
    fit_drawn,
    halves,
)
from voile.core.arrays import Floats, Indices
from voile.core.pieces_of_work import Over, in_turn
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
    over: Over = in_turn,
) -> tuple[FeatureShare, ...]:
    """Shares of each feature, the largest of its three figures first; `groups` are its columns.

    Measured on a half of the records that the classifiers have not seen. Refits, for `left_out`
    and `alone`, are done for the `refit` features that lose most by shuffling, `over` here or
    elsewhere.
    """
    require(len(groups) == len(names), "names", f"{len(groups)}, one a feature", len(names))
    fitting, counting = halves(labels, rng=rng)
    truth = labels[counting]
    whole = fit_classifier(features[fitting], labels[fitting], classes=classes, rng=rng)
    base = _score(whole, features[counting], truth)
    guess = float(np.bincount(truth, minlength=classes).max() / len(truth))
    drops = []
    for columns in groups:
        lost = 0.0
        for _ in range(shuffles):
            mixed = features[counting]
            mixed[:, columns] = mixed[rng.permutation(len(mixed))][:, columns]
            lost += base - _score(whole, mixed, truth)
        drops.append(lost / shuffles)
    order = np.argsort(-np.array(drops), kind="stable")

    every = np.arange(features.shape[1])
    pieces = [
        (columns, FitDraws.of(labels[fitting], rng=rng))
        for feature in order[:refit]
        for columns in (np.setdiff1d(every, groups[feature]), np.asarray(groups[feature]))
        if len(columns)
    ]
    halved = _Halves(features, labels, fitting, counting, classes, whole.name)
    refitted = iter(over(_refitted, pieces, common=halved))
    shares = []
    for place, feature in enumerate(order):
        left_out = alone = None
        if place < refit:
            others = len(every) > len(groups[feature])
            left_out = base - (next(refitted) if others else guess)
            alone = next(refitted) - guess
        shares.append(FeatureShare(names[feature], drops[feature], left_out, alone))
    return tuple(sorted(shares, key=_largest, reverse=True))


@dataclass(frozen=True, eq=False)
class _Halves:
    """What all refits share."""

    features: Floats
    labels: Indices
    fitting: Indices
    counting: Indices
    classes: int
    only: str


def _score(model: FittedClassifier, table: Floats, truth: Indices) -> float:
    return float((model.posteriors(table).argmax(axis=1) == truth).mean())


def _refitted(halved: _Halves, piece: tuple[Indices, FitDraws]) -> float:
    """The score of a classifier that has these columns alone."""
    columns, draws = piece
    part, labels = halved.features[:, columns], halved.labels
    model = fit_drawn(
        part[halved.fitting],
        labels[halved.fitting],
        draws,
        classes=halved.classes,
        only=halved.only,
    )
    return _score(model, part[halved.counting], labels[halved.counting])


def _largest(share: FeatureShare) -> float:
    return max(share.shuffled, share.left_out or 0.0, share.alone or 0.0)
