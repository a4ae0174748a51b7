"""Kill −9 at random moments while a file is released under a ledger: rows released = rows charged.

Repeat with: `python benchmarks/kill_storm.py --kills 100 --engine local` (or `ray`)
[`--ledger postgresql://…`] [`--out FILE`]

`voile places protect` releases a file of trips, some of whose persons have more rows than their
budget covers. At a random moment it is killed, the command with all its processes, or one worker
process alone; then the same command is given again, and so on until it has finished, with a new
output after each finish. On Ray the cluster is one node that outlives the command; its workers may
still be at work when the next command begins. At the end:

- every output holds each row at most once, and what is missing was refused;
- each person was released exactly as many rows as the ledger has charged, at ε a row;
- no person is over budget, and the ledger verifies.

Anything else ends the run with an error. Also counted: kills that left a part charged and not yet
committed, which is the moment that matters most.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

EPSILON = 0.5
PEOPLE = 150


def write_trips(path: Path, rows: int, rng: random.Random) -> None:
    """Trips of a few persons, whose share of the rows differs widely."""
    weights = [1 / (i + 1) for i in range(PEOPLE)]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "user", "lat", "lon"])
        people = rng.choices(range(PEOPLE), weights, k=rows)
        for i, person in enumerate(people):
            lat, lon = 45 + rng.uniform(-0.06, 0.06), 5 + rng.uniform(-0.08, 0.08)
            writer.writerow([i, f"user{person}", f"{lat:.6f}", f"{lon:.6f}"])


def design(path: Path) -> None:
    import voile

    voile.places.design(
        cells="3x3", task_count=4, epsilon=EPSILON, method="laplace", bound=False,
        out=path,
    )  # fmt: skip


class Storm:
    """One storm: the commands, the kills, and what is known of them."""

    def __init__(self, given: argparse.Namespace, folder: Path, address: str | None) -> None:
        self.given, self.folder, self.address = given, folder, address
        self.rng = random.Random(given.seed)
        self.where = given.ledger or str(folder / "ledger.db")
        self.outputs: list[Path] = []
        self.kills = self.kills_of_workers = self.between = self.without = 0

    def command(self, out: Path) -> list[str]:
        """The command that releases the trips into an output."""
        engine = ["--jobs", "2"]
        if self.given.engine == "ray":
            engine = ["--engine", "ray", "--address", str(self.address)]
        return [
            sys.executable, "-m", "voile", "places", "protect", str(self.folder / "trips.csv"),
            "--mechanism", str(self.folder / "city.voile"), "--out", str(out), "--json",
            "--batch-rows", str(self.given.batch_rows), "--over-budget", "drop",
            "--person", "user", "--budget", str(self.given.budget), "--ledger", self.where,
            "--ledger-key", str(self.folder / "key"), "--pass", "all", *engine,
        ]  # fmt: skip

    def run(self) -> None:
        """Kill until enough is killed, then let the last job finish."""
        while self.kills < self.given.kills or not self.outputs[-1].exists():
            if not self.outputs or self.outputs[-1].exists():
                self.outputs.append(self.folder / f"out{len(self.outputs)}.csv")
            self._attempt(self.outputs[-1], self.kills < self.given.kills)

    def _attempt(self, out: Path, kill: bool) -> None:
        errors = (self.folder / "errors").open("w+")
        job = subprocess.Popen(
            self.command(out), stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )
        if kill:
            # A quarter of the kills anywhere, the others when this attempt is making parts.
            delay = self.rng.uniform(0, self.given.longest)
            if self.rng.random() < 0.75:
                before, delay = len(_notes(out)), delay / 4
                while job.poll() is None and len(_notes(out)) <= before:
                    time.sleep(0.01)
            try:
                job.wait(delay)
            except subprocess.TimeoutExpired:
                self._kill(job, out)
        code = job.wait()
        errors.seek(0)
        message = errors.read().strip()
        errors.close()
        if code == 0:
            return
        if code not in (-signal.SIGKILL, 2):
            raise SystemExit(f"the command ended with {code}: {message}")
        elif (
            code == 2 and "worker process died" not in message and "another process" not in message
        ):
            raise SystemExit(f"the command failed: {message}")

    def _kill(self, job: subprocess.Popen[Any], out: Path) -> None:
        workers = _workers(job.pid, self.given.engine)
        self.kills += 1
        if workers and self.rng.random() < 0.3:
            self.kills_of_workers += 1
            try:
                os.kill(self.rng.choice(workers), signal.SIGKILL)
                job.wait(30 if self.given.engine == "local" else self.rng.uniform(0, 2))
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        charged = self._charged(out)
        self.between += charged > len(_notes(out)) > 0 or (charged > 0 and not _notes(out))

    def _charged(self, out: Path) -> int:
        """How many parts of this output's job were charged."""
        from voile.ledger import Ledger

        try:
            manifest = out.with_name(out.name + ".voile-job") / "manifest.json"
            name = json.loads(manifest.read_text())["job"]
        except (OSError, ValueError):
            return 0
        with Ledger(self.where, None) as ledger:
            return sum(e.job == name and e.part >= 0 for e in ledger.store.entries())

    def check(self) -> dict[str, Any]:
        """Compare what was released with what was charged."""
        from voile.ledger import Ledger, check_ledger, read_key
        from voile.ledger.amounts import epsilon_units, simple_cost

        released: Counter[str] = Counter()
        refused = 0
        for out in self.outputs:
            with out.open(newline="") as file:
                rows = [(row["row"], row["user"]) for row in csv.DictReader(file)]
            if len({row for row, _ in rows}) != len(rows):
                raise SystemExit(f"{out.name} holds a row twice")
            released.update(user for _, user in rows)
            refused += self.given.rows - len(rows)
            beside = out.with_name(out.name + ".guarantee.json")
            if not beside.exists():  # killed between the output's last rename and this file
                self.without += 1
                continue
            told = json.loads(beside.read_text())
            if told["ledger"]["rows_over_budget"] != self.given.rows - len(rows):
                raise SystemExit(f"{out.name} does not say how many rows were refused")
        with Ledger(self.where, read_key(self.folder / "key")) as ledger:
            found = check_ledger(ledger)
            if found.problems:
                raise SystemExit(f"the ledger does not verify: {found.problems}")
            price, paid = epsilon_units(simple_cost(EPSILON)), 0
            for person in range(PEOPLE):
                spent, _, _, charged = ledger.account(f"user{person}")
                paid += charged
                if charged != released[f"user{person}"] or spent != charged * price:
                    raise SystemExit(
                        f"a person was charged {charged} rows, released {released[f'user{person}']}"
                    )
                if spent > self.given.budget * 10**9:
                    raise SystemExit("a person is over budget")
            entries = found.entries
        return {
            "engine": self.given.engine,
            "kills": self.kills,
            "of which single workers": self.kills_of_workers,
            "kills with a part charged and not committed": self.between,
            "outputs finished": len(self.outputs),
            "of which killed before their guarantee file": self.without,
            "rows released": sum(released.values()),
            "rows charged": paid,
            "rows refused": refused,
            "ledger entries": entries,
        }


def _notes(out: Path) -> list[Path]:
    return list(out.with_name(out.name + ".voile-job").glob("*/part-*.json"))


def _workers(parent: int, engine: str) -> list[int]:
    """Processes that make parts: the command's children, or workers of this storm's own cluster."""
    if engine == "local":
        return [pid for pid, above, _ in _processes() if above == parent]
    mine, found = {os.getpid()}, []
    for pid, above, name in sorted(_processes()):
        if above in mine:
            mine.add(pid)
            if name.startswith("ray::_run"):
                found.append(pid)
    return found


def _processes() -> list[tuple[int, int, str]]:
    """Number, parent and command of every process."""
    answers = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            answers.append((int(folder.name), int(parent), (folder / "cmdline").read_text()))
        except OSError:  # it is gone
            continue
    return answers


def cluster() -> Any:
    """A Ray node of its own, with its address."""
    from ray.cluster_utils import Cluster

    return Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--engine", choices=["local", "ray"], default="local")
    options.add_argument("--rows", type=int, default=12_000)
    options.add_argument("--batch-rows", type=int, default=100)
    options.add_argument("--budget", type=float, default=400.0, help="A person's budget.")
    options.add_argument("--longest", type=float, default=5.0, help="Seconds to the latest kill.")
    options.add_argument("--ledger", default=None, help="A postgresql:// URL; else a file.")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path, default=None)
    given = options.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_trips(folder / "trips.csv", given.rows, random.Random(given.seed))
        design(folder / "city.voile")
        made = cluster() if given.engine == "ray" else None
        try:
            storm = Storm(given, folder, None if made is None else made.address)
            init = [sys.executable, "-m", "voile", "ledger", "init", storm.where]
            subprocess.run([*init, "--ledger-key", str(folder / "key")], check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
            storm.run()
            facts = storm.check()
        finally:
            if made is not None:
                made.shutdown()
    facts["minutes"] = round((time.monotonic() - began) / 60, 1)
    lines = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    report = f"| | |\n| --- | --- |\n{lines}\n"
    print(report)
    if given.out is not None:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(report + "\n")


if __name__ == "__main__":
    main()
