"""Opening CSV, JSONL, Parquet and plain text, wherever they lie."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, Any

from voile.errors import BadFile, InvalidInput
from voile.files.column_names import unnamed
from voile.files.cutting import Piece, cut_csv, cut_lines, cut_parquet
from voile.files.delimiters import COMMA, delimiter_of
from voile.files.encodings import as_utf8, encoding_of, named_encoding
from voile.files.formats import format_of
from voile.files.geojson import feature_lines
from voile.files.lines import Lines
from voile.files.locations import Location, location
from voile.files.packing import unpacked
from voile.files.parquet import parquet_batches, parquet_file
from voile.files.pieces import (
    TEXT_COLUMN,
    Block,
    csv_header,
    read_csv,
    read_geojson,
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
    delimiter: str = COMMA
    """Between the values of a CSV file."""
    header: bool = True
    """Whether a CSV file begins with a line of names."""
    count: int | None = None
    encoding: str = ""

    @property
    def location(self) -> Location:
        """Where the file is."""
        return self.place

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.place.name

    def where(self, number: int) -> str:
        """A record by its line; a feature, which has none, by its number."""
        return f"{'feature' if self.format == 'geojson' else 'line'} {number}"

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
        with self.opened() as file:
            if self.format == "parquet":
                yield from cut_parquet(parquet_batches(file, name), size=size, name=name)
            elif self.format == "csv":
                lines = Lines(file, name)
                yield from cut_csv(
                    lines, size=size, name=name, delimiter=self.delimiter, header=self.header
                )
            else:
                yield from cut_lines(Lines(file, name), size=size, name=name)

    def opened(self) -> AbstractContextManager[IO[bytes]]:
        """Its bytes, unpacked as they are read, in UTF-8."""
        return opened(self.location, self.encoding)

    def read(self, piece: Piece) -> Block:
        """The records of one piece."""
        if self.format == "csv":
            return read_csv(piece, self.columns, self.delimiter)
        readers: dict[str, Callable[[Piece], Block]] = {
            "jsonl": read_jsonl,
            "geojson": read_geojson,
            "parquet": read_parquet,
            "txt": read_text,
        }
        return readers[self.format](piece)

    def fingerprint(self) -> str:
        """Changes when the file does: its size, its time or tag, its first and last megabyte."""
        with _reading(self.location):
            size, stamp = self.location.facts()
            digest = hashlib.sha256(f"{size} {stamp} {self.encoding}".rstrip().encode())
            with self.location.open() as file:
                digest.update(file.read(2**20))
                file.seek(max(0, size - 2**20))
                digest.update(file.read(2**20))
        return digest.hexdigest()[:32]


def open_file(path: str | os.PathLike[str] | Location, *, header: bool = True) -> Source:
    """A source from a file's name or URL; its columns are read at once, its rows later."""
    place = location(path)
    try:
        return _opened_source(place, header)
    except (FileNotFoundError, IsADirectoryError):
        raise InvalidInput(f"the input must be an existing file, got {str(place)!r}") from None
    except OSError as problem:
        raise BadFile(f"{place.name} cannot be read: {problem.strerror or problem}") from problem


def _opened_source(place: Location, header: bool) -> Source:
    found = _points(place) if header else None
    return _not_empty(_file_source(place, header)) if found is None else found


def _points(place: Location) -> Source | None:
    """A file of points that is read whole; None if it is none."""
    from voile.files.geo_files import is_geoparquet, open_geo_file

    kind, _, ending = format_of(place.name)
    if kind == "parquet":
        with opened(place) as file:
            if not is_geoparquet(parquet_file(file, place.name).schema_arrow):
                return None
    elif kind != "geo":
        return None
    return open_geo_file(place, ending)


def _file_source(place: Location, header: bool) -> FileSource:
    name = place.name
    kind = format_of(name).kind
    if kind != "csv" and not header:
        raise InvalidInput(f"only a CSV file can be without a line of names, got {name!r}")
    if kind == "parquet":
        with opened(place) as file:
            table = parquet_file(file, name)
            names = _distinct(tuple(table.schema_arrow.names), name)
            rows = table.metadata.num_rows
            return FileSource(place, kind, names, table.schema_arrow, count=rows)
    bare = FileSource(place, kind, (TEXT_COLUMN,), header=header, encoding=_encoding(place))
    if kind == "txt":
        return bare
    if kind == "csv":
        return _csv_source(bare)
    rows = (row for _, row in bare.rows() if row and not isinstance(row, RowProblem))
    first = rows if kind == "geojson" else islice(rows, 1)  # of what is read whole, all names
    found = list(dict.fromkeys(name for row in first for name in row))
    return replace(bare, columns=tuple(found)) if found else _fieldless(bare)


def _fieldless(source: FileSource) -> FileSource:
    """A source none of whose records has a field: refused by what is wrong with the first."""
    number, first = next(source.rows(), (0, None))
    if first is not None:
        wrong = first.reason if isinstance(first, RowProblem) else "must have at least one field"
        raise InvalidInput(f"{source.name}, {source.where(number)}: {wrong}")
    return source


def _csv_source(bare: FileSource) -> FileSource:
    with bare.opened() as file:
        delimiter = delimiter_of(file, bare.name)
    with bare.opened() as file:
        names = _csv_columns(file, bare.name, delimiter, bare.header)
    return replace(bare, columns=names, delimiter=delimiter)


def _encoding(place: Location) -> str:
    if not named_encoding():
        return ""
    with place.open() as file, unpacked(file, format_of(place.name).packing, place.name) as content:
        return encoding_of(content)


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
def opened(place: Location, encoding: str = "") -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked as they are read, in UTF-8; features of GeoJSON as lines."""
    kind, packing, _ = format_of(place.name)
    with place.open() as file, unpacked(file, packing, place.name) as content:
        if kind == "parquet":
            yield content
        elif kind == "geojson":
            yield feature_lines(as_utf8(content, place.name, encoding), place.name)
        else:
            yield as_utf8(content, place.name, encoding)


def _not_empty(source: FileSource) -> FileSource:
    if next(source.rows(), None) is None:
        raise InvalidInput(f"{source.location.name} must hold at least one row, it holds none")
    return source


def _csv_columns(file: IO[bytes], name: str, delimiter: str, header: bool) -> tuple[str, ...]:
    first = csv_header(Lines(file, name), name, delimiter)
    if not first:
        wanted = "column names" if header else "values"
        raise InvalidInput(f"{name} must begin with a line of {wanted}, it is empty")
    if not header:
        return tuple(unnamed(len(first)))
    return _distinct(tuple(first), name)


def _distinct(columns: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Two columns of one name cannot be told apart, and one would be lost."""
    if not columns:
        raise InvalidInput(f"{name} must have at least one column, it has none")
    if len(set(columns)) < len(columns):
        raise InvalidInput(f"{name} must have distinct column names, got some twice")
    return columns
