"""Traces at equal ε for a whole trace: how wrong each way leaves places, and what a reader finds.

Repeat with: `python benchmarks/places_traces.py [--data FOLDER] [--only gowalla]`, where FOLDER
holds `geolife/geolife_users.tar.xz` and `gowalla_nyc/` (not part of voile). Rows are kept in
`results/places_traces.jsonl`, by data, ε and way, and the table is written from them.

GeoLife: GPS tracks in and around Beijing, one place a minute, a track's first 120 minutes; tracks
of every other user are public (the attacker's chain), the others are attacked. Gowalla: the
check-ins of users in New York with 10 to 60 of them, the first 400 such users; every other user is
public. The attacker thinks in squares of 1 km; a home is the 500 m square with most of a trace's
places, a second place the next such square, found if the guess is within 500 m; an origin and
destination are a trace's first and last place, counted in squares of 2 km, and the share of traces
that would have to change theirs is given (total variation), for the release, for the restored
traces and for the shares that `voile places estimate` finds in the release (over its own squares).
Options are the defaults. The attacker's model (how far steps reach, counts added) was first looked
at on the traces counted here, then compared again on one half of the public trips after fitting to
the other, for `each` and `every` at ε = 20; how `stays` ties its rows and how a trace's own places
are learned were seen on the counted ones alone.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import tarfile
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

import voile

Rows = list[tuple[str, float, float, float]]
WAYS = ("each", "every", "predict", "stays")


def geolife(folder: Path) -> tuple[Rows, Rows]:
    """(trace, seconds, latitude, longitude), public ones and others."""
    found: dict[str, dict[str, Rows]] = defaultdict(lambda: defaultdict(list))
    with tarfile.open(folder / "geolife/geolife_users.tar.xz") as archive:
        for entry in archive:
            if not entry.name.endswith(".plt"):
                continue
            user = entry.name.split("/")[-3]
            text = archive.extractfile(entry).read().decode()  # type: ignore[union-attr]
            minute = -1.0
            rows: Rows = []
            for line in text.splitlines()[6:]:
                parts = line.split(",")
                when = datetime.fromisoformat(f"{parts[5]} {parts[6]}").timestamp()
                lat, lon = float(parts[0]), float(parts[1])
                inside = 39.7 < lat < 40.2 and 116.0 < lon < 116.8
                if inside and when // 60 > minute and len(rows) < 120:
                    minute = when // 60
                    rows.append((entry.name, when, lat, lon))
            if len(rows) >= 5:
                found[user][entry.name] = rows
    users = sorted(found)
    halves = ([], [])  # type: tuple[Rows, Rows]
    for place, user in enumerate(users):
        for rows in found[user].values():
            halves[place % 2].extend(rows)
    return halves


def gowalla(folder: Path) -> tuple[Rows, Rows]:
    """The same of check-ins."""
    found: dict[str, Rows] = defaultdict(list)
    with gzip.open(folder / "gowalla_nyc/gowalla_events.csv.gz", "rt", newline="") as file:
        for user, time, lat, lon, _ in csv.reader(file, delimiter="\t"):
            when = datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
            found[user].append((user, when, float(lat), float(lon)))
    chosen = [user for user in sorted(found) if 10 <= len(found[user]) <= 60][:400]
    halves = ([], [])  # type: tuple[Rows, Rows]
    for place, user in enumerate(chosen):
        halves[place % 2].extend(sorted(found[user], key=lambda row: row[1]))
    return halves


def table(rows: Rows) -> list[dict[str, object]]:
    """Rows as voile reads them."""
    return [dict(zip(("trace", "time", "lat", "lon"), row, strict=True)) for row in rows]


def trips(rows: Rows, lat: np.ndarray, lon: np.ndarray) -> dict[tuple[int, ...], int]:
    """How many traces go from which square of 2 km to which."""
    ends: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        ends.setdefault(row[0], [place, place])[1] = place
    counts: dict[tuple[int, ...], int] = defaultdict(int)
    wide = np.cos(np.radians(np.mean([row[2] for row in rows])))
    cells = np.stack([lat * 111.2 / 2, lon * 111.2 * wide / 2], axis=1).astype(int)
    for first, last in ends.values():
        counts[(*cells[first], *cells[last])] += 1
    return counts


def measured(rows: Rows, public: Rows, epsilon: float, way: str) -> list[str]:
    """One line of the table."""
    data = table(rows)
    how = {"epsilon": epsilon, "trace": "trace", "time": "time", "way": way}
    done = voile.places.protect(data, **how, pass_="all", seed=1)
    found = voile.places.follow(
        data, done.data, public=table(public), **how, side="1km", home="500m"
    )
    true = trips(rows, *(np.array([row[axis] for row in rows]) for axis in (2, 3)))
    made = np.array([(r["lat"], r["lon"]) for r in done.data]).T
    moved = [misplaced(true, trips(rows, *axes), found.traces) for axes in (made, found.restored)]
    return [
        f"{epsilon:g}", way, f"{done.traces.draws / len(rows):.0%}",
        f"{found.released_error_m:,.0f}", f"{found.guess_error_m:,.0f}",
        f"{found.chain_weight:.0%}", f"{found.homes_in_release}", f"{found.homes_found}",
        f"{found.seconds_found}", f"{moved[0]:.0%}", f"{moved[1]:.0%}",
        "–" if way == "predict" else f"{estimated(rows, done.data, how):.0%}",
    ]  # fmt: skip


def estimated(rows: Rows, released: list[dict[str, object]], how: dict[str, object]) -> float:
    """The same of the shares that `voile places estimate` finds, over its own squares."""
    found = voile.places.estimate(released, **how, area="2km", resamples=20)
    ends: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        ends.setdefault(row[0], [place, place])[1] = place
    true = np.array([row[2:] for row in rows])
    wide = np.array([111.2, 111.2 * np.cos(np.radians(true[:, 0].mean()))])
    apart, area = cKDTree(found.middles * wide).query(true * wide)
    area[apart > 2.0**0.5] = len(found.middles)  # in none of the squares
    share = np.zeros((len(found.middles) + 1,) * 2)
    for first, last in ends.values():
        share[area[first], area[last]] += 1 / len(ends)
    share[:-1, :-1] -= found.table
    return float(np.abs(share).sum() / 2)


def misplaced(
    true: dict[tuple[int, ...], int], shown: dict[tuple[int, ...], int], count: int
) -> float:
    """The share of traces that would have to change their origin or destination."""
    keys = true.keys() | shown.keys()
    return sum(abs(true.get(k, 0) - shown.get(k, 0)) for k in keys) / 2 / count


DATA = {"geolife": ("GeoLife", geolife), "gowalla": ("Gowalla, New York", gowalla)}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure, keep the rows, and write the tables."""
    options = argparse.ArgumentParser()
    options.add_argument("--data", default="../shared/data")
    options.add_argument("--epsilons", default="20,100")
    options.add_argument("--ways", default=",".join(WAYS))
    options.add_argument("--only", choices=tuple(DATA), nargs="*", default=tuple(DATA))
    given = options.parse_args()
    for key in given.only:
        public, rows = DATA[key][1](Path(given.data))
        traces = len({row[0] for row in rows})
        about = f"{traces} traces, {len(rows):,} places ({len(public):,} public)"
        for epsilon in map(float, given.epsilons.split(",")):
            for way in given.ways.split(","):
                line = measured(rows, public, epsilon, way)
                keep({"data": key, "about": about, "line": line})
                print(key, line, flush=True)
    write()


def keep(row: dict[str, object]) -> None:
    """Append a row."""
    with (RESULTS / "places_traces.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write() -> None:
    """The tables of all rows that were kept, the last of each kind."""
    kept = (RESULTS / "places_traces.jsonl").read_text("utf-8").splitlines()
    rows = {(r["data"], *r["line"][:2]): r for r in map(json.loads, kept)}
    text = [
        "# Traces at equal ε",
        "",
        "`python benchmarks/places_traces.py`; what is measured stands at the top of that file.",
        "ε is per km for one whole trace. Errors in metres, on average over places. The attacker's",
        "guesses are also the *restored* traces, which may be released at the same ε; *chain* is",
        "its weight in a guess against the release as it stands, as public trips had it. Where the",
        "attacker's error is the larger, public trips misled it. Rows not there were not run.",
    ]
    for key, (name, _) in DATA.items():
        here = [row for row in rows.values() if row["data"] == key]
        here.sort(key=lambda row: (float(row["line"][0]), WAYS.index(row["line"][1])))
        text += ["", f"## {name}: {here[0]['about']}" if here else f"## {name}: not run", ""]
        text += [
            "| ε of a trace | way | drawn | released, m off | attacker, m off | chain | "
            "homes in the release | homes found | second places found | "
            "origin–destination moved | of restored traces | estimated |",
            "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *("| " + " | ".join(row["line"]) + " |" for row in here),
        ]
    (RESULTS / "places_traces.md").write_text("\n".join([*text, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
