"""Analysts who learn from a release: what each makes of it, judged on clean records by AUC."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.label_classifier import stratified
from voile.audit.label_classes import mean_area
from voile.core.arrays import Floats, Indices
from voile.core.channel import Channel
from voile.core.randomness import seeded_rng
from voile.errors import MissingExtra

BY_TABLES = "estimated tables"
"""The analyst who reads reports by their law, in place of records: see `reports.tables_model`."""
STRENGTHS = (0.01, 0.1, 1.0, 10.0)
FEWEST = 10
"""So many released records of each class are needed to learn from."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """A release as an analyst has it, and the clean records that the model is tested on."""

    features: Floats
    answers: Indices
    tests: Floats
    truth: Indices
    classes: int
    seed: int
    channel: Channel | None = None
    """What the labels went through; None for clean ones."""


Analyst = Callable[[Lesson], Floats]
"""From a lesson the beliefs about the tests."""


def usefulness(lesson: Lesson) -> dict[str, float]:
    """The AUC of each analyst on the clean tests (classes one against the rest); chance is 0.5."""
    if np.bincount(lesson.answers, minlength=lesson.classes).min() < FEWEST:
        return dict.fromkeys(ANALYSTS, 0.5)
    return {name: mean_area(learn(lesson), lesson.truth) for name, learn in ANALYSTS.items()}


def tuned_linear(lesson: Lesson) -> Floats:
    """Logistic regression whose strength is chosen by its log-loss on released records held out."""
    sklearn = _sklearn()
    scale = sklearn.preprocessing.StandardScaler().fit(lesson.features)
    rows, tests = scale.transform(lesson.features), scale.transform(lesson.tests)
    held = stratified(lesson.answers, parts=5, rng=seeded_rng(lesson.seed)) == 0

    def fitted(strength: float, part: NDArray[np.bool_]) -> Any:
        model = sklearn.linear_model.LogisticRegression(C=strength, max_iter=200)
        return _quietly(model, rows[part], lesson.answers[part])

    def loss(strength: float) -> float:
        table = fitted(strength, ~held).predict_proba(rows[held])
        return float(-np.log(table[np.arange(len(table)), lesson.answers[held]] + 1e-12).mean())

    best = min(STRENGTHS, key=loss)
    return np.asarray(fitted(best, np.ones(len(rows), dtype=np.bool_)).predict_proba(tests))


def boosted_trees(lesson: Lesson) -> Floats:
    """Gradient-boosted trees that stop when released records held out are predicted no better."""
    model = _sklearn().ensemble.HistGradientBoostingClassifier(
        max_iter=150, max_leaf_nodes=15, early_stopping=True, n_iter_no_change=5,
        random_state=lesson.seed % 2**31,
    )  # fmt: skip
    return np.asarray(_quietly(model, lesson.features, lesson.answers).predict_proba(lesson.tests))


def noise_aware(lesson: Lesson) -> Floats:
    """Logistic regression whose predictions pass through the labels' channel before the judging."""
    if lesson.channel is None:
        return tuned_linear(lesson)
    from voile.estimate.forward_logistic import ForwardLogistic

    model = ForwardLogistic(lesson.channel)
    released = lesson.channel.space.items[lesson.answers]
    return np.asarray(_quietly(model, lesson.features, released).predict_proba(lesson.tests))


ANALYSTS: dict[str, Analyst] = {
    "tuned linear": tuned_linear,
    "boosted trees": boosted_trees,
    "noise-aware": noise_aware,
}


def _quietly(model: Any, rows: Floats, answers: Indices) -> Any:
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # judged by what it predicts, converged or not
        return model.fit(rows, answers)


def _sklearn() -> Any:
    try:
        import sklearn
        import sklearn.ensemble
        import sklearn.linear_model
        import sklearn.preprocessing
    except ImportError as problem:
        raise MissingExtra("scikit-learn", extra="labels") from problem
    return sklearn
