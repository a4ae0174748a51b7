"""A places job on a Ray cluster: nodes killed while it runs, and how it grows with workers.

Repeat with: `python benchmarks/ray_job.py [--rows 5000000] [--growth-rows 2000000] [--out FILE]`

First, a cluster of several raylets on this machine releases a CSV of made-up trips while two of its
nodes are killed with SIGKILL, one after a quarter of the rows and one after a half. The transform
writes down every draw it makes, so that a lost row, a row released twice, a part with two committed
versions or a published draw that nobody made is seen; any of these ends the run with an error. A
pause after each draw (`--slow`) makes sure that a node dies with draws made and not committed.

Then the same job, smaller, by the local engine with one and two processes and by Ray with one, two
and four workers, one after the other in the same run. Start-up is inside the figures, and stated.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ray
from places_protect import write_trips
from ray.cluster_utils import Cluster

from voile.jobs import (
    Batch,
    ColumnsInClear,
    Engine,
    Planned,
    Processes,
    Ray,
    Replaced,
    open_source,
    run_job,
)
from voile.places.coordinates import DEGREES
from voile.places.outside import Outside
from voile.places.releaser import PlacesReleaser, SavedDesign

PART = 20_000
STORE = 100 * 2**20


class Recorded:
    """A releaser that appends what it drew for a part to a file before anything is written."""

    def __init__(self, make: Callable[[], Any], log: Path, slow: float) -> None:
        self.releaser, self.log, self.slow = make(), log, slow

    def plan(self, batch: Batch) -> Planned:
        """As the releaser does; the part's number goes along."""
        self.part = batch.part
        return self.releaser.plan(batch)

    def draw(self, planned: Planned, paid: Any, rng: Any) -> Replaced:
        """Draw, and write down what was drawn."""
        drawn = self.releaser.draw(planned, paid, rng)
        line = f"{self.part} {os.getpid()} {digest(drawn.columns['lat'], drawn.columns['lon'])}\n"
        descriptor = os.open(self.log, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        os.write(descriptor, line.encode())
        os.close(descriptor)
        time.sleep(self.slow)
        return drawn


class MakeRecorded:
    """Builds it in a worker."""

    def __init__(self, make: Callable[[], Any], log: Path, slow: float) -> None:
        self.make, self.log, self.slow = make, log, slow

    def __call__(self) -> Recorded:
        """One for one process."""
        return Recorded(self.make, self.log, self.slow)


def digest(latitudes: Any, longitudes: Any) -> str:
    return hashlib.sha256("\n".join([*latitudes, *longitudes]).encode()).hexdigest()


def check_release(out: Path, log: Path, rows: int) -> tuple[int, int]:
    """Every row once and as drawn; how many draws were made, and how many parts more than once."""
    attempts: dict[int, list[str]] = {}
    for line in log.read_text().splitlines():
        part, _, drawn = line.split(" ")
        attempts.setdefault(int(part), []).append(drawn)
    parts = -(-rows // PART)
    assert set(attempts) == set(range(parts)), "a part was never drawn"
    differing = [part for part, drawn in attempts.items() if len(set(drawn)) > 1]
    assert not differing, "attempts at one part drew differently"
    number = 0
    latitudes: list[str] = []
    longitudes: list[str] = []
    with out.open(newline="") as file:
        reader = csv.reader(file)
        assert next(reader) == ["id", "time", "lat", "lon", "note"]
        for row in reader:
            assert row[0] == str(number), "a row is lost, doubled or out of order"
            latitudes.append(row[2])
            longitudes.append(row[3])
            number += 1
            if number % PART == 0 or number == rows:
                drawn = attempts[(number - 1) // PART]
                assert digest(latitudes, longitudes) == drawn[0], "published, but never drawn"
                latitudes, longitudes = [], []
    assert number == rows, f"{number} rows of {rows}"
    return sum(map(len, attempts.values())), sum(len(drawn) > 1 for drawn in attempts.values())


def killed_twice(
    source: Path, folder: Path, make: Callable[[], Any], rows: int, slow: float
) -> str:
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False},
    )
    for _ in range(3):
        cluster.add_node(num_cpus=1, object_store_memory=STORE)
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    cluster.wait_for_nodes()
    done, kills = [0], [rows // 4, rows // 2]

    def progress(count: int) -> None:
        done[0] += count
        if kills and done[0] >= kills[0]:
            kills.pop(0)
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
            if len(kills) == 1:
                cluster.add_node(num_cpus=1, object_store_memory=STORE)

    begun = time.monotonic()
    report = run_job(
        open_source(source), folder / "killed.csv", MakeRecorded(make, folder / "log", slow),
        identity={}, batch_rows=PART, engine=Ray(), progress=progress,
    )  # fmt: skip
    seconds = time.monotonic() - begun
    ray.shutdown()
    cluster.shutdown()
    assert report.rows == rows
    assert not kills, "the job ended before both nodes were killed"
    draws, again = check_release(folder / "killed.csv", folder / "log", rows)
    return (
        f"{rows:,} rows in {report.parts} parts on three one-core nodes; two nodes killed with "
        f"SIGKILL while the job ran, one added after the first: {seconds:.0f} s, with "
        f"a pause of {slow:g} s after each draw so that nodes die at work. Every row was "
        f"published once, in order, none lost. {draws} draws were made: {again} parts were drawn "
        "again, with the same result, and none has two versions."
    )


class Metered:
    """An engine that also adds up the processor time that parts took, wherever they were made."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.cpu = engine, 0.0

    def check(self, output: Any) -> None:
        """As the engine does."""
        self.engine.check(output)

    def run(self, make: Any, work: Any, tasks: Any) -> Any:
        """As the engine does; each part brings its processor time along."""
        for answer, cpu in self.engine.run(make, partial(metered, work), tasks):
            self.cpu += cpu
            yield answer


def metered(work: Any, made: Any, task: Any) -> tuple[Any, float]:
    begun = time.process_time()
    return work(made, task), time.process_time() - begun


def timed(
    source: Path, folder: Path, make: Callable[[], Any], engine: Engine
) -> tuple[float, float, float]:
    """Seconds, processor seconds of the parts, and processor seconds of the driver besides."""
    meter = Metered(engine)
    begun, cpu = time.monotonic(), time.process_time()
    run_job(
        open_source(source), folder / "growth.csv", make, identity={}, batch_rows=PART,
        engine=meter, overwrite=True,
    )  # fmt: skip
    driver = time.process_time() - cpu
    if engine == Processes(1):  # the parts were made in this very process
        driver -= meter.cpu
    return time.monotonic() - begun, meter.cpu, driver


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=5_000_000)
    options.add_argument("--slow", type=float, default=0.3, help="seconds added to each draw")
    options.add_argument("--growth-rows", type=int, default=2_000_000)
    options.add_argument("--out", type=Path, default=None)
    given = options.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="voile-ray-"))
    lines = ["# A job on a Ray cluster", ""]
    load = os.getloadavg()[0]
    try:
        city = folder / "city.voile"
        subprocess.run(
            [sys.executable, "-m", "voile", "places", "design", "--epsilon", "0.8", "--cells",
             "8x10", "--no-bound", "--out", str(city)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        known = ColumnsInClear(shown={name: name for name in ("id", "time", "lat", "lon", "note")})
        design = SavedDesign(str(city), city.read_bytes())
        make = partial(PlacesReleaser, design, DEGREES, Outside.FEW, known)
        if given.rows:
            write_trips(folder / "trips.csv", given.rows)
            lines += [killed_twice(folder / "trips.csv", folder, make, given.rows, given.slow), ""]
        if given.growth_rows:
            lines += growth(folder, make, given.growth_rows)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lines += [
        "",
        f"Two cores, load {load:.1f} at the start and {os.getloadavg()[0]:.1f} at the end; "
        f"Ray {ray.__version__}.",
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out:
        given.out.write_text(text, encoding="utf-8")


def growth(folder: Path, make: Callable[[], Any], rows: int) -> list[str]:
    source, small = folder / "growth-in.csv", folder / "small.csv"
    write_trips(source, rows)
    write_trips(small, 200)
    engines: list[tuple[str, Engine]] = [
        ("local, 1 process", Processes(1)),
        ("local, 2 processes", Processes(2)),
        ("Ray, 1 worker", Ray(workers=1)),
        ("Ray, 2 workers", Ray(workers=2)),
        ("Ray, 4 workers on 2 cores", Ray(workers=4)),
    ]
    timed(small, folder, make, Processes(1))  # compiled, once for all
    lines = [
        f"{rows:,} rows of `places protect`, {PART:,} a part. Start-up is that of a job of 200 "
        "rows. Processor time, in µs a row, depends little on what else the machine does:",
        "",
        "| engine | seconds | of which start-up | rows per second | parts, µs | driver, µs |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, engine in engines:
        start = timed(small, folder, make, engine)
        whole = timed(source, folder, make, engine)
        micro = [1e6 * (whole[k] - start[k]) / rows for k in (1, 2)]
        lines.append(
            f"| {name} | {whole[0]:.1f} | {start[0]:.1f} | {rows / whole[0]:,.0f} | "
            f"{micro[0]:.2f} | {micro[1]:.2f} |"
        )
        print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    main()
