"""The Ray engine on a cluster of several nodes: every row once, though nodes die."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import os
import secrets
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voile import labels
from voile.errors import CannotWrite, InvalidInput
from voile.jobs import Batch, OnError, Planned, Ray, Replaced, open_source, run_job, spread
from voile.jobs.engines import spread_out
from voile.ledger import Bill
from voile.optimise.region_descent import region_descent
from voile.places.city import synthetic_city
from voile.places.problems import road_region, sampled_tasks
from voile.progress import Step, heard_by

ray = pytest.importorskip("ray")

PARTS, ROWS = 40, 5


class Noisy:
    """Adds fresh noise to each row and notes what it drew where all processes can append.

    With `pure` the noise comes from the part's key, as voile's own releasers draw it; without,
    every attempt draws anew, so that two versions of a part would differ.
    """

    def __init__(self, log: Path, *, pure: bool, slow: float) -> None:
        self.log, self.pure, self.slow = log, pure, slow

    def plan(self, batch: Batch) -> Planned:
        return Planned(batch, lambda: Bill.listed([((1.0, 0.0, 1),)] * len(batch)))

    def draw(self, planned: Planned, paid: Any, rng: Any) -> Replaced:
        batch = planned.secrets
        if self.pure:
            noise = [f"{n:016x}" for n in rng.integers(2**60, size=len(batch))]
        else:
            noise = [secrets.token_hex(8) for _ in batch.rows]
        line = f"{batch.part} {os.getpid()} {','.join(noise)}\n"
        descriptor = os.open(self.log, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        os.write(descriptor, line.encode())  # one write: lines of processes do not mix
        os.close(descriptor)
        time.sleep(self.slow)
        texts = [f"{t}:{n}" for t, n in zip(batch.column("text"), noise, strict=True)]
        return Replaced({"text": texts}, totals={"seen": len(batch)})


class MakeNoisy:
    def __init__(self, log: Path, *, pure: bool = True, slow: float = 0.0) -> None:
        self.log, self.pure, self.slow = log, pure, slow

    def __call__(self) -> Noisy:
        return Noisy(self.log, pure=self.pure, slow=self.slow)


class Paired(Noisy):
    """Ends an attempt only when another has drawn for the same part, so that both would publish."""

    def draw(self, planned: Planned, paid: Any, rng: Any) -> Replaced:
        made = super().draw(planned, paid, rng)
        batch = planned.secrets
        until = time.monotonic() + 10
        while len(drawn(self.log).get(batch.part, ())) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        return made


class MakePaired(MakeNoisy):
    def __call__(self) -> Paired:
        return Paired(self.log, pure=self.pure, slow=self.slow)


class Interrupted(Noisy):
    """Stops a local job after some parts."""

    def plan(self, batch: Batch) -> Planned:
        if batch.part == 7:
            raise KeyboardInterrupt
        return super().plan(batch)


@pytest.fixture(scope="module")
def cluster():
    """A head that works itself not at all, and two nodes with one core each."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    store = 80 * 2**20
    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "object_store_memory": store, "include_dashboard": False},
    )
    for _ in range(2):
        made.add_node(num_cpus=1, object_store_memory=store)
    ray.init(address=made.address, logging_level="ERROR", log_to_driver=False)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


def write_rows(folder: Path) -> Path:
    path = folder / "in.csv"
    lines = "".join(f'{i},"t{i}, ""x"""\n' for i in range(PARTS * ROWS))
    path.write_text("id,text\n" + lines)
    return path


def drawn(log: Path) -> dict[int, list[str]]:
    """What was drawn for each part, attempt by attempt."""
    found: dict[int, list[str]] = {}
    for line in log.read_text().splitlines():
        part, _, noise = line.split(" ")
        found.setdefault(int(part), []).append(noise)
    return found


def published(path: Path) -> dict[int, str]:
    """The noise that was published for each part; every row is looked at, in order."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [row[0] for row in rows] == [str(i) for i in range(PARTS * ROWS)]
    noise = [text.removeprefix(f't{i}, "x":') for i, (_, text) in enumerate(rows)]
    assert all(len(n) == 16 for n in noise)
    return {p: ",".join(noise[p * ROWS : (p + 1) * ROWS]) for p in range(PARTS)}


class Watcher(threading.Thread):
    """Reads notes and rows as they are committed, so that a second version would be seen."""

    def __init__(self, output: Path) -> None:
        super().__init__(daemon=True)
        self.folder = output.with_name(output.name + ".voile-job")
        self.seen: dict[str, set[bytes]] = {}
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.02):
            with contextlib.suppress(FileNotFoundError):  # folders go while they are listed
                for note in self.folder.glob("*/part-*.json"):
                    self.look(note)

    def look(self, note: Path) -> None:
        with contextlib.suppress(FileNotFoundError):  # the job is over and has cleared away
            content = note.read_bytes()
            rows = (note.parent / json.loads(content)["rows_in"]).read_bytes()
            self.seen.setdefault(note.name, set()).add(content + rows)

    def committed(self) -> int:
        return len(self.seen)


@pytest.mark.parametrize("pure", [True, False])
def test_a_node_dies_and_every_row_is_released_once(cluster, tmp_path: Path, pure: bool) -> None:
    source, out, log = write_rows(tmp_path), tmp_path / "out.csv", tmp_path / "log"
    watcher = Watcher(out)
    watcher.start()
    told = []

    def kill(step: Step) -> None:
        told.append(step.what)
        if step.what == f"releasing: {6 * ROWS} rows":
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
            cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)

    with heard_by(kill):
        report = run_job(
            open_source(source),
            out,
            MakeNoisy(log, pure=pure, slow=0.05),
            identity={},
            batch_rows=ROWS,
            engine=Ray(),
        )
    assert told[-1] == f"releasing: {PARTS * ROWS} rows"
    watcher.over.set()
    watcher.join()
    assert (report.rows, report.parts, report.totals) == (200, PARTS, {"seen": 200})
    noise, attempts = published(out), drawn(log)
    assert set(attempts) == set(range(PARTS))
    for part in range(PARTS):
        assert noise[part] in attempts[part]
        if pure:  # a part that was tried twice was still drawn only once
            assert set(attempts[part]) == {noise[part]}
    twice = [name for name, versions in watcher.seen.items() if len(versions) > 1]
    assert not twice, "a committed part changed"
    assert watcher.committed() >= 6
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "log", "out.csv"]


class Twice(Ray):
    """Has every part made twice at once, as when a node is thought dead and is not."""

    def run(self, make, work, tasks):
        return super().run(make, work, (task for task in tasks for _ in range(2)))


def test_of_two_attempts_at_once_one_is_published(cluster, tmp_path: Path) -> None:
    source, out, log = write_rows(tmp_path), tmp_path / "out.csv", tmp_path / "log"
    watcher = Watcher(out)
    watcher.start()
    report = run_job(
        open_source(source),
        out,
        MakePaired(log, pure=False),
        identity={},
        batch_rows=ROWS,
        engine=Twice(),
    )
    watcher.over.set()
    watcher.join()
    noise, attempts = published(out), drawn(log)
    assert report.parts == PARTS
    assert sum(len(set(attempts[part])) == 2 for part in range(PARTS)) >= 5, "no race to speak of"
    assert all(noise[part] in attempts[part] for part in range(PARTS))
    changed = [name for name, versions in watcher.seen.items() if len(versions) > 1]
    assert not changed, "a committed part changed"
    assert watcher.committed() >= PARTS // 2


def test_one_engine_continues_what_the_other_began(cluster, tmp_path: Path) -> None:
    source, out, log = write_rows(tmp_path), tmp_path / "out.csv", tmp_path / "log"
    with pytest.raises(KeyboardInterrupt):
        run_job(
            open_source(source),
            out,
            lambda: Interrupted(log, pure=False, slow=0.0),
            identity={"epsilon": 1},
            batch_rows=ROWS,
        )
    before = drawn(log)
    assert set(before) == set(range(7))
    report = run_job(
        open_source(source),
        out,
        MakeNoisy(log, pure=False),
        identity={"epsilon": 1},
        batch_rows=ROWS,
        engine=Ray(),
    )
    attempts, noise = drawn(log), published(out)
    assert report.resumed == 7
    assert all(attempts[part] == [noise[part]] for part in range(PARTS))
    assert all(attempts[part] == before[part] for part in before)


def test_with_a_seed_both_engines_write_the_same_bytes(cluster, tmp_path: Path) -> None:
    data = tmp_path / "patients.csv"
    rows = (f"{20 + i % 60},{'smoker' if i % 3 else 'never'},{'ill' if i % 4 else 'well'}\n"
            for i in range(5000))  # fmt: skip
    data.write_text("age,habit,state\n" + "".join(rows))
    digests = []
    for name in ("local", "ray"):
        labels.protect(
            data, out=tmp_path / f"{name}.csv", label="state", epsilon=1.0, mechanism="ldp",
            learn_from_private=True, seed=3, engine=name,
        )  # fmt: skip
        content = (tmp_path / f"{name}.csv").read_bytes()
        digests.append(hashlib.sha256(content).hexdigest())
    assert digests[0] == digests[1]


def test_a_bad_row_on_a_node_is_named_and_nothing_stays(cluster, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text\n1,a\n2\n3,c\n")
    make = MakeNoisy(tmp_path / "log")
    source = open_source(tmp_path / "in.csv")
    with pytest.raises(InvalidInput, match="line 3: 1 fields where the header has 2"):
        run_job(source, tmp_path / "out.csv", make, identity={}, batch_rows=1, engine=Ray())
    assert {p.name for p in tmp_path.iterdir()} <= {"in.csv", "log"}
    kept = run_job(
        source,
        tmp_path / "out.csv",
        make,
        identity={},
        batch_rows=1,
        engine=Ray(),
        on_error=OnError.SKIP,
    )
    assert (kept.rows, kept.skipped) == (2, 1)


def test_items_are_spread_and_answered_in_order(cluster) -> None:
    assert spread(pow, range(12), common=2, engine=Ray()) == [2**i for i in range(12)]
    assert next(spread_out(pow, range(12), common=2, engine=Ray())) == 1
    with pytest.raises(ZeroDivisionError):
        spread(divmod, [0], common=1, engine=Ray())


def test_a_region_is_solved_as_it_is_here(cluster) -> None:
    """Windows of one colour on two nodes: the very integers of one process."""
    network, prior = synthetic_city(seed=2, columns=18, rows=13)
    tasks = sampled_tasks(network, count=12, prior=prior, seed=2)
    region = road_region(network, cells=(4, 3), tasks=tasks, prior=prior)
    how = {"epsilon": 0.5, "cells": (12, 9), "side": 5, "sweeps": 1}
    here = region_descent(region, **how)
    there = region_descent(region, **how, spread=partial(spread_out, engine=Ray()))
    assert np.array_equal(there.mechanism.sums, here.mechanism.sums)
    assert there.windows == here.windows > 1
    assert there.loss < there.began_at


@pytest.mark.parametrize("reading", [False, True])
def test_text_is_protected_as_it_is_here(cluster, tmp_path: Path, reading: bool) -> None:
    """`voile text protect --engine ray`, with a seed, writes the bytes of the local engine.

    So it does where draws are read as a whole: the prior travels to the nodes.
    """
    pytest.importorskip("numba")
    from typer.testing import CliRunner

    from voile.cli.app import app

    words = ["the", "cat", "dog", "sat", "ran", "tree", "house", "red"]
    vectors = np.random.default_rng(4).normal(size=(len(words), 4)) * 2
    lines = [" ".join([w, *(f"{x:.4f}" for x in v)]) for w, v in zip(words, vectors, strict=True)]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n")
    rows = [f"{i},the {words[1 + i % 7]} ran to a red house\n" for i in range(40)]
    (tmp_path / "in.csv").write_text("id,text\n" + "".join(rows))
    order = np.random.default_rng(5)
    public = [" ".join(order.permutation(words)) for _ in range(60)]
    (tmp_path / "public.txt").write_text("\n".join(public) + "\n")
    more = ["--restore", "reading", "--public", str(tmp_path / "public.txt")] if reading else []
    written, told = [], []
    for name in ("local", "ray"):
        out = tmp_path / f"{name}.csv"
        done = CliRunner().invoke(
            app,
            ["text", "protect", str(tmp_path / "in.csv"),
             "--vocabulary", str(tmp_path / "words.txt"), "--epsilon", "1", "--seed", "3",
             "--batch-rows", "7", "--engine", name, "--out", str(out), "--pass", "id",
             "--json", *more],
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        written.append(out.read_bytes())
        # Ray may say first, on the same output, that a node of another test is gone.
        told.append(json.loads(done.stdout[done.stdout.index("{\n") :]))
    assert written[0] == written[1]
    assert len(written[0].splitlines()) == 41
    assert told[0]["rows"] == told[1]["rows"]
    assert told[0]["rows"]["released"] == 40
    assert told[0]["counts"] == told[1]["counts"]
    assert told[0]["counts"]["changed"] > 0
    assert told[0].get("restored") == told[1].get("restored")
    assert (told[0].get("restored") is not None) == reading


def test_an_audit_of_places_finds_the_same_on_a_cluster(cluster, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    pytest.importorskip("pyproj")
    import voile

    voile.places.design(
        box=(45.0, 5.0, 45.05, 5.05), cells="3x3", epsilon=1.0, method="laplace-remap",
        bound=False, out=tmp_path / "town.voile",
    )  # fmt: skip
    lat = 45 + 0.05 * np.random.default_rng(1).random(60)
    rows = "".join(f"{i // 6},{a:.6f},5.02\n" for i, a in enumerate(lat))
    (tmp_path / "trips.csv").write_text("trip,lat,lon\n" + rows)
    files = (tmp_path / "trips.csv", tmp_path / "out.csv")
    voile.places.protect(
        files[0], mechanism=tmp_path / "town.voile", out=str(files[1]), pass_="all", seed=1
    )
    others = [{"trip": i // 6, "lat": a + 1e-3, "lon": 5.02} for i, a in enumerate(lat.tolist())]
    here, there = (
        voile.places.audit(
            tmp_path / "town.voile",
            against=files,
            trace="trip",
            places=300,
            engine=engine,
            public=others,
        )
        for engine in ("local", "ray")
    )
    assert here.to_dict() == there.to_dict()
    assert there.files.traces.traces == 10


def test_an_output_that_nodes_cannot_see_is_refused(tmp_path: Path) -> None:
    source = open_source(write_rows(tmp_path))
    with pytest.raises(CannotWrite, match="every node sees"):
        run_job(
            source, "memory://here/out.csv", MakeNoisy(tmp_path / "log"), identity={}, engine=Ray()
        )
