"""Reading a piece of a file: its records as rows, or what is wrong with them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voile.errors import BadFile
from voile.files.arrow_columns import ArrowColumn
from voile.files.cutting import Piece, bad_csv, csv_reader, cut_header
from voile.files.geojson import row_of
from voile.files.lines import Lines
from voile.files.rows import ColumnRows, Row, RowProblem

MOST_NESTED = 100
"""How deep the values of a JSON record may be nested."""
TEXT_COLUMN = "text"
"""The one column of a plain text file, whose rows are its lines."""


@dataclass(frozen=True)
class Block:
    """The records of a piece: readable rows, and what is wrong with the others, by position.

    `lines[i]` is where record i stands in the file. Rows hold the records that are not in
    `problems`, in order.
    """

    lines: Sequence[int]
    rows: Sequence[Row]
    problems: Mapping[int, RowProblem] = field(default_factory=dict)

    def without(self, unfit: Mapping[int, RowProblem]) -> Block:
        """The same records, with some of the readable rows (by place among them) as problems."""
        positions = [p for p in range(len(self.lines)) if p not in self.problems]
        moved = {positions[place]: problem for place, problem in unfit.items()}
        kept = [place for place in range(len(self.rows)) if place not in unfit]
        rows: Sequence[Row] = [self.rows[place] for place in kept]
        if isinstance(self.rows, ColumnRows):
            columns = {n: [v[i] for i in kept] for n, v in self.rows.columns.items()}
            rows = ColumnRows(columns)
        return Block(self.lines, rows, {**self.problems, **moved})

    def records(self) -> Iterator[tuple[int, Row | RowProblem]]:
        """Every record with its line, as a row or as what is wrong with it."""
        rows = iter(self.rows)
        for position, line in enumerate(self.lines):
            yield line, self.problems.get(position) or next(rows)


def csv_header(lines: Lines, name: str, delimiter: str = ",") -> list[str]:
    """The first record of a CSV file, whatever it holds."""
    head = _text(Piece(0, 1, cut_header(lines, name, delimiter), name))
    return next(csv_reader(io.StringIO(head), delimiter), [])


def read_csv(piece: Piece, columns: Sequence[str], delimiter: str = ",") -> Block:
    """CSV records: one a line or more, blank lines left out."""
    text, width = _text(piece), len(columns)
    plain = _plain_columns(text, width, delimiter)
    if plain is not None:
        lines: Sequence[int] = range(piece.first, piece.first + len(plain[0]))
        return Block(lines, ColumnRows(dict(zip(columns, plain, strict=True))))
    found, lines = _parsed(text, piece, delimiter)
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


def _plain_columns(text: str, width: int, delimiter: str) -> list[list[str]] | None:
    """The columns of records that are all whole, without quotation marks; None if some are not.

    Then a delimiter always parts two fields and a line end two records, provided that among these
    signs every width-th is a line end and no other is: this is checked, and the text is split in
    one go. A list for each record would cost more than all that is done with it.
    """
    import numpy as np

    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if '"' in text or "\r" in text or not text:
        return None
    if not text.endswith("\n"):
        text += "\n"
    signs = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
    signs = signs[(signs == ord(delimiter)) | (signs == ord("\n"))] == ord("\n")
    if len(signs) % width:
        return None
    ends = signs.reshape(-1, width)
    if not ends[:, -1].all() or ends[:, :-1].any():
        return None
    fields = text.replace("\n", delimiter).split(delimiter)
    del fields[-1]  # what follows the last line end
    if width == 1 and "" in fields:  # a blank line, not an empty field
        return None
    return [fields[column::width] for column in range(width)]


def _parsed(text: str, piece: Piece, delimiter: str) -> tuple[list[list[str]], Sequence[int]]:
    """All records, and the line on which each begins."""
    found: list[list[str]] = []
    starts = [piece.first]
    if '"' not in text:
        try:
            found = list(csv_reader(io.StringIO(text), delimiter))
        except csv.Error:
            found = []  # which line it was is found out below
        else:  # a record is a line
            return found, range(piece.first, piece.first + len(found))
    reader = csv_reader(io.StringIO(text), delimiter)
    try:
        for record in reader:
            found.append(record)
            starts.append(piece.first + reader.line_num)
    except csv.Error as problem:
        raise bad_csv(piece.name, starts[-1], problem) from problem
    return found, starts[:-1]


def read_geojson(piece: Piece) -> Block:
    """Features, one a line, as places with their properties."""
    return read_jsonl(piece, row_of)


def read_jsonl(
    piece: Piece, row: Callable[[dict[str, Any]], Row | RowProblem] = lambda value: value
) -> Block:
    """JSON objects, one a line, blank lines left out."""
    lines: list[int] = []
    rows: list[Row] = []
    problems: dict[int, RowProblem] = {}
    for number, line in enumerate(io.StringIO(_text(piece)), piece.first):
        if not line.strip():
            continue
        value = _json_object(line)
        found = value if isinstance(value, RowProblem) else row(value)
        if isinstance(found, RowProblem):
            problems[len(lines)] = found
        else:
            rows.append(found)
        lines.append(number)
    return Block(lines, rows, problems)


def _json_object(line: str) -> dict[str, Any] | RowProblem:
    """One line's object, if it can be written again as well."""
    try:
        value = json.loads(line)
        if "\\u" in line or line.count("[") + line.count("{") > MOST_NESTED:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        return RowProblem(f"nested more than {MOST_NESTED} deep")
    except UnicodeEncodeError:
        return RowProblem(
            "not valid Unicode: half a character, a lone surrogate escape, which no text may hold"
        )
    except ValueError:
        return RowProblem("not valid JSON")
    if not isinstance(value, dict):
        return RowProblem("must be a JSON object, and is another value")
    if line.count("[") + line.count("{") > MOST_NESTED and _depth(value) > MOST_NESTED:
        return RowProblem(f"nested more than {MOST_NESTED} deep")
    return value


def _depth(value: Any) -> int:
    """How deep lists and objects lie in each other, without going down by calls."""
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = (v.values() if isinstance(v, dict) else v for v in level)
        level = [w for values in inner for w in values if isinstance(w, dict | list)]
    return depth


def read_text(piece: Piece) -> Block:
    """Lines of text without their ends."""
    lines = [line.rstrip("\r\n") for line in io.StringIO(_text(piece))]
    return Block(range(piece.first, piece.first + len(lines)), ColumnRows({TEXT_COLUMN: lines}))


def read_parquet(piece: Piece) -> Block:
    """Rows of an Arrow table, whose values stay Arrow's until somebody asks for one."""
    table = piece.content
    rows = ColumnRows({name: ArrowColumn(table[name], name) for name in table.column_names})
    return Block(range(piece.first, piece.first + len(piece.content)), rows)


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
            "say what it is, for example --encoding cp1252"
        ) from None
