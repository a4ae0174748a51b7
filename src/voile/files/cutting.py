"""Cutting a file into pieces: cheap, in one place, in order.

Reading is dear and happens wherever a part is made, so a piece travels as the file holds it: whole
lines as bytes, or an Arrow table. Neither a record nor a piece can fill the memory.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import IO, Any

from voile.errors import BadFile
from voile.files.lines import LARGEST_TAKE, Lines, check_record, longest_record

_LONGEST_FIELD = 2**31 - 1


@dataclass(frozen=True)
class Piece:
    """Consecutive records as the file holds them; `first` is the line of the first, from 1."""

    part: int
    first: int
    content: Any
    name: str
    """The file's name, for messages."""

    @cached_property
    def mark(self) -> str:
        """The size and hash of what was read: a note holds it, and the file is held to it."""
        content = self.content if isinstance(self.content, bytes) else _arrow_bytes(self.content)
        return mark_of(content)


def mark_of(content: bytes) -> str:
    """The size and hash of some bytes."""
    return f"{len(content)} {hashlib.sha256(content).hexdigest()}"


def cut_lines(lines: Lines, *, size: int, name: str) -> Iterator[Piece]:
    """Pieces of `size` lines."""
    first = 1
    for part, content in enumerate(iter(lambda: lines.take(size), b"")):
        yield Piece(part, first, content, name)
        first += _count(content)


def cut_csv(
    lines: Lines, *, size: int, name: str, delimiter: str = ",", header: bool = True
) -> Iterator[Piece]:
    """Pieces of `size` CSV records after the header, if there is one; a blank line counts as one.

    A line without a quotation mark is a record. Where there is one, the csv module says where
    records end: bytes stand for characters there, since in UTF-8 no part of a character looks like
    a quotation mark, a delimiter or a line end.
    """
    first = 1 + (_count(cut_header(lines, name, delimiter)) if header else 0)
    for part, taken in enumerate(iter(lambda: lines.take(size), b"")):
        content = taken
        if b'"' in content:
            content = _records(list(io.BytesIO(taken)), lines, first, name, delimiter)
        yield Piece(part, first, content, name)
        first += _count(content)


def cut_header(lines: Lines, name: str, delimiter: str = ",") -> bytes:
    """A CSV file's first record."""
    return _records([line] if (line := lines.take(1)) else [], lines, 1, name, delimiter)


def _count(content: bytes) -> int:
    """How many lines these are, the last with or without its end."""
    return content.count(b"\n") + (not content.endswith(b"\n"))


def _records(taken: list[bytes], more: Lines, first: int, name: str, delimiter: str) -> bytes:
    """As many whole records as lines were taken, with the further lines that they need.

    Records of many lines end a piece early, once all that was taken is used up.
    """
    lines: list[bytes] = []
    record = total = start = 0
    limit = longest_record()

    def texts() -> Iterator[str]:
        nonlocal record
        for line in chain(taken, more):
            lines.append(line)
            record += len(line)
            check_record(record, limit, name, first + start)
            yield line.decode("latin-1")

    reader = csv_reader(texts(), delimiter)
    try:
        for _ in taken:
            start, record = reader.line_num, 0
            if next(reader, None) is None:
                break
            total += record
            if total > LARGEST_TAKE and len(lines) >= len(taken):
                break
    except csv.Error as problem:
        raise bad_csv(name, first + start, problem) from problem
    return b"".join(lines)


def cut_parquet(batches: Iterator[Any], *, size: int, name: str) -> Iterator[Piece]:
    """Pieces of `size` rows from Arrow batches of any lengths."""
    import pyarrow

    part, first = 0, 1
    waiting: list[Any] = []
    for batch in chain(batches, [None]):
        if batch is not None:
            waiting.append(batch)
        count = sum(len(b) for b in waiting)
        while count >= size or (batch is None and count):
            table = pyarrow.Table.from_batches(waiting)
            yield Piece(part, first, table.slice(0, size).combine_chunks(), name)
            part, first, count = part + 1, first + min(size, count), max(0, count - size)
            waiting = table.slice(size).to_batches()


def csv_reader(lines: Iterator[str] | IO[str], delimiter: str = ",") -> Any:
    """Python's reader in its strict form, for fields of any length: records are bounded above."""
    csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader(lines, strict=True, delimiter=delimiter)


def bad_csv(name: str, line: int, problem: csv.Error) -> BadFile:
    """What a CSV file's user is told; the module's own words never hold a value."""
    return BadFile(f"{name} is not valid CSV from line {line} on: {problem}")


def _arrow_bytes(table: Any) -> bytes:
    """A table's rows as Arrow writes them to a stream, the same for the same rows and cut."""
    import pyarrow

    out = io.BytesIO()
    with pyarrow.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue()
