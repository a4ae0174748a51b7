"""Small jobs to break: a stub and the three domains, with and without a ledger."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from faults.breaking import Died, World, breaking
from releasers import Simple
from voile.errors import VoileError
from voile.jobs import Batch, Charging, WhenSpent, open_source, run_job
from voile.jobs import charging as charging_module
from voile.jobs.engines import Engine
from voile.jobs.settings import LedgerChoice
from voile.ledger import Budget, Kind, Ledger, check_ledger, make_key, read_key

PERSONS = "ababca"
PART = 2


def noise(batch: Batch) -> dict[str, list[str]]:
    """Fresh noise for each draw: a part that is drawn twice is another."""
    return {"value": [os.urandom(8).hex() for _ in range(len(batch))]}


stub = Simple(noise)


@dataclass
class Case:
    """One job in a folder of its own; `run` is what a user's command does."""

    folder: Path
    release: Callable[[Case], None]
    where: str | None = None
    """The ledger; none if it is None."""

    output: str = ""
    """In a store; in the folder if it is empty."""

    engine: Engine | None = None
    rows: int = len(PERSONS)
    tables: dict[str, list[Any]] = field(default_factory=dict)
    """Of an empty ledger on a server."""

    seen: Counter[str] = field(default_factory=Counter)
    """How runs ended."""

    @property
    def io(self) -> Path:
        """The folder that breaks."""
        return self.folder / "io"

    @property
    def out(self) -> str:
        return self.output or str(self.io / "out.csv")

    @property
    def choice(self) -> LedgerChoice:
        if self.where is None:
            return LedgerChoice()
        return LedgerChoice(self.where, "user", ledger_key=str(self.io / "key"))

    def begin(self) -> None:
        """The folder as it is before the job."""
        charging_module._opened.cache_clear()
        if self.engine is not None:  # its workers live on, and know how far a ledger was seen
            for path in (self.folder / "still").glob("[kl]e*"):
                path.unlink()
            self.make_ledger()
        shutil.rmtree(self.io, ignore_errors=True)
        shutil.copytree(self.folder / "still", self.io)
        if self.output:
            import fsspec

            store, path = fsspec.core.url_to_fs(self.output)
            for found in store.find(path.rpartition("/")[0]):
                store.rm(found)
        if self.tables:
            import psycopg

            with psycopg.connect(self.where, autocommit=True) as database:
                database.execute("TRUNCATE voile_front, voile_entries, voile_pages")
                for table, rows in self.tables.items():
                    for row in rows:
                        marks = ", ".join(["%s"] * len(row))
                        database.execute(f"INSERT INTO {table} VALUES ({marks})", row)

    def make_ledger(self) -> None:
        """An empty ledger, once: it is copied to where it breaks, or put back on the server."""
        still = self.folder / "still"
        if self.where is None:
            return
        server = self.where.startswith("postgresql")
        made = self.where if server else str(still / "ledger.db")
        Ledger.create(made, make_key(still / "key"), budget=Budget(100.0)).close()
        (still / "key.seen").unlink()
        if server:
            import psycopg

            with psycopg.connect(self.where, autocommit=True) as database:
                for table in ("voile_front", "voile_entries"):
                    self.tables[table] = database.execute(f"SELECT * FROM {table}").fetchall()

    def run(self, world: World) -> str:
        """The command once, as far as it gets: how it ended."""
        charging_module._opened.cache_clear()
        try:
            with breaking(world):
                self.release(self)
        except Died:
            return "died"
        except VoileError as problem:
            return type(problem).__name__
        finally:
            charging_module._opened.cache_clear()
        return "done"

    def parts(self) -> dict[str, bytes]:
        """What is committed: the rows of each part by its note."""
        found = {}
        for note in self.io.glob("*.voile-job/*/part-*.json"):
            found[note.name] = (note.parent / json.loads(note.read_text())["rows_in"]).read_bytes()
        return found

    def released(self) -> list[dict[str, str]]:
        if not self.output:
            with open(self.out, newline="") as file:
                return list(csv.DictReader(file))
        import fsspec

        with fsspec.open(self.output, "rt", newline="") as file:
            return list(csv.DictReader(file))

    def is_out(self) -> bool:
        if not self.output:
            return Path(self.out).exists()
        import fsspec

        store, path = fsspec.core.url_to_fs(self.output)
        return bool(store.exists(path))

    def calls(self) -> int:
        """How many calls an unbroken run makes."""
        self.begin()
        world = World(self.io)
        assert self.run(world) == "done"
        return world.calls

    def break_and_resume(self, at: int, way: str) -> None:
        """Break at one point, repeat the command, and check everything that must hold."""
        self.begin()
        ended = self.run(World(self.io, at=at, way=way))
        self.seen[ended] += 1
        before, there = self.parts(), self.is_out()
        again = self.run(World(self.io))
        where = f"{way} at call {at}: {ended}, then {again}"
        if there:  # what was released stays what it is, and is not released again
            assert again in ("done", "CannotWrite"), where
        else:
            assert again == "done", where
        rows = self.released()
        assert [row["id"] for row in rows] == [str(i) for i in range(self.rows)], where
        if not self.output:
            whole = Path(self.out).read_bytes()
            assert all(part in whole for part in before.values()), where
            assert Path(self.out + ".guarantee.json").exists() or self.release is release_stub
        self._check_charges(rows, where)
        self._check_leftovers(where)

    def _check_charges(self, rows: list[dict[str, str]], where: str) -> None:
        """Each person was charged for what was released, each row once, and the ledger is whole."""
        if self.where is None:
            return
        charging_module._opened.cache_clear()
        with Ledger(self.where, read_key(self.io / "key")) as ledger:
            found = check_ledger(ledger)
            assert not found.problems, (where, found.problems)
            released = Counter(PERSONS[int(row["id"])] for row in rows)
            charged = {person: ledger.account(person)[3] for person in released}
            assert charged == released, where

    def _check_leftovers(self, where: str) -> None:
        """Only what the documentation names may stay: empty shells and files that end in .tmp."""
        known = {path.name for path in (self.folder / "still").iterdir()}
        known |= {"out.csv", "out.csv.guarantee.json", "out.csv.recipe.json", "key", "key.seen",
                  "ledger.db", "ledger.db-wal", "ledger.db-shm"}  # fmt: skip
        for path in self.io.iterdir():
            if path.name in known or path.name.endswith(".tmp"):
                continue
            assert path.name == "out.csv.voile-job", (where, path.name)
            assert not (path / "manifest.json").exists(), where
            self.seen["leftover folders"] += 1


def release_stub(case: Case) -> None:
    charging = None
    if case.choice.ledger is not None:
        key = read_key(case.choice.ledger_key)
        charging = Charging(case.choice.ledger, key, "user", WhenSpent.REFUSE)
        charging.ledger.agree(Kind("one location", "euclidean", "km"), None)
    run_job(open_source(case.io / "in.csv"), case.out, stub, identity={},
            batch_rows=PART, charging=charging)  # fmt: skip


def release_text(case: Case) -> None:
    from voile.text._protect import protect

    words = str(case.folder / "words.txt")
    protect(str(case.io / "in.csv"), column="text", epsilon=1.0, out=case.out, batch_rows=PART,
            vocabulary=words, pass_="all", charge=case.choice)  # fmt: skip


def release_places(case: Case) -> None:
    from voile.places._protect import protect

    protect(case.io / "in.csv", mechanism=case.folder / "city.voile", out=case.out,
            batch_rows=PART, pass_="all", charge=case.choice,
            engine="local" if case.engine is None else "ray")  # fmt: skip


def release_labels(case: Case) -> None:
    from voile import labels

    labels.protect(case.io / "in.csv", out=case.out, label="state", epsilon=1.0, mechanism="rr",
                   classes=("ill", "well"), pass_="all", charge=case.choice)  # fmt: skip


def write_inputs(folder: Path, domain: str) -> None:
    """The files that a job of this domain reads; those in `still` are copied to where it breaks."""
    (folder / "still").mkdir(parents=True)
    columns: dict[str, list[Any]] = {"id": [*range(6)], "user": [*PERSONS]}
    if domain == "stub":
        columns["value"] = ["v"] * 6
    elif domain == "text":
        rng = np.random.default_rng(2)
        words = ["cat", "dog", "tree", "sat"]
        lines = [f"{w} " + " ".join(f"{x:.4f}" for x in rng.normal(size=3)) for w in words]
        (folder / "words.txt").write_text("\n".join(lines) + "\n")
        columns["text"] = ["cat sat", "dog", "tree", "cat", "sat dog", "tree"]
    elif domain == "places":
        import voile

        design = voile.places.design(
            cells="2x2", task_count=2, epsilon=1.0, method="laplace", bound=False,
            out=folder / "city.voile",
        )  # fmt: skip
        lat, lon = design.projection.to_degrees(design.places[[0] * 6])
        columns |= {"lat": list(lat), "lon": list(lon)}
    else:
        columns |= {"state": ["well", "ill"] * 3, "age": [*range(20, 80, 10)]}
    with (folder / "still" / "in.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def made_case(folder: Path, domain: str, where: str | None, output: str = "") -> Case:
    """A case of a domain in a folder; `where` is None, "sqlite" or a server's address."""
    write_inputs(folder, domain)
    if where == "sqlite":
        where = str(folder / "io" / "ledger.db")
    case = Case(folder, RELEASES[domain], where, output)
    case.make_ledger()
    return case


RELEASES: dict[str, Callable[[Case], None]] = {
    "stub": release_stub,
    "text": release_text,
    "places": release_places,
    "labels": release_labels,
}
