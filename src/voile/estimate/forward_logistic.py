"""Logistic regression on noisy labels that knows their noise: forward correction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.core.space import lookup
from voile.errors import MissingExtra, require

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
except ImportError as problem:
    raise MissingExtra("scikit-learn", extra="labels") from problem

PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4)
FOLDS = 4
MOST = 20_000
"""So many records at most choose the penalty; all are fitted to."""


class ForwardLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Softmax regression whose predictions pass through the labels' channel before they are judged.

    Released labels follow P(ỹ|x) = Σ_y p_y(x)·K(ỹ|y), so −ln P(ỹ|x) is minimised at the truth,
    where −ln p_ỹ(x) would be at the noisy law (Patrini et al. 2017, forward correction). The
    penalty λ‖W‖² a record is chosen by cross-validation on the same loss: on noisy labels, nothing
    clean; `held_` is that loss, a record. Features are standardised. `fit` takes the labels as
    released, `predict_proba` gives the clean classes, in the order of the channel's secrets.
    """

    def __init__(self, channel: Channel, *, penalties: Sequence[float] = PENALTIES):
        self.channel = channel
        self.penalties = penalties

    def fit(self, X: Floats, y: Sequence[Any] | Items) -> ForwardLogistic:
        """Fit to features and released labels."""
        table = np.asarray(X, dtype=np.float64)
        good = table.ndim == 2 and len(table) == len(y) and len(table) >= 2 * FOLDS
        require(good, "records", f"at least {2 * FOLDS} rows, one a label", f"shape {table.shape}")
        require(bool(np.isfinite(table).all()), "features", "finite", "NaN or infinity")
        outputs = self.channel.outputs
        answers = lookup(self.channel._output_positions, y, size=len(outputs))
        self.mean_ = table.mean(axis=0)
        deviation = table.std(axis=0)
        self.scale_ = np.where(deviation > 1e-12, deviation, 1.0)
        ready = self._ready(table)
        law = self.channel.probabilities()
        order = np.random.default_rng(0).permutation(len(ready))
        folds = [np.flatnonzero((order < MOST) & (order % FOLDS == f)) for f in range(FOLDS)]
        held = np.zeros(len(self.penalties))
        for fold in range(FOLDS):
            inside = np.sort(np.concatenate([part for f, part in enumerate(folds) if f != fold]))
            outside, start = folds[fold], None
            for i, penalty in enumerate(self.penalties):
                start = _fitted(ready[inside], answers[inside], law, penalty, start)
                held[i] += _loss(start, ready[outside], answers[outside], law, 0.0)[0] / FOLDS
        self.held_ = float(held.min())
        self.penalty_ = float(self.penalties[int(held.argmin())])
        self.weights_ = _fitted(ready, answers, law, self.penalty_, None)
        self.classes_ = self.channel.space.items
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """P(y|x) of the clean classes."""
        ready = self._ready(np.asarray(X, dtype=np.float64))
        return _softmax(ready @ self.weights_.reshape(ready.shape[1], -1))

    def predict(self, X: Floats) -> Any:
        """The likeliest clean class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _ready(self, table: Floats) -> Floats:
        return np.hstack([(table - self.mean_) / self.scale_, np.ones((len(table), 1))])


def _softmax(logits: Floats) -> Floats:
    table = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _loss(
    weights: Floats, table: Floats, answers: Indices, law: Floats, penalty: float
) -> tuple[float, Floats]:
    """The mean of −ln Σ_y p_y K(ỹ|y) plus the penalty, and its gradient."""
    matrix = weights.reshape(table.shape[1], -1)
    belief = _softmax(table @ matrix)
    column = law[:, answers].T
    weight = belief * column
    told = weight.sum(axis=1)
    slope = table.T @ (belief - weight / told[:, None]) / len(table)
    free = matrix.copy()
    free[-1] = 0.0  # the intercept is not held
    value = -float(np.log(told).mean()) + penalty * float((free**2).sum())
    return value, np.asarray((slope + 2 * penalty * free).ravel())


def _fitted(
    table: Floats, answers: Indices, law: Floats, penalty: float, start: Floats | None
) -> Floats:
    from scipy.optimize import minimize

    first = np.zeros(table.shape[1] * len(law)) if start is None else start
    found = minimize(
        _loss, first, args=(table, answers, law, penalty), jac=True, method="L-BFGS-B",
        options={"maxiter": 300},
    )  # fmt: skip
    return np.asarray(found.x)
