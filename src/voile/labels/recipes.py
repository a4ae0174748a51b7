"""The recipe: how a table is coded, so that all records are treated alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.labels.bins import bin_codes, bin_names, checked_edges
from voile.labels.cells import Cells
from voile.labels.columns import (
    LEVELS,
    OTHER,
    Column,
    columns_of,
)
from voile.labels.table import Table
from voile.labels.values import ABSENT, MISSING, as_listed, names_of

FEWEST = 5
"""So many private records must have a category, or lie at or beyond a level, that is learned."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """Classes, a coding for each feature, the share of the budget each takes, perhaps cells.

    All of it is released: the output shows levels, categories, classes and typical records as they
    stand here. So it must be public. `learned` says that it was taken from private records instead;
    `made_from` is the SHA-256 of the public file that it was made from, if there was one; `spent`
    is (ε, δ) of a recipe that was learned from private records under differential privacy
    (`private_learning`), which every release by it adds to its own. A recipe for the label alone
    has no columns. For releases of one sampled column, `known` says how often public records had
    each code with each class, and `groups` which codes are released as one. A label that is a
    number has `edges`, and its classes are the bins between them.
    """

    label: str
    classes: tuple[str, ...]
    columns: tuple[Column, ...]
    shares: tuple[float, ...]
    cells: Cells | None = None
    learned: bool = False
    made_from: str = ""
    spent: tuple[float, float] = (0.0, 0.0)
    known: tuple[Floats, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    edges: tuple[float, ...] = ()

    def label_codes(self, values: Sequence[Any] | NDArray[Any]) -> Indices:
        """Labels as positions among the classes, −1 for a label that is none of them.

        An empty label is the class `(missing)` where there is one, a name that is not listed
        `(other)`. A class that is a number is met by the same number (`as_listed`). A number is in
        the bin between its edges.
        """
        if self.edges:
            return bin_codes(self.edges, list(values))
        known = {name: code for code, name in enumerate(self.classes)}
        other = known.get(OTHER, -1)
        gone = known.get(MISSING, other)
        names = names_of(list(values)).tolist()
        listed = as_listed(names, self.classes)
        code = {
            name: known[listed[name]]
            if name in listed
            else (gone if name.lower() in ABSENT else other)
            for name in set(names)
        }
        return np.array([code[name] for name in names], dtype=np.intp)

    def parts(self, label_share: float | None = None) -> tuple[float, ...]:
        """The share of ε of each column and of the label, last; a constant column costs nothing.

        What the recipe gives to constants goes to the others. `label_share` overrides the label's
        part, and the columns keep their proportions.
        """
        free = np.array([len(column) > 1 for column in self.columns], dtype=np.float64)
        features = np.array(self.shares[:-1]) * free
        label = self.shares[-1] / (self.shares[-1] + features.sum())
        if label_share is not None:
            require(0 < label_share < 1, "label_share", "between 0 and 1", label_share)
            label = label_share
        if not features.any():
            return (*features.tolist(), 1.0)
        return (*(features / features.sum() * (1 - label)).tolist(), float(label))

    def without(self, names: Sequence[str]) -> Recipe:
        """The recipe for records that lack these columns; what they cost goes to the others.

        Cells are made of all columns, so a recipe that has them is needed whole.
        """
        kept = [i for i, column in enumerate(self.columns) if column.name not in names]
        own = self.shares[-1]
        rest = sum(self.shares[i] for i in kept)
        shares = [self.shares[i] / rest * (1 - own) if rest else 0.0 for i in kept]
        columns = tuple(self.columns[i] for i in kept)
        return replace(
            self,
            columns=columns,
            shares=(*shares, own if rest else 1.0),
            cells=None,
            known=tuple(self.known[i] for i in kept) if self.known else (),
            groups=tuple(self.groups[i] for i in kept) if self.groups else (),
        )


def draft_recipe(
    table: Table,
    *,
    levels: int = LEVELS,
    label_share: float = 0.5,
    classes: Sequence[str] = (),
    private: bool = False,
    made_from: str = "",
    edges: tuple[float, ...] = (),
) -> Recipe:
    """A recipe learned from a table: half of the budget to the label, the rest to the features.

    A learner's signal is about ε_label·ε_feature for each feature, a product that is largest when
    both halves are equal. From `private` records extremes and rare names are not taken: at least 5
    records stand behind each end of a range and each category. That is a courtesy, no guarantee.
    """
    require(0 < label_share < 1, "label_share", "between 0 and 1", label_share)
    require(2 <= levels <= 1000, "levels", "between 2 and 1000", levels)
    columns = columns_of(table, levels=levels, fewest=FEWEST if private else 1)
    free = [len(column) > 1 for column in columns]
    share = (1 - label_share) / max(1, sum(free))
    own = label_share if any(free) else 1.0
    return Recipe(
        table.label,
        bin_names(edges) if edges else tuple(classes) or table.classes,
        columns,
        (*(share if varies else 0.0 for varies in free), own),
        learned=private,
        made_from=made_from,
        edges=edges,
    )


def with_known(recipe: Recipe, table: Table) -> Recipe:
    """The recipe, with how often each code occurs with each class in a table that is public."""
    labels = recipe.label_codes(table.labels)
    known = []
    for column, values in zip(recipe.columns, table.columns, strict=True):
        counts = np.zeros((len(column), len(recipe.classes)))
        np.add.at(counts, (column.encode(values)[labels >= 0], labels[labels >= 0]), 1)
        known.append(counts)
    return replace(recipe, known=tuple(known))


def label_recipe(label: str, classes: Sequence[str]) -> Recipe:
    """A recipe for the label alone, from the names of its classes."""
    names = tuple(classes)
    good = len(set(names)) == len(names) >= 2 and all(names)
    require(good, "classes", "at least two different names", f"{len(set(names))} different")
    return Recipe(label, names, (), (1.0,))


def binned_recipe(label: str, edges: Sequence[float]) -> Recipe:
    """A recipe for a label that is a number, from the edges of its bins."""
    found = checked_edges(edges)
    return Recipe(label, bin_names(found), (), (1.0,), edges=found)
