"""Cutting and reading give what Python's csv module gives, record by record and byte by byte."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.errors import BadFile
from voile.files.parts import part_bytes
from voile.jobs import ColumnRows, RowProblem, open_source

FIELDS = st.text(st.sampled_from('ab ,"\né\r'), max_size=4)
PLAIN = st.text(st.sampled_from("ab é.-1"), max_size=4)


def by_the_book(path: Path) -> list[tuple[int, dict[str, str] | RowProblem]]:
    """One record after the other, as a plain reading of the file gives them."""
    found: list[tuple[int, dict[str, str] | RowProblem]] = []
    lines = path.read_bytes().decode("utf-8-sig").split("\n")
    reader = csv.reader([line + "\n" for line in lines[:-1]] + lines[-1:], strict=True)
    header = next(reader)
    while True:
        start = reader.line_num + 1
        values = next(reader, None)
        if values is None:
            return found
        if len(values) == len(header):
            found.append((start, dict(zip(header, values, strict=True))))
        elif values:
            reason = f"{len(values)} fields where the header has {len(header)}"
            found.append((start, RowProblem(reason)))


def quoted(field: str) -> str:
    """A field as a careful program writes it; an empty one stays empty."""
    special = any(sign in field for sign in ',"\n\r')
    return '"' + field.replace('"', '""') + '"' if special else field


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    """Files with quotation marks or none, blank lines, short and long rows, either line end."""
    width = draw(st.integers(1, 4))
    fields = draw(st.sampled_from([FIELDS, PLAIN]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = io.StringIO(newline="")
    text.write(",".join(f"c{i}" for i in range(width)) + end)
    for _ in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from(["row"] * 6 + ["blank", "long"]))
        if kind == "blank":
            text.write(end)
        else:
            count = width + (kind == "long")
            values = draw(st.lists(fields, min_size=count, max_size=count))
            text.write(",".join(map(quoted, values)) + end)
    content = text.getvalue()
    if draw(st.booleans()):
        content = content.removesuffix(end)
    mark = b"\xef\xbb\xbf" if draw(st.booleans()) else b""
    return mark + content.encode("utf-8")


@given(csv_files(), st.integers(1, 5))
def test_any_csv_is_read_as_the_csv_module_reads_it(tmp_path_factory, content, size) -> None:
    path = tmp_path_factory.mktemp("csv") / "in.csv"
    path.write_bytes(content)
    wanted = by_the_book(path)
    if not wanted:
        return
    source = open_source(path)
    assert list(source.rows()) == wanted
    pieces = list(source.pieces(size=size))
    assert [piece.part for piece in pieces] == list(range(len(pieces)))
    assert [r for piece in pieces for r in source.read(piece).records()] == wanted
    header = content.split(b"\n", 1)[0] + b"\n"
    assert header + b"".join(piece.content for piece in pieces) == content  # no byte lost


@given(st.integers(1, 4).flatmap(lambda w: st.lists(
    st.lists(st.one_of(FIELDS, PLAIN, st.none(), st.integers(0, 9)), min_size=w, max_size=w),
    min_size=1, max_size=6,
)))  # fmt: skip
def test_columns_are_written_as_the_csv_module_writes_rows(rows) -> None:
    names = [f"c{i}" for i in range(len(rows[0]))]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    columns = ColumnRows(dict(zip(names, zip(*rows, strict=True), strict=True)))
    wanted = part_bytes(list(columns), columns=names, target="a.csv")
    assert part_bytes(columns, columns=names, target="a.csv") == wanted
    if not any(isinstance(value, str) and "\r" in value for row in rows for value in row):
        assert wanted == text.getvalue().encode()
    again = csv.reader(io.StringIO(wanted.decode(), newline=""), strict=True)
    assert list(again) == [["" if v is None else str(v) for v in row] for row in rows]
    if all(isinstance(value, str) for row in rows for value in row):
        zipped = part_bytes(columns, columns=names, target="a.csv.gz")
        assert gzip.decompress(zipped) == wanted


def test_a_wrong_byte_is_found_in_whatever_piece(tmp_path: Path) -> None:
    lines = [b"text"] + [b"fine"] * 5000
    lines[4321] = b"no\xff"
    (tmp_path / "in.csv").write_bytes(b"\n".join(lines))
    source = open_source(tmp_path / "in.csv")
    with pytest.raises(BadFile, match=r"line 4322 is not \(byte 2\)"):
        [source.read(piece) for piece in source.pieces(size=100)]


@pytest.mark.parametrize("text", ["t\na\nb\rc\n", 't\na\n"b\n', 't\na\n"b"c\n'])
def test_broken_csv_is_located(tmp_path: Path, text: str) -> None:
    (tmp_path / "in.csv").write_bytes(text.encode())
    with pytest.raises(BadFile, match="from line 3 on"):
        list(open_source(tmp_path / "in.csv").rows())


def test_parquet_pieces_have_the_size_asked_for_whatever_its_row_groups(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    table = pyarrow.table({"n": list(range(103)), "t": [str(i) for i in range(103)]})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=7)
    source = open_source(tmp_path / "in.parquet")
    pieces = list(source.pieces(size=10))
    assert [len(piece.content) for piece in pieces] == [10] * 10 + [3]
    rows = [row for piece in pieces for row in source.read(piece).records()]
    assert rows == [(i + 1, {"n": i, "t": str(i)}) for i in range(103)]


def test_json_lines_keep_their_numbers(tmp_path: Path) -> None:
    lines = ['{"a": 1}', "", "[]", "{broken", '{"a": "é\\n"}']
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    found = [r for p in open_source(tmp_path / "in.jsonl").pieces(size=2)
             for r in open_source(tmp_path / "in.jsonl").read(p).records()]  # fmt: skip
    assert found == [
        (1, {"a": 1}),
        (3, RowProblem("must be a JSON object, and is another value")),
        (4, RowProblem("not valid JSON")),
        (5, json.loads(lines[4])),
    ]
