"""A logistic regression whose penalty is chosen on records that it was not fitted to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices

PENALTIES = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
"""The inverse strengths that are tried. A label that a small difference of large numbers decides
needs large weights, which the usual strength of 1 forbids; hashed words need small ones."""
MOST = 4_000
"""So many records at most choose among them."""
PARTS = 3
STEPS = 300


class PenalisedLinear:
    """Logistic regression at the penalty of least log-loss on a third of its own records.

    From the usual one the search goes on in the direction that helps, as long as it does: three
    small fits as a rule. Only records that it is fitted to choose.
    """

    classes_: Indices

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def fit(self, rows: Any, labels: Indices) -> PenalisedLinear:
        """Choose, and fit to all."""
        self.penalty = _chosen(rows, labels, self._seed)
        self._model = _logistic(self.penalty).fit(rows, labels)
        self.classes_ = np.asarray(self._model.classes_, dtype=np.intp)
        return self

    def predict_proba(self, rows: Any) -> Floats:
        """P(y|x), a column a class."""
        return np.asarray(self._model.predict_proba(rows))


def _logistic(penalty: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=penalty, max_iter=STEPS)


def _chosen(rows: Any, labels: Indices, seed: int) -> float:
    """The penalty whose fit to two parts of the records is least surprised by the third."""
    order = np.random.default_rng(seed).permutation(len(labels))[:MOST]
    judging, fitting = order[: len(order) // PARTS], order[len(order) // PARTS :]
    if len(np.unique(labels[fitting])) < 2:
        return 1.0
    inner, outer, truth = rows[fitting], rows[judging], labels[judging]

    def loss(at: int) -> float:
        model = _logistic(PENALTIES[at]).fit(inner, labels[fitting])
        column = {name: place for place, name in enumerate(model.classes_.tolist())}
        known = np.array([column.get(label, -1) for label in truth.tolist()])
        table = np.column_stack([model.predict_proba(outer), np.zeros(len(truth))])
        return float(-np.log(np.maximum(table[np.arange(len(truth)), known], 1e-6)).mean())

    usual = PENALTIES.index(1.0)
    least = loss(usual)
    found = _downhill(loss, usual, least, 1)
    return PENALTIES[found if found != usual else _downhill(loss, usual, least, -1)]


def _downhill(loss: Callable[[int], float], at: int, least: float, step: int) -> int:
    """The last place on the way in one direction that is better than the one before."""
    while 0 <= at + step < len(PENALTIES) and (here := loss(at + step)) < least:
        at, least = at + step, here
    return at
