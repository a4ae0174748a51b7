"""Something breaks at every call that a job makes to the world, in every way; then it is resumed.

Repeat with: `python benchmarks/faults.py [--postgres postgresql://…] [--out FILE]`

Jobs of six rows in three parts (labels: one part) are released by a stub and by the three domains,
without a ledger, with one in SQLite, and on PostgreSQL; to a disk and, for the stub, to an fsspec
store. For each call n (system calls on names and files, statements to the database, calls to the
store) and each way to break (`tests/faults/breaking.py`) the job is run, broken at n, and run
again. After that the output must be complete and in order, each committed part unchanged, rows
released = rows charged for every person, and the ledger whole. Anything else ends with an error.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path


def row(domain: str, store: str, where: str | None, output: str = "") -> tuple[str, int]:
    """One line of the table: all points of one job."""
    from faults.breaking import WAYS
    from faults.jobs import made_case

    begun = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        case = made_case(Path(name) / "case", domain, where, output)
        calls = case.calls()
        for at in range(1, calls + 1):
            for way in WAYS:
                case.break_and_resume(at, way)
    told = case.seen["CannotWrite"] + case.seen["BadFile"] + case.seen["InvalidInput"]
    points = calls * len(WAYS)
    line = (
        f"| {domain} | {store} | {calls} | {points} | {case.seen['died']} | {told} | "
        f"{case.seen['done']} | 0 | {time.process_time() - begun:.0f} |"
    )
    print(line, flush=True)
    return line, points


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--postgres", default=None, help="A scratch database, without a ledger.")
    options.add_argument("--out", type=Path, default=None)
    given = options.parse_args()
    sys.path[0] = str(Path(__file__).parents[1] / "tests")  # in place of this folder
    os.environ["VOILE_CACHE"] = tempfile.mkdtemp()
    lines, total = [], 0
    cases: list[tuple[str, str, str | None, str]] = []
    for domain in ("stub", "text", "places", "labels"):
        cases += [(domain, "none", None, ""), (domain, "SQLite", "sqlite", "")]
        if given.postgres:
            cases.append((domain, "PostgreSQL", given.postgres, ""))
    cases.append(("stub", "SQLite, output in a store", "sqlite", "memory://faults/out.csv"))
    for domain, store, where, output in cases:
        if where is not None and where.startswith("postgresql"):
            import psycopg

            with psycopg.connect(where, autocommit=True) as database:
                database.execute("DROP TABLE IF EXISTS voile_front, voile_entries, voile_pages")
        line, points = row(domain, store, where, output)
        lines.append(line)
        total += points
    head = [
        "| job | ledger | calls | points | ended by death | told as an error | done all the same | "
        "lost or charged twice | CPU seconds |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    text = "\n".join([*head, *lines, "", f"{total:,} points; nothing was lost in any."]) + "\n"
    print(text)
    if given.out is not None:
        given.out.write_text("# Faults at every call\n\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main()
