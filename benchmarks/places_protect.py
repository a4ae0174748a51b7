"""`voile places protect` end to end against copying the same file row by row.

Repeat with: `python benchmarks/places_protect.py [--rows 2000000] [--out FILE]`

Writes a CSV of made-up trips (id, time, lat, lon, note) on the embedded city, designs a mechanism
for it once, and runs the command in a process of its own, start-up included, with one job. Beside
it, in the same run, the plain copy that every release must at least pay for: `csv.DictReader` into
`csv.DictWriter`. Rows per CPU second count the process's own user and system time, and so do not
depend on what else the machine does; rows per second do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COPY = """
import csv, sys
with open(sys.argv[1], newline="") as before, open(sys.argv[2], "w", newline="") as after:
    reader = csv.DictReader(before)
    writer = csv.DictWriter(after, reader.fieldnames)
    writer.writeheader()
    for row in reader:
        writer.writerow(row)
"""


def write_trips(path: Path, rows: int, *, seed: int = 0) -> None:
    """Trips around the made-up city's centre, some of them outside the map."""
    from voile.places.public_map import public_map
    from voile.places.settings import Map

    places = public_map(Map(cells="8x10"))
    rng = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8") as file:
        file.write("id,time,lat,lon,note\n")
        for start in range(0, rows, 100_000):
            count = min(100_000, rows - start)
            chosen = rng.integers(len(places.problem.places), size=count)
            points = places.problem.places[chosen] + rng.normal(0, 0.2, size=(count, 2))
            lat, lon = places.projection.to_degrees(points)
            hours, minutes = rng.integers(24, size=count), rng.integers(60, size=count)
            file.writelines(
                f"{start + i},2024-05-01T{h:02d}:{m:02d},{a:.6f},{o:.6f},trip\n"
                for i, (h, m, a, o) in enumerate(zip(hours, minutes, lat, lon, strict=True))
            )


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds and CPU seconds of a command."""
    before, begun = os.times(), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    cpu = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return time.monotonic() - begun, cpu


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--out", type=Path, default=None)
    given = options.parse_args()
    voile = [sys.executable, "-m", "voile", "places"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trips, city = folder / "trips.csv", folder / "city.voile"
        write_trips(trips, given.rows)
        subprocess.run(
            [*voile, "design", "--epsilon", "0.8", "--cells", "8x10", "--no-bound",
             "--out", str(city)],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        protect = [*voile, "protect", str(trips), "--mechanism", str(city), "--overwrite",
                   "--pass", "all", "--out", str(folder / "released.csv"), "--json"]  # fmt: skip
        copy = [sys.executable, "-c", COPY, str(trips), str(folder / "copy.csv")]
        small = folder / "small.csv"
        small.write_text("".join(trips.open().readlines()[:101]))
        start = [*protect]
        start[start.index(str(trips))] = str(small)
        runs = [
            (timed(protect), timed(copy), timed(start)) for _ in range(given.repeats)
        ]  # side by side, so that both meet the same machine
        size = trips.stat().st_size
    best = [min((run[k] for run in runs), key=lambda pair: pair[1]) for k in range(3)]
    lines = [
        "# Places: releasing a CSV file, end to end",
        "",
        f"{given.rows:,} rows of five columns ({size / 1e6:.0f} MB), one job, 2 cores, load "
        f"{os.getloadavg()[0]:.1f}; best of {given.repeats} runs side by side.",
        "",
        "| | rows per CPU second | rows per second | seconds | CPU seconds |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    names = ("`voile places protect`, start-up included", "plain copy, DictReader to DictWriter")
    for label, (seconds, cpu) in zip(names, best[:2], strict=True):
        lines.append(
            f"| {label} | {given.rows / cpu:,.0f} | {given.rows / seconds:,.0f} | "
            f"{seconds:.2f} | {cpu:.2f} |"
        )
    seconds, cpu = best[0][0] - best[2][0], best[0][1] - best[2][1]
    lines += [
        f"| `voile places protect`, start-up taken off | {given.rows / cpu:,.0f} | "
        f"{given.rows / seconds:,.0f} | {seconds:.2f} | {cpu:.2f} |",
        "",
        f"A release costs {best[0][1] / best[1][1]:.2f} times the plain copy.",
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
