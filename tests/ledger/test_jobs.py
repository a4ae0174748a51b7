"""Jobs that charge: in the file's order, once, before the draw, and not at all if they fail."""

from __future__ import annotations

import csv
import sqlite3
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from voile.errors import CannotWrite, InvalidInput, OverBudget
from voile.jobs import (
    Batch,
    Charging,
    OnError,
    Planned,
    Replaced,
    RowProblem,
    WhenSpent,
    open_source,
    run_job,
)
from voile.jobs import charging as charging_module
from voile.jobs.draw import draw_part
from voile.jobs.workspace import Workspace
from voile.ledger import Bill, Budget, Key, Kind, Ledger, check_ledger, simple_cost
from voile.ledger.commit import Commit

KIND = Kind("one location", "euclidean", "km")


@dataclass(frozen=True)
class Draw:
    """A releaser of ε = 1 a row that notes what it drew for; parts may be slow before they pay."""

    drawn: Path
    slow: tuple[int, ...] = ()
    fails: int | None = None
    crashes: int | None = None

    def plan(self, batch: Batch) -> Planned:
        if batch.part in self.slow:
            time.sleep(0.3)
        if batch.part == self.fails:
            raise InvalidInput("this part is bad")
        good = np.array([bool(value) for value in batch.column("value")], dtype=np.bool_)
        problems = dict.fromkeys(np.flatnonzero(~good).tolist(), RowProblem("the value is missing"))
        return Planned(batch, lambda: Bill.alike(simple_cost(1.0), good), problems)

    def draw(self, planned: Planned, paid: Any, rng: Any) -> Replaced:
        batch: Batch = planned.secrets
        if batch.part == self.crashes:
            raise KeyboardInterrupt
        values = batch.column("value")
        with self.drawn.open("a") as file:
            for value, due in zip(values, paid, strict=True):
                if due:
                    file.write(f"{value}\n")
        return Replaced({"value": [f"noisy {value}" for value in values]})


@dataclass(frozen=True)
class Make:
    draw: Draw

    def __call__(self) -> Draw:
        return self.draw


@pytest.fixture
def charging(tmp_path):
    key = Key(bytes(range(32)))
    ledger = Ledger.create(str(tmp_path / "ledger.db"), key)
    ledger.agree(KIND, Budget(3.0))
    ledger.close()
    charging_module._opened.cache_clear()
    yield Charging(str(tmp_path / "ledger.db"), key, "user", WhenSpent.DROP)
    charging_module._opened.cache_clear()


def write(tmp_path: Path, users: str) -> Path:
    """A row for each letter: its user; a blank for nobody, a capital for a missing value."""
    path = tmp_path / "in.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["value", "user"])
        for i, user in enumerate(users):
            writer.writerow(["" if user.isupper() else i, user.lower().strip()])
    return path


def read(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def run(tmp_path, charging, *, out="out.csv", draw=None, **options):
    draw = draw or Draw(tmp_path / "drawn")
    source = open_source(tmp_path / "in.csv")
    options = {"identity": {}, "batch_rows": 2, **options}
    return run_job(source, tmp_path / out, Make(draw), charging=charging, **options)


def drawn(tmp_path) -> list[str]:
    return (tmp_path / "drawn").read_text().split()


@pytest.mark.parametrize("jobs", [1, 3])
def test_budgets_are_spent_in_the_files_order_whoever_is_first(tmp_path, charging, jobs):
    """The first part is slow, so that others would charge before it if they could."""
    write(tmp_path, "aababaaab")
    report = run(tmp_path, charging, draw=Draw(tmp_path / "drawn", slow=(0, 2)), jobs=jobs)
    assert [row[0] for row in read(tmp_path / "out.csv")] == [
        f"noisy {i}" for i in (0, 1, 2, 3, 4, 8)
    ]
    assert sorted(drawn(tmp_path)) == ["0", "1", "2", "3", "4", "8"]
    assert (report.rows, report.over_budget, report.skipped, report.masked) == (6, 3, 0, 0)
    assert charging.ledger.account("a")[3] == 3
    assert charging.ledger.account("b")[3] == 3
    assert not check_ledger(charging.ledger).problems


def test_masked_rows_stay_as_empty_rows(tmp_path, charging):
    write(tmp_path, "aaaaab")
    masks = replace(charging, when_spent=WhenSpent.MASK)
    report = run(tmp_path, masks)
    assert [row[1] for row in read(tmp_path / "out.csv")] == ["a", "a", "a", "", "", "b"]
    assert (report.rows, report.over_budget, report.masked) == (4, 2, 0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_refusing_releases_nothing_and_charges_nobody(tmp_path, charging, jobs):
    write(tmp_path, "bbaacaa")
    refuses = replace(charging, when_spent=WhenSpent.REFUSE)
    with pytest.raises(OverBudget, match="line 8: the budget of its person"):
        run(tmp_path, refuses, jobs=jobs)
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / "out.csv.voile-job").exists()
    assert [charging.ledger.spent(p) for p in "abc"] == [0, 0, 0]
    assert not check_ledger(charging.ledger).problems


def test_rows_of_nobody_stop_the_job_or_follow_the_policy(tmp_path, charging):
    write(tmp_path, "ab ab")
    with pytest.raises(InvalidInput, match="line 4: the column 'user' names no person"):
        run(tmp_path, charging)
    assert charging.ledger.spent("a") == 0
    report = run(tmp_path, charging, on_error=OnError.SKIP)
    assert (report.rows, report.skipped, report.over_budget) == (4, 1, 0)
    assert charging.ledger.account("a")[3] == 2
    assert "2" not in drawn(tmp_path)[-4:]


def test_bad_rows_cost_nothing(tmp_path, charging):
    write(tmp_path, "aAAAAaa")
    report = run(tmp_path, charging, on_error=OnError.SKIP)
    assert (report.rows, report.skipped, report.over_budget) == (3, 4, 0)
    assert charging.ledger.account("a") == (3 * 10**9, 0, 0, 3)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_part_that_fails_is_told_of_and_all_are_refunded(tmp_path, charging, jobs):
    """Others wait for its charge: they must not wait for ever, nor hide why it failed."""
    write(tmp_path, "abcabcabc")
    with pytest.raises(InvalidInput, match="this part is bad"):
        run(tmp_path, charging, draw=Draw(tmp_path / "drawn", slow=(1,), fails=1), jobs=jobs)
    assert [charging.ledger.spent(p) for p in "abc"] == [0, 0, 0]
    assert not (tmp_path / "out.csv.voile-job").exists()
    assert run(tmp_path, charging).rows == 9


def test_a_crash_between_charge_and_release_charges_once(tmp_path, charging):
    write(tmp_path, "aabbab")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, charging, draw=Draw(tmp_path / "drawn", crashes=1))
    assert charging.ledger.account("b")[3] == 2  # paid for and not yet released
    charging.ledger.charge("another job", 0, ["a", "b"], Bill.listed([simple_cost(1.0)] * 2))
    report = run(tmp_path, charging)
    # What was decided stays decided; what was not finds that another job took its share.
    assert [row[0] for row in read(tmp_path / "out.csv")] == [f"noisy {i}" for i in (0, 1, 2, 3)]
    assert (report.rows, report.over_budget, report.resumed) == (4, 2, 1)
    assert [charging.ledger.account(p)[3] for p in "ab"] == [3, 3]


class FullDisk:
    """A connection whose commits fail."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def execute(self, statement: str, *values: object) -> object:
        if statement == "COMMIT":
            raise sqlite3.OperationalError("database or disk is full")
        return self._database.execute(statement, *values)

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)


def test_what_is_drawn_is_not_written_before_its_charge_is(tmp_path, charging, monkeypatch):
    """The disk fills up while the part is drawn: it is drawn, and nothing of it is kept."""
    begin = Commit.start
    monkeypatch.setattr(
        Commit, "start", lambda self: (setattr(self, "_database", FullDisk(self._database)),
                                       begin(self))[1]
    )  # fmt: skip
    kept: list[int] = []
    commit = Workspace.commit
    monkeypatch.setattr(
        Workspace, "commit", lambda self, part, *a: (kept.append(part), commit(self, part, *a))[1]
    )
    write(tmp_path, "ab")
    with pytest.raises(CannotWrite, match="disk is full"):
        run(tmp_path, charging)
    assert (drawn(tmp_path), kept) == (["0", "1"], [])
    monkeypatch.undo()
    assert charging.ledger.spent("a") == 0
    assert run(tmp_path, charging, out="again.csv").rows == 2
    assert [charging.ledger.account(p)[3] for p in "ab"] == [1, 1]


def test_the_disk_writes_while_a_part_is_drawn(tmp_path, charging, monkeypatch):
    """A commit takes as long as the draw, and the draw does not wait for it."""
    seen: list[str] = []
    drew = Event()
    real = Commit.run

    def slow(self: Commit) -> None:
        drew.wait(20)
        seen.append("on disk")
        real(self)

    @dataclass(frozen=True)
    class Noting(Draw):
        def draw(self, planned: Planned, paid: Any, rng: Any) -> Replaced:
            answer = super().draw(planned, paid, rng)
            seen.append("drawn")
            drew.set()
            return answer

    monkeypatch.setattr(Commit, "run", slow)
    write(tmp_path, "a")
    assert run(tmp_path, charging, draw=Noting(tmp_path / "drawn")).rows == 1
    assert seen == ["drawn", "on disk"]


def test_the_same_file_again_is_a_second_release(tmp_path, charging):
    write(tmp_path, "aab")
    run(tmp_path, charging)
    again = run(tmp_path, charging, out="again.csv")
    assert (again.rows, again.over_budget) == (2, 1)
    assert charging.ledger.account("a")[3] == 3


def test_what_a_releaser_makes_of_unpaid_rows_is_never_written(tmp_path, charging):
    """Whatever a releaser answers for a row that is not paid for, the job leaves it out."""

    @dataclass(frozen=True)
    class Greedy(Draw):
        def draw(self, planned: Planned, paid: Any, rng: Any) -> Replaced:
            return super().draw(planned, np.ones_like(paid), rng)

    write(tmp_path, "aaaab")
    report = run(tmp_path, charging, draw=Greedy(tmp_path / "drawn"))
    assert (report.rows, report.over_budget) == (4, 1)
    assert [row[0] for row in read(tmp_path / "out.csv")] == [f"noisy {i}" for i in (0, 1, 2, 4)]
    assert charging.ledger.account("a")[3] == 3


class Backwards:
    """An engine that begins with the last task it was given, as a cluster may."""

    def check(self, output):
        pass

    def run(self, make, work, tasks):
        made = make()
        for task in reversed(list(tasks)):
            yield work(made, task)


def test_a_part_whose_turn_has_not_come_is_made_later(tmp_path, charging, monkeypatch):
    monkeypatch.setattr(charging_module, "PATIENCE", 0.0)
    write(tmp_path, "aabaabb")
    report = run(tmp_path, charging, engine=Backwards())
    assert [row[0] for row in read(tmp_path / "out.csv")] == [
        f"noisy {i}" for i in (0, 1, 2, 3, 5, 6)
    ]
    assert report.over_budget == 1
    assert max(Counter(drawn(tmp_path)).values()) == 1


def test_a_ledger_that_is_gone_stops_the_job_and_keeps_what_is_done(
    tmp_path, charging, monkeypatch
):
    write(tmp_path, "abab")
    real, calls = draw_part, []

    def then_gone(transform, task):
        if calls:
            raise CannotWrite("the ledger cannot be used")
        calls.append(task.part)
        return real(transform, task)

    monkeypatch.setattr("voile.jobs.run.draw_part", then_gone)
    with pytest.raises(CannotWrite):
        run(tmp_path, charging)
    monkeypatch.setattr("voile.jobs.run.draw_part", real)
    assert charging.ledger.account("a")[3] == 1  # kept: its part is kept too
    report = run(tmp_path, charging)
    assert (report.rows, report.resumed) == (4, 1)
    assert [charging.ledger.account(p)[3] for p in "ab"] == [2, 2]


def test_a_job_continues_with_its_own_ledger_alone(tmp_path, charging):
    write(tmp_path, "aabb")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, charging, draw=Draw(tmp_path / "drawn", crashes=1))
    for changed in (None, replace(charging, person="value"),
                    replace(charging, when_spent=WhenSpent.MASK)):  # fmt: skip
        with pytest.raises(CannotWrite, match="differs in ledger"):
            run(tmp_path, changed)
    manifest = (tmp_path / "out.csv.voile-job" / "manifest.json").read_text()
    assert charging.key.secret.hex() not in manifest
    assert charging.where not in manifest


def test_a_server_that_drops_the_line_is_found_again(tmp_path, postgres):
    import psycopg

    write(tmp_path, "abab")
    key = Key(bytes(range(32)))
    with Ledger.create(postgres, key) as ledger:
        ledger.agree(KIND, Budget(3.0))
    charging = Charging(postgres, key, "user", WhenSpent.DROP)

    @dataclass(frozen=True)
    class Cut(Draw):
        def plan(self, batch):
            if batch.part == 1:
                with psycopg.connect(postgres, autocommit=True) as database:
                    database.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE pid <> pg_backend_pid() AND usename = 'voile' "
                        "AND query LIKE '%%voile_front%%' OR query = 'COMMIT'"
                    )
            return super().plan(batch)

    with pytest.raises(CannotWrite, match="PostgreSQL cannot be used"):
        run(tmp_path, charging, draw=Cut(tmp_path / "drawn"))
    assert not (tmp_path / "out.csv").exists()
    report = run(tmp_path, charging)
    assert (report.rows, report.resumed) == (4, 1)
    assert [charging.ledger.account(p)[3] for p in "ab"] == [2, 2]
    charging.ledger.close()
    charging_module._opened.cache_clear()
