"""A file that changes while a job reads it, or between a job and its restart, is not released."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.files.lines import Lines
from voile.jobs import Batch, Charging, Planned, Replaced, WhenSpent, open_source, run_job
from voile.ledger import Bill, Budget, Key, Kind, Ledger

ROWS = 12


def content_of(ending: str, texts: list[str]) -> bytes:
    if ending == "parquet":
        import pyarrow
        import pyarrow.parquet

        out = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(pyarrow.table({"text": texts}), out)
        return out.getvalue().to_pybytes()
    lines = {
        "csv": ["text", *texts],
        "jsonl": [json.dumps({"text": text}) for text in texts],
        "txt": texts,
    }[ending.removesuffix(".gz")]
    content = "".join(line + "\n" for line in lines).encode()
    return gzip.compress(content, mtime=0) if ending.endswith(".gz") else content


def rewritten(texts: list[str]) -> list[str]:
    return ["other"[: len(t)].ljust(len(t)) for t in texts]


CHANGES: dict[str, Callable[[list[str]], list[str]]] = {
    "rewritten": rewritten,
    "cut off": lambda texts: texts[:5],
    "appended": lambda texts: [*texts, "late"],
    "one sign": lambda texts: [*texts[:-1], texts[-1].swapcase()],
}


class Same:
    """Passes the text on, and does something to the world at one part."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        self.at, self.act = at, act

    def plan(self, batch: Batch) -> Planned:
        if batch.part == self.at:
            self.act()
        return Planned(batch, lambda: Bill.listed([((1.0, 0.0, 1),)] * len(batch)))

    def draw(self, planned: Planned, paid: object, rng: object) -> Replaced:
        return Replaced({"text": planned.secrets.column("text")})


def nothing() -> None:
    """Do nothing."""


@pytest.mark.parametrize("ending", ["csv", "jsonl", "txt", "csv.gz", "parquet"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("at", [0, 2])
def test_a_change_on_the_way_gives_no_release(
    tmp_path: Path, ending: str, change: str, at: int
) -> None:
    texts = [f"text{n:02d}" for n in range(ROWS)]
    path, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    path.write_bytes(content_of(ending, texts))

    def alter() -> None:
        path.write_bytes(content_of(ending, CHANGES[change](texts)))

    with pytest.raises((InvalidInput, BadFile)) as refused:
        run_job(open_source(path), out, lambda: Same(at, alter), identity={}, batch_rows=4)
    said = str(refused.value)
    damaged = ending == "csv.gz" and said == "in.csv.gz is no gzip file, or a damaged one"
    assert damaged or said.startswith(f"in.{ending} must not change while it is read")
    assert sorted(os.listdir(tmp_path)) == [path.name]


def test_a_changed_header_gives_no_release(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("text,more\na,b\nc,d\n")
    with pytest.raises(InvalidInput, match="must not change while it is read"):
        run_job(
            open_source(path),
            tmp_path / "out.csv",
            lambda: Same(0, lambda: path.write_text("more,text\na,b\nc,d\n")),
            identity={},
        )
    assert sorted(os.listdir(tmp_path)) == ["in.csv"]


def test_a_time_stamp_alone_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("text\na\nb\n")
    job = lambda: Same(0, path.touch)  # noqa: E731
    run_job(open_source(path), tmp_path / "out.csv", job, identity={})
    assert (tmp_path / "out.csv").read_text() == "text\na\nb\n"


def test_a_file_that_vanished_leaves_the_parts_until_it_is_back(tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("text\na\nb\n")
    source = open_source(path)
    away = tmp_path / "away.csv"
    with pytest.raises(CannotWrite, match="must still be there"):
        run_job(source, out, lambda: Same(0, lambda: path.rename(away)), identity={})
    assert not out.exists()
    away.rename(path)

    def fail() -> None:
        raise AssertionError("drawn again")

    run_job(open_source(path), out, lambda: Same(0, fail), identity={})
    assert out.read_text() == path.read_text()


def test_an_edit_in_the_middle_between_a_job_and_its_restart(tmp_path: Path) -> None:
    """Same size, same time stamp, far from both ends: the parts that exist know better."""
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("text\n" + "".join(f"{n:040d}\n" for n in range(90_000)))
    before, stamp = path.read_bytes(), path.stat()
    folder = tmp_path / "out.csv.voile-job"

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_job(open_source(path), out, lambda: Same(8, interrupt), identity={}, batch_rows=10_000)
    kept = sorted(folder.rglob("part-*"))
    assert len(kept) == 16
    middle = len(before) // 2
    with path.open("r+b") as file:
        file.seek(middle)
        file.write(b"x")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert path.stat().st_size == stamp.st_size
    with pytest.raises(CannotWrite, match="must be what the interrupted job read") as refused:
        run_job(open_source(path), out, lambda: Same(99, nothing), identity={}, batch_rows=10_000)
    assert "from line 40002 on" in str(refused.value)
    assert not out.exists()
    assert sorted(folder.rglob("part-*")) == kept
    path.write_bytes(before)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    found = run_job(
        open_source(path), out, lambda: Same(99, nothing), identity={}, batch_rows=10_000
    )
    assert (found.resumed, found.rows) == (8, 90_000)
    assert out.read_bytes() == before


def test_a_job_that_was_refused_for_it_charges_nobody(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("person,text\na,x\nb,y\na,z\n")
    key = Key(bytes(32))
    ledger = Ledger.create(str(tmp_path / "ledger.db"), key)
    from voile.core.guarantee import Basis, Guarantee
    from voile.metrics import euclidean

    ledger.agree(Kind.of(Guarantee(1.0, euclidean(unit="km"), "word", Basis.PROVED)), Budget(10.0))
    charging = Charging(str(tmp_path / "ledger.db"), key, "person", WhenSpent.REFUSE)
    with pytest.raises(InvalidInput, match="must not change"):
        run_job(
            open_source(path),
            tmp_path / "out.csv",
            lambda: Same(2, lambda: path.write_text("person,text\na,x\nb,y\na,w\n")),
            identity={},
            batch_rows=1,
            charging=charging,
        )
    assert [rows for *_, rows in ledger.accounts()] == [0, 0]


def test_lines_are_what_the_file_holds(tmp_path: Path) -> None:
    import io

    content = b"".join(b"x" * (n % 7000) + b"\n" for n in range(2000)) + b"end"
    for size in (1, 3, 64, 1999, 5000):
        lines = Lines(io.BytesIO(content), "in.txt")
        takes = list(iter(lambda: lines.take(size), b""))  # noqa: B023
        assert b"".join(takes) == content
        assert all(take.count(b"\n") == size for take in takes[:-1])
