"""CSV of any delimiter and encoding is read as what it is, and a comma file always as one."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from releasers import Simple
from voile.errors import BadFile, InvalidInput
from voile.jobs import open_source, run_job

SIGNS = (",", ";", "\t", "|")
NAMES = st.lists(
    st.text(st.sampled_from("abcdef_ -1"), min_size=1, max_size=6).map(str.strip).filter(bool),
    min_size=1,
    max_size=5,
    unique=True,
)
VALUES = st.text(st.sampled_from("ab ;;|\t,'.é1"), max_size=8)


def written(path: Path, rows: list[list[str]], delimiter: str, **options) -> Path:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n", **options).writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


@st.composite
def tables(draw, least: int) -> list[list[str]]:
    names = draw(NAMES.filter(lambda names: len(names) >= least))
    rows = draw(
        st.lists(
            st.lists(VALUES, min_size=len(names), max_size=len(names)).filter(any),
            min_size=1,
            max_size=8,
        )
    )
    return [names, *rows]


@given(tables(1), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_a_comma_file_is_one_whatever_its_texts_hold(tmp_path_factory, table, quoting) -> None:
    path = written(tmp_path_factory.mktemp("d") / "in.csv", table, ",", quoting=quoting)
    source = open_source(path)
    assert source.delimiter == ","
    assert [list(row.values()) for _, row in source.rows()] == table[1:]


@given(tables(2), st.sampled_from(SIGNS), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_any_delimiter_that_parts_all_records_is_found(
    tmp_path_factory, table, sign, quoting
) -> None:
    path = written(tmp_path_factory.mktemp("d") / "in.csv", table, sign, quoting=quoting)
    source = open_source(path)
    assert source.delimiter == sign
    assert source.columns == tuple(table[0])
    assert [list(row.values()) for _, row in source.rows()] == table[1:]


def test_texts_full_of_semicolons_do_not_make_a_semicolon_file(tmp_path: Path) -> None:
    rows = [["id", "text"], *([str(n), "so; it; goes; on"] for n in range(200))]
    assert open_source(written(tmp_path / "in.csv", rows, ",")).columns == ("id", "text")
    one = [["text"], *(["so; it; goes"] for _ in range(200))]
    assert open_source(written(tmp_path / "one.csv", one, ",")).columns == ("text",)


def test_bad_rows_of_a_comma_file_stay_bad_rows(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text\n1,a;b\n2,a,b;c\n3,c;d\n")
    assert open_source(tmp_path / "in.csv").columns == ("id", "text")
    (tmp_path / "semi.csv").write_text("id;text\n1;a\n2;b;c\n3;d\n4;e\n")
    assert open_source(tmp_path / "semi.csv").columns == ("id", "text")


def test_decimal_commas_and_names_with_commas(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id;lat;lon\n1;52,5;13,4\n2;48,8;2,3\n")
    assert open_source(tmp_path / "in.csv").columns == ("id", "lat", "lon")
    (tmp_path / "names.csv").write_text("id;text, long;stars\n1;a;5\n2;b, c;4\n")
    assert open_source(tmp_path / "names.csv").columns == ("id", "text, long", "stars")


def test_a_text_of_many_lines_at_the_samples_end(tmp_path: Path) -> None:
    rows = [["id", "text"], *([str(n), "a line;\n" * 40] for n in range(10))]
    for sign in SIGNS:
        source = open_source(written(tmp_path / "in.csv", rows, sign))
        assert source.columns == ("id", "text")
        assert len(list(source.rows())) == 10


def upper(batch):
    return {"text": [text.upper() for text in batch.column("text")]}


@pytest.mark.parametrize(
    ("name", "sign", "out", "parts_by"),
    [
        ("in.csv", ";", "out.csv", ";"),
        ("in.csv", "|", "out.csv.gz", "|"),
        ("in.csv", ";", "out.tsv", "\t"),
        ("in.tsv", "\t", "out.tsv", "\t"),
        ("in.tsv", "\t", "out.csv", ","),
        ("in.csv", ",", "out.csv", ","),
    ],
)
def test_an_output_is_parted_as_its_input(tmp_path, name, sign, out, parts_by) -> None:
    rows = [["id", "text"], ["1", 'a;b,c|d\t"e"'], ["2", "plain"], ["3", "two\nlines"]]
    source = open_source(written(tmp_path / name, rows, sign))
    run_job(source, tmp_path / out, Simple(upper), identity={}, batch_rows=2)
    released = open_source(tmp_path / out)
    assert released.delimiter == parts_by
    assert [list(row.values()) for _, row in released.rows()] == [
        [number, text.upper()] for number, text in rows[1:]
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "txt", "tsv"])
def test_a_mark_at_the_beginning_says_the_encoding(tmp_path, encoding, ending) -> None:
    content = {
        "csv": "id;text\n1;é a\U0001f600\n2;\u4e2d\n",
        "tsv": "id\ttext\n1\té a\U0001f600\n2\t\u4e2d\n",
        "jsonl": '{"id": "1", "text": "é a\U0001f600"}\n{"id": "2", "text": "\u4e2d"}\n',
        "txt": "é a\U0001f600\n\u4e2d\n",
    }[ending]
    path = tmp_path / f"in.{ending}"
    path.write_bytes(content.encode(encoding))
    assert [row["text"] for _, row in open_source(path).rows()] == ["é a\U0001f600", "\u4e2d"]
    run_job(open_source(path), tmp_path / f"out.{ending}", Simple(upper), identity={}, batch_rows=1)
    assert "É A\U0001f600" in (tmp_path / f"out.{ending}").read_text("utf-8")


def test_long_files_in_another_encoding(tmp_path: Path) -> None:
    lines = [f"{n} \u4e2d\U0001f600" for n in range(50_000)]
    (tmp_path / "in.txt").write_bytes("\n".join(lines).encode("utf-16"))
    assert [row["text"] for _, row in open_source(tmp_path / "in.txt").rows()] == lines


def test_what_is_in_no_known_encoding_is_said_with_advice(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes("id,text\n1,Käse\n".encode("latin-1"))
    with pytest.raises(BadFile, match=r"must be UTF-8, line 2 is not .*--encoding cp1252"):
        open_source(tmp_path / "in.csv")
    (tmp_path / "half.csv").write_bytes("id,text\n1,a\n".encode("utf-16") + b"\x00")
    with pytest.raises(BadFile, match="must be UTF-16, as its first bytes say"):
        list(open_source(tmp_path / "half.csv").rows())


def test_a_first_record_in_place_of_names_is_not_shown(tmp_path: Path) -> None:
    from voile.places.columns import read_degrees

    (tmp_path / "in.csv").write_text("4711;Wilhelmina;52.5\n4712;Ada;48.8\n")
    with pytest.raises(InvalidInput) as refused:
        read_degrees(tmp_path / "in.csv")
    assert "Wilhelmina" not in str(refused.value)
    assert "one of 3 whose names are not usual ones" in str(refused.value).replace(
        "the column of in.csv must be ", ""
    )


def test_a_file_without_a_line_of_names(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b'\xef\xbb\xbf17;"a\nb"\n\n18;c\n')
    source = open_source(tmp_path / "in.csv", header=False)
    assert source.columns == ("c1", "c2")
    assert list(source.rows()) == [(1, {"c1": "17", "c2": "a\nb"}), (4, {"c1": "18", "c2": "c"})]
    run_job(
        source,
        tmp_path / "out.csv",
        Simple(lambda batch: {"c2": ["x"] * len(batch)}),
        identity={},
        batch_rows=1,
    )
    assert (tmp_path / "out.csv").read_text() == "c1;c2\n17;x\n18;x\n"
    (tmp_path / "in.jsonl").write_text("{}\n")
    with pytest.raises(InvalidInput, match="only a CSV file can be without a line of names"):
        open_source(tmp_path / "in.jsonl", header=False)
