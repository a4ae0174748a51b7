"""Labelled tables: reading, encoding, cutting into cells, and the recipe that keeps it all.

The commands are functions of the same names:

    import voile

    found = voile.labels.audit(frame, label="diagnosis")
    made = voile.labels.recipe("public.csv", label="diagnosis")
    release = voile.labels.protect(frame, label="diagnosis", epsilon=2, recipe=made)
    ways = voile.labels.compare(frame, label="diagnosis")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voile.labels._audit import audit
    from voile.labels._compare import compare
    from voile.labels._protect import protect
    from voile.labels._recipe import recipe
    from voile.labels.cells import Cells, learn_cells
    from voile.labels.columns import CategoryColumn, NumberColumn, columns_of, matrix_of
    from voile.labels.reading import Reading, read_labelled
    from voile.labels.recipe_file import load_recipe, recipe_text
    from voile.labels.recipes import Recipe, draft_recipe, label_recipe
    from voile.labels.table import Table

_HOMES = {
    "CategoryColumn": "columns",
    "Cells": "cells",
    "NumberColumn": "columns",
    "Reading": "reading",
    "Recipe": "recipes",
    "Table": "table",
    "audit": "_audit",
    "columns_of": "columns",
    "compare": "_compare",
    "draft_recipe": "recipes",
    "label_recipe": "recipes",
    "learn_cells": "cells",
    "load_recipe": "recipe_file",
    "matrix_of": "columns",
    "protect": "_protect",
    "read_labelled": "reading",
    "recipe": "_recipe",
    "recipe_text": "recipe_file",
}
"""Where each name is at home; it is imported when it is first asked for."""

__all__ = [
    "CategoryColumn",
    "Cells",
    "NumberColumn",
    "Reading",
    "Recipe",
    "Table",
    "audit",
    "columns_of",
    "compare",
    "draft_recipe",
    "label_recipe",
    "learn_cells",
    "load_recipe",
    "matrix_of",
    "protect",
    "read_labelled",
    "recipe",
    "recipe_text",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'voile.labels' has no attribute {name!r}")
    value = getattr(import_module(f"voile.labels.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
