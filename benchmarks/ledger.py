"""Charges a second, and what a ledger costs on top of a release.

Repeat with: `python benchmarks/ledger.py [--postgres postgresql://…] [--out FILE]`

Charges: rows and transactions a second, in parts of several sizes, with ten rows a person and with
a person a row, by one process and by four at once (each its own job, the same persons).

Overhead: `places protect` and `text protect` on made-up files, plain and with a ledger in turn, in
several processes that each begin anew. The same release takes a tenth more or less from one run to
the next, on a machine whose cores are shared with strangers, so each run with a ledger is compared
with the plain run beside it, which of the two comes first changing from pair to pair. Given are the
median over all pairs of seconds with a ledger over seconds without, and its 95 % interval
(bootstrap over processes). Seconds on the clock hold the waiting for the disk as well.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

KEY = bytes(range(32))


def new_ledger(where: str) -> None:
    """An empty ledger with a budget nobody exhausts; one that is there is emptied."""
    from voile.ledger import Budget, Key, Kind, Ledger

    if where.startswith("postgresql://"):
        import psycopg

        with psycopg.connect(where, autocommit=True) as database:
            database.execute("DROP TABLE IF EXISTS voile_front, voile_entries, voile_accounts")
    else:
        for ending in ("", "-wal", "-shm"):
            Path(where + ending).unlink(missing_ok=True)
    with Ledger.create(where, Key(KEY)) as ledger:
        ledger.agree(Kind("one location", "euclidean", "km"), Budget(1e8))


def charging(where: str, job: str, parts: int, rows: int, people: int) -> None:
    from voile.ledger import Bill, Key, Ledger, simple_cost

    rng = random.Random(job)
    bill = Bill.alike(simple_cost(0.8), np.ones(rows, dtype=np.bool_))
    with Ledger(where, Key(KEY)) as ledger:
        for part in range(parts):
            names = [f"user{rng.randrange(people)}" for _ in range(rows)]
            ledger.charge(job, part, names, bill)


def charges(where: str, *, parts: int, rows: int, people: int, processes: int) -> float:
    """Parts a second."""
    new_ledger(where)
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=charging, args=(where, f"job{i}", parts, rows, people))
        for i in range(processes)
    ]
    if processes == 1:
        begun = time.monotonic()
        charging(where, "job", parts, rows, people)
        return parts / (time.monotonic() - begun)
    begun = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return parts * processes / (time.monotonic() - begun)


def charge_table(stores: dict[str, str]) -> list[str]:
    lines = [
        "| store | processes | rows a part | persons in all | parts a second | rows a second |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    cases = ((1, 1, 200, 1000), (1, 2000, 60, 10_000), (1, 20_000, 15, 2_000),
             (1, 20_000, 15, 1_000_000), (4, 1, 100, 1000), (4, 2000, 30, 10_000))  # fmt: skip
    for name, where in stores.items():
        for processes, rows, parts, people in cases:
            speed = charges(where, parts=parts, rows=rows, people=people, processes=processes)
            lines.append(
                f"| {name} | {processes} | {rows:,} | {people:,} | {speed:,.0f} | "
                f"{speed * rows:,.0f} |"
            )
    return lines


def places_case(
    folder: Path, *, rows: int, together: bool, part: int = 20_000
) -> Callable[[bool], object]:
    from voile.jobs.ledger_choice import LedgerChoice
    from voile.places._design import design
    from voile.places._protect import protect

    made = design(cells="8x10", epsilon=0.8, bound=False, out=folder / "city.voile")
    rng = np.random.default_rng(0)
    lat, lon = made.projection.to_degrees(made.places[rng.integers(len(made.places), size=rows)])
    users = rng.integers(rows // 20, size=rows)  # twenty places a person, anywhere in the file
    users = np.sort(users) if together else users  # or one after the other
    with (folder / "trips.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "user", "lat", "lon"])
        writer.writerows(zip(range(rows), users, lat.round(6), lon.round(6), strict=True))
    return lambda ledger: protect(
        folder / "trips.csv", mechanism=folder / "city.voile", out=str(folder / "out.csv"),
        batch_rows=part, overwrite=True, pass_="all",
        charge=_choice(LedgerChoice, folder) if ledger else LedgerChoice(),
    )  # fmt: skip


def text_case(folder: Path, *, rows: int) -> Callable[[bool], object]:
    from voile.jobs.ledger_choice import LedgerChoice
    from voile.text import glove
    from voile.text._protect import protect

    words, rng = glove(top=50_000).written[:5000], random.Random(0)
    with (folder / "texts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user", "text"])
        for _ in range(rows):
            writer.writerow([rng.randrange(rows // 20), " ".join(rng.choices(words, k=100))])
    return lambda ledger: protect(
        str(folder / "texts.csv"), epsilon=3.0, out=str(folder / "out.csv"), overwrite=True,
        pass_="all", charge=_choice(LedgerChoice, folder) if ledger else LedgerChoice(),
    )  # fmt: skip


def _choice(make: Callable[..., object], folder: Path) -> object:
    return make(str(folder / "ledger.db"), "user", ledger_key=str(folder / "key"))


def measured(make: Callable[[Path], Callable[[bool], object]], repeats: int) -> list[float]:
    """CPU and clock seconds without a ledger, then with one, pair by pair, in this process.

    A ledger is new for each run: everybody in it is met for the first time.
    """
    from voile.jobs import charging as module
    from voile.ledger import init

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case = make(folder)

        def once(ledger: bool) -> np.ndarray:
            if ledger:
                module._opened.cache_clear()
                for path in folder.glob("ledger.db*"):
                    path.unlink()
                init(folder / "ledger.db", ledger_key=str(folder / "key"), budget=1e8)
            begun = np.array([time.process_time(), time.monotonic()])
            case(ledger)
            return np.array([time.process_time(), time.monotonic()]) - begun

        once(False), once(True)
        pairs = []
        for number in range(repeats):
            first = once(number % 2 == 1)
            second = once(number % 2 == 0)
            pairs.append([second, first] if number % 2 else [first, second])
        return np.array(pairs).ravel().tolist()


def overhead_row(
    name: str, make: Callable[[Path], Callable[[bool], object]], rows: int, given: Any
) -> str:
    context = multiprocessing.get_context("spawn")
    found = []
    for _ in range(given.processes):
        with context.Pool(1) as fresh:
            found.append(fresh.apply(measured, (make, given.repeats)))
    seconds = np.array(found).reshape(
        given.processes, -1, 2, 2
    )  # pair, ledger or not, CPU or clock
    speed = rows / np.median(seconds[:, :, 0, 0])
    shown = [f"| {name} | {rows:,} | {speed:,.0f}"]
    rng = np.random.default_rng(0)
    for kind in range(2):
        more = 100 * (seconds[:, :, 1, kind] / seconds[:, :, 0, kind] - 1)
        again = rng.integers(len(more), size=(2000, len(more)))
        low, high = np.quantile([np.median(more[some]) for some in again], [0.025, 0.975])
        shown.append(f"{np.median(more):+.1f} % ({low:.1f} … {high:.1f})")
    return " | ".join(shown) + " |"


def cases(rows: int) -> list[tuple[str, Callable[[Path], Callable[[bool], object]], int]]:
    """What is measured; functions that a new process can be sent."""
    person = "places protect, a person's rows"
    return [
        (f"{person} together", partial(places_case, rows=rows, together=True), rows),
        (f"{person} anywhere", partial(places_case, rows=rows, together=False), rows),
        ("text protect", partial(text_case, rows=rows // 300), rows // 300),
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--postgres", default=None, help="A postgresql:// URL to a scratch database."
    )
    options.add_argument(
        "--rows", type=int, default=600_000, help="Places; a three-hundredth are texts."
    )
    options.add_argument("--repeats", type=int, default=7, help="Pairs in a process.")
    options.add_argument("--processes", type=int, default=8, help="Begun anew, for the overhead.")
    options.add_argument("--only", default="", help="Overhead of commands that begin so, alone.")
    options.add_argument("--out", type=Path, default=None)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stores = {"SQLite": str(folder / "charges.db")}
        if given.postgres:
            stores["PostgreSQL"] = given.postgres
        lines = [] if given.only else charge_table(stores)
        lines += [
            "",
            "| command | rows | rows a CPU second, plain | CPU, ledger | clock, ledger |",
            "| --- | ---: | ---: | ---: | ---: |",
            *(
                overhead_row(name, make, rows, given)
                for name, make, rows in cases(given.rows)
                if name.startswith(given.only)
            ),
            "",
            f"Load average while it ran: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.",
        ]  # fmt: skip
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
