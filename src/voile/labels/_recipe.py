"""Making a recipe for labelled records from a public file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voile.core.randomness import Generator, seeded_rng
from voile.errors import CannotWrite, require
from voile.jobs import Location, location
from voile.jobs.workspace import writing
from voile.labels.cells import learn_cells
from voile.labels.columns import LEVELS, Column, NumberColumn
from voile.labels.reading import file_digest, read_labelled
from voile.labels.recipe_file import recipe_text
from voile.labels.recipes import Recipe, draft_recipe, label_recipe
from voile.labels.table import OnError, Table
from voile.labels.values import MISSING

FEATURES_TOO = ("cf", "ldp")
"""Mechanisms that change features, and so need a coding of each."""


@dataclass(frozen=True, eq=False)
class MadeRecipe:
    """A recipe that was made from a public file, and where it stands."""

    path: str
    recipe: Recipe
    records: int

    def as_dict(self) -> dict[str, Any]:
        """What it fixes, in numbers."""
        cells = self.recipe.cells
        return {
            "recipe": self.path,
            "label": self.recipe.label,
            "classes": list(self.recipe.classes),
            "features": [column.name for column in self.recipe.columns],
            "with_missing": [c.name for c in self.recipe.columns if _missing(c)],
            "cells": None if cells is None else len(cells),
            "records": self.records,
        }


def _missing(column: Column) -> bool:
    return column.missing if isinstance(column, NumberColumn) else MISSING in column.categories


def labels_recipe(
    public: str | Path | Location,
    out: str | Path | Location,
    *,
    label: str,
    mechanism: str = "cf",
    classes: Sequence[str] = (),
    levels: int = LEVELS,
    cells: int | None = None,
    label_share: float = 0.5,
    drop: tuple[str, ...] = (),
    on_error: OnError = "mask",
    header: bool = True,
    seed: int = 0,
    overwrite: bool = False,
) -> MadeRecipe:
    """Ranges, categories, classes and (for cf) cells from a *public* file, written to `out`.

    All of it is shown by every release that uses the recipe, extremes and rare names included. The
    same file, settings and seed give the same recipe.
    """
    require(mechanism in FEATURES_TOO, "mechanism", "cf or ldp", repr(mechanism),
            "rr and prior need the names of the classes alone: --classes")  # fmt: skip
    target = location(out)
    if target.exists() and not overwrite:
        raise CannotWrite(f"{str(target)!r} exists already; choose another name or --overwrite")
    table = read_labelled(public, label=label, header=header, on_error=on_error, drop=drop)
    recipe = drafted_recipe(
        table, seeded_rng(seed), mechanism=mechanism, classes=classes, levels=levels, cells=cells,
        label_share=label_share, made_from=file_digest(location(public)),
    )  # fmt: skip
    with writing(target):
        target.write(recipe_text(recipe).encode("utf-8"))
        target.readable_like(location(public))
    return MadeRecipe(str(target), recipe, len(table))


def drafted_recipe(
    table: Table,
    rng: Generator,
    *,
    mechanism: str,
    classes: Sequence[str] = (),
    levels: int = LEVELS,
    cells: int | None = None,
    label_share: float = 0.5,
    private: bool = False,
    made_from: str = "",
) -> Recipe:
    """A recipe learned from a table: for rr and prior its classes, for cf with cells."""
    if mechanism not in FEATURES_TOO:
        return replace(label_recipe(table.label, classes or table.classes), learned=private)
    recipe = draft_recipe(
        table, levels=levels, label_share=label_share, classes=classes, private=private,
        made_from=made_from,
    )  # fmt: skip
    if mechanism != "cf":
        return recipe
    codes = recipe.label_codes(table.labels)
    require(bool((codes >= 0).all()), "classes", "all that occur in the file", "others",
            "add the others, or (other)")  # fmt: skip
    found = learn_cells(
        recipe.columns, table.columns, codes, classes=len(recipe.classes), rng=rng, cells=cells,
        private=private,
    )  # fmt: skip
    return replace(recipe, cells=found)
