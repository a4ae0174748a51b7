"""Backups, moves and refunds: whole, verified, and never for what somebody may have read."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from voile.cli.app import app
from voile.errors import BadFile, CannotWrite, InvalidInput, VoileError
from voile.jobs import Batch, Charging, Planned, Replaced, WhenSpent, open_source, run_job
from voile.jobs import charging as charging_module
from voile.jobs.workspace import Workspace
from voile.ledger import (
    Bill,
    Budget,
    Kind,
    Ledger,
    backup,
    check_ledger,
    make_key,
    migrate,
    read_key,
    simple_cost,
)

PLACE = Kind("one location", "euclidean", "km")


def voile(*arguments: object, error: type[VoileError] | None = None) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    if error is not None:
        assert isinstance(done.exception, error), (done.exception, done.output)
        return str(done.exception)
    assert done.exception is None, done.exception
    return done.stdout


def charge(ledger: Ledger, job: str, *names: str, part: int = 0) -> list[bool]:
    bill = Bill.listed([simple_cost(1.0)] * len(names))
    return ledger.charge(job, part, names, bill).within.tolist()


@pytest.fixture
def key_file(tmp_path):
    make_key(tmp_path / "key")
    return str(tmp_path / "key")


@pytest.fixture
def filled(where, key_file):
    """A ledger in use: folded once, charged since, and open, so that SQLite has a log beside."""
    ledger = Ledger.create(where, read_key(key_file), budget=Budget(5.0))
    ledger.agree(PLACE, None)
    charge(ledger, "a", "ann", "bob")
    ledger.fold()
    charge(ledger, "b", "ann", "eve")
    yield ledger
    ledger.close()


def test_a_backup_is_one_whole_file_that_goes_on(filled, key_file, tmp_path):
    out = tmp_path / "backup.db"
    told = voile("ledger", "backup", filled.where, out, "--ledger-key", key_file)
    assert "5 entries, verified" in told
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    alone = tmp_path / "elsewhere.db"
    shutil.copy(out, alone)  # without anything beside it
    with Ledger(str(alone), read_key(key_file)) as restored:
        assert (restored.head, check_ledger(restored).problems) == (filled.head, ())
        assert restored.account("ann") == filled.account("ann")
        assert charge(restored, "c", "ann", "ann", "ann", "ann") == [True, True, True, False]
    assert "already" in voile("ledger", "backup", filled.where, out, error=CannotWrite)


def test_a_backup_of_an_edited_ledger_is_not_made(tmp_path, key_file):
    where = str(tmp_path / "ledger.db")
    with Ledger.create(where, read_key(key_file), budget=Budget(5.0)) as ledger:
        ledger.agree(PLACE, None)
        charge(ledger, "a", "ann")
    with sqlite3.connect(where) as database:
        database.execute("UPDATE front SET terms = replace(terms, '5.0', '9.0')")
    database.close()
    with pytest.raises(BadFile, match="the ledger must verify, and does not"):
        backup(where, str(tmp_path / "backup.db"), ledger_key=key_file)
    assert not (tmp_path / "backup.db").exists()
    with pytest.raises(InvalidInput, match="a backup must be a file"):
        backup(where, "postgresql://voile@db.example/ledgers", ledger_key=key_file)


def test_an_older_backup_is_refused_where_the_key_has_seen_more(filled, key_file, tmp_path):
    backup(filled.where, str(tmp_path / "backup.db"), ledger_key=key_file)
    charge(filled, "later", "ann")
    with (
        Ledger(str(tmp_path / "backup.db"), read_key(key_file)) as older,
        pytest.raises(BadFile, match="must not go back"),
    ):
        charge(older, "again", "ann")


@pytest.mark.parametrize("back", [False, True])
def test_a_ledger_moves_between_a_file_and_a_server(tmp_path, postgres, key_file, back):
    file = str(tmp_path / "ledger.db")
    old, new = (postgres, file) if back else (file, postgres)
    with Ledger.create(old, read_key(key_file), budget=Budget(3.0)) as ledger:
        ledger.agree(PLACE, None)
        charge(ledger, "a", "ann", "bob")
        ledger.fold()
        charge(ledger, "b", "ann")
    told = voile("ledger", "migrate", old, new, "--ledger-key", key_file)
    assert "goes on at its new place" in told
    with Ledger(new, read_key(key_file)) as moved:
        assert charge(moved, "c", "ann", "ann") == [True, False]
        moved.fold()
        assert not check_ledger(moved).problems
    with Ledger(old, read_key(key_file)) as left, pytest.raises(VoileError) as told_there:
        charge(left, "c", "ann")
    assert "was moved" in str(told_there.value) or "must not go back" in str(told_there.value)


def test_an_interrupted_move_is_repeated(tmp_path, key_file, monkeypatch):
    where = str(tmp_path / "ledger.db")
    with Ledger.create(where, read_key(key_file), budget=Budget(3.0)) as ledger:
        ledger.agree(PLACE, None)
        charge(ledger, "a", "ann")
    with monkeypatch.context() as broken:
        broken.setattr("voile.ledger.copies.copy_whole", lambda *stores: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            migrate(where, str(tmp_path / "new.db"), ledger_key=key_file)
    with (
        Ledger(where, read_key(key_file)) as closed,
        pytest.raises(CannotWrite, match="was moved with `voile ledger migrate`"),
    ):
        charge(closed, "b", "ann")
    migrate(where, str(tmp_path / "new.db"), ledger_key=key_file)
    with Ledger(str(tmp_path / "new.db"), read_key(key_file)) as moved:
        assert charge(moved, "b", "ann") == [True]
        assert not check_ledger(moved).problems


# ── giving up a job ────────────────────────────────────────────────────────────────────────────


class Stops:
    """Draws two parts and is interrupted at the third."""

    def plan(self, batch: Batch) -> Planned:
        every = np.ones(len(batch), dtype=np.bool_)
        return Planned(batch, lambda: Bill.alike(simple_cost(1.0), every))

    def draw(self, planned: Planned, paid: object, rng: object) -> Replaced:
        if planned.secrets.part == 2 and Path("stop").exists():
            raise KeyboardInterrupt
        return Replaced({"value": ["x"] * len(planned.secrets)})


@pytest.fixture
def job(tmp_path, monkeypatch, key_file):
    """A job that was interrupted, with three parts charged and two of them drawn."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("user,value\n" + "ann,1\nbob,2\n" * 3)
    Path("stop").touch()
    with Ledger.create("ledger.db", read_key(key_file), budget=Budget(6.0)) as ledger:
        ledger.agree(PLACE, None)
    charging = Charging("ledger.db", read_key(key_file), "user", WhenSpent.REFUSE)

    def run() -> int:
        return run_job(open_source("in.csv"), "out.csv", Stops, identity={}, batch_rows=2,
                       charging=charging).rows  # fmt: skip

    with pytest.raises(KeyboardInterrupt):
        run()
    Path("stop").unlink()
    yield run
    charging_module._opened.cache_clear()


def name_of(output: str) -> str:
    return str(json.loads(Path(f"{output}.voile-job/manifest.json").read_text())["job"])


def test_an_abandoned_job_is_deleted_refunded_and_over(job, key_file):
    name = name_of("out.csv")
    shutil.copytree("out.csv.voile-job", "kept")
    told = voile("ledger", "abandon", "ledger.db", "out.csv", "--ledger-key", key_file)
    assert told == f"Took back the charges of 3 parts of job {name}.\n"
    assert not Path("out.csv.voile-job").exists()
    with Ledger("ledger.db", read_key(key_file)) as ledger:
        assert (ledger.spent("ann"), ledger.spent("bob")) == (0, 0)
        assert not check_ledger(ledger).problems
        assert [e.event for e in ledger.store.entries()][-1] == "refunded"
    shutil.move("kept", "out.csv.voile-job")  # somebody had a copy: it leads nowhere
    with pytest.raises(CannotWrite, match="was given up and its charges taken back"):
        job()
    assert not Path("out.csv").exists()


def test_a_copy_with_every_part_drawn_cannot_be_published_after_a_refund(job, key_file):
    space = Workspace("out.csv", name_of("out.csv"))
    rows = b"ann,x\nbob,x\n"
    first = space.read_note(0)
    space.commit(2, rows, {k: v for k, v in first.items() if k != "rows_in"})
    shutil.copytree("out.csv.voile-job", "kept")
    voile("ledger", "abandon", "ledger.db", "out.csv", "--ledger-key", key_file)
    shutil.move("kept", "out.csv.voile-job")
    with pytest.raises(VoileError):
        job()
    assert not Path("out.csv").exists()


def test_a_finished_job_is_never_refunded(job, key_file):
    name = name_of("out.csv")
    assert job() == 6
    said = voile("ledger", "abandon", "ledger.db", name, "--deleted", "--ledger-key", key_file,
                 error=CannotWrite)  # fmt: skip
    assert "whose output has appeared" in said
    Path("out.csv").unlink()  # it has been there all the same
    voile("ledger", "abandon", "ledger.db", name, "--deleted", "--ledger-key", key_file,
          error=CannotWrite)  # fmt: skip
    with Ledger("ledger.db", read_key(key_file)) as ledger:
        assert ledger.account("ann")[3] == 3
        with pytest.raises(CannotWrite, match="never refunded"):
            ledger.refund(name)


def test_a_finished_mark_that_was_removed_is_missed(job, key_file):
    name = name_of("out.csv")
    job()
    with sqlite3.connect("ledger.db") as database:
        database.execute("DELETE FROM entries WHERE event = 'finished'")
    database.close()
    charging_module._opened.cache_clear()
    said = voile("ledger", "abandon", "ledger.db", name, "--deleted", "--ledger-key", key_file,
                 error=BadFile)  # fmt: skip
    assert "the ledger must verify" in said


def test_a_job_whose_output_is_about_to_appear_must_be_finished(job, key_file):
    Path("out.csv.voile-job/publishing").touch()
    said = voile("ledger", "abandon", "ledger.db", "out.csv", "--ledger-key", key_file,
                 error=CannotWrite)  # fmt: skip
    assert "about to appear" in said
    assert Path("out.csv.voile-job/manifest.json").exists()


def test_a_job_that_is_running_is_left_alone(job, key_file):
    with Workspace("out.csv").locked():
        said = voile("ledger", "abandon", "ledger.db", "out.csv", "--ledger-key", key_file,
                     error=CannotWrite)  # fmt: skip
    assert "another process is writing out.csv" in said


def test_by_name_only_if_it_is_said_that_nobody_read_it(job, key_file):
    name = name_of("out.csv")
    shutil.rmtree("out.csv.voile-job")
    say = ["ledger", "abandon", "ledger.db"]
    assert "there must be a folder" in voile(*say, "out.csv", "--ledger-key", key_file,
                                             error=InvalidInput)  # fmt: skip
    assert "say --deleted" in voile(*say, name, "--ledger-key", key_file, error=InvalidInput)
    assert "3 parts" in voile(*say, name, "--deleted", "--ledger-key", key_file)
    assert "0 parts" in voile(*say, name, "--deleted", "--ledger-key", key_file)
    assert "0 parts" in voile(*say, "f" * 32, "--deleted", "--ledger-key", key_file)


def test_another_ledger_s_job_is_refused(job, key_file):
    with Ledger.create("other.db", read_key(key_file), budget=Budget(6.0)):
        pass
    said = voile("ledger", "abandon", "other.db", "out.csv", "--ledger-key", key_file,
                 error=InvalidInput)  # fmt: skip
    assert "must have charged this ledger" in said
    assert job() == 6


# ── reading only ───────────────────────────────────────────────────────────────────────────────


def in_child_as_nobody(do) -> str:
    """What somebody without the right to write says."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            os.setgid(65534)
            os.setuid(65534)
            said = do()
        except BaseException as problem:
            said = f"{type(problem).__name__}: {problem}"
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        return answer.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
@pytest.mark.parametrize("log", [False, True])
def test_a_ledger_that_may_only_be_read_verifies(tmp_path, key_file, log):
    """A log beside it counts: without its entries the ledger would seem to be an older one."""
    folder = tmp_path / "shared"
    folder.mkdir()
    where = str(folder / "ledger.db")
    key = read_key(key_file)
    with Ledger.create(where, key, budget=Budget(6.0)) as ledger:
        ledger.agree(PLACE, None)
        charge(ledger, "a", "ann")
        if log:
            kept = {n: (folder / n).read_bytes() for n in ("ledger.db", "ledger.db-wal")}
    if log:
        for name, content in kept.items():
            (folder / name).write_bytes(content)
    ours = [path for path in folder.parents if Path(tempfile.gettempdir()) in path.parents]
    for path in (folder, *ours):
        path.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)

    def verified() -> str:
        found = check_ledger(Ledger(where, None))
        return f"{found.entries} entries, {len(found.problems)} problems"

    assert in_child_as_nobody(verified) == "4 entries, 0 problems"


def agreed(where: Path, key_file: str) -> str:
    with Ledger.create(str(where), read_key(key_file), budget=Budget(1.0)) as ledger:
        ledger.agree(PLACE, None)
        charge(ledger, "first", "ann")
    return str(where)


@pytest.mark.parametrize("put", [shutil.copy, lambda b, a: (os.unlink(a), os.symlink(b, a))])
def test_another_ledger_of_the_key_at_a_known_address_is_not_charged(put, key_file, tmp_path):
    a, b = agreed(tmp_path / "a.db", key_file), agreed(tmp_path / "b.db", key_file)
    before = Path(b).read_bytes()
    put(b, a)
    with Ledger(a, read_key(key_file)) as ledger, pytest.raises(BadFile) as refusal:
        charge(ledger, "second", "eve")
    assert Path(b).read_bytes() == before
    assert "another ledger lies at this address" in str(refusal.value)
    line = str(refusal.value).split("begins with ")[1].split(" ")[0]
    seen = Path(key_file + ".seen")
    assert "a.db" not in seen.read_text()
    kept = [text for text in seen.read_text().splitlines(True) if not text.startswith(line)]
    seen.write_text("".join(kept))  # as the sentence says, knowingly
    with Ledger(a, read_key(key_file)) as ledger:
        assert charge(ledger, "second", "eve") == [True]


def test_a_ledger_made_or_moved_to_the_place_of_another_is_charged(key_file, tmp_path):
    a, b = agreed(tmp_path / "a.db", key_file), agreed(tmp_path / "b.db", key_file)
    Path(a).unlink()
    migrate(b, a, ledger_key=key_file)
    with Ledger(a, read_key(key_file)) as ledger:
        assert charge(ledger, "second", "eve") == [True]
    Path(a).unlink()
    agreed(tmp_path / "a.db", key_file)


@pytest.mark.parametrize("target", ["exists.db", "no such folder/new.db", "server"])
def test_a_ledger_stays_open_where_the_target_of_a_move_cannot_be_made(
    key_file, tmp_path, target, request
):
    where = agreed(tmp_path / "a.db", key_file)
    to = request.getfixturevalue("postgres") if target == "server" else str(tmp_path / target)
    if target != "no such folder/new.db":
        Ledger.create(to, read_key(key_file)).close()
    told = voile("ledger", "migrate", where, to, "--ledger-key", key_file, error=CannotWrite)
    assert "already" in told or "cannot be made" in told
    with Ledger(where, read_key(key_file)) as ledger:
        assert charge(ledger, "second", "eve") == [True]
        assert not check_ledger(ledger).problems


@pytest.mark.parametrize(
    "terms", ["{}", "garbage", "[]", "3", b"\xff\xfe\xff", 7, '{"kind": null, "budget": {"x": 1}}',
              '{"kind": null, "budget": {"epsilon": -1}}', '{"kind": 3, "budget": {}}', "[" * 9999]
)  # fmt: skip
@pytest.mark.parametrize("command", ["export", "show"])
def test_terms_that_were_changed_to_something_else_are_told(key_file, tmp_path, terms, command):
    where = agreed(tmp_path / "a.db", key_file)
    with sqlite3.connect(where) as database:
        database.execute("UPDATE front SET terms = ?", (terms,))
    database.close()
    assert "not what was written" in voile("ledger", command, where, error=BadFile)
