"""A part is committed once, by name, on disks and in stores."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from releasers import Simple
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.jobs import Batch, OnError, Processes, location, open_source, run_job
from voile.jobs import run as run_module
from voile.jobs.draw import PartTask, draw_part
from voile.jobs.workspace import Workspace

PLACES = ["disk", "memory"]


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path):
    """A folder on disk, or one in a store that fsspec opens."""
    if request.param == "disk":
        yield str(tmp_path)
        return
    fsspec = pytest.importorskip("fsspec")
    yield f"memory://{tmp_path.name}"
    fsspec.filesystem("memory").store.clear()


def read(path: str) -> bytes:
    with location(path).open() as file:
        return file.read()


@pytest.mark.parametrize("folder", PLACES, indirect=True)
def test_of_many_attempts_one_is_the_part(folder: str) -> None:
    """Sixteen attempts at once: one note, one file of rows, and all are told the same."""
    space, _ = Workspace(f"{folder}/out.csv").open({})
    start = threading.Barrier(16)
    notes: list[dict] = []

    def attempt(number: int) -> None:
        start.wait()
        notes.append(space.commit(3, f"rows of {number}".encode(), {"rows": number}))

    threads = [threading.Thread(target=attempt, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({json.dumps(note, sort_keys=True) for note in notes}) == 1
    assert space.committed() == {3}
    kept = [name for name in space.parts.names() if not name.endswith(".json")]
    assert kept == [notes[0]["rows_in"]], "a loser's rows are still there"
    with space.rows_of(notes[0]).open() as file:
        assert file.read() == f"rows of {notes[0]['rows']}".encode()


@pytest.mark.parametrize("folder", PLACES, indirect=True)
def test_what_exists_is_never_replaced(folder: str) -> None:
    place = location(f"{folder}/note")
    assert place.create(b"first")
    assert not place.create(b"second")
    assert read(f"{folder}/note") == b"first"
    location(f"{folder}/other").write(b"other")
    with pytest.raises(FileExistsError):
        location(f"{folder}/other").move(place, overwrite=False)
    assert read(f"{folder}/note") == b"first"
    location(f"{folder}/other").move(place, overwrite=True)
    assert read(f"{folder}/note") == b"other"


def shout(batch: Batch) -> dict[str, list[str]]:
    return {"text": [t.upper() for t in batch.column("text")]}


Shout = Simple(shout)


@pytest.mark.parametrize("folder", PLACES, indirect=True)
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet"])
def test_a_job_reads_and_writes_there(folder: str, ending: str, tmp_path: Path) -> None:
    if ending == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        import pyarrow.parquet as parquet

        local = tmp_path / "made.parquet"
        parquet.write_table(pyarrow.table({"id": [1, 2, 3], "text": ["a", "b", "c"]}), local)
        location(f"{folder}/in.parquet").write(local.read_bytes())
    elif ending == "jsonl":
        rows = ({"id": i, "text": t} for i, t in enumerate("abc", 1))
        content = "".join(json.dumps(row) + "\n" for row in rows)
        location(f"{folder}/in.jsonl").write(content.encode())
    else:
        (tmp_path / "made.csv").write_text("id,text\n1,a\n2,b\n3,c\n")
        made = open_source(tmp_path / "made.csv")
        run_job(made, f"{folder}/in.{ending}", Simple(lambda batch: {}), identity={})
    source = open_source(f"{folder}/in.{ending}")
    report = run_job(source, f"{folder}/out.{ending}", Shout, identity={}, batch_rows=2)
    assert (report.rows, report.parts, report.output) == (3, 2, f"{folder}/out.{ending}")
    again = [row for _, row in open_source(f"{folder}/out.{ending}").rows()]
    assert [(str(row["id"]), row["text"]) for row in again] == [("1", "A"), ("2", "B"), ("3", "C")]
    assert not any("voile-job" in name for name in location(folder).names())
    with pytest.raises(CannotWrite, match="exists already"):
        run_job(source, f"{folder}/out.{ending}", Shout, identity={}, batch_rows=2)


@pytest.mark.parametrize("folder", PLACES, indirect=True)
def test_a_second_driver_cannot_publish_a_second_version(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One driver finishes and clears away while another is about to publish: it must not."""
    location(f"{folder}/in.csv").write(b"text\na\nb\n")
    source = open_source(f"{folder}/in.csv")
    real = run_module.join_parts

    def overtaken(*given: object, **named: object) -> None:
        real(*given, **named)  # type: ignore[arg-type]
        Workspace(f"{folder}/out.csv").remove()
        location(f"{folder}/out.csv").write(b"text\nof the other driver\n")

    monkeypatch.setattr(run_module, "join_parts", overtaken)
    with pytest.raises(CannotWrite):
        run_job(source, f"{folder}/out.csv", Shout, identity={})
    assert read(f"{folder}/out.csv") == b"text\nof the other driver\n"


def test_who_works_for_a_job_that_is_over_writes_nowhere(tmp_path: Path) -> None:
    old, _ = Workspace(tmp_path / "out.csv").open({})
    old.remove()
    new, _ = Workspace(tmp_path / "out.csv").open({})
    with pytest.raises(CannotWrite, match="must be what the job began with"):
        old.check()
    with pytest.raises(OSError, match="No such file"):
        old.commit(0, b"late", {})
    new.check()
    assert new.committed() == set()


def test_a_part_that_exists_is_not_drawn_again(tmp_path: Path) -> None:
    """The answer was lost on its way, not the part: the same task once more draws nothing."""
    (tmp_path / "in.csv").write_text("text\na\n")
    source = open_source(tmp_path / "in.csv")
    space, _ = Workspace(tmp_path / "out.csv").open({})
    piece = next(source.pieces(size=5))
    task = PartTask(
        space.job, piece, source, location(tmp_path / "out.csv"), ("text",), None, OnError.FAIL, 7
    )
    calls: list[int] = []

    def noted(batch: Batch) -> dict[str, list[str]]:
        calls.append(batch.part)
        return shout(batch)

    assert draw_part(Simple(noted), task) == draw_part(Simple(noted), task)
    assert calls == [0]


def test_folders_of_another_kind_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "out.csv.voile-job"
    folder.mkdir()
    (folder / "manifest.json").write_text('{"epsilon": 1}')
    with pytest.raises(BadFile, match="another version"):
        Workspace(tmp_path / "out.csv").open({"epsilon": 1})


def test_paths_that_cannot_be_opened_are_said_to_be(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(InvalidInput, match="existing file"):
        open_source("memory://nowhere/in.csv")
    with pytest.raises(InvalidInput, match="that fsspec knows"):
        open_source("nonsense://nowhere/in.csv")
    (tmp_path / "in.csv").write_text("text\na\n")
    assert open_source(f"file://{tmp_path}/in.csv").location == location(tmp_path / "in.csv")
    with pytest.raises(CannotWrite, match="one job"):
        run_job(
            open_source(tmp_path / "in.csv"), "memory://x/out.csv", Shout, identity={},
            engine=Processes(2),
        )  # fmt: skip
