"""Attribution by several attacks at once: their scores weighed as past trials ask for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import require

STACK = "stack"
FARTHEST = 12.0
"""A lead of more than so many typical ones counts as this many: one attack cannot shout."""


@dataclass(frozen=True, eq=False)
class Weights:
    """A choice model over candidates: P(j) ∝ exp(Σ_a w_a·s_aj), s_a an attack's scaled scores.

    McFadden's conditional logit. It has no intercept and sees no position, so candidates are
    treated alike, and any number of them will do.
    """

    scales: Floats
    weights: Floats

    def scores(self, features: Floats) -> Floats:
        """One score a candidate, from its features: (trials, candidates, features) in."""
        weighed: Floats = _scaled(features, self.scales) @ self.weights
        return weighed


def fit_weights(features: Floats, columns: Indices, *, penalty: float = 1e-2) -> Weights:
    """The weights under which these trials' sources are likeliest, with a ridge.

    `features` is of shape (trials, candidates, features), such as the scores of each attack.

    >>> right, noise = np.array([[1.0, 0.0], [0.0, 1.0]] * 50), np.zeros((100, 2))
    >>> found = fit_weights(np.stack([right, noise], axis=2), np.array([0, 1] * 50))
    >>> bool(found.weights[0] > 1), bool(abs(found.weights[1]) < 1e-9)
    (True, True)
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    require(len(columns) >= 1, "trials to fit on", "at least one", 0)
    scales = np.array([_typical_lead(table) for table in np.moveaxis(features, 2, 0)])
    features = _scaled(features, scales)
    rows = np.arange(len(columns))

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = features @ weights
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        beliefs = np.exp(logs)
        beliefs[rows, columns] -= 1
        value = -logs[rows, columns].mean() + penalty * float(weights @ weights)
        slope = np.einsum("tk,tka->a", beliefs, features) / len(rows) + 2 * penalty * weights
        return float(value), slope

    best = minimize(loss, np.zeros(len(scales)), jac=True, method="L-BFGS-B")
    return Weights(scales, best.x)


def _scaled(features: Floats, scales: Floats) -> Floats:
    """Features as leads over the row's mean, in units of a typical lead, cut off far out."""
    features = np.clip(features, -1e12, 1e12)
    features -= features.mean(axis=1, keepdims=True)
    return np.clip(features / scales, -FARTHEST, FARTHEST)


def _typical_lead(table: Floats) -> float:
    """The median of how far scores of a row lie from its mean, where they differ; 1 if never."""
    centred = np.clip(table, -1e12, 1e12)
    centred = np.abs(centred - centred.mean(axis=1, keepdims=True))
    differing = centred[centred > 0]
    return float(np.median(differing)) if differing.size else 1.0
