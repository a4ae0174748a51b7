"""One split of a labelled table: each way of protecting it, a model trained on it, an attack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voile.attackers.label_beliefs import cross_fit
from voile.audit.label_classes import mean_area
from voile.audit.label_counts import attack_success
from voile.core.arrays import Floats, Indices
from voile.core.channel import Channel
from voile.core.randomness import Generator, seeded_rng
from voile.estimate.known_tables import public_table
from voile.labels import synthetic
from voile.labels.analysts import BY_TABLES, Lesson, usefulness
from voile.labels.cells import learn_cells
from voile.labels.columns import matrix_of
from voile.labels.grouping import grouped
from voile.labels.protection import (
    Columns,
    Protection,
    cells_protection,
    noise_protection,
    response_protection,
    sample_protection,
)
from voile.labels.recipes import Recipe, draft_recipe
from voile.labels.reports import Reports, drawn_views, sampled_views, tables_model
from voile.labels.table import Table
from voile.leakage.labels import label_only_utility


@dataclass(frozen=True)
class Score:
    """One way at one epsilon on one split: leakage, each analyst's AUC, the cap on leakage.

    AUCs are means over the draws of noise; the cap is None where no theorem gives one. `recipe` is
    the AUC of somebody who has the recipe and no release; None if the recipe tells no class.
    """

    leakage: float
    aucs: dict[str, float]
    cap: float | None
    recipe: float | None = None


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
        scores[protection.name, epsilon] = Score(
            float(leakage), world.useful(protection, world.recipe), None
        )
    for epsilon in asked.record_epsilons:
        cap = label_only_utility(world.prior, epsilon=epsilon)
        for recipe, protection in world.ways(epsilon):
            leaked, useful = world.leaked(recipe, protection), world.useful(protection, recipe)
            scores[protection.name, epsilon] = Score(leaked, useful, cap, world.alone(recipe))
        scores[synthetic.NAME, epsilon] = world.made_up(epsilon, cap)
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
        self.clean: Columns = test.columns
        self.test = self._matrix(test.columns)
        self.truth = recipe.label_codes(test.labels)
        self.beliefs = cross_fit(
            self.values, self.labels, classes=self.classes, rng=rng, folds=3
        ).posteriors

    def ways(self, epsilon: float) -> Iterator[tuple[Recipe, Protection]]:
        """Every mechanism that changes records, each with the recipe that it is drawn by.

        Ranges and cells come from the records themselves, which are public to nobody: all ways have
        the same help. What a column says of the label is not told to the sampled one.
        """
        celled = self._with_cells(epsilon)
        share = self.asked.label_share
        yield celled, cells_protection(celled, epsilon=epsilon, label_share=share)
        yield self.recipe, noise_protection(self.recipe, epsilon=epsilon)
        coarse = grouped(self.recipe, epsilon=epsilon, records=len(self.labels))
        yield coarse, sample_protection(coarse, epsilon=epsilon)

    def _with_cells(self, epsilon: float) -> Recipe:
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

    def useful(self, protection: Protection, recipe: Recipe) -> dict[str, float]:
        """The AUC of each analyst, over all draws of noise."""
        return _means([self._useful_once(protection, recipe) for _ in range(self.asked.draws)])

    def _useful_once(self, protection: Protection, recipe: Recipe) -> dict[str, float]:
        if protection.sampler is not None:
            drawn = protection.sampler.release(self.values, self.labels, self.rng)
            views = sampled_views(recipe, protection, *drawn.T)
            return self._by_tables(Reports(recipe, protection, len(drawn), views, None))
        values, answers = protection.draw(self.values, self.labels, self.rng)
        found = self.learned(values, answers, protection.channels[-1])
        if protection.passes_features:
            return found
        parts = [c.encode(v) for c, v in zip(recipe.columns, values, strict=True)]
        views = drawn_views(recipe, protection, parts, answers)
        return found | self._by_tables(Reports(recipe, protection, len(answers), views, answers))

    def _by_tables(self, reports: Reports) -> dict[str, float]:
        """The analyst of `labels learn`, who knows the law of all that was drawn.

        What a recipe tells of the label is left out: this one was made from the very records, so
        that would be learning from them and not from the release. See `alone`.
        """
        views = [replace(view, known=None) for view in reports.views]
        model = tables_model(views, self.classes)
        beliefs = model.predict_proba(reports.codes(self.clean))
        return {BY_TABLES: mean_area(beliefs, self.truth)}

    def alone(self, recipe: Recipe) -> float | None:
        """What the recipe's cells teach by themselves; None without cells."""
        if recipe.cells is None:
            return None
        counts = public_table(recipe.cells.known())
        joint = counts / counts.sum(axis=0) * self.prior
        beliefs = joint / joint.sum(axis=1, keepdims=True)
        return mean_area(beliefs[recipe.cells.of(recipe.columns, self.clean)], self.truth)

    def made_up(self, epsilon: float, cap: float) -> Score:
        """Records that a curator makes up; who reads them alone guesses the commonest label."""
        made = [
            synthetic.synthetic_records(
                self.recipe, self.values, self.labels, epsilon=epsilon, rng=self.rng
            )
            for _ in range(self.asked.draws)
        ]
        guesses = [np.bincount(one.labels, minlength=self.classes).argmax() for one in made]
        leakage = float(np.mean([(self.labels == guess).mean() for guess in guesses]))
        return Score(leakage, _means([self.learned(m.values, m.labels) for m in made]), cap)

    def leaked(self, recipe: Recipe, protection: Protection) -> float:
        """The success of an attacker with labelled examples of the release."""
        release = self._as_read(recipe, protection)
        attack = cross_fit(release, self.labels, classes=self.classes, rng=self.rng, folds=3)
        success = float((attack.posteriors.argmax(axis=1) == self.labels).mean())
        if protection.sampler is not None:  # no answer stands by itself
            return success
        # Reading the answer alone, with its known law, is an attack too.
        own = protection.label.epsilon if protection.label else 0.0
        return max(success, label_only_utility(self.prior, epsilon=own))

    def _as_read(self, recipe: Recipe, protection: Protection) -> Columns:
        """A release as the attacker reads it: where few rows are different, by which one it is."""
        if protection.sampler is not None:
            drawn = protection.sampler.release(self.values, self.labels, self.rng)
            return (np.array([f"report {c} {r}" for c, r in drawn.tolist()]),)
        values, answers = protection.draw(self.values, self.labels, self.rng)
        if not protection.typical:
            return (*values, np.array(self.recipe.classes)[answers])
        codes = [c.encode(v) for c, v in zip(recipe.columns, values, strict=True)]
        row = np.unique(np.stack([*codes, answers]), axis=1, return_inverse=True)[1]
        return (np.array([f"row {at}" for at in row.tolist()]),)


def _means(found: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}
