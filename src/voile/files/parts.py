"""A part as bytes in the output's format, and parts joined into one file."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterable, Sequence
from typing import IO, Any

from voile.errors import CannotWrite, InvalidInput
from voile.files.arrow_columns import ArrowColumn, compact
from voile.files.delimiters import COMMA, TAB
from voile.files.file_source import FileSource
from voile.files.formats import format_of
from voile.files.geojson import BETWEEN, HEAD, TAIL, features_bytes
from voile.files.locations import Location
from voile.files.packing import packed
from voile.files.pieces import TEXT_COLUMN
from voile.files.rows import ColumnRows, Row
from voile.files.source import Source


def part_bytes(
    rows: Sequence[Row],
    *,
    columns: Sequence[str],
    target: str,
    schema: Any = None,
    delimiter: str = COMMA,
) -> bytes:
    """Rows in the format that the target's name says; `delimiter` parts the values of a .csv."""
    kind, packing, _ = format_of(target)
    if kind == "parquet":
        return _parquet_bytes(rows, schema)
    if kind == "geojson":
        return features_bytes(rows)  # packed when all are there
    if kind == "csv":
        return packed(_csv_bytes(rows, columns, delimiter), packing)
    content = _jsonl_bytes(rows) if kind == "jsonl" else _text_bytes(rows)
    return packed(content, packing)


def delimiter_for(source: Source, target: str) -> str:
    """What parts the values of a CSV output: what its name says, or what parts the input's.

    The input's, as whoever reads that file reads this one; a tab only for a .tsv that is named so.
    """
    if format_of(target).ending == "tsv":
        return TAB
    if not isinstance(source, FileSource) or format_of(source.name).ending == "tsv":
        return COMMA
    return source.delimiter


def join_parts(
    parts: Sequence[Location],
    joined: Location,
    *,
    columns: Sequence[str],
    target: str,
    delimiter: str = COMMA,
) -> None:
    """All parts in order as one file in the target's format."""
    kind, packing, _ = format_of(target)
    with joined.writing() as file:
        if kind == "parquet":
            _join_parquet(parts, file)
            return
        if kind == "geojson":
            _join_features(parts, file, packing)
            return
        if kind == "csv":
            head = _csv_bytes([dict(zip(columns, columns, strict=True))], columns, delimiter)
            file.write(packed(head, packing))
        for part in parts:
            with part.open() as content:
                shutil.copyfileobj(content, file, 2**20)


def _join_features(parts: Sequence[Location], file: IO[bytes], packing: str) -> None:
    start = HEAD
    for part in parts:
        with part.open() as content:
            features = content.read()
        if features:
            file.write(packed(start + features, packing))
            start = BETWEEN
    file.write(packed(TAIL if start is BETWEEN else start + TAIL, packing))


def _csv_bytes(rows: Sequence[Row], columns: Sequence[str], delimiter: str) -> bytes:
    if isinstance(rows, ColumnRows):
        absent = [None] * len(rows)
        values = [rows.columns.get(column, absent) for column in columns]
        plain = _plain_csv(values, delimiter)
        if plain is not None:
            return plain
        written: Iterable[Sequence[Any]] = zip(*values, strict=True)
    else:
        written = ([_cell(row.get(column)) for column in columns] for row in rows)
    lines = _Lines()
    csv.writer(lines, lineterminator="\r\n", delimiter=delimiter).writerows(written)
    return "".join(lines.written).encode("utf-8")


def _cell(value: Any) -> Any:
    """A value of a JSON record in a cell: what is nested stays JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


class _Lines:
    """Takes lines that end in two characters, CR LF, and keeps them with LF alone.

    Before Python 3.13 the csv module quotes a lone CR only if its own line end has one, and a file
    with one outside quotation marks cannot be read again.
    """

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, line: str) -> None:
        """One record."""
        self.written.append(line[:-2] + "\n")


def _plain_csv(columns: Sequence[Sequence[Any]], delimiter: str) -> bytes | None:
    """What the csv module would write if no value needs quotation marks; None if one does.

    A value with a delimiter or a line end in it would show in the number of these signs.
    """
    count, width = len(columns[0]), len(columns)
    try:
        text = "\n".join(map(delimiter.join, zip(*columns, strict=True)))
    except TypeError:  # not all are strings
        return None
    if '"' in text or "\r" in text or (width == 1 and "" in columns[0]):
        return None
    if text.count(delimiter) != count * (width - 1) or text.count("\n") != max(0, count - 1):
        return None
    return (text + "\n").encode("utf-8") if count else b""


def _jsonl_bytes(rows: Sequence[Row]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")


def _text_bytes(rows: Sequence[Row]) -> bytes:
    return "".join((row[TEXT_COLUMN] or "") + "\n" for row in rows).encode("utf-8")


def _parquet_bytes(rows: Sequence[Row], schema: Any) -> bytes:
    import pyarrow
    import pyarrow.parquet as parquet

    if isinstance(rows, ColumnRows):
        absent = [None] * len(rows)
        values = {name: rows.columns.get(name, absent) for name in schema.names}
    else:
        values = {name: [row.get(name) for row in rows] for name in schema.names}
    arrays = [_array(values[field.name], field) for field in schema]
    content = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), content)
    return content.getvalue()


def _array(values: Sequence[Any], field: Any) -> Any:
    """A column in its file's type: as it was read, or made from released values."""
    import pyarrow

    if isinstance(values, ArrowColumn) and values.array.type == field.type:
        return compact(values.array)
    try:
        return pyarrow.array(list(values), type=field.type)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        pass
    try:  # text for a column of decimals or times
        return pyarrow.array(list(values), type=pyarrow.string()).cast(field.type)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"released values must fit the type of the Parquet column {field.name!r}, which is "
            f"{field.type}, and some do not; write to .jsonl or .csv instead"
        ) from None


def _join_parquet(parts: Sequence[Location], file: Any) -> None:
    import pyarrow.parquet as parquet

    if not parts:
        raise CannotWrite("there is no row left to write; every row was skipped")
    with parts[0].open() as first:
        schema = parquet.read_schema(first)
    with parquet.ParquetWriter(file, schema) as writer:
        for part in parts:
            with part.open() as content:
                for batch in parquet.ParquetFile(content).iter_batches():
                    writer.write_batch(batch)
