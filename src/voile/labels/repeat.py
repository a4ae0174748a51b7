"""One split of a labelled table: each way of protecting it, a model trained on it, an attack."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voile.attackers.label_beliefs import cross_fit
from voile.attackers.label_classifier import fit_classifier
from voile.audit.label_counts import attack_success
from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator, seeded_rng
from voile.errors import MissingExtra
from voile.labels.cells import learn_cells
from voile.labels.columns import matrix_of
from voile.labels.protection import (
    Columns,
    Protection,
    cells_protection,
    noise_protection,
    response_protection,
)
from voile.labels.recipes import Recipe, draft_recipe
from voile.labels.table import Table
from voile.leakage.labels import label_only_utility

ANALYST = "logistic regression"

Score = tuple[float, float, float | None]
"""Leakage, AUC, and the cap on leakage where a theorem gives one."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What all repeats share; it travels once to a process or node."""

    table: Table
    label_epsilons: tuple[float, ...]
    record_epsilons: tuple[float, ...]
    cells: int | None
    label_share: float


@dataclass(frozen=True)
class Repeat:
    """One split: the AUC of clean records, an attacker's success on features alone, all scores."""

    clean: float
    alone: float
    scores: dict[tuple[str, float], Score]


def one_repeat(asked: Asked, seed: int) -> Repeat:
    """A split under a seed of its own: protect, train, attack and test each way."""
    rng, table = seeded_rng(seed), asked.table
    order = rng.permutation(len(table))
    cut = int(0.7 * len(table))
    train, test = table.select(order[:cut]), table.select(order[cut:])
    world = _World(train, test, rng, cells=asked.cells, classes=table.classes)
    clean = world.usefulness(world.values, world.labels)
    scores: dict[tuple[str, float], Score] = {}
    for epsilon in asked.label_epsilons:
        protection = response_protection(world.recipe, epsilon=epsilon)
        scores[protection.name, epsilon] = (
            float(attack_success(world.beliefs, world.labels, epsilon=epsilon).mean()),
            world.usefulness(*protection.draw(world.values, world.labels, rng)),
            None,
        )
    for epsilon in asked.record_epsilons:
        for protection in (
            cells_protection(world.recipe, epsilon=epsilon, label_share=asked.label_share),
            noise_protection(world.recipe, epsilon=epsilon),
        ):
            scores[protection.name, epsilon] = world.judged(protection, epsilon)
    alone = float((world.beliefs.argmax(axis=1) == world.labels).mean())
    return Repeat(clean, alone, scores)


class _World:
    """One split of the records: what the analyst and the attacker work with."""

    def __init__(
        self,
        train: Table,
        test: Table,
        rng: Generator,
        *,
        cells: int | None,
        classes: tuple[str, ...],
    ) -> None:
        recipe = draft_recipe(train, classes=classes)
        self.values: Columns = train.columns
        self.labels = recipe.label_codes(train.labels)
        self.classes = len(recipe.classes)
        found = learn_cells(
            recipe.columns, train.columns, self.labels, classes=self.classes, rng=rng, cells=cells
        )  # fmt: skip
        self.recipe: Recipe = replace(recipe, cells=found)
        self.rng = rng
        self.prior = np.bincount(self.labels, minlength=self.classes) / len(self.labels)
        self.test = self._matrix(test.columns)
        self.truth = recipe.label_codes(test.labels)
        self.beliefs = cross_fit(
            self.values, self.labels, classes=self.classes, rng=rng, folds=3
        ).posteriors

    def _matrix(self, values: Columns) -> Floats:
        return matrix_of(self.recipe.columns, values)[0]

    def usefulness(self, values: Columns, labels: Indices) -> float:
        """Test AUC of a model trained on a release (one against the rest for several classes)."""
        if np.bincount(labels, minlength=self.classes).min() < 10:
            return 0.5
        model = fit_classifier(
            list(self._matrix(values).T), labels, classes=self.classes, rng=self.rng, only=ANALYST
        )
        return _auc(self.truth, model.posteriors(list(self.test.T)))

    def judged(self, protection: Protection, epsilon: float) -> Score:
        """Leakage, AUC and the cap of one release of features and label."""
        values, answers = protection.draw(self.values, self.labels, self.rng)
        release = (*values, np.array(self.recipe.classes)[answers])
        attack = cross_fit(release, self.labels, classes=self.classes, rng=self.rng, folds=3)
        success = float((attack.posteriors.argmax(axis=1) == self.labels).mean())
        # Reading the answer alone, with its known law, is an attack too.
        own = protection.label.epsilon if protection.label else 0.0
        simple = label_only_utility(self.prior, epsilon=own)
        cap = label_only_utility(self.prior, epsilon=epsilon)
        return max(success, simple), self.usefulness(values, answers), cap


def _auc(truth: Indices, beliefs: Floats) -> float:
    try:
        from sklearn.metrics import roc_auc_score
    except ImportError as problem:
        raise MissingExtra("scikit-learn", extra="labels") from problem
    if beliefs.shape[1] == 2:
        return float(roc_auc_score(truth, beliefs[:, 1]))
    return float(roc_auc_score(truth, beliefs, multi_class="ovr"))
