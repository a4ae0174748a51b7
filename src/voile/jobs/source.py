"""Reading CSV, JSONL, Parquet and plain text, a batch of rows at a time."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from voile.errors import BadFile, InvalidInput, MissingExtra
from voile.jobs.records import Row, RowProblem

FORMATS = ("csv", "jsonl", "parquet", "txt")
TEXT_COLUMN = "text"
"""The one column of a plain text file, whose rows are its lines."""

_LONGEST_FIELD = 2**28
_NAMES = {"csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "txt": "txt"}


@dataclass(frozen=True)
class Source:
    """A file of records: its path, format and columns, read lazily."""

    path: Path
    format: str
    columns: tuple[str, ...]
    types: Any = None
    """The Arrow schema of a Parquet file."""

    def rows(self) -> Iterator[tuple[int, Row | RowProblem]]:
        """Every record with its line number (row number for Parquet), counted from 1."""
        readers = {
            "csv": _csv_rows,
            "jsonl": _jsonl_rows,
            "parquet": _parquet_rows,
            "txt": _text_rows,
        }
        return readers[self.format](self)

    def batches(self, *, size: int) -> Iterator[list[tuple[int, Row | RowProblem]]]:
        """The same in lists of `size` records."""
        batch: list[tuple[int, Row | RowProblem]] = []
        for record in self.rows():
            batch.append(record)
            if len(batch) == size:
                yield batch
                batch = []
        if batch:
            yield batch

    def fingerprint(self) -> str:
        """Changes when the file does: its size, its time, its first and last megabyte."""
        facts = self.path.stat()
        digest = hashlib.sha256(f"{facts.st_size} {facts.st_mtime_ns}".encode())
        with self.path.open("rb") as file:
            digest.update(file.read(2**20))
            file.seek(max(0, facts.st_size - 2**20))
            digest.update(file.read(2**20))
        return digest.hexdigest()[:32]


def format_of(path: Path) -> tuple[str, bool]:
    """The format that a file name says, and whether it is gzipped."""
    suffixes = [suffix.lstrip(".").lower() for suffix in path.suffixes]
    zipped = bool(suffixes) and suffixes[-1] == "gz"
    last = suffixes[-2:-1] if zipped else suffixes[-1:]
    if not last or last[0] not in _NAMES or (zipped and last[0] == "parquet"):
        raise InvalidInput(
            f"a file must end in .csv, .jsonl, .txt (each also with .gz) or .parquet, got "
            f"{path.name!r}; rename it or convert it"
        )
    return _NAMES[last[0]], zipped


def open_source(path: str | Path) -> Source:
    r"""A source from a file's name; its columns are read at once, its rows later.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = file.write_text("id,text\n1,hello there\n2,good bye\n")
    >>> source = open_source(file)
    >>> source.columns, len(list(source.rows()))
    (('id', 'text'), 2)
    """
    path = Path(path)
    kind, _ = format_of(path)
    if not path.is_file():
        raise InvalidInput(f"the input must be an existing file, got {str(path)!r}")
    try:
        if kind == "parquet":
            schema = _parquet(path).schema_arrow
            return Source(path, kind, tuple(schema.names), schema)
        if kind == "txt":
            return _not_empty(Source(path, kind, (TEXT_COLUMN,)))
        if kind == "csv":
            return _not_empty(Source(path, kind, _csv_header(path)))
        return _not_empty(_jsonl_source(path))
    except OSError as problem:
        raise BadFile(f"{path.name} cannot be read: {problem.strerror or problem}") from problem


def _not_empty(source: Source) -> Source:
    if next(source.rows(), None) is None:
        raise InvalidInput(f"{source.path.name} must hold at least one row, it holds none")
    return source


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Decoded lines with their numbers and line ends; the first wrong byte is located."""
    _, zipped = format_of(path)
    with cast(BinaryIO, gzip.open(path, "rb") if zipped else path.open("rb")) as file:
        try:
            for number, line in enumerate(file, 1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as problem:
                    raise BadFile(
                        f"{path.name} must be UTF-8, line {number} is not (byte {problem.start}); "
                        "convert it, for example: iconv -f latin1 -t utf-8"
                    ) from None
                yield number, text
        except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
            raise BadFile(f"{path.name} is a damaged gzip file: {problem}") from problem


def _csv_reader(path: Path) -> Any:
    csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader((line for _, line in _lines(path)), strict=True)


def _csv_header(path: Path) -> tuple[str, ...]:
    header = next(_csv_reader(path), None)
    if not header:
        raise InvalidInput(f"{path.name} must begin with a line of column names, it is empty")
    if len(set(header)) < len(header):
        raise InvalidInput(f"{path.name} must have distinct column names, got some twice")
    return tuple(header)


def _csv_rows(source: Source) -> Iterator[tuple[int, Row | RowProblem]]:
    reader = _csv_reader(source.path)
    next(reader, None)
    width = len(source.columns)
    while True:
        start = reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as problem:
            raise BadFile(
                f"{source.path.name} is not valid CSV from line {start} on: {problem}"
            ) from problem
        if values is None:
            return
        if not values:  # a blank line
            continue
        if len(values) != width:
            yield start, RowProblem(f"{len(values)} fields where the header has {width}")
        else:
            yield start, dict(zip(source.columns, values, strict=True))


def _jsonl_source(path: Path) -> Source:
    source = Source(path, "jsonl", ())
    first = next((row for _, row in source.rows() if not isinstance(row, RowProblem)), None)
    return Source(path, "jsonl", tuple(first or ()))


def _jsonl_rows(source: Source) -> Iterator[tuple[int, Row | RowProblem]]:
    for number, line in _lines(source.path):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            yield number, RowProblem("not valid JSON")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            yield number, RowProblem("not a JSON object")


def _text_rows(source: Source) -> Iterator[tuple[int, Row | RowProblem]]:
    for number, line in _lines(source.path):
        yield number, {TEXT_COLUMN: line.rstrip("\r\n")}


def _parquet(path: Path) -> Any:
    try:
        import pyarrow.parquet as parquet
        from pyarrow import ArrowInvalid
    except ImportError:
        raise MissingExtra("pyarrow", extra="text") from None
    try:
        return parquet.ParquetFile(path)
    except ArrowInvalid as problem:
        raise BadFile(f"{path.name} is not a Parquet file, or a damaged one") from problem


def _parquet_rows(source: Source) -> Iterator[tuple[int, Row | RowProblem]]:
    number = 0
    for batch in _parquet(source.path).iter_batches(batch_size=2048):
        for row in batch.to_pylist():
            number += 1
            yield number, row
