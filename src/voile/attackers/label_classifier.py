"""An attacker who reads labels off features: P(y|x) fitted to records and calibrated."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput, MissingExtra, require

FEWEST = 10
"""Records that each class needs, so that every fold and its calibration part hold some."""


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """A calibrated classifier: softmax((ln p + shift) / temperature), p the raw prediction.

    `support` is the number of records it was calibrated on: predictions are mixed with the prior
    at weight 1/(support + 1), because so many records cannot speak for a surer belief.
    """

    name: str
    raw: Callable[[Floats], Floats]
    temperature: float
    shift: Floats
    prior: Floats
    support: int
    loss: float
    losses: tuple[tuple[str, float], ...]

    def posteriors(self, features: Floats) -> Floats:
        """P(y|x) for each row."""
        logits = (_log(self.raw(features)) + self.shift) / self.temperature
        logits -= logits.max(axis=1, keepdims=True)
        table = np.exp(logits)
        table /= table.sum(axis=1, keepdims=True)
        return np.asarray((self.support * table + self.prior) / (self.support + 1))


@dataclass(frozen=True, eq=False)
class FitDraws:
    """All that is random in a fit: which records it is calibrated on, and its seed.

    Drawn beforehand, so that a fit gives the same answer wherever and whenever it is done.
    """

    held: NDArray[np.bool_]
    seed: int

    @classmethod
    def of(cls, labels: Indices, *, rng: Generator) -> FitDraws:
        """Draws for a fit to records with these labels."""
        held = stratified(labels, parts=5, rng=rng) == 0
        return cls(held, int(rng.integers(2**31)))


def fit_classifier(
    features: Floats,
    labels: Indices,
    *,
    classes: int,
    rng: Generator,
    only: str | None = None,
) -> FittedClassifier:
    """Fit several classifiers on four fifths, calibrate and compare them on the last fifth.

    Logistic regression, gradient-boosted trees and extremely random trees (or `only` the named
    one); the one with the smallest log-loss after calibration is kept. Calibration is a
    temperature and a shift for each class, by maximum likelihood with a weak pull to none.
    Costs a few seconds for 10⁴ records.

    >>> from voile.core.randomness import seeded_rng
    >>> rng = seeded_rng(1)
    >>> labels = rng.integers(2, size=2000)
    >>> features = rng.normal(size=(2000, 1)) + 2.0 * labels[:, None]
    >>> model = fit_classifier(features, labels, classes=2, rng=rng)
    >>> bool(abs(model.posteriors(np.array([[1.0]]))[0, 1] - 0.5) < 0.1)
    True
    """
    check_records(features, labels, classes)
    return fit_drawn(features, labels, FitDraws.of(labels, rng=rng), classes=classes, only=only)


def fit_drawn(
    features: Floats,
    labels: Indices,
    draws: FitDraws,
    *,
    classes: int,
    only: str | None = None,
) -> FittedClassifier:
    """`fit_classifier` with what is random in it given."""
    check_records(features, labels, classes)
    held, seed = draws.held, draws.seed
    prior = np.bincount(labels, minlength=classes) / len(labels)
    best: FittedClassifier | None = None
    losses: list[tuple[str, float]] = []
    for name, build in _candidates(seed).items():
        if only is not None and name != only:
            continue
        raw = _fitted(build(), features[~held], labels[~held], classes)
        temperature, shift, loss = _calibrate(raw(features[held]), labels[held])
        losses.append((name, loss))
        if best is None or loss < best.loss:
            best = FittedClassifier(name, raw, temperature, shift, prior, int(held.sum()), loss, ())
    if best is None:
        raise InvalidInput(f"only must be one of {', '.join(_candidates(0))}, got {only!r}")
    return FittedClassifier(
        best.name, best.raw, best.temperature, best.shift, prior, best.support, best.loss,
        tuple(losses),
    )  # fmt: skip


def halves(labels: Indices, *, rng: Generator) -> tuple[Indices, Indices]:
    """Two random halves of the records, each class divided evenly."""
    parts = stratified(labels, parts=2, rng=rng)
    return np.flatnonzero(parts == 0), np.flatnonzero(parts == 1)


def _candidates(seed: int) -> dict[str, Callable[[], Any]]:
    try:
        from sklearn.ensemble import (
            ExtraTreesClassifier,
            HistGradientBoostingClassifier,
        )
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as problem:
        raise MissingExtra("scikit-learn", extra="labels") from problem
    return {
        "logistic regression": lambda: make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=300)
        ),
        "boosted trees": lambda: HistGradientBoostingClassifier(
            max_iter=100, max_leaf_nodes=15, early_stopping=False, random_state=seed
        ),
        "random trees": lambda: ExtraTreesClassifier(
            n_estimators=60, min_samples_leaf=3, random_state=seed
        ),
    }


def _fitted(
    model: Any, features: Floats, labels: Indices, classes: int
) -> Callable[[Floats], Floats]:
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    # One thread: at these sizes OpenMP's waiting costs more than it brings on a shared machine.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # judged by its loss, like the others
        model.fit(features, labels)
    known = np.asarray(model.classes_, dtype=np.intp)

    def raw(rows: Floats) -> Floats:
        table = np.zeros((len(rows), classes))
        with threadpool_limits(1):
            table[:, known] = model.predict_proba(rows)
        return table

    return raw


def _calibrate(raw: Floats, labels: Indices) -> tuple[float, Floats, float]:
    """Temperature, shift and the log-loss with them."""
    from scipy.optimize import minimize

    logs = _log(raw)
    rows = np.arange(len(labels))
    classes = raw.shape[1]

    def objective(parameters: Floats) -> float:
        logits = (logs + parameters[1:]) / np.exp(parameters[0])
        logits = logits - logits.max(axis=1, keepdims=True)
        likelihood = logits[rows, labels] - np.log(np.exp(logits).sum(axis=1))
        return float(-likelihood.sum() + 0.5 * (parameters**2).sum())

    found = minimize(objective, np.zeros(classes + 1), method="L-BFGS-B",
                     bounds=[(-3.0, 5.0)] + [(-5.0, 5.0)] * classes)  # fmt: skip
    logits = (logs + found.x[1:]) / np.exp(found.x[0])
    logits -= logits.max(axis=1, keepdims=True)
    loss = -(logits[rows, labels] - np.log(np.exp(logits).sum(axis=1))).mean()
    return float(np.exp(found.x[0])), np.asarray(found.x[1:]), float(loss)


def _log(table: Floats) -> Floats:
    return np.log(np.maximum(table, 1e-6))


def stratified(labels: Indices, *, parts: int, rng: Generator) -> Indices:
    """A part for each record, every class spread evenly and at random over the parts."""
    chosen = np.empty(len(labels), dtype=np.intp)
    offset = 0
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        chosen[members] = (np.arange(len(members)) + offset) % parts
        offset += len(members)
    return chosen


def check_records(features: Floats, labels: Indices, classes: int) -> None:
    """Refuse what no classifier could be fitted to."""
    good = features.ndim == 2 and len(features) == len(labels) and features.shape[1] > 0
    require(good, "features", "a table with a row for each label", f"shape {features.shape}")
    require(bool(np.isfinite(features).all()), "features", "finite", "NaN or infinity")
    require(classes >= 2, "classes", ">= 2", classes)
    fewest = int(np.bincount(labels, minlength=classes).min())
    require(fewest >= FEWEST // 2, "records of each class", f">= {FEWEST // 2}", fewest,
            "merge rare classes or gather more records")  # fmt: skip
