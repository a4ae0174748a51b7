"""Beliefs about every record from classifiers that have not seen it: cross-fitting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.attackers.label_classifier import (
    Columns,
    FitDraws,
    check_records,
    fit_drawn,
    stratified,
    ways,
)
from voile.attackers.label_reading import ReadAs
from voile.core.arrays import Floats, Indices
from voile.core.pieces_of_work import Over, in_turn
from voile.core.randomness import Generator
from voile.errors import require


@dataclass(frozen=True)
class Kept:
    """Which kind of classifier a fold kept, and the log-losses of all kinds there."""

    name: str
    losses: tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False)
class LabelBeliefs:
    """Beliefs about every record from classifiers that have not seen it, and what those were."""

    posteriors: Floats
    folds: Indices
    kept: tuple[Kept, ...]

    def strongest(self) -> str:
        """The kind of classifier that most folds kept."""
        names = [fold.name for fold in self.kept]
        return max(names, key=names.count)


def cross_fit(
    features: Columns,
    labels: Indices,
    *,
    classes: int,
    rng: Generator,
    folds: int = 5,
    only: str | None = None,
    over: Over = in_turn,
) -> LabelBeliefs:
    """Beliefs about each record from a classifier fitted, calibrated and chosen without it.

    A classifier that saw a record's label repeats it and shows leakage that is not there; one
    that did not is an honest attacker, whose success bounds the best one's from below. The folds
    are fitted `over` here or elsewhere.
    """
    check_records(features, labels, classes)
    require(folds >= 2, "folds", ">= 2", folds)
    parts = stratified(labels, parts=folds, rng=rng)
    records = _Records(tuple(features), labels, parts, ways(features), classes, only)
    pieces = [(fold, FitDraws.of(labels[parts != fold], rng=rng)) for fold in range(folds)]
    posteriors = np.empty((len(labels), classes))
    kept = []
    for fold, (beliefs, choice) in enumerate(over(_fold, pieces, common=records)):
        posteriors[parts == fold] = beliefs
        kept.append(choice)
    return LabelBeliefs(posteriors, parts, tuple(kept))


@dataclass(frozen=True, eq=False)
class _Records:
    """What all folds share."""

    features: Columns
    labels: Indices
    parts: Indices
    how: tuple[ReadAs, ...]
    classes: int
    only: str | None


def _fold(records: _Records, piece: tuple[int, FitDraws]) -> tuple[Floats, Kept]:
    """Beliefs about the records of one fold, from a fit to all others."""
    fold, draws = piece
    rest = records.parts != fold
    labels = records.labels[rest]
    model = fit_drawn(
        [values[rest] for values in records.features],
        labels,
        draws,
        how=records.how,
        classes=records.classes,
        only=records.only,
    )
    beliefs = model.posteriors([values[~rest] for values in records.features])
    return beliefs, Kept(model.name, (*model.losses, ("stacked", model.loss)))
