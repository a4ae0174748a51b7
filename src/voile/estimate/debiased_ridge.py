"""Linear regression on a number that was released through a channel: scores in place of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.channel import Channel
from voile.core.space import lookup
from voile.errors import MissingExtra, require
from voile.estimate.debiasing import unbiased_scores

try:
    from sklearn.base import BaseEstimator, RegressorMixin
except ImportError as problem:
    raise MissingExtra("scikit-learn", extra="labels") from problem

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
FOLDS = 4


class DebiasedRidge(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Ridge regression on s(ỹ) = Σ_y v_y·M[y, ỹ], whose mean given the true y is v_y, its value.

    E[s|x] = E[v|x], so least squares on s estimate the regression of v without bias, where released
    values themselves would flatten it by the chance that a label was changed. The penalty λ (a
    record, on standardised features; the mean is free) is chosen by the squared error of scores
    held out: E(s − f)² = E(v − f)² + E Var(s|y), and the last term does not depend on f; `held_` is
    that error, a record. Costs a solve of features³ for each penalty and fold.

    `values` are the numbers that the channel's secrets stand for, `fit` takes labels as released.
    """

    def __init__(self, channel: Channel, values: Floats, *, penalties: Sequence[float] = PENALTIES):
        self.channel = channel
        self.values = values
        self.penalties = penalties

    def fit(self, X: Floats, y: Sequence[Any] | Items) -> DebiasedRidge:
        """Fit to features and released labels."""
        table = np.asarray(X, dtype=np.float64)
        good = table.ndim == 2 and len(table) == len(y) and len(table) >= 2 * FOLDS
        require(good, "records", f"at least {2 * FOLDS} rows, one a label", f"shape {table.shape}")
        require(bool(np.isfinite(table).all()), "features", "finite", "NaN or infinity")
        values = np.asarray(self.values, dtype=np.float64)
        fine = values.shape == (len(self.channel.space),) and bool(np.isfinite(values).all())
        require(fine, "values", "a finite number for each secret", f"shape {values.shape}")
        outputs = lookup(self.channel._output_positions, y, size=len(self.channel.outputs))
        scores = (values @ unbiased_scores(self.channel))[outputs]
        self.mean_ = table.mean(axis=0)
        deviation = table.std(axis=0)
        self.scale_ = np.where(deviation > 1e-12, deviation, 1.0)
        ready = (table - self.mean_) / self.scale_
        part = np.random.default_rng(0).permutation(len(ready)) % FOLDS
        held = [sum(_error(ready, scores, part == f, p) for f in range(FOLDS))
                for p in self.penalties]  # fmt: skip
        self.held_ = float(min(held)) / len(ready)
        self.penalty_ = float(self.penalties[int(np.argmin(held))])
        slopes, self.intercept_ = _solved(ready, scores, self.penalty_)
        self.coef_ = slopes / self.scale_
        return self

    def predict(self, X: Floats) -> Floats:
        """The number that is expected for each row of features."""
        return np.asarray((np.asarray(X) - self.mean_) @ self.coef_ + self.intercept_)


def _solved(rows: Floats, scores: Floats, penalty: float) -> tuple[Floats, float]:
    centre, mean = rows.mean(axis=0), float(scores.mean())
    apart = rows - centre
    gram = apart.T @ apart / len(rows) + penalty * np.eye(rows.shape[1])
    slopes = np.linalg.solve(gram, apart.T @ (scores - mean) / len(rows))
    return slopes, mean - float(centre @ slopes)


def _error(rows: Floats, scores: Floats, held: Any, penalty: float) -> float:
    slopes, intercept = _solved(rows[~held], scores[~held], penalty)
    return float(((scores[held] - rows[held] @ slopes - intercept) ** 2).sum())
