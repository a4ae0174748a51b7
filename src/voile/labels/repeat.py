"""One split of a labelled table: each way of protecting it, a model trained on it, an attack."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voile.attackers.label_beliefs import cross_fit
from voile.audit.label_counts import attack_success
from voile.core.arrays import Floats, Indices
from voile.core.channel import Channel
from voile.core.randomness import Generator, seeded_rng
from voile.labels.analysts import Lesson, usefulness
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


@dataclass(frozen=True)
class Score:
    """One way at one epsilon on one split: leakage, each analyst's AUC, the cap on leakage.

    AUCs are means over the draws of noise; the cap is None where no theorem gives one.
    """

    leakage: float
    aucs: dict[str, float]
    cap: float | None


@dataclass(frozen=True, eq=False)
class Asked:
    """What all repeats share; it travels once to a process or node."""

    table: Table
    label_epsilons: tuple[float, ...]
    record_epsilons: tuple[float, ...]
    draws: int
    cells: int | None
    label_share: float


@dataclass(frozen=True)
class Repeat:
    """One split: the AUCs of clean records, an attacker's success on features alone, all scores."""

    clean: dict[str, float]
    alone: float
    scores: dict[tuple[str, float], Score]


def one_repeat(asked: Asked, seed: int) -> Repeat:
    """A split under a seed of its own: protect, train, attack and test each way."""
    rng, table = seeded_rng(seed), asked.table
    order = rng.permutation(len(table))
    cut = int(0.7 * len(table))
    train, test = table.select(order[:cut]), table.select(order[cut:])
    world = _World(train, test, rng, asked, classes=table.classes)
    scores: dict[tuple[str, float], Score] = {}
    for epsilon in asked.label_epsilons:
        protection = response_protection(world.recipe, epsilon=epsilon)
        leakage = attack_success(world.beliefs, world.labels, epsilon=epsilon).mean()
        scores[protection.name, epsilon] = Score(float(leakage), world.useful(protection), None)
    for epsilon in asked.record_epsilons:
        for protection in (
            cells_protection(
                world.with_cells(epsilon), epsilon=epsilon, label_share=asked.label_share
            ),
            noise_protection(world.recipe, epsilon=epsilon),
        ):
            scores[protection.name, epsilon] = Score(
                world.leaked(protection),
                world.useful(protection),
                label_only_utility(world.prior, epsilon=epsilon),
            )
    alone = float((world.beliefs.argmax(axis=1) == world.labels).mean())
    return Repeat(world.learned(world.values, world.labels), alone, scores)


class _World:
    """One split of the records: what the analysts and the attacker work with."""

    def __init__(
        self, train: Table, test: Table, rng: Generator, asked: Asked, *, classes: tuple[str, ...]
    ) -> None:
        recipe = draft_recipe(train, classes=classes)
        self.values: Columns = train.columns
        self.labels = recipe.label_codes(train.labels)
        self.classes = len(recipe.classes)
        self.recipe: Recipe = recipe
        self.asked = asked
        self.rng = rng
        self.prior = np.bincount(self.labels, minlength=self.classes) / len(self.labels)
        self.test = self._matrix(test.columns)
        self.truth = recipe.label_codes(test.labels)
        self.beliefs = cross_fit(
            self.values, self.labels, classes=self.classes, rng=rng, folds=3
        ).posteriors

    def with_cells(self, epsilon: float) -> Recipe:
        """The recipe with cells for this epsilon."""
        found = learn_cells(
            self.recipe.columns,
            self.values,
            self.labels,
            classes=self.classes,
            rng=self.rng,
            cells=self.asked.cells,
            epsilon=epsilon,
        )
        return replace(self.recipe, cells=found)

    def _matrix(self, values: Columns) -> Floats:
        return matrix_of(self.recipe.columns, values)[0]

    def learned(
        self, values: Columns, answers: Indices, channel: Channel | None = None
    ) -> dict[str, float]:
        """What each analyst learns from a release whose labels went through a channel."""
        seed = int(self.rng.integers(2**31))
        matrix = self._matrix(values)
        return usefulness(
            Lesson(matrix, answers, self.test, self.truth, self.classes, seed, channel)
        )

    def useful(self, protection: Protection) -> dict[str, float]:
        """The AUC of each analyst, over all draws of noise."""
        found = [
            self.learned(
                *protection.draw(self.values, self.labels, self.rng), protection.channels[-1]
            )
            for _ in range(self.asked.draws)
        ]
        return {name: float(np.mean([one[name] for one in found])) for name in found[0]}

    def leaked(self, protection: Protection) -> float:
        """The success of an attacker with labelled examples of the release."""
        values, answers = protection.draw(self.values, self.labels, self.rng)
        names = np.array(self.recipe.classes)[answers]
        release: Columns = (*values, names)
        if protection.typical:  # few rows are different: to know which one it is, is to know it all
            codes = [c.encode(v) for c, v in zip(self.recipe.columns, values, strict=True)]
            row = np.unique(np.stack([*codes, answers]), axis=1, return_inverse=True)[1]
            release = (np.array([f"row {at}" for at in row.tolist()]),)
        attack = cross_fit(release, self.labels, classes=self.classes, rng=self.rng, folds=3)
        success = float((attack.posteriors.argmax(axis=1) == self.labels).mean())
        # Reading the answer alone, with its known law, is an attack too.
        own = protection.label.epsilon if protection.label else 0.0
        return max(success, label_only_utility(self.prior, epsilon=own))
