"""Texts and what stands beside them, from a file, a frame, a Series or a list."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from voile.errors import InvalidInput, require
from voile.jobs import RowProblem, Source, open_source


def texts_of(data: Any, column: str = "text") -> list[str]:
    """The texts of whatever holds them; a missing one is empty.

    >>> texts_of(["one", None, "two"])
    ['one', '', 'two']
    """
    source = open_source(data)
    alone = None if hasattr(data, "columns") else source.alone
    return list(_values(source, alone or column))


def texts_in(source: Source, column: str) -> Iterator[str]:
    """The texts of a source, one by one; what cannot be read, or holds none, is passed over."""
    rows = (row for _, row in source.rows() if not isinstance(row, RowProblem))
    return (text for row in rows if isinstance(text := row.get(column), str) and text.strip())


def texts_at_first(source: Source, column: str, count: int = 200) -> list[str]:
    """The first texts of a source, to see what they are like."""
    return list(islice(texts_in(source, column), count))


def values_of(data: Any, given: Any, name: str, *, rows: int) -> list[str] | None:
    """What stands beside the texts: a column by its name, or the values themselves; None if none.

    >>> values_of(["one", "two"], ["a", "b"], "label", rows=2)
    ['a', 'b']
    """
    if given is None:
        return None
    if isinstance(given, str):
        found = list(_values(open_source(data), given))
    else:
        source = open_source(given)
        found = list(_values(source, source.alone or source.columns[0]))
    require(len(found) == rows, name, f"one for each of {rows} texts", len(found))
    return found


def _values(source: Source, column: str) -> Iterator[str]:
    source.must_have(column, what=f"the column of {source.name}")
    for number, row in source.rows():
        if isinstance(row, RowProblem):
            raise InvalidInput(f"{source.name}, {source.where(number)}: {row.reason}")
        value = row.get(column)
        yield "" if _is_missing(value) else str(value)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
