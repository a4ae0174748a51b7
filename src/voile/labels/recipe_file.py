"""A recipe as a JSON file, and all that may be wrong with one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.errors import BadFile, InvalidInput
from voile.files import require_regular
from voile.labels.bins import bin_names, checked_edges
from voile.labels.cells import Cells
from voile.labels.columns import CategoryColumn, Column, NumberColumn, matrix_of
from voile.labels.origin import Origin
from voile.labels.recipes import Recipe
from voile.labels.scorecard import fits
from voile.labels.values import MISSING

FORMAT = "voile label recipe"
VERSION = 2


def recipe_text(recipe: Recipe) -> str:
    """The recipe as text, for `load_recipe`."""
    body: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "learned": recipe.learned,
        "made_from": recipe.made_from.digest,
        "spent": recipe.spent,
        "label": recipe.label,
        "classes": recipe.classes,
        "columns": [asdict(column) for column in recipe.columns],
        "shares": recipe.shares,
    }
    if recipe.made_from.columns:
        origin = recipe.made_from
        body |= {"made_of": origin.columns, "made_records": origin.records}
    body |= {"known": [table.tolist() for table in recipe.known]} if recipe.known else {}
    body |= {"groups": recipe.groups} if recipe.groups else {}
    body |= {"edges": recipe.edges} if recipe.edges else {}
    if recipe.cells is not None:
        parts = vars(recipe.cells).items()
        body |= {"cells": {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in parts}}
    return json.dumps(body, indent=1)


def recipe_digest(recipe: Recipe) -> str:
    """By what a release and its readers know that they mean the same recipe."""
    return hashlib.sha256(recipe_text(replace(recipe, learned=False)).encode()).hexdigest()


def load_recipe(path: str | Path) -> Recipe:
    """A recipe from its file; one line that says what is wrong with it otherwise."""
    require_regular(Path(path))
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
    except (ValueError, RecursionError):
        raise BadFile(f"{path} is not a recipe: it is not JSON") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise BadFile(f"{path} is not a recipe: its format must be {FORMAT!r}")
    if body.get("version") != VERSION:
        raise BadFile(
            f"{path} must be of version {VERSION}, got {body.get('version')!r}; make it again with "
            "`voile labels recipe`"
        )
    try:
        columns = tuple(_column(entry) for entry in body["columns"])
        cells = _cells(body["cells"]) if "cells" in body else None
        recipe = Recipe(
            str(body["label"]),
            _texts(body["classes"]),
            columns,
            tuple(float(share) for share in _list(body["shares"])),
            cells,
            learned=bool(body.get("learned", False)),
            made_from=_origin(body),
            spent=_spent(body.get("spent", [0.0, 0.0])),
            known=tuple(np.array(_list(t), dtype=float) for t in _list(body.get("known", []))),
            groups=tuple(tuple(map(int, _list(g))) for g in _list(body.get("groups", []))),
            edges=tuple(float(edge) for edge in _list(body.get("edges", []))),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        raise BadFile(f"{path} is damaged ({type(problem).__name__})") from None
    _check(recipe, path)
    return recipe


def _origin(body: dict[str, Any]) -> Origin:
    """Which records it was made from."""
    digest, columns = str(body.get("made_from", "")), _texts(body.get("made_of", []))
    return Origin(digest, columns, int(body.get("made_records", 0)))


def _spent(given: Any) -> tuple[float, float]:
    epsilon, delta = (float(value) for value in _list(given))
    if not (0 <= epsilon < np.inf and 0 <= delta < 1):
        raise BadFile("what a recipe spent must be an epsilon >= 0 and a delta between 0 and 1")
    return epsilon, delta


def _column(entry: dict[str, Any]) -> Column:
    if "levels" in entry:
        levels = tuple(float(v) for v in _list(entry["levels"]))
        return NumberColumn(str(entry["name"]), levels, bool(entry.get("missing", False)))
    return CategoryColumn(str(entry["name"]), _texts(entry["categories"]))


def _list(given: Any) -> list[Any]:
    """A list as it stands; a text would be taken for its letters."""
    if not isinstance(given, list):
        raise BadFile("a recipe's classes, categories, levels and shares must be lists")
    return given


def _texts(given: Any) -> tuple[str, ...]:
    if not all(isinstance(item, str) for item in _list(given)):
        raise BadFile("a recipe's classes and categories must be texts, some are not")
    return tuple(given)


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
        points=tuple(
            tuple(tuple(map(int, of_code)) for of_code in card) for card in entry.get("points", [])
        ),
    )


def _check(recipe: Recipe, path: str) -> None:
    for column in recipe.columns:
        values: Sequence[Any] = (
            column.levels if isinstance(column, NumberColumn) else column.categories
        )
        number = isinstance(column, NumberColumn)
        fine = not number or (list(values) == sorted(values) and bool(np.isfinite(values).all()))
        if not values or len(set(values)) != len(values) or not fine:
            raise BadFile(
                f"{path}: column {column.name!r} must list different values (numbers finite and "
                "increasing)"
            )
    names = [column.name for column in recipe.columns]
    if any("\ud800" <= sign <= "\udfff" for sign in _signs(recipe)):
        raise BadFile(f"{path}: names must be text, some hold half a character")
    if len(set(names)) != len(names) or recipe.label in names:
        raise BadFile(f"{path}: columns must have different names, and none the label's")
    paid = [len(column) > 1 for column in recipe.columns]
    good = len(recipe.shares) == len(recipe.columns) + 1 and recipe.shares[-1] > 0
    good = good and all(
        s > 0 or (s == 0 and not p) for s, p in zip(recipe.shares, paid, strict=False)
    )
    if not good or not abs(sum(recipe.shares) - 1) <= 1e-9:
        raise BadFile(
            f"{path}: shares must be {len(recipe.columns) + 1} positive numbers that sum to 1, one "
            "a feature and the label's last (0 for a feature that is constant)"
        )
    if len(set(recipe.classes)) != len(recipe.classes) or len(recipe.classes) < 2:
        raise BadFile(f"{path}: classes must be at least two different names")
    if recipe.edges:
        _check_edges(recipe, path)
    _check_sampling(recipe, path)
    if recipe.cells is not None:
        _check_cells(recipe.cells, recipe, path)


def _check_edges(recipe: Recipe, path: str) -> None:
    """The classes of a number are the bins between its edges."""
    try:
        names = bin_names(checked_edges(recipe.edges))
    except InvalidInput as problem:
        raise BadFile(f"{path}: {problem}") from None
    if recipe.classes not in (names, (*names, MISSING)):
        raise BadFile(
            f"{path}: the classes of a number must be the middles between its edges, and at most "
            f"{MISSING} after them"
        )


def _check_sampling(recipe: Recipe, path: str) -> None:
    """What is known of each column has a row a code, and its codes fall into groups 0, 1, …."""
    sizes = [len(column) for column in recipe.columns]
    for table, size in zip(recipe.known, sizes, strict=False):
        fine = table.ndim == 2 and len(table) == size and table.shape[1] in (1, len(recipe.classes))
        if not fine or not bool(((table >= 0) & np.isfinite(table)).all()) or not table.any():
            raise BadFile(f"{path}: what is known of a column must be counts, a row a code")
    for groups, size in zip(recipe.groups, sizes, strict=False):
        numbers = set(groups)  # as many as there are codes at most, whatever they are
        if len(groups) != size or numbers != set(range(len(numbers))):
            raise BadFile(f"{path}: the groups of a column must number its codes from 0 on")
    if any(part and len(part) != len(sizes) for part in (recipe.known, recipe.groups)):
        raise BadFile(f"{path}: known and groups must have an entry for each column")


def _signs(recipe: Recipe) -> Iterator[str]:
    """Every character of every name."""
    yield from chain(recipe.label, *recipe.classes)
    for column in recipe.columns:
        yield from column.name
        yield from chain(*(column.categories if isinstance(column, CategoryColumn) else ()))


def _check_cells(cells: Cells, recipe: Recipe, path: str) -> None:
    parts = (cells.feature, cells.threshold, cells.left, cells.right, cells.leaf)
    alike = len({len(part) for part in parts}) == 1 and len(cells.feature) > 0
    if (
        not alike
        or not _is_tree(cells, _width(recipe) + len(cells.points))
        or not _fits(cells, recipe)
    ):
        raise BadFile(f"{path}: its cells are damaged; make it again with `voile labels recipe`")


def _is_tree(cells: Cells, width: int) -> bool:
    """Every inner node leads further on, every other one to a cell."""
    nodes = range(len(cells.feature))
    whole = (*cells.feature, *cells.left, *cells.right, *cells.leaf)
    return max(map(abs, whole)) < 2**31 and all(
        node < min(cells.left[node], cells.right[node])
        and max(cells.left[node], cells.right[node]) < len(nodes)
        and 0 <= cells.feature[node] < width
        if cells.left[node] >= 0
        else 0 <= cells.leaf[node] < len(cells)
        for node in nodes
    )


def _fits(cells: Cells, recipe: Recipe) -> bool:
    """Each cell has a record of codes, and its row in every table."""
    sizes = [len(column) for column in recipe.columns]
    shape = (len(cells), len(recipe.classes))
    return (
        fits(cells.points, recipe.columns, len(recipe.classes))
        and all(len(row) == len(sizes) for row in cells.typical)
        and all(0 <= c < size for row in cells.typical for c, size in zip(row, sizes, strict=True))
        and cells.lower.shape == cells.upper.shape == shape
        and cells.weights.shape == shape[:1]
        and bool(((cells.lower >= 0) & (cells.lower <= cells.upper) & (cells.upper <= 1)).all())
        and bool((cells.upper.sum(axis=1) > 0).all())
        and bool((cells.weights >= 0).all())
        and 0 < float(cells.weights.sum()) < np.inf
        and 0 < cells.failure_probability < 1
    )


def _width(recipe: Recipe) -> int:
    """How many columns the features fill side by side."""
    nothing: list[NDArray[Any]] = [column.read([]) for column in recipe.columns]
    return matrix_of(recipe.columns, nothing)[0].shape[1]
