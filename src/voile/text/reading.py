"""Texts and what stands beside them, from a file, a frame, a Series or a list."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from voile.errors import InvalidInput, require
from voile.files import no_such_column
from voile.jobs import RowProblem, open_source


def texts_of(data: Any, column: str = "text") -> list[str]:
    """The texts of a path, a frame's column, a Series or a list; a missing one is empty.

    >>> texts_of(["one", None, "two"])
    ['one', '', 'two']
    """
    return _read(data, column, lambda value: "" if _is_missing(value) else str(value))


def values_of(data: Any, given: Any, name: str, *, rows: int) -> list[str] | None:
    """What stands beside the texts: a column by its name, or the values themselves; None if none.

    >>> values_of(["one", "two"], ["a", "b"], "label", rows=2)
    ['a', 'b']
    """
    if given is None:
        return None
    if not isinstance(given, str):
        found = [str(value) for value in _listed(given)]
    elif _is_column(data):
        raise InvalidInput(f"{name} must be the values themselves where texts come as a list")
    else:
        found = _read(data, given, str)
    require(len(found) == rows, name, f"one for each of {rows} texts", len(found))
    return found


def _read(data: Any, column: str, spelled: Callable[[Any], str]) -> list[str]:
    if isinstance(data, str | Path):
        return [spelled(value) for value in _of_file(data, column)]
    if _is_column(data):
        return [spelled(value) for value in _listed(data)]
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is None:
        raise InvalidInput(
            f"texts must be a path, a frame, a Series or a list, got {type(data).__name__}"
        )
    if column not in list(names):
        raise no_such_column(column, [str(name) for name in names])
    return [spelled(value) for value in _listed(data[column])]


def _of_file(path: str | Path, column: str) -> Iterable[Any]:
    source = open_source(path)
    name = Path(path).name
    if column not in source.columns:
        raise no_such_column(column, source.columns, what=f"the column of {name}")
    for line, row in source.rows():
        if isinstance(row, RowProblem):
            raise InvalidInput(f"{name}, line {line}: {row.reason}")
        yield row.get(column)


def _is_column(data: Any) -> bool:
    """Whether it is one column by itself: a list, an array, a Series."""
    if isinstance(data, list | tuple):
        return True
    return hasattr(data, "__len__") and not (
        isinstance(data, str | Path) or hasattr(data, "columns") or hasattr(data, "column_names")
    )


def _listed(values: Any) -> Sequence[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            found: Sequence[Any] = getattr(values, method)()
            return found
    return list(values)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
