"""Where records come from: a file of any format, or data in memory, behind one interface."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from voile.errors import InvalidInput
from voile.files.column_names import no_such_column
from voile.files.cutting import Piece
from voile.files.locations import Location
from voile.files.pieces import Block
from voile.files.rows import Row, RowProblem
from voile.files.tables import RowLabels


class Source(ABC):
    """Records with named columns, read lazily and in pieces."""

    columns: tuple[str, ...]
    format: str
    types: Any
    """The Arrow schema, where there is one."""
    count: int | None = None
    """How many records there are, where that is known before they are read."""
    sorted_by_place: bool = False
    """Whether an index put its points in an order that tells where they are."""
    encoding: str = ""
    """Of a file's text; "" for UTF-8, and for what says its own."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in a message."""

    @property
    @abstractmethod
    def location(self) -> Location:
        """The file; data in memory has none, and asking for it is refused."""

    @abstractmethod
    def pieces(self, *, size: int) -> Iterator[Piece]:
        """The records in pieces of `size`, not yet read; a blank line counts as one.

        The same records and size always give the same pieces: they are the parts of a job.
        """

    @abstractmethod
    def read(self, piece: Piece) -> Block:
        """The records of one piece."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Changes when the records do."""

    @abstractmethod
    def size(self) -> int:
        """About how many bytes there are to read."""

    @abstractmethod
    def where(self, number: int) -> str:
        """A record in a message: by its line in a file, by its row in memory, from 1."""

    def rows(self) -> Iterator[tuple[int, Row | RowProblem]]:
        """Every record with its line number (row number for tables), counted from 1."""
        for piece in self.pieces(size=2048):
            yield from self.read(piece).records()

    @property
    def says_where(self) -> bool | None:
        """Whether points came with their reference system; None for what is no set of points."""
        return None

    @property
    def alone(self) -> str | None:
        """The one column of data that has no other, its index aside: a Series, a list of texts."""
        return None

    def must_have(self, *columns: str | None, what: str = "the column", do: str = "") -> None:
        """Refuse data that lacks one of these columns; None is none."""
        for column in columns:
            if column is not None and column not in self.columns:
                raise no_such_column(column, self.columns, what=what, do=do)

    def chosen(self, column: str) -> str:
        """The column that is meant: data in memory that has one column only means that one."""
        column = self.alone or column
        self.must_have(column)
        return column

    @property
    def row_labels(self) -> RowLabels | None:
        """An index that is no column and says more than which row of this data it is."""
        return None

    def place_of(self, column: str) -> str:
        """Where its owner finds a column, if that is not its place among `columns`."""
        return ""

    @property
    def in_memory(self) -> bool:
        """Whether there is no file."""
        return self.format == IN_MEMORY


IN_MEMORY = "memory"
"""The format of what is in memory."""


def open_source(data: Any, *, header: bool = True) -> Source:
    r"""A source from a file's name or URL, or from data in memory; its rows are read later.

    In memory: a pandas or polars DataFrame or Series, an Arrow table, batch or array, a
    GeoDataFrame of points (columns `lat` and `lon`), a NumPy array, or a list: of strings (the
    column `text`), of dictionaries, or of tuples. Without a `header` the columns of a CSV file are
    c1, c2, … and its first line is a record.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = file.write_text("id,text\n1,hello there\n2,good bye\n")
    >>> source = open_source(file)
    >>> source.columns, len(list(source.rows()))
    (('id', 'text'), 2)
    >>> list(open_source(["hello there", None]).rows())
    [(1, {'text': 'hello there'}), (2, {'text': None})]
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike | Location):
        from voile.files.file_source import open_file

        return open_file(data, header=header)
    if not header:
        raise InvalidInput("--no-header must go with a CSV file, got data in memory")
    from voile.files.in_memory import open_in_memory

    return open_in_memory(data)
