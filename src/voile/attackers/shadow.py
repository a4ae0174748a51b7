"""The shadow-model attack: tells whether a model was trained on a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats
from voile.errors import InvalidInput, MissingExtra, require

Labels = NDArray[Any]


@dataclass(frozen=True)
class Outputs:
    """What a model says about records: a probability for each class, and the true labels."""

    probabilities: Floats
    labels: Labels

    def __post_init__(self) -> None:
        table = self.probabilities
        shaped = table.ndim == 2 and len(table) == len(self.labels) > 0
        require(shaped, "probabilities", "a row for each label", f"shape {table.shape}")
        require(bool(np.isfinite(table).all()), "probabilities", "finite", "NaN or infinity")


@dataclass(frozen=True)
class ShadowAttack:
    """Scores how much a model's answer looks like one about a record it has seen."""

    models: dict[Any, Any] = field(repr=False)
    threshold: float

    def scores(self, outputs: Outputs) -> Floats:
        """The attack's belief that each record was a member."""
        unseen = set(np.unique(outputs.labels)) - set(self.models)
        if unseen:
            raise InvalidInput(f"the attack must know every class, {len(unseen)} are new to it")
        answer = np.empty(len(outputs.labels))
        for label, model in self.models.items():
            rows = outputs.labels == label
            if rows.any():
                answer[rows] = model.predict_proba(_features(outputs.probabilities[rows]))[:, 1]
        return answer


def shadow_attack(
    members: Sequence[Outputs], others: Sequence[Outputs], *, seed: int = 0
) -> ShadowAttack:
    """Fit the attack of Shokri et al. (S&P 2017) on the outputs of shadow models.

    Each shadow model is built as the target was, on data of the attacker's own: `members` are
    its outputs on what it was trained on, `others` on what it was not. For each class one network
    with two layers of 64 units learns to tell them apart from the sorted probabilities; the
    decision threshold is the one with the best accuracy on the shadows, so that an audit can
    use the target's records for nothing but the test.
    """
    try:
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError:
        raise MissingExtra("scikit-learn", extra="text") from None
    require(len(members) == len(others) > 0, "shadow models", "at least one, each with both sides",
            f"{len(members)} and {len(others)}")  # fmt: skip
    tables = [(o, 1) for o in members] + [(o, 0) for o in others]
    probabilities = np.concatenate([o.probabilities for o, _ in tables])
    labels = np.concatenate([o.labels for o, _ in tables])
    inside = np.concatenate([np.full(len(o.labels), side) for o, side in tables])
    models = {}
    for label in np.unique(labels):
        rows = labels == label
        require(len(set(inside[rows].tolist())) == 2, "every class", "on both sides", "one side")
        network = MLPClassifier(
            (64, 64), batch_size=min(64, int(rows.sum())), max_iter=20, random_state=seed
        )
        models[label] = make_pipeline(StandardScaler(), network)
        _quietly(models[label], _features(probabilities[rows]), inside[rows])
    plain = ShadowAttack(models, 0.5)
    scores = plain.scores(Outputs(probabilities, labels))
    return ShadowAttack(models, _best_threshold(scores, inside))


def _quietly(model: Any, features: Floats, inside: Labels) -> None:
    """Twenty epochs, as the TEM paper trains it; that more would still help is no news."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(features, inside)


def _features(probabilities: Floats) -> Floats:
    """Sorted probabilities, as log-odds: where over-fitting shows, near 1, they keep digits."""
    ordered = np.clip(np.sort(probabilities, axis=1)[:, ::-1], 1e-9, 1 - 1e-9)
    return np.log(ordered) - np.log1p(-ordered)


def _best_threshold(scores: Floats, inside: Labels) -> float:
    order = np.argsort(scores)
    right = np.cumsum(inside[order] == 0) + (inside == 1).sum() - np.cumsum(inside[order] == 1)
    return float(scores[order[int(right.argmax())]])
