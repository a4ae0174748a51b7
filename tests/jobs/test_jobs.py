"""Every row once, in order, whatever happens on the way."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.files import disk
from voile.jobs import Batch, OnError, Planned, Replaced, RowProblem, open_source, run_job
from voile.jobs import workspace as workspace_module
from voile.ledger import Bill


class Count:
    """A releaser that notes each draw in a file, so that a second draw for a row shows."""

    def __init__(self, ledger: Path, *, slow: float = 0.0) -> None:
        self.ledger, self.slow = ledger, slow

    def plan(self, batch: Batch) -> Planned:
        missing = [i for i, text in enumerate(batch.column("text")) if not text]
        problems = dict.fromkeys(missing, RowProblem("the text is missing"))
        return Planned(batch, lambda: Bill.listed([None] * len(batch)), problems)

    def draw(self, planned: Planned, paid: Any, rng: Any) -> Replaced:
        time.sleep(self.slow)
        batch: Batch = planned.secrets
        with self.ledger.open("a") as file:
            file.write(f"{batch.part}\n")
        texts = [text and text * 2 for text in batch.column("text")]
        return Replaced({"text": texts}, {"rows seen": len(batch.rows)})


class MakeCount:
    def __init__(self, ledger: Path, slow: float = 0.0) -> None:
        self.ledger, self.slow = ledger, slow

    def __call__(self) -> Count:
        return Count(self.ledger, slow=self.slow)


def write_csv(path: Path, rows: int) -> Path:
    lines = "".join(f'{i},"t{i}, ""x""\nsecond"\n' for i in range(rows))
    path.write_text("id,text\n" + lines)
    return path


def read_csv(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_row_once_and_in_order(tmp_path: Path, jobs: int) -> None:
    source = write_csv(tmp_path / "in.csv", 25)
    report = run_job(
        open_source(source),
        tmp_path / "out.csv",
        MakeCount(tmp_path / "ledger"),
        identity={"a": 1},
        batch_rows=4,
        jobs=jobs,
    )
    table = read_csv(tmp_path / "out.csv")
    assert table[0] == ["id", "text"]
    assert table[1:] == [[str(i), f't{i}, "x"\nsecond' * 2] for i in range(25)]
    assert (report.rows, report.parts, report.resumed) == (25, 7, 0)
    assert report.totals == {"rows seen": 25}
    assert not (tmp_path / "out.csv.voile-job").exists()


def test_formats_keep_what_they_hold(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    make = MakeCount(tmp_path / "ledger")
    (tmp_path / "a.jsonl").write_text('{"text": "é", "deep": [1, {"k": null}]}\n{"text": "b"}\n')
    run_job(open_source(tmp_path / "a.jsonl"), tmp_path / "b.jsonl", make, identity={})
    lines = (tmp_path / "b.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"text": "éé", "deep": [1, {"k": None}]},
        {"text": "bb"},
    ]

    table = pyarrow.table(
        {"text": ["x", "y", "z"], "day": pyarrow.array([1, 2, 3], pyarrow.date32())}
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    run_job(
        open_source(tmp_path / "a.parquet"), tmp_path / "b.parquet", make, identity={}, batch_rows=2
    )
    released = parquet.read_table(tmp_path / "b.parquet")
    assert released.schema.equals(table.schema)
    assert released["text"].to_pylist() == ["xx", "yy", "zz"]

    with gzip.open(tmp_path / "a.txt.gz", "wt") as file:
        file.write("one\ntwo\n")
    run_job(
        open_source(tmp_path / "a.txt.gz"), tmp_path / "b.txt.gz", make, identity={}, batch_rows=1
    )
    with gzip.open(tmp_path / "b.txt.gz", "rt") as file:
        assert file.read() == "oneone\ntwotwo\n"


def test_a_bad_row_in_another_process_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('text\na\n""\n')
    make = MakeCount(tmp_path / "ledger")
    source = open_source(tmp_path / "in.csv")
    with pytest.raises(InvalidInput, match="line 3: the text is missing"):
        run_job(source, tmp_path / "out.csv", make, identity={}, jobs=2, batch_rows=1)
    assert {p.name for p in tmp_path.iterdir()} <= {"in.csv", "ledger"}


def test_a_bad_row_is_named_by_its_line_and_the_policy_decides(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text('id,text\n1,"a\nb"\n2,\n3,c,extra\n4,d\n')
    make = MakeCount(tmp_path / "ledger")
    with pytest.raises(InvalidInput, match="line 4: the text is missing"):
        run_job(open_source(source), tmp_path / "out.csv", make, identity={})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "ledger"]
    kept = run_job(
        open_source(source), tmp_path / "skip.csv", make, identity={}, on_error=OnError.SKIP
    )
    assert (kept.rows, kept.skipped) == (2, 2)
    assert read_csv(tmp_path / "skip.csv")[1:] == [["1", "a\nba\nb"], ["4", "dd"]]
    masked = run_job(
        open_source(source), tmp_path / "mask.csv", make, identity={}, on_error=OnError.MASK
    )
    assert masked.masked == 2
    assert read_csv(tmp_path / "mask.csv")[2:4] == [["", ""], ["", ""]]


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_jobs import MakeCount
from voile.jobs import open_source, run_job
if __name__ == "__main__":
    folder = Path({folder!r})
    run_job(open_source(folder / "in.csv"), folder / "out.csv",
            MakeCount(folder / "ledger", 0.05), identity={{}}, batch_rows=5, jobs={jobs})
"""


@pytest.mark.parametrize(("jobs", "after"), [(1, 2), (1, 9), (2, 4)])
def test_kill_and_resume_draws_no_published_row_twice(
    tmp_path: Path, jobs: int, after: int
) -> None:
    """Kill −9 once some parts exist: the rest is drawn, what existed keeps its bytes."""
    write_csv(tmp_path / "in.csv", 100)
    script = tmp_path / "job.py"
    script.write_text(
        KILLED.format(tests=str(Path(__file__).parent), folder=str(tmp_path), jobs=jobs)
    )
    job = subprocess.Popen([sys.executable, str(script)])
    work = tmp_path / "out.csv.voile-job"
    while len(list(work.rglob("part-*.json"))) < after:
        assert job.poll() is None, "the job ended before it could be killed"
        time.sleep(0.01)
    job.send_signal(signal.SIGKILL)
    job.wait()
    time.sleep(1.2 if jobs > 1 else 0)  # the workers notice that they are orphans
    assert not (tmp_path / "out.csv").exists()
    before = {p.name: p.read_bytes() for p in work.rglob("part-*.json")}
    drawn_before = (tmp_path / "ledger").read_text().split()
    report = run_job(
        open_source(tmp_path / "in.csv"),
        tmp_path / "out.csv",
        MakeCount(tmp_path / "ledger"),
        identity={},
        batch_rows=5,
    )
    drawn_after = (tmp_path / "ledger").read_text().split()[len(drawn_before) :]
    kept = {str(int(name[5:13])) for name in before}
    assert kept.isdisjoint(drawn_after)
    assert report.resumed == len(before)
    table = read_csv(tmp_path / "out.csv")[1:]
    assert table == [[str(i), f't{i}, "x"\nsecond' * 2] for i in range(100)]


def test_a_rename_that_was_interrupted_is_finished(tmp_path: Path) -> None:
    source = open_source(write_csv(tmp_path / "in.csv", 6))
    make = MakeCount(tmp_path / "ledger")

    def stop(self: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace_module.Workspace, "remove", stop)
        with pytest.raises(KeyboardInterrupt):
            run_job(source, tmp_path / "out.csv", make, identity={})
    first = (tmp_path / "out.csv").read_bytes()
    run_job(source, tmp_path / "out.csv", make, identity={})
    assert (tmp_path / "out.csv").read_bytes() == first
    assert (tmp_path / "ledger").read_text() == "0\n"
    assert not (tmp_path / "out.csv.voile-job").exists()


def test_other_settings_do_not_continue_a_job(tmp_path: Path) -> None:
    source = open_source(write_csv(tmp_path / "in.csv", 6))
    space = workspace_module.Workspace(tmp_path / "out.csv")
    space.open({"epsilon": 1.0})
    with pytest.raises(CannotWrite, match=r"differs in .*epsilon"):
        run_job(source, tmp_path / "out.csv", MakeCount(tmp_path / "x"), identity={"epsilon": 2.0})


def test_two_jobs_do_not_write_one_output(tmp_path: Path) -> None:
    space = workspace_module.Workspace(tmp_path / "out.csv")
    space.open({})
    with space.locked(), pytest.raises(CannotWrite, match="another process"), space.locked():
        pass


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("a.csv", b"", InvalidInput, "empty"),
        ("a.csv", b"id,text\n", InvalidInput, "at least one row"),
        ("a.csv", b"id,id\n1,2\n", InvalidInput, "distinct"),
        ("a.csv", b"text\nok\n\xff\xfe\n", BadFile, "line 3"),
        ("a.csv", b'text\n"open\n', BadFile, "line 2"),
        ("a.jsonl", b"", InvalidInput, "at least one row"),
        ("a.txt", b"", InvalidInput, "at least one row"),
        ("a.parquet", b"not parquet", BadFile, "Parquet"),
        ("a.csv.gz", b"not gzip", BadFile, "gzip"),
        ("a.doc", b"x", InvalidInput, "must end in"),
    ],
)
def test_bad_files_are_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, error: type[Exception], words: str
) -> None:
    (tmp_path / name).write_bytes(content)

    def release() -> None:
        source = open_source(tmp_path / name)
        run_job(source, tmp_path / f"out-{name}", MakeCount(tmp_path / "x"), identity={})

    with pytest.raises(error, match=words) as caught:
        release()
    assert "\n" not in str(caught.value)
    assert {p.name for p in tmp_path.iterdir()} <= {name, "x"}  # nothing half-written


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    source = open_source(write_csv(tmp_path / "in.csv", 3))
    make = MakeCount(tmp_path / "ledger")
    with pytest.raises(CannotWrite, match="another file"):
        run_job(source, tmp_path / "in.csv", make, identity={})
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(CannotWrite, match="exists already"):
        run_job(source, tmp_path / "there.csv", make, identity={})
    assert (tmp_path / "there.csv").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="cannot be written"):
        run_job(source, tmp_path / "file" / "out.csv", make, identity={})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_leaves_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source(write_csv(tmp_path / "in.csv", 3))

    def full(path: Path, mode: str, **how: Any) -> Any:
        return open("/dev/full", "wb", buffering=0)  # the system's own ENOSPC

    monkeypatch.setattr(disk, "open_private", full)
    with pytest.raises(CannotWrite, match="disk is full"):
        run_job(source, tmp_path / "out.csv", MakeCount(tmp_path / "x"), identity={})
    assert not (tmp_path / "out.csv").exists()
    monkeypatch.undo()
    run_job(source, tmp_path / "out.csv", MakeCount(tmp_path / "x"), identity={})
    assert len(read_csv(tmp_path / "out.csv")) == 4


def test_a_line_of_five_megabytes_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("text\n" + "word " * 2**20 + "\n")
    run_job(
        open_source(tmp_path / "in.csv"),
        tmp_path / "out.csv",
        MakeCount(tmp_path / "x"),
        identity={},
    )
    assert (tmp_path / "out.csv").stat().st_size > 10**7


def test_no_release_stands_without_its_guarantee(tmp_path: Path) -> None:
    """It is written before the output has its name; if that fails, nothing is published."""
    source = tmp_path / "in.csv"
    source.write_text("text\na\nb\n")
    out, log = tmp_path / "out.csv", tmp_path / "log"

    def killed(report: object) -> dict[str, object]:
        assert not out.exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_job(open_source(source), out, lambda: Count(log), identity={}, guarantee=killed)
    assert not out.exists()
    report = run_job(
        open_source(source), out, lambda: Count(log), identity={}, guarantee=lambda r: {"n": r.rows}
    )
    assert report.guarantee == json.loads((tmp_path / "out.csv.guarantee.json").read_text())
    assert report.guarantee == {"n": 2}
    assert out.exists()
    assert log.read_text() == "0\n"  # drawn once, before the interrupt
