"""Columns of texts, whatever library they come from."""

from __future__ import annotations

from typing import Any

from voile.errors import InvalidInput


def values_of(texts: Any) -> list[Any]:
    """The texts as a list, missing ones as None."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(texts, method):
            return [None if value != value else value for value in getattr(texts, method)()]
    if isinstance(texts, str):
        raise InvalidInput("texts must be a list or a column of strings, got one string; wrap it")
    return list(texts)


def like(texts: Any, released: list[str | None]) -> Any:
    """The releases in the container of the texts, without importing what is not there."""
    home = type(texts).__module__.partition(".")[0]
    if home == "pandas":
        return type(texts)(released, index=texts.index, name=texts.name, dtype=object)
    if home == "polars":
        return type(texts)(texts.name, released)
    if home == "pyarrow":
        import pyarrow

        return pyarrow.array(released, type=texts.type)
    return tuple(released) if isinstance(texts, tuple) else released
