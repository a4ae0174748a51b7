"""The kept recipe: how a table is coded, so that later records are treated alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Indices
from voile.domains.labels.cells import Cells
from voile.domains.labels.columns import CategoryColumn, Column, NumberColumn, columns_of
from voile.domains.labels.table import Table
from voile.errors import BadFile, InvalidInput, require

FORMAT = "voile label recipe"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Recipe:
    """Classes, a coding for each feature, the share of the budget each takes, perhaps cells.

    `learned` says that ranges, names and cells were taken from records and not from public
    knowledge; it stays with the recipe.
    """

    label: str
    classes: tuple[str, ...]
    columns: tuple[Column, ...]
    shares: tuple[float, ...]
    cells: Cells | None = None
    learned: bool = False

    def label_codes(self, table: Table) -> Indices:
        """Labels as positions among the classes; an unseen class is an error with its line."""
        known = {name: code for code, name in enumerate(self.classes)}
        codes = np.array([known.get(str(v), -1) for v in table.labels.tolist()], dtype=np.intp)
        strangers = np.flatnonzero(codes < 0)
        if len(strangers):
            raise InvalidInput(
                f"line {table.lines[strangers[0]]}: the label is none of the recipe's "
                f"{len(self.classes)} classes ({len(strangers)} such records); add the class to "
                "the recipe and start afresh, or leave these records out"
            )
        return codes

    def matched(self, table: Table) -> tuple[NDArray[Any], ...]:
        """The table's columns in the recipe's order."""
        names = [column.name for column in self.columns]
        if sorted(names) != sorted(table.names) or self.label != table.label:
            raise InvalidInput(
                f"the file must have the recipe's {len(names)} features and its label "
                f"{self.label!r}, got {len(table.names)} features and {table.label!r}"
            )
        return tuple(table.columns[table.names.index(name)] for name in names)

    def codes(self, table: Table) -> Indices:
        """Features as codes, a row a record."""
        parts = zip(self.columns, self.matched(table), strict=True)
        return np.stack([column.encode(values, table.lines) for column, values in parts], axis=1)

    def to_json(self) -> str:
        """The recipe as text, for `load_recipe`."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "learned": self.learned,
            "label": self.label,
            "classes": self.classes,
            "columns": [asdict(column) for column in self.columns],
            "shares": self.shares,
        }
        if self.cells is not None:
            body["cells"] = {
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in vars(self.cells).items()
            }
        return json.dumps(body, indent=1)


def draft_recipe(table: Table, *, levels: int, label_share: float = 0.5) -> Recipe:
    """A recipe learned from a table: half of the budget to the label, the rest to the features.

    A learner's signal is about ε_label·ε_feature for each feature, a product that is largest when
    both halves are equal.
    """
    require(0 < label_share < 1, "label_share", "between 0 and 1", label_share)
    columns = columns_of(table, levels=levels)
    shares = [(1 - label_share) / len(columns)] * len(columns)
    return Recipe(table.label, table.classes, columns, (*shares, label_share), learned=True)


def load_recipe(path: str | Path) -> Recipe:
    """A recipe from its file; one line that says what is wrong with it otherwise."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as problem:
        raise InvalidInput(f"cannot read {path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not a recipe: it is not UTF-8 text") from None
    return recipe_from(text, path=str(path))


def recipe_from(text: str, *, path: str = "the recipe") -> Recipe:
    """A recipe from its JSON text; `path` is what messages call it."""
    try:
        body = json.loads(text)
    except ValueError:
        raise BadFile(f"{path} is not a recipe: it is not JSON") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise BadFile(f"{path} is not a recipe: its format must be {FORMAT!r}")
    if body.get("version") != VERSION:
        raise BadFile(f"{path} must be of version {VERSION}, got {body.get('version')!r}")
    try:
        columns = tuple(_column(entry) for entry in body["columns"])
        cells = _cells(body["cells"]) if "cells" in body else None
        recipe = Recipe(
            str(body["label"]),
            tuple(map(str, body["classes"])),
            columns,
            tuple(float(share) for share in body["shares"]),
            cells,
            learned=bool(body.get("learned", False)),
        )
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise BadFile(f"{path} is damaged: {type(problem).__name__} at {problem}") from None
    _check(recipe, path)
    return recipe


def _column(entry: dict[str, Any]) -> Column:
    if "levels" in entry:
        return NumberColumn(str(entry["name"]), tuple(float(v) for v in entry["levels"]))
    return CategoryColumn(str(entry["name"]), tuple(map(str, entry["categories"])))


def _cells(entry: dict[str, Any]) -> Cells:
    tables = {name: np.array(entry[name], dtype=float) for name in ("lower", "upper", "weights")}
    whole = {name: tuple(map(int, entry[name])) for name in ("feature", "left", "right", "leaf")}
    return Cells(
        feature=whole["feature"],
        threshold=tuple(map(float, entry["threshold"])),
        left=whole["left"],
        right=whole["right"],
        leaf=whole["leaf"],
        typical=tuple(tuple(map(int, row)) for row in entry["typical"]),
        lower=tables["lower"],
        upper=tables["upper"],
        weights=tables["weights"],
        failure_probability=float(entry["failure_probability"]),
    )


def _check(recipe: Recipe, path: str) -> None:
    good = len(recipe.shares) == len(recipe.columns) + 1 and min(recipe.shares) > 0
    if not good or abs(sum(recipe.shares) - 1) > 1e-9:
        raise BadFile(
            f"{path}: shares must be {len(recipe.columns) + 1} positive numbers that sum to 1, one "
            "a feature and the label's last"
        )
    if len(set(recipe.classes)) != len(recipe.classes) or len(recipe.classes) < 2:
        raise BadFile(f"{path}: classes must be at least two different names")
    for column in recipe.columns:
        values: Sequence[Any] = (
            column.levels if isinstance(column, NumberColumn) else column.categories
        )
        ordered = not isinstance(column, NumberColumn) or list(values) == sorted(values)
        if not values or len(set(values)) != len(values) or not ordered:
            raise BadFile(
                f"{path}: column {column.name!r} must list different values (numbers increasing)"
            )
