"""One random column of a record, jointly with its label: the law of a recipe, and its codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Indices
from voile.core.channel import Channel
from voile.core.randomness import Generator
from voile.errors import require, require_epsilon
from voile.labels.grouping import column_probabilities
from voile.labels.memo import Memo
from voile.labels.recipes import Recipe
from voile.mechanisms.labels.sampled_column import SampledColumn

COLUMN, REPORT = "reported_column", "report"
"""The two columns of a release: which column of the recipe, from 1, and the code of its report."""


@dataclass(frozen=True, eq=False)
class Sampler:
    """How records are reported: groups of codes with a class, one column at a time."""

    recipe: Recipe
    law: SampledColumn
    memo: Memo | None = None

    def codes(self, values: tuple[NDArray[np.generic], ...], labels: Indices) -> Indices:
        """For each record and column the pair (group, label) as one code."""
        groups = grouped_codes(self.recipe, values)
        return np.asarray(groups * len(self.recipe.classes) + labels[:, None])

    def release(
        self,
        values: tuple[NDArray[np.generic], ...],
        labels: Indices,
        rng: Generator,
        persons: Sequence[str] = (),
    ) -> Indices:
        """A row (column, report) for each record; by the memo, if there is one, of its person."""
        if self.memo is not None:
            return self.memo.release(self.law, self.codes(values, labels), persons)
        return np.asarray(self.law.release(self.codes(values, labels), rng))


def grouped_codes(recipe: Recipe, values: tuple[NDArray[np.generic], ...]) -> Indices:
    """The group of each value, a column a feature."""
    parts = [
        np.array(groups, dtype=np.intp)[column.encode(part)]
        for column, groups, part in zip(recipe.columns, recipe.groups, values, strict=True)
    ]
    return np.stack(parts, axis=1)


def sampler_of(recipe: Recipe, *, epsilon: float) -> Sampler:
    """The law of a recipe whose columns are grouped: each pair by a block design at all of ε."""
    from voile.mechanisms import design_response, sampled_column

    epsilon = require_epsilon(epsilon)
    grouped = len(recipe.groups) == len(recipe.columns) > 0
    require(grouped, "the recipe", "one with groups of codes, as a release by sample writes it",
            "another", "give the recipe that lies beside the release")  # fmt: skip
    built: dict[int, Channel] = {}
    for groups in recipe.groups:
        size = (max(groups) + 1) * len(recipe.classes)
        if size not in built:
            built[size] = design_response(list(range(size)), epsilon=epsilon)
    channels = [built[(max(groups) + 1) * len(recipe.classes)] for groups in recipe.groups]
    return Sampler(recipe, sampled_column(channels, probabilities=column_probabilities(recipe)))
