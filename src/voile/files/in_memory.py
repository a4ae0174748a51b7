"""Data in memory as a source of records; nothing of it ever lies on a disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voile.errors import InvalidInput
from voile.files.cutting import Piece
from voile.files.locations import Location
from voile.files.pieces import Block
from voile.files.rows import ColumnRows
from voile.files.source import IN_MEMORY, Source
from voile.files.tables import Changes, RowLabels, Table


@dataclass(frozen=True)
class InMemory(Source):
    """A table in memory; a record goes by its row number, from 1."""

    table: Table = field(repr=False)
    columns: tuple[str, ...]
    types: Any = None
    format: str = IN_MEMORY

    @property
    def name(self) -> str:
        """Its kind, as it has no name."""
        return self.table.called

    @property
    def location(self) -> Location:
        """Refused: there is no file."""
        raise InvalidInput(f"this needs a file, and {self.name} is in memory; write it to one")

    @property
    def says_where(self) -> bool | None:
        """As the table says."""
        known: bool | None = getattr(self.table, "says_where", None)
        return known

    @property
    def alone(self) -> str | None:
        """The column of a Series, or the only one there is."""
        only = self.columns[0] if len(self.columns) == 1 else None
        return getattr(self.table, "alone", None) or only

    @property
    def row_labels(self) -> RowLabels | None:
        """As the table says."""
        return getattr(self.table, "row_labels", None)

    def place_of(self, column: str) -> str:
        """As the table says."""
        places: Mapping[str, str] = getattr(self.table, "places", {})
        return places.get(column, "")

    def pieces(self, *, size: int) -> Iterator[Piece]:
        """The rows in pieces of `size`."""
        for part, start in enumerate(range(0, len(self.table), size)):
            stop = min(start + size, len(self.table))
            yield Piece(part, start + 1, ColumnRows(self.table.part(start, stop)), self.name)

    def read(self, piece: Piece) -> Block:
        """The rows of one piece."""
        return Block(range(piece.first, piece.first + len(piece.content)), piece.content)

    def fingerprint(self) -> str:
        """A hash of all that the table holds."""
        digest = hashlib.sha256(json.dumps(self.columns).encode())
        for _, row in self.rows():
            digest.update(json.dumps(row, default=str).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:32]

    def size(self) -> int:
        """About how many bytes there are, told from some of the rows."""
        looked = self.table.part(0, 100)
        sample = sum(len(str(value)) for values in looked.values() for value in values)
        return sample * len(self.table) // min(100, len(self.table))

    def where(self, number: int) -> str:
        """A record by its row."""
        return f"row {number}"


def open_in_memory(data: Any) -> InMemory:
    """A source from data in memory; see `open_source` for what it may be."""
    table = _table(data)
    if len(set(table.columns)) < len(table.columns):
        raise InvalidInput(f"{table.called} must have distinct column names, got some twice")
    if not table.columns:
        raise InvalidInput(f"{table.called} must have at least one column, it has none")
    if not len(table):
        raise InvalidInput(f"{table.called} must hold at least one row, it holds none")
    return InMemory(table, table.columns)


def same_kind(source: Source, changes: Changes) -> Any:
    """Data of the kind that the source was opened from, changed.

    >>> source = open_in_memory(["a", "b", "c"])
    >>> same_kind(source, Changes(rows=[0, 2], columns={"text": ["x", "z"]}))
    ['x', 'z']
    """
    if not isinstance(source, InMemory):
        raise InvalidInput("data of the same kind is given back for data in memory, got a file")
    return source.table.changed(changes)


def _table(data: Any) -> Table:
    if isinstance(data, list | tuple):
        from voile.files.tables.plain_table import list_table

        if not data:
            raise InvalidInput("the list must hold at least one row, it holds none")
        return list_table(data)
    if isinstance(data, np.ndarray):
        from voile.files.tables.plain_table import array_table

        return array_table(data)
    home = type(data).__module__.partition(".")[0]
    if home == "geopandas":
        from voile.files.tables.geo_table import geo_table

        return geo_table(data)
    if home == "pyarrow" and type(data).__name__ != "RecordBatchReader":
        from voile.files.tables.arrow_table import arrow_table

        return arrow_table(data)
    return _frame(data)


def _frame(data: Any) -> Table:
    import narwhals as nw

    if nw.dependencies.is_pandas_dataframe(data) or nw.dependencies.is_pandas_series(data):
        from voile.files.tables.pandas_table import pandas_table

        return pandas_table(data)
    if nw.dependencies.is_polars_dataframe(data) or nw.dependencies.is_polars_series(data):
        from voile.files.tables.polars_table import polars_table

        return polars_table(data)
    if nw.dependencies.is_polars_lazyframe(data):
        raise InvalidInput("a LazyFrame must be collected first: give frame.collect()")
    advice = next((f"; {_ADVICE[kind]}" for kind in _ADVICE if isinstance(data, kind)), "")
    raise InvalidInput(
        "data must be a file's name, a pandas, polars or Arrow table or column, a GeoDataFrame, a "
        f"NumPy array or a list, got {type(data).__name__}{advice}"
    )


_ADVICE: dict[type, str] = {
    str: "wrap it: a text goes into a list",
    bytes: "decode it, and put the texts into a list",
    Mapping: "make a frame of it, or a list of one dictionary a record",
    Set: "give sorted(…) of it: records have an order",
    Iterator: "give list(…) of it: records are read twice",
}
"""What to do with kinds of data that are near to one that is taken."""
