"""Lists and NumPy arrays as tables: columns of Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from voile.errors import InvalidInput
from voile.files.column_names import unnamed
from voile.files.pieces import TEXT_COLUMN
from voile.files.tables import Changes
from voile.files.tables.values import ListColumn, plain_values

NUMBER_COLUMN = "value"
"""The one column of a list that holds no text."""


@dataclass(frozen=True)
class PlainTable:
    """Columns as lists; `give_back` makes the rows that stay what the rows were."""

    called: str
    values: Mapping[str, Sequence[Any]]
    give_back: Callable[[Mapping[str, Sequence[Any]], Changes], Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.values)

    def __len__(self) -> int:
        return len(next(iter(self.values.values()), ()))

    def part(self, start: int, stop: int) -> Mapping[str, Sequence[Any]]:
        """The columns of some rows."""
        return {name: ListColumn(values[start:stop]) for name, values in self.values.items()}

    def changed(self, changes: Changes) -> Any:
        """The same kind of list, changed."""
        kept = {
            name: _masked([values[row] for row in changes.rows], changes)
            for name, values in self.values.items()
            if name not in changes.dropped
        }
        return self.give_back({**kept, **changes.columns}, changes)


def _masked(values: list[Any], changes: Changes) -> list[Any]:
    return [None if place in changes.masked else value for place, value in enumerate(values)]


def list_table(rows: Sequence[Any]) -> PlainTable:
    """A list of strings, of dictionaries, or of tuples of one length; a tuple of these too.

    Pairs of numbers are places: their columns are `lat` and `lon`. The columns of other tuples are
    `c1`, `c2`, …, those of named tuples their fields, and those of dictionaries all their keys.
    """
    present = [row for row in rows if row is not None]
    if present and all(isinstance(row, Mapping) for row in present):
        return _dictionaries(rows)
    if present and all(isinstance(row, tuple | list) for row in present):
        return _tuples(rows)
    if not all(isinstance(row, str | Real | np.generic) for row in present):
        raise InvalidInput(
            "a list must hold strings, dictionaries or tuples, all of one kind, and it holds "
            "something else or a mixture"
        )
    name = TEXT_COLUMN if any(isinstance(row, str) for row in present) else NUMBER_COLUMN
    kind = tuple if isinstance(rows, tuple) else list
    values = {name: plain_values(rows, name)}
    return PlainTable("the list", values, lambda kept, _: kind(kept[name]))


def _dictionaries(rows: Sequence[Any]) -> PlainTable:
    """All keys of all rows are columns; a row that lacks one lacks it when it comes back.

    Unless the column was drawn: then each row has it, for who lacked it is not to be told. Nor is
    it by the order of columns, which is that of the fullest row.
    """
    fullest = max(rows, key=lambda row: len(row or ()))
    names = list(dict.fromkeys(name for row in (fullest, *rows) for name in row or ()))
    if not all(isinstance(name, str) for name in names):
        raise InvalidInput("the keys of dictionaries must be strings, and some are not")
    lacking = {
        name: frozenset(place for place, row in enumerate(rows) if row is None or name not in row)
        for name in names
    }

    def give_back(kept: Mapping[str, Sequence[Any]], changes: Changes) -> list[dict[str, Any]]:
        drawn = changes.columns.keys()
        return [
            {
                name: values[place]
                for name, values in kept.items()
                if values[place] is not None or name in drawn or row not in lacking[name]
            }
            for place, row in enumerate(changes.rows)
        ]

    values = {n: plain_values([None if r is None else r.get(n) for r in rows], n) for n in names}
    return PlainTable("the list", values, give_back)


def _tuples(rows: Sequence[Any]) -> PlainTable:
    widths = {None if row is None else len(row) for row in rows}
    if len(widths) > 1:
        wrong = next(n for n, row in enumerate(rows) if row is None or len(row) != len(rows[0]))
        raise InvalidInput(f"tuples must be of one length, and row {wrong + 1} is of another")
    kind: Any = type(rows[0])
    fields = tuple(getattr(kind, "_fields", ())) or _names(rows)
    cells = zip(*rows, strict=True)
    values = {n: plain_values(column, n) for n, column in zip(fields, cells, strict=True)}

    def give_back(kept: Mapping[str, Sequence[Any]], changes: Changes) -> list[Any]:
        made = zip(*kept.values(), strict=True)
        if hasattr(kind, "_fields"):
            return [kind(*row) if tuple(kept) == fields else row for row in made]
        return [kind(row) for row in made]

    return PlainTable("the list", values, give_back)


def _names(rows: Sequence[Any]) -> tuple[str, ...]:
    width = len(rows[0])
    numbers = all(isinstance(cell, Real | None) for row in rows for cell in row)
    return ("lat", "lon") if width == 2 and numbers else tuple(unnamed(width))


def array_table(array: np.ndarray[Any, Any]) -> PlainTable:
    """A NumPy array: of one dimension a column, of two rows of columns, or with named fields."""
    if array.dtype.names:
        names = tuple(array.dtype.names)
        columns = [array[name] for name in names]
    elif array.ndim == 1:
        names = (TEXT_COLUMN if array.dtype.kind in "OUST" else NUMBER_COLUMN,)
        columns = [array]
    elif array.ndim == 2 and array.shape[1]:
        numbers = array.dtype.kind in "fiu" and array.shape[1] == 2
        names = ("lat", "lon") if numbers else tuple(unnamed(array.shape[1]))
        columns = list(array.T)
    else:
        raise InvalidInput(
            f"an array must have one dimension or two, and columns, got the shape {array.shape}"
        )
    values = {n: plain_values(c.tolist(), n) for n, c in zip(names, columns, strict=True)}

    def give_back(kept: Mapping[str, Sequence[Any]], changes: Changes) -> np.ndarray[Any, Any]:
        if array.dtype.names:
            own = {name: array.dtype[name] if name in names else np.dtype(float) for name in kept}
            parts = {name: _typed(_objects(kept[name]), own[name]) for name in kept}
            made = np.empty(len(changes.rows), dtype=[(n, p.dtype) for n, p in parts.items()])
            for name, part in parts.items():
                made[name] = part
            return made
        rows = np.array(list(kept.values()), dtype=object).T
        return _typed(rows if array.ndim == 2 else rows[:, 0], array.dtype)

    return PlainTable("the array", values, give_back)


def _objects(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _typed(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """In the array's own type if that loses nothing; strings in one that is long enough."""
    if dtype.kind == "U" and all(isinstance(value, str) for value in values.flat):
        return values.astype(str)
    try:
        typed = values.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return values
    same = dtype.kind == "f" or all(a == b for a, b in zip(typed.flat, values.flat, strict=True))
    return typed if same else values
