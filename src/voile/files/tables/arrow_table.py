"""Arrow tables: read as Parquet is, given back with their schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voile.files.arrow_columns import ArrowColumn, compact
from voile.files.pieces import TEXT_COLUMN
from voile.files.tables import Changes
from voile.files.tables.values import have_fractions


@dataclass(frozen=True)
class ArrowTable:
    """An Arrow table; `give_back` makes a batch or an array of it if it came as one."""

    table: Any
    called: str
    give_back: Callable[[Any], Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def part(self, start: int, stop: int) -> Mapping[str, Sequence[Any]]:
        """The columns of some rows."""
        found = self.table.slice(start, stop - start)
        return {name: ArrowColumn(found[name], name) for name in found.column_names}

    def changed(self, changes: Changes) -> Any:
        """The same kind, with the types of what stays; notes of the schema stay behind.

        They are the owner's, no option speaks of them, and they may hold a column that is left out,
        the categories of one that was drawn anew, or where its points were. What was drawn may be
        missing, whatever was.
        """
        import pyarrow

        order = [None if i in changes.masked else row for i, row in enumerate(changes.rows)]
        places = pyarrow.array(order, type=pyarrow.int64())
        names = [name for name in self.columns if name not in changes.dropped]
        arrays: list[Any] = []
        fields: list[Any] = []
        for name in dict.fromkeys([*names, *changes.columns]):
            field = self.table.schema.field(name) if name in self.columns else None
            if field is None or name in changes.columns:
                array = _array(list(changes.columns[name]), field)
                fields.append(pyarrow.field(name, array.type))
            else:
                array = compact(self.table[name].take(places))
                nullable = bool(field.nullable or changes.masked)
                fields.append(pyarrow.field(name, array.type, nullable))
            arrays.append(array)
        return self.give_back(pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields)))


def _array(values: list[Any], field: Any) -> Any:
    """New values in the column's type; in their own if they do not fit it."""
    import pyarrow

    wrong = (pyarrow.ArrowException, TypeError, ValueError, OverflowError)
    cut = field is not None and pyarrow.types.is_integer(field.type) and have_fractions(values)
    if field is not None and not cut:
        try:
            return pyarrow.array(values, type=field.type)
        except wrong:
            pass
        try:  # text for a column of decimals or times
            return pyarrow.array(values, type=pyarrow.string()).cast(field.type)
        except wrong:
            pass
    return pyarrow.array(values)


def arrow_table(data: Any) -> ArrowTable:
    """A table, a record batch, an array or a chunked array."""
    import pyarrow

    if isinstance(data, pyarrow.Table):
        return ArrowTable(data, "the table", lambda made: made)
    if isinstance(data, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([data])
        return ArrowTable(table, "the batch", _batch)
    chunked = isinstance(data, pyarrow.ChunkedArray)
    table = pyarrow.table({TEXT_COLUMN: data})
    return ArrowTable(
        table,
        "the array",
        lambda made: made[TEXT_COLUMN] if chunked else made[TEXT_COLUMN].combine_chunks(),
    )


def _batch(table: Any) -> Any:
    import pyarrow

    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], schema=table.schema)
