"""Opening CSV, JSONL, Parquet and plain text, wherever they lie."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

from voile.errors import BadFile, InvalidInput, MissingExtra, VoileError
from voile.files.cutting import Piece, cut_csv, cut_lines, cut_parquet
from voile.files.formats import format_of
from voile.files.lines import Lines
from voile.files.locations import Location, location
from voile.files.pieces import (
    TEXT_COLUMN,
    Block,
    csv_header,
    read_csv,
    read_jsonl,
    read_parquet,
    read_text,
)
from voile.files.rows import Row, RowProblem
from voile.files.source import Source


@dataclass(frozen=True)
class FileSource(Source):
    """A file of records: where it is, its format and columns, read lazily."""

    place: Location
    format: str
    columns: tuple[str, ...]
    types: Any = None

    @property
    def location(self) -> Location:
        """Where the file is."""
        return self.place

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.place.name

    def where(self, number: int) -> str:
        """A record by its line."""
        return f"line {number}"

    def size(self) -> int:
        """The file's bytes."""
        return self.place.facts()[0]

    def rows(self) -> Iterator[tuple[int, Row | RowProblem]]:
        """Every record with its line number (row number for Parquet), counted from 1."""
        with _reading(self.place):
            yield from super().rows()

    def pieces(self, *, size: int) -> Iterator[Piece]:
        """The file in pieces of `size` records, not yet read."""
        name = self.location.name
        with opened(self.location) as file:
            if self.format == "parquet":
                yield from cut_parquet(_batches(file, name), size=size, name=name)
            elif self.format == "csv":
                yield from cut_csv(Lines(file, name), size=size, name=name)
            else:
                yield from cut_lines(Lines(file, name), size=size, name=name)

    def read(self, piece: Piece) -> Block:
        """The records of one piece."""
        if self.format == "csv":
            return read_csv(piece, self.columns)
        readers = {"jsonl": read_jsonl, "parquet": read_parquet, "txt": read_text}
        return readers[self.format](piece)

    def fingerprint(self) -> str:
        """Changes when the file does: its size, its time or tag, its first and last megabyte."""
        with _reading(self.location):
            size, stamp = self.location.facts()
            digest = hashlib.sha256(f"{size} {stamp}".encode())
            with self.location.open() as file:
                digest.update(file.read(2**20))
                file.seek(max(0, size - 2**20))
                digest.update(file.read(2**20))
        return digest.hexdigest()[:32]


def open_file(path: str | os.PathLike[str] | Location) -> Source:
    """A source from a file's name or URL; its columns are read at once, its rows later."""
    place = location(path)
    kind, _ = format_of(place.name)
    try:
        with opened(place) as file:
            if kind == "parquet":
                found = _parquet(file, place.name)
                schema = found.schema_arrow
                columns = _distinct(tuple(schema.names), place.name)
                if not found.metadata.num_rows:
                    raise InvalidInput(f"{place.name} must hold at least one row, it holds none")
                return FileSource(place, kind, columns, schema)
            if kind == "csv":
                return _not_empty(FileSource(place, kind, _csv_columns(file, place.name)))
        if kind == "txt":
            return _not_empty(FileSource(place, kind, (TEXT_COLUMN,)))
        return _not_empty(_jsonl_source(place))
    except (FileNotFoundError, IsADirectoryError):
        raise InvalidInput(f"the input must be an existing file, got {str(place)!r}") from None
    except OSError as problem:
        raise BadFile(f"{place.name} cannot be read: {problem.strerror or problem}") from problem


@contextmanager
def _reading(place: Location) -> Iterator[None]:
    """A disk's errors while a file is read become one clear line."""
    try:
        yield
    except (FileNotFoundError, IsADirectoryError):
        raise
    except OSError as problem:
        raise BadFile(f"{place.name} cannot be read: {problem.strerror or problem}") from problem


@contextmanager
def opened(place: Location) -> Iterator[IO[bytes]]:
    """The file's bytes, unzipped as they are read; a damaged gzip file is said to be one."""
    _, zipped = format_of(place.name)
    with place.open() as file:
        try:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=file)) if zipped else file
        except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
            # The module's own message may show the first bytes of what is no gzip file.
            raise BadFile(f"{place.name} is no gzip file, or a damaged one") from problem


def _not_empty(source: Source) -> Source:
    if next(source.rows(), None) is None:
        raise InvalidInput(f"{source.location.name} must hold at least one row, it holds none")
    return source


def _csv_columns(file: IO[bytes], name: str) -> tuple[str, ...]:
    header = csv_header(Lines(file, name), name)
    if not header:
        raise InvalidInput(f"{name} must begin with a line of column names, it is empty")
    return _distinct(tuple(header), name)


def _distinct(columns: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Two columns of one name cannot be told apart, and one would be lost."""
    if not columns:
        raise InvalidInput(f"{name} must have at least one column, it has none")
    if len(set(columns)) < len(columns):
        raise InvalidInput(f"{name} must have distinct column names, got some twice")
    return columns


def _jsonl_source(place: Location) -> Source:
    source = FileSource(place, "jsonl", ())
    first = next((row for _, row in source.rows() if not isinstance(row, RowProblem)), None)
    return FileSource(place, "jsonl", tuple(first or ()))


def _parquet(file: IO[bytes], name: str) -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="text") from None
    with _damage_said(name):
        return parquet.ParquetFile(file)


def _batches(file: IO[bytes], name: str) -> Iterator[Any]:
    """The rows of a Parquet file as Arrow batches."""
    with _damage_said(name):
        yield from _parquet(file, name).iter_batches()


@contextmanager
def _damage_said(name: str) -> Iterator[None]:
    """A damaged Parquet file is said to be one, in our words: Arrow's may hold some of it."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError, OverflowError) as problem:
        if isinstance(problem, VoileError):
            raise
        raise BadFile(f"{name} is not a Parquet file, or a damaged one") from problem
