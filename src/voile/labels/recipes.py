"""The recipe: how a table is coded, so that all records are treated alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.labels.bins import bin_codes, bin_names, checked_edges
from voile.labels.cells import Cells
from voile.labels.columns import (
    LEVELS,
    OTHER,
    Column,
    columns_of,
)
from voile.labels.origin import NOWHERE, Origin
from voile.labels.table import Table
from voile.labels.values import ABSENT, MISSING, as_listed, is_absent, names_of, written

FEWEST = 5
"""So many private records must have a category, or lie at or beyond a level, that is learned."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """Classes, a coding for each feature, the share of the budget each takes, perhaps cells.

    All of it is released: the output shows levels, categories, classes and typical records as they
    stand here. So it must be public. `learned` says that it was taken from private records instead;
    `made_from` is the digest of the public records that it was made from, if any; `spent` is (ε, δ)
    of a recipe that was learned from private records under differential privacy
    (`private_learning`), which every release by it adds to its own. A recipe for the label alone
    has no columns. For releases of one sampled column, `known` says how often public records had
    each code with each class, and `groups` which codes are released as one. A label that is a
    number has `edges`, and its classes are the bins between them, perhaps with `(missing)` last.
    """

    label: str
    classes: tuple[str, ...]
    columns: tuple[Column, ...]
    shares: tuple[float, ...]
    cells: Cells | None = None
    learned: bool = False
    made_from: Origin = NOWHERE
    spent: tuple[float, float] = (0.0, 0.0)
    known: tuple[Floats, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    edges: tuple[float, ...] = ()

    def label_codes(self, values: Sequence[Any] | NDArray[Any]) -> Indices:
        """Labels as positions among the classes, −1 for a label that is none of them.

        An empty label is the class `(missing)` where there is one, a name that is not listed
        `(other)`. A class that is a number is met by the same number (`as_listed`). A number is in
        the bin between its edges, and what is missing in `(missing)`, if that is a class too.
        """
        if self.edges:
            codes = bin_codes(self.edges, list(values))
            if self.classes[-1] != MISSING:
                return codes
            absent = [is_absent(value) or written(value) == MISSING for value in values]
            return np.where(absent, len(self.classes) - 1, codes).astype(np.intp)
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
    edges: tuple[float, ...] = (),
) -> Recipe:
    """A recipe learned from a table: half of the budget to the label, the rest to the features.

    A learner's signal is about ε_label·ε_feature for each feature, a product that is largest when
    both halves are equal. From `private` records extremes and rare names are not taken: at least 5
    records stand behind each end of a range and each category (and each class, by
    `common_classes`). That is a courtesy, no guarantee.
    """
    require(0 < label_share < 1, "label_share", "between 0 and 1", label_share)
    require(2 <= levels <= 1000, "levels", "between 2 and 1000", levels)
    columns = columns_of(table, levels=levels, fewest=FEWEST if private else 1)
    free = [len(column) > 1 for column in columns]
    share = (1 - label_share) / max(1, sum(free))
    own = label_share if any(free) else 1.0
    return Recipe(
        table.label,
        (*bin_names(edges), *classes) if edges else checked_classes(classes or table.classes),
        columns,
        (*(share if varies else 0.0 for varies in free), own),
        learned=private,
        edges=edges,
    )


def common_classes(table: Table) -> tuple[str, ...]:
    """The classes that at least five records have; the others together are `(other)`."""
    names, counts = np.unique(table.labels, return_counts=True)
    common = [name for name in names[counts >= FEWEST].tolist() if name != OTHER]
    if len(common) + (len(common) < len(names)) < 2:
        raise InvalidInput(
            f"at least two classes must have {FEWEST} records each to be taken from a private "
            f"file, {len(common)} have; merge rare ones, or name the classes"
        )
    return (*common, *((OTHER,) if len(common) < len(names) else ()))


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
    return Recipe(label, checked_classes(classes), (), (1.0,))


def checked_classes(classes: Sequence[str]) -> tuple[str, ...]:
    """Names of classes, if they are that: two or more, all different, none of them empty."""
    names = tuple(classes)
    empty = sum(not name.strip() for name in names)
    require(not empty, "classes", "names that are not empty", f"{empty} empty of {len(names)}",
            f"a label that is empty is the class {MISSING}")  # fmt: skip
    different = len(set(names))
    good = different == len(names) >= 2
    require(good, "classes", "at least two different names", f"{different} different")
    return names


def binned_recipe(label: str, edges: Sequence[float], *, missing: bool = False) -> Recipe:
    """A recipe for a label that is a number, from the edges of its bins, or that may be missing."""
    found = checked_edges(edges)
    classes = (*bin_names(found), *((MISSING,) if missing else ()))
    return Recipe(label, classes, (), (1.0,), edges=found)
