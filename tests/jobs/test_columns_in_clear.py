"""Columns beside what is protected: refused until named, told apart by looks, never quoted."""

import json
from pathlib import Path

import pytest

from releasers import Simple
from voile.errors import CannotWrite, InvalidInput
from voile.files.column_signs import sign_of
from voile.jobs import columns_in_clear, open_source, run_job
from voile.jobs.release import Columns
from voile.report.result import plain

ROWS = ["ann@example.org,5,The cat", "bob@example.org,4,A dog"]


def told(clear):
    """What a guarantee file says of them."""
    return plain(Columns.of(clear))


@pytest.fixture
def source(tmp_path: Path):
    file = tmp_path / "in.csv"
    file.write_text("mail,stars,text\n" + "\n".join(ROWS) + "\n")
    return open_source(file)


def test_every_other_column_must_be_named(source) -> None:
    with pytest.raises(InvalidInput) as refused:
        columns_in_clear(source, changed=["text"])
    said = str(refused.value)
    assert "mail (looks like e-mail addresses), stars" in said
    assert "example.org" not in said
    with pytest.raises(InvalidInput, match="neither for mail"):
        columns_in_clear(source, changed=["text"], passing=["stars"])
    clear = columns_in_clear(source, changed=["text"], passing=["stars"], dropping=["mail"])
    assert told(clear) == {
        "passed_in_clear": ["stars"],
        "passed_all": False,
        "dropped": ["mail"],
        "looks_like_identifiers": {},
    }


def test_all_is_recorded_with_what_it_let_through(source) -> None:
    facts = told(columns_in_clear(source, changed=["text"], passing="all"))
    assert facts["passed_all"]
    assert facts["passed_in_clear"] == ["mail", "stars"]
    assert facts["looks_like_identifiers"] == {"mail": "e-mail addresses"}
    some = columns_in_clear(source, changed=["text"], passing="all", dropping=["mail"])
    assert (some.passed, some.dropped) == (("stars",), ("mail",))


@pytest.mark.parametrize(
    ("passing", "dropping", "words"),
    [
        (["star"], [], "it has no 'star'"),
        ("all", ["email"], "it has no 'email'"),
        (["text"], [], "what is protected"),
        ("all", ["text"], "what is protected"),
        (["stars"], ["stars"], "in both"),
    ],
)
def test_wrong_names_are_refused(source, passing, dropping, words) -> None:
    with pytest.raises(InvalidInput, match=words):
        columns_in_clear(source, changed=["text"], passing=passing, dropping=dropping)


def test_a_column_alone_needs_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The cat\n")
    (tmp_path / "a.csv").write_text("text\nThe cat\n")
    for name in ("a.txt", "a.csv"):
        assert columns_in_clear(open_source(tmp_path / name), changed=["text"]).passed == ()


def test_a_file_without_a_header_is_not_read_aloud(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("17,Ada was diagnosed,0.5\n18,Bob,0.6\n")
    with pytest.raises(InvalidInput) as refused:
        columns_in_clear(open_source(tmp_path / "bare.csv"), changed=["17"])
    assert "Ada" not in str(refused.value)
    assert "column 2" in str(refused.value)


def test_a_name_that_is_not_a_usual_one_is_shown_once_the_user_typed_it(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("text,Ann Smith,stars\nThe cat,x,5\n")
    source = open_source(tmp_path / "in.csv")
    with pytest.raises(InvalidInput, match="neither for column 2") as refused:
        columns_in_clear(source, changed=["text"], passing=["stars"])
    assert "Smith" not in str(refused.value)
    everything = columns_in_clear(source, changed=["text"], passing="all")
    assert told(everything)["passed_in_clear"] == ["column 2", "stars"]
    named = columns_in_clear(source, changed=["text"], passing=["Ann Smith", "stars"])
    assert told(named)["passed_in_clear"] == ["Ann Smith", "stars"]


def test_a_field_of_later_records_passes_by_name_alone(tmp_path: Path) -> None:
    """Nobody looked at it or listed it when all were passed."""
    lines = ['{"text": "a", "stars": 1}'] * 1000 + ['{"text": "a", "mail": "ann@example.org"}']
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    source = open_source(tmp_path / "in.jsonl")
    rows = [row for _, row in source.rows()]
    everything = columns_in_clear(source, changed=["text"], passing="all").strangers(rows)
    assert list(everything) == [1000]
    assert "this one too" in everything[1000].reason
    assert "mail" not in everything[1000].reason
    named = columns_in_clear(source, changed=["text"], passing=["stars", "mail"])
    assert named.strangers(rows) == {}
    assert told(named)["passed_in_clear"] == ["stars", "mail"]
    assert told(named)["looks_like_identifiers"] == {"mail": "e-mail addresses"}
    with pytest.raises(InvalidInput, match="it has no 'mial'"):
        columns_in_clear(source, changed=["text"], passing="all", dropping=["mial"])


@pytest.mark.parametrize(
    ("name", "values", "sign"),
    [
        ("customerEmail", [], "e-mail addresses"),
        ("full name", [], "names"),
        ("street_address", [], "addresses"),
        ("a", ["x", "write to ann@example.org"], "e-mail addresses"),
        ("a", ["GB82 WEST 1234 5698 7654 32"], "accounts and cards"),
        ("a", ["4111111111111111", "1"], "accounts and cards"),
        ("a", ["+44 20 7946 0958", "(020) 7946 0123"], "phone numbers"),
        ("a", ["078-05-1120"], "official numbers"),
        ("a", ["1954-03-02", "2001-11-30"], "dates of birth"),
        ("a", ["2024-03-02", "2025-11-30"], ""),
        ("a", ["a long remark about somebody else here"], "free text"),
        ("a", [f"A{i}" for i in range(50)], "values that are nearly all different"),
        ("a", [f"{i / 7:.4f}" for i in range(50)], ""),
        ("a", ["up", "down"] * 30, ""),
        ("a", [None, "", {"b": 1}], ""),
        ("stars", [1, 2.5, True], ""),
        ("cardinality", [], ""),
        ("lat2", [], "places"),
        ("dropofflongitude", [], "places"),
        ("a", ["POINT (-73.99 40.75)"], "places"),
        ("a", ["SRID=4326;LINESTRING Z (2 48 1, 3 49 1)"], "places"),
        ("a", ['{"type": "Point", "coordinates": [2.3, 48.8]}'], "places"),
        ("a", ["(40.75, -73.99)", "48.8;2.3"], "places"),
        ("odometer", ["583959.0", "583960.5"], ""),
    ],
)
def test_what_a_column_looks_like(name: str, values: list, sign: str) -> None:
    assert sign_of(name, values) == sign


def _shout(batch):
    return {"text": [value.upper() for value in batch.column("text")]}


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl"])
def test_a_dropped_column_is_read_and_not_written(tmp_path: Path, name: str) -> None:
    rows = [{"who": "ann", "text": "a", "n": 1}, {"who": "bob", "text": "b", "n": 2}]
    lines = [json.dumps(row) for row in rows]
    if name.endswith("csv"):
        lines = ["who,text,n", *(",".join(map(str, row.values())) for row in rows)]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    seen = []

    def transform(batch):
        seen.extend(batch.column("who"))
        return _shout(batch)

    out = tmp_path / ("out" + Path(name).suffix)
    source = open_source(tmp_path / name)
    run_job(source, out, Simple(transform), identity={}, dropped_columns=["who"])
    assert seen == ["ann", "bob"]
    written = out.read_text()
    assert "who" not in written
    assert "ann" not in written
    assert open_source(out).columns == ("text", "n")


def test_dropped_columns_reach_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    table = pyarrow.table({"who": ["ann", "bob"], "text": ["a", "b"], "n": [1, 2]})
    parquet.write_table(table, tmp_path / "in.parquet")
    source = open_source(tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    run_job(source, out, Simple(_shout), identity={}, dropped_columns=["who"])
    assert parquet.read_table(out).to_pydict() == {"text": ["A", "B"], "n": [1, 2]}


def test_a_restart_that_drops_other_columns_is_another_job(tmp_path: Path) -> None:
    """Else parts with the column and parts without it would be joined."""
    (tmp_path / "in.csv").write_text("who,text\n" + "ann,a\n" * 6)
    source, calls = open_source(tmp_path / "in.csv"), []

    def failing(batch):
        calls.append(batch.part)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return _shout(batch)

    def run(transform, dropped):
        run_job(
            source, tmp_path / "out.csv", Simple(transform), identity={}, batch_rows=2,
            dropped_columns=dropped,
        )  # fmt: skip

    with pytest.raises(KeyboardInterrupt):
        run(failing, [])
    with pytest.raises(CannotWrite, match="differs in dropped_columns"):
        run(_shout, ["who"])
    run(_shout, [])
    assert (tmp_path / "out.csv").read_text() == "who,text\n" + "ann,A\n" * 6
