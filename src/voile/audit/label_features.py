"""Which features carry a label, in nats and AUC: each by itself, and what is lost without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.label_classifier import (
    Columns,
    FitDraws,
    FittedClassifier,
    fit_classifier,
    fit_drawn,
    halves,
)
from voile.attackers.label_reading import ReadAs, read_as
from voile.audit.label_classes import mean_area
from voile.core.arrays import Floats, Indices
from voile.core.pieces_of_work import Over, in_turn
from voile.core.randomness import Generator
from voile.errors import require


@dataclass(frozen=True)
class FeatureShare:
    """What one feature says about the label, to an attacker who reads it as `read` says.

    `nats` is the information that it gives by itself, ln P(y|x)/P(y) on average over records that
    the attacker had not seen (at least 0 for the best one), `auc` how well it ranks by itself, 0.5
    being chance; None where it was not tried. `lost` is what all features together lose, in nats,
    when this one is shuffled among the records. A feature with a twin says much by itself and is
    little missed.
    """

    name: str
    read: str
    nats: float | None
    auc: float | None
    lost: float


@dataclass(frozen=True, eq=False)
class Halved:
    """A classifier fitted to one half of the records, and the half to count on."""

    features: Columns
    labels: Indices
    classes: int
    fitting: Indices
    counting: Indices
    model: FittedClassifier

    @property
    def truth(self) -> Indices:
        """The labels of the half to count on."""
        return self.labels[self.counting]


def fit_half(features: Columns, labels: Indices, *, classes: int, rng: Generator) -> Halved:
    """Fit to a random half."""
    fitting, counting = halves(labels, rng=rng)
    model = fit_classifier(
        [values[fitting] for values in features], labels[fitting], classes=classes, rng=rng
    )
    return Halved(tuple(features), labels, classes, fitting, counting, model)


def feature_shares(
    halved: Halved,
    *,
    names: Sequence[str],
    rng: Generator,
    alone: int = 40,
    shuffles: int = 2,
    over: Over = in_turn,
) -> tuple[FeatureShare, ...]:
    """Shares of each feature, the most telling by itself first.

    Counted on the half that no classifier was fitted to. The fits to one feature are done for the
    `alone` features that are missed most, `over` here or elsewhere.
    """
    require(len(names) == len(halved.features), "names", "one a feature", len(names))
    truth, model = halved.truth, halved.model
    prior = np.bincount(halved.labels[halved.fitting], minlength=halved.classes)
    prior = prior / prior.sum()
    blocks = model.blocks([values[halved.counting] for values in halved.features])
    base = information(model.beliefs(blocks), truth, prior)
    lost = []
    for at, block in enumerate(blocks):
        mixed = [
            information(
                model.beliefs(
                    [*blocks[:at], block.taken(rng.permutation(len(truth))), *blocks[at + 1 :]]
                ),
                truth,
                prior,
            )
            for _ in range(shuffles)
        ]
        lost.append(base - float(np.mean(mixed)))
    order = np.argsort(-np.array(lost), kind="stable")
    pieces = [
        (int(feature), FitDraws.of(halved.labels[halved.fitting], rng=rng))
        for feature in order[:alone]
    ]
    common = _Columns(
        halved.features, halved.labels, halved.classes, halved.fitting, halved.counting, prior
    )
    answers = over(_by_itself, pieces, common=common)
    nothing: tuple[None, None] = (None, None)
    told = dict(zip(order.tolist(), answers, strict=False))
    shares = []
    for at, (name, values) in enumerate(zip(names, halved.features, strict=True)):
        nats, auc = told.get(at, nothing)
        shares.append(FeatureShare(name, str(read_as(values)), nats, auc, lost[at]))
    return tuple(sorted(shares, key=lambda share: (share.nats or 0.0, share.lost), reverse=True))


def information(posteriors: Floats, labels: Indices, prior: Floats) -> float:
    """The mean of ln P(y|x) − ln P(y) at the labels: nats that beliefs gain over the prior."""
    gained = np.log(posteriors[np.arange(len(labels)), labels]) - np.log(prior[labels])
    return float(gained.mean())


@dataclass(frozen=True, eq=False)
class _Columns:
    """What all fits to one feature share; it travels to other processes."""

    features: Columns
    labels: Indices
    classes: int
    fitting: Indices
    counting: Indices
    prior: Floats


def _by_itself(common: _Columns, piece: tuple[int, FitDraws]) -> tuple[float, float]:
    """Information and AUC of a classifier that has this column alone."""
    feature, draws = piece
    values = common.features[feature]
    how: tuple[ReadAs, ...] = (read_as(values),)
    labels = common.labels[common.fitting]
    model = fit_drawn([values[common.fitting]], labels, draws, how=how, classes=common.classes)
    beliefs = model.posteriors([values[common.counting]])
    truth = common.labels[common.counting]
    return information(beliefs, truth, common.prior), mean_area(beliefs, truth)
