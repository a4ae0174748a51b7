"""How far a job says it is: by rows, by bytes, or not at all where neither is known."""

from __future__ import annotations

import gzip

import pyarrow
import pyarrow.parquet
import pytest

from releasers import Simple
from voile.jobs import OnError, open_source, run_job
from voile.progress import Step, heard_by

ROWS = 10


def steps(path, **options) -> list[Step]:
    heard: list[Step] = []
    with heard_by(heard.append):
        run_job(
            open_source(path),
            path.parent / f"out.{path.name}",
            Simple(lambda batch: {"text": list(batch.column("text"))}),
            identity={},
            batch_rows=3,
            **options,
        )
    return [step for step in heard if step.what.startswith("releasing")]


def test_a_parquet_file_by_its_rows(tmp_path) -> None:
    texts = ["a", None, *"bcdefghi"]
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), tmp_path / "in.parquet")
    told = steps(tmp_path / "in.parquet", on_error=OnError.SKIP)
    assert [step.done for step in told] == [3, 6, 9, 10]
    assert {step.total for step in told} == {ROWS}


def test_lines_by_their_bytes(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("text\n" + "a\n" * ROWS)
    told = steps(tmp_path / "in.csv")
    assert {step.total for step in told} == {5 + 2 * ROWS}
    assert [step.done for step in told] == [6, 12, 18, 20]


@pytest.mark.parametrize("name", ["in.csv.gz", "in.txt.gz"])
def test_what_is_packed_has_no_end_in_sight(tmp_path, name) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"text\n" + b"a\n" * ROWS))
    assert {(step.done, step.total) for step in steps(tmp_path / name)} == {(None, None)}
