"""Places as users have them in memory: rows of degrees, or tables with columns of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput, require
from voile.files import no_such_column
from voile.files.columns_in_clear import Named
from voile.places.columns import degrees_of

Change = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From latitudes and longitudes to others."""


def with_places(places: Any, change: Change, *, lat: str, lon: str, passing: Named) -> Any:
    """The same kind of thing with its places changed: an array, a list of pairs, or a table.

    >>> with_places([(1.0, 2.0)], lambda a, b: (a + 1, b), lat="lat", lon="lon", passing=())
    [(2.0, 2.0)]
    """
    if hasattr(places, "columns") or hasattr(places, "column_names"):
        return _table(places, change, lat, lon, passing)
    rows = _rows(places)
    found = np.column_stack(change(*_degrees(rows[:, 0], rows[:, 1])))
    if not isinstance(places, np.ndarray):
        return [(float(latitude), float(longitude)) for latitude, longitude in found]
    return found.astype(rows.dtype if rows.dtype.kind == "f" else float)


def _rows(places: Any) -> Floats:
    try:
        rows = np.asarray(places)
    except ValueError:  # rows of different lengths
        rows = np.empty(0, dtype=object)
    require(
        rows.dtype.kind in "fiu" and rows.ndim == 2 and rows.shape[1] == 2,
        "places",
        "rows of latitude and longitude, or a table with columns of them",
        f"{type(places).__name__} of shape {rows.shape}",
    )
    return rows


def _table(table: Any, change: Change, lat: str, lon: str, passing: Named) -> Any:
    """A table of the two columns and of those that pass, in their order."""
    arrow = hasattr(table, "column_names")
    names: Sequence[str] = list(table.column_names if arrow else table.columns)
    for name in (lat, lon, *(() if passing == "all" else passing)):
        if name not in names:
            raise no_such_column(name, names, do="name them with lat=… and lon=…")
    kept = [n for n in names if n in (lat, lon) or passing == "all" or n in passing]
    columns = [np.asarray(table[name]) for name in (lat, lon)]
    found = dict(zip((lat, lon), change(*_degrees(*columns)), strict=True))
    if arrow:
        return _arrow(table.select(kept), found)
    if hasattr(table, "with_columns"):
        return _polars(table.select(kept), found)
    return _pandas(table[kept].copy(), found)


def _degrees(latitudes: Any, longitudes: Any) -> tuple[Floats, Floats]:
    table = degrees_of(latitudes, longitudes)
    wrong = int(np.isnan(table).any(axis=1).sum())
    if wrong:
        raise InvalidInput(
            f"places must be degrees within ±90 and ±180, and {wrong:,} of {len(table):,} rows are "
            "not so; are latitude and longitude swapped? Mend the rows, or leave them out"
        )
    return table[:, 0], table[:, 1]


def _pandas(frame: Any, found: dict[str, Floats]) -> Any:
    """New values in the old columns, whose index stays, and whose type if it holds fractions."""
    for name, values in found.items():
        before = frame[name].dtype
        fractions = getattr(before, "kind", "O") == "f"
        frame[name] = values
        if fractions:
            frame[name] = frame[name].astype(before)
    return frame


def _polars(frame: Any, found: dict[str, Floats]) -> Any:
    import polars

    return frame.with_columns(
        polars.Series(name, values, dtype=_fractions(frame[name].dtype, polars))
        for name, values in found.items()
    )


def _fractions(before: Any, polars: Any) -> Any:
    return before if before in (polars.Float32, polars.Float64) else polars.Float64


def _arrow(table: Any, found: dict[str, Floats]) -> Any:
    import pyarrow

    for name, values in found.items():
        field = table.schema.field(name)
        kind = field.type if pyarrow.types.is_floating(field.type) else pyarrow.float64()
        table = table.set_column(
            table.column_names.index(name), field.with_type(kind), pyarrow.array(values, kind)
        )
    return table
