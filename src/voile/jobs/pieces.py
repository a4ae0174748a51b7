"""Cutting a file into pieces, and reading a piece.

Cutting is cheap and happens in one place, in order; reading is dear and happens wherever a part is
made. So a piece travels as the file holds it: whole lines as bytes, or an Arrow table.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import IO, Any

from voile.errors import BadFile
from voile.jobs.records import ColumnRows, Row, RowProblem

TEXT_COLUMN = "text"
"""The one column of a plain text file, whose rows are its lines."""
_LONGEST_FIELD = 2**28


@dataclass(frozen=True)
class Piece:
    """Consecutive records as the file holds them; `first` is the line of the first, from 1."""

    part: int
    first: int
    content: Any
    name: str
    """The file's name, for messages."""


@dataclass(frozen=True)
class Block:
    """The records of a piece: readable rows, and what is wrong with the others, by position.

    `lines[i]` is where record i stands in the file. Rows hold the records that are not in
    `problems`, in order.
    """

    lines: Sequence[int]
    rows: Sequence[Row]
    problems: Mapping[int, RowProblem] = field(default_factory=dict)

    def records(self) -> Iterator[tuple[int, Row | RowProblem]]:
        """Every record with its line, as a row or as what is wrong with it."""
        rows = iter(self.rows)
        for position, line in enumerate(self.lines):
            yield line, self.problems.get(position) or next(rows)


# ── cutting ────────────────────────────────────────────────────────────────────────────────────


def cut_lines(file: IO[bytes], *, size: int, name: str) -> Iterator[Piece]:
    """Pieces of `size` lines."""
    first = 1
    for part, lines in enumerate(iter(lambda: list(islice(file, size)), [])):
        yield Piece(part, first, b"".join(lines), name)
        first += len(lines)


def cut_csv(file: IO[bytes], *, size: int, name: str) -> Iterator[Piece]:
    """Pieces of `size` CSV records after the header; a blank line counts as one.

    A line without a quotation mark is a record. Where there is one, the csv module says where
    records end: bytes stand for characters there, since in UTF-8 no part of a character looks like
    a quotation mark, a comma or a line end.
    """
    first = 1 + len(_records([], file, size=1, first=1, name=name))
    for part, taken in enumerate(iter(lambda: list(islice(file, size)), [])):
        lines, content = taken, b"".join(taken)
        if b'"' in content:
            lines = _records(taken, file, size=size, first=first, name=name)
            content = b"".join(lines)
        yield Piece(part, first, content, name)
        first += len(lines)


def _records(
    taken: list[bytes], file: IO[bytes], *, size: int, first: int, name: str
) -> list[bytes]:
    """The lines of `size` whole records, those already taken first.

    A record is one line or more, so `size` records use up `size` lines unless the file ends.
    """
    lines: list[bytes] = []

    def texts() -> Iterator[str]:
        for line in chain(taken, file):
            lines.append(line)
            yield line.decode("latin-1")

    reader = _reader(texts())
    start = 0
    try:
        for _ in range(size):
            start = reader.line_num
            if next(reader, None) is None:
                break
    except csv.Error as problem:
        raise _bad_csv(name, first + start, problem) from problem
    return lines


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


# ── reading ────────────────────────────────────────────────────────────────────────────────────


def csv_header(file: IO[bytes], name: str) -> list[str]:
    """The first record of a CSV file, whatever it holds."""
    lines = _records([], file, size=1, first=1, name=name)
    return next(_reader(io.StringIO(_text(Piece(0, 1, b"".join(lines), name)))), [])


def read_csv(piece: Piece, columns: Sequence[str]) -> Block:
    """CSV records: one a line or more, blank lines left out."""
    text, width = _text(piece), len(columns)
    plain = _plain_columns(text, width)
    if plain is not None:
        lines: Sequence[int] = range(piece.first, piece.first + len(plain[0]))
        return Block(lines, ColumnRows(dict(zip(columns, plain, strict=True))))
    found, lines = _parsed(text, piece)
    if set(map(len, found)) == {width}:
        return Block(lines, ColumnRows(dict(zip(columns, zip(*found, strict=True), strict=True))))
    kept = [(line, record) for line, record in zip(lines, found, strict=True) if record]
    problems = {
        position: RowProblem(f"{len(record)} fields where the header has {width}")
        for position, (_, record) in enumerate(kept)
        if len(record) != width
    }
    good = [record for _, record in kept if len(record) == width]
    values = zip(*good, strict=True) if good else ((),) * width
    rows = ColumnRows(dict(zip(columns, values, strict=True)))
    return Block([line for line, _ in kept], rows, problems)


def _plain_columns(text: str, width: int) -> list[list[str]] | None:
    """The columns of records that are all whole, without quotation marks; None if some are not.

    Then a comma always parts two fields and a line end two records, provided that among these signs
    every width-th is a line end and no other is: this is checked, and the text is split in one go.
    A list for each record would cost more than all that is done with it.
    """
    import numpy as np

    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if '"' in text or "\r" in text or not text or len(text) > _LONGEST_FIELD:
        return None
    if not text.endswith("\n"):
        text += "\n"
    signs = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
    signs = signs[(signs == ord(",")) | (signs == ord("\n"))] == ord("\n")
    if len(signs) % width:
        return None
    ends = signs.reshape(-1, width)
    if not ends[:, -1].all() or ends[:, :-1].any():
        return None
    fields = text.replace("\n", ",").split(",")
    del fields[-1]  # what follows the last line end
    if width == 1 and "" in fields:  # a blank line, not an empty field
        return None
    return [fields[column::width] for column in range(width)]


def _parsed(text: str, piece: Piece) -> tuple[list[list[str]], Sequence[int]]:
    """All records, and the line on which each begins."""
    found: list[list[str]] = []
    starts = [piece.first]
    if '"' not in text:
        try:
            found = list(_reader(io.StringIO(text)))
        except csv.Error:
            found = []  # which line it was is found out below
        else:  # a record is a line
            return found, range(piece.first, piece.first + len(found))
    reader = _reader(io.StringIO(text))
    try:
        for record in reader:
            found.append(record)
            starts.append(piece.first + reader.line_num)
    except csv.Error as problem:
        raise _bad_csv(piece.name, starts[-1], problem) from problem
    return found, starts[:-1]


def read_jsonl(piece: Piece) -> Block:
    """JSON objects, one a line, blank lines left out."""
    lines: list[int] = []
    rows: list[Row] = []
    problems: dict[int, RowProblem] = {}
    for number, line in enumerate(io.StringIO(_text(piece)), piece.first):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            problems[len(lines)] = RowProblem("not valid JSON")
        else:
            if isinstance(value, dict):
                rows.append(value)
            else:
                problems[len(lines)] = RowProblem("not a JSON object")
        lines.append(number)
    return Block(lines, rows, problems)


def read_text(piece: Piece) -> Block:
    """Lines of text without their ends."""
    lines = [line.rstrip("\r\n") for line in io.StringIO(_text(piece))]
    return Block(range(piece.first, piece.first + len(lines)), ColumnRows({TEXT_COLUMN: lines}))


def read_parquet(piece: Piece) -> Block:
    """Rows of an Arrow table as Python values."""
    rows = ColumnRows(piece.content.to_pydict())
    return Block(range(piece.first, piece.first + len(piece.content)), rows)


def _reader(lines: Iterator[str] | IO[str]) -> Any:
    csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader(lines, strict=True)


def _text(piece: Piece) -> str:
    """The decoded piece; the first wrong byte is located."""
    content: bytes = piece.content
    try:
        return content.decode("utf-8-sig" if piece.first == 1 else "utf-8")
    except UnicodeDecodeError as problem:
        start = problem.start + (3 if len(problem.object) < len(content) else 0)  # a mark was cut
        line = piece.first + content.count(b"\n", 0, start)
        byte = start - (content.rfind(b"\n", 0, start) + 1)
        raise BadFile(
            f"{piece.name} must be UTF-8, line {line} is not (byte {byte}); "
            "convert it, for example: iconv -f latin1 -t utf-8"
        ) from None


def _bad_csv(name: str, line: int, problem: csv.Error) -> BadFile:
    return BadFile(f"{name} is not valid CSV from line {line} on: {problem}")
