"""A fault in the data is a bad row or a clean error: never a fault of ours, never a charge."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import os
import threading
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from releasers import Simple
from voile.errors import BadFile, InvalidInput, VoileError
from voile.files.pieces import MOST_NESTED
from voile.jobs import Batch, OnError, RowProblem, location, open_source, run_job
from voile.jobs.draw import PartTask

same = Simple(lambda batch: {"text": list(batch.column("text"))})


def released(path: Path, out: str, on_error: str = "fail") -> Path:
    target = path.parent / out
    run_job(open_source(path), target, same, identity={}, on_error=OnError(on_error))
    return target


# ── JSON ───────────────────────────────────────────────────────────────────────────────────────

DEEP = '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}"
BAD_LINES = {
    "lone surrogate": '{"text": "\\ud83d"}',
    "lone surrogate in a key": '{"text": "a", "\\ud83d": 1}',
    "too deep to read": DEEP,
    "deep": '{"text": ' + "[" * (MOST_NESTED + 1) + "]" * (MOST_NESTED + 1) + "}",
    "endless number": '{"text": ' + "9" * 5000 + "}",
    "no JSON": '{"text": Wilhelmina}',
    "no object": '["Wilhelmina"]',
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_of_json_obeys_the_policy(tmp_path: Path, name: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "good"}\n' + BAD_LINES[name] + '\n{"text": "fine"}\n')
    with pytest.raises(InvalidInput, match="line 2: ") as refused:
        released(path, "out.jsonl")
    assert "Wilhelmina" not in str(refused.value)
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl"]
    out = released(path, "out.jsonl", "skip")
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == ["good", "fine"]


def test_whole_characters_and_shallow_nesting_pass(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    row = {"text": "\U0001f600", "deep": [[[{"a": [1, 2]}]]]}
    path.write_text(json.dumps(row) + "\n")
    assert json.loads(released(path, "out.jsonl").read_text()) == row
    found = list(csv.DictReader(released(path, "out.csv").read_text().splitlines()))
    assert json.loads(found[0]["deep"]) == row["deep"]


@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_keys_that_first_occur_later_are_not_lost_in_csv(tmp_path: Path, on_error: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b", "Wilhelmina": 1}\n{"text": "c"}\n')
    if on_error == "fail":
        with pytest.raises(InvalidInput, match="line 2: it has 1 field that the first record") as e:
            released(path, "out.csv")
        assert "Wilhelmina" not in str(e.value)
        assert not (tmp_path / "out.csv").exists()
    else:
        assert released(path, "out.csv", "skip").read_text() == "text\na\nc\n"
    rows = released(path, "out.jsonl").read_text().splitlines()
    assert json.loads(rows[1]) == {"text": "b", "Wilhelmina": 1}


def test_a_text_of_two_lines_does_not_become_two_rows(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a\\nb"}\n{"text": "c"}\n')
    with pytest.raises(InvalidInput, match="line 1: its text has a line end"):
        released(path, "out.txt")
    assert released(path, "out.txt", "skip").read_text() == "c\n"


# ── Parquet ────────────────────────────────────────────────────────────────────────────────────

NOON = datetime.datetime(2024, 5, 6, 12, 0, 1)
COLUMNS: dict[str, Any] = {
    "decimal": pyarrow.array([decimal.Decimal("1.50"), None]),
    "date": pyarrow.array([NOON.date(), None]),
    "time": pyarrow.array([NOON.time(), None]),
    "time ns": pyarrow.array([1, None], pyarrow.time64("ns")),
    "timestamp": pyarrow.array([NOON, None]),
    "timestamp ns": pyarrow.array([1_700_000_000_000_000_001, None], pyarrow.timestamp("ns")),
    "timestamp zone": pyarrow.array([1, None], pyarrow.timestamp("ns", tz="Europe/Paris")),
    "duration": pyarrow.array([1, None], pyarrow.duration("ns")),
    "half": pyarrow.array([1.5, None], pyarrow.float16()),
    "large": pyarrow.array(["x", None], pyarrow.large_string()),
    "dictionary": pyarrow.array(["x", None]).dictionary_encode(),
    "nothing": pyarrow.array([None, None]),
    "integers": pyarrow.array([2**63, None], pyarrow.uint64()),
    "truth": pyarrow.array([True, None]),
    "list": pyarrow.array([[1, 2], None]),
    "struct": pyarrow.array([{"a": "x"}, None]),
    "bytes": pyarrow.array([b"\xff\x00", None]),
    "fixed bytes": pyarrow.array([b"ab", None], pyarrow.binary(2)),
    "list of bytes": pyarrow.array([[b"a"], None]),
    "list of timestamps": pyarrow.array([[1], None], pyarrow.list_(pyarrow.timestamp("ns"))),
    "map": pyarrow.array([[("a", 1)], None], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
}
NOT_IN = {
    "csv": {"list", "struct", "bytes", "fixed bytes", "list of bytes", "list of timestamps", "map"},
    "jsonl": {"bytes", "fixed bytes", "list of bytes", "list of timestamps"},
    "parquet": set(),
}


@pytest.mark.parametrize("ending", NOT_IN)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_any_type_passes_or_is_refused_before_anything_is_drawn(
    tmp_path: Path, name: str, ending: str
) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / f"out.{ending}"
    table = pyarrow.table({"text": ["a", "b"], "other": COLUMNS[name]})
    pyarrow.parquet.write_table(table, path)
    if name in NOT_IN[ending]:

        def never(batch: Batch) -> dict[str, list[str]]:
            raise AssertionError("drawn")

        with pytest.raises(InvalidInput, match=f"a .{ending} output must be able to hold every"):
            run_job(open_source(path), out, Simple(never), identity={})
        assert sorted(os.listdir(tmp_path)) == ["in.parquet"]
        return
    run_job(open_source(path), out, same, identity={})
    if ending == "parquet":
        assert pyarrow.parquet.read_table(out).equals(pyarrow.parquet.read_table(path))
    else:
        assert [row["text"] for _, row in open_source(out).rows()] == ["a", "b"]  # type: ignore[index]


def test_skipped_and_masked_rows_of_parquet_keep_the_others_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    when = pyarrow.array([1, 2, 3], pyarrow.timestamp("ns"))
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a", None, "c"], "when": when}), path)

    def missing(batch: Batch) -> dict[int, RowProblem]:
        texts = batch.column("text")
        return {i: RowProblem("the text is missing") for i, t in enumerate(texts) if t is None}

    picky = Simple(same.columns, missing)

    for policy, places in (("skip", [1, 3]), ("mask", [1, None, 3])):
        out = tmp_path / f"{policy}.parquet"
        run_job(open_source(path), out, picky, identity={}, on_error=OnError(policy))
        found = pyarrow.parquet.read_table(out)
        assert found["when"].cast(pyarrow.int64()).to_pylist() == places
        assert found.schema.field("when").type == pyarrow.timestamp("ns")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    table = pyarrow.Table.from_arrays(
        [pyarrow.array(["a"]), pyarrow.array(["b"])], ["text", "text"]
    )
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(InvalidInput, match="must have distinct column names"):
        open_source(path)


def test_parquet_without_rows_or_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": pyarrow.array([], pyarrow.string())}), path)
    with pytest.raises(InvalidInput, match="at least one row"):
        open_source(path)
    path.write_bytes(b"PAR1PAR1")
    with pytest.raises(BadFile):
        open_source(path)


# ── what is no file, and generators ───────────────────────────────────────────────────────────


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "in.csv"
    os.mkfifo(pipe)
    for read in (open_source, _labels, _design, _recipe):
        found: list[BaseException] = []

        def run(read: Any = read, found: list[BaseException] = found) -> None:
            try:
                read(pipe)
            except VoileError as problem:
                found.append(problem)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(60)
        assert len(found) == 1, "it waits for a writer"
        assert "it is a pipe; write its content to a file first" in str(found[0])


def _labels(path: Path) -> object:
    from voile.labels import read_labelled

    return read_labelled(path, label="y")


def _design(path: Path) -> object:
    from voile.storage import load

    return load(path)


def _recipe(path: Path) -> object:
    from voile.labels.recipe_file import load_recipe

    return load_recipe(path)


def test_a_part_draws_from_its_own_key_whoever_makes_it(tmp_path: Path) -> None:
    """Nothing is random before the draw, and two attempts at one part draw the same."""
    (tmp_path / "in.csv").write_text("text\na\nb\n")
    source = open_source(tmp_path / "in.csv")
    piece = next(source.pieces(size=2))

    def task(key: int, seed: int | None = None) -> PartTask:
        out = location(tmp_path / "out.csv")
        return PartTask("job", piece, source, out, ("text",), None, OnError.FAIL, key, seed=seed)

    def numbers(made: PartTask) -> list[int]:
        return made.rng().integers(2**60, size=4).tolist()

    assert numbers(task(3)) == numbers(task(3)) != numbers(task(4))
    assert numbers(task(3, seed=1)) == numbers(task(4, seed=1)) != numbers(task(3, seed=2))
