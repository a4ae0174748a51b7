"""Labelled tables: reading, encoding, cutting into cells, and the recipe that keeps it all."""

from voile.labels.cells import Cells, learn_cells
from voile.labels.columns import CategoryColumn, NumberColumn, columns_of, matrix_of
from voile.labels.recipe_file import load_recipe, recipe_text
from voile.labels.recipes import Recipe, draft_recipe, label_recipe
from voile.labels.table import Table, read_table

__all__ = [
    "CategoryColumn",
    "Cells",
    "NumberColumn",
    "Recipe",
    "Table",
    "columns_of",
    "draft_recipe",
    "label_recipe",
    "learn_cells",
    "load_recipe",
    "matrix_of",
    "read_table",
    "recipe_text",
]
