"""Places in memory: rows of degrees, or tables with columns of them, and the same kind back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput
from voile.files import no_such_column
from voile.files.columns_in_clear import ALL, Named
from voile.files.in_memory import open_in_memory, same_kind
from voile.files.rows import RowProblem
from voile.files.tables import Changes
from voile.places.coordinates import Coordinates

Change = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From latitudes and longitudes to others."""


def is_one(places: Any) -> tuple[float, float] | None:
    """Latitude and longitude, if that is what was given and not rows of them."""
    if type(places) is tuple and len(places) == 2:
        lat, lon = places
        if isinstance(lat, float | int) and isinstance(lon, float | int):
            return float(lat), float(lon)
    return None


def with_places(places: Any, change: Change, *, lat: str, lon: str, passing: Named) -> Any:
    """The same kind of data with its places changed, and of its other columns those that pass.

    >>> with_places([(1.0, 2.0)], lambda a, b: (a + 1, b), lat="lat", lon="lon", passing=())
    [(2.0, 2.0)]
    """
    source = open_in_memory(places)
    labels = source.row_labels
    others = [*source.columns, *([] if labels is None or labels.in_order else [labels.name])]
    for name in (lat, lon, *(() if passing == ALL else passing)):
        if name not in others:
            raise no_such_column(name, source.columns, do="name them with lat=… and lon=…")
    columns = Coordinates(lat, lon)
    columns.check(source)
    rows = [row for _, row in source.rows() if not isinstance(row, RowProblem)]
    table = columns.degrees([[row[name] for row in rows] for name in (lat, lon)])
    wrong = int(np.isnan(table).any(axis=1).sum())
    if wrong:
        raise InvalidInput(
            f"places must be degrees within ±90 and ±180, and {wrong:,} of {len(table):,} rows are "
            "not so; are latitude and longitude swapped? Mend the rows, or leave them out"
        )
    found = [values.tolist() for values in change(table[:, 0], table[:, 1])]
    kept = {lat, lon, *(others if passing == ALL else passing)}
    dropped = frozenset(name for name in others if name not in kept)
    return same_kind(
        source, Changes(range(len(rows)), dict(zip((lat, lon), found, strict=True)), dropped)
    )
