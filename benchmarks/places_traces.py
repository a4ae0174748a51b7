"""Traces at equal ε for a whole trace: how wrong each way leaves places, and what a reader finds.

Repeat with: `python benchmarks/places_traces.py [--data FOLDER] [--only gowalla]`, where FOLDER
holds `geolife/geolife_users.tar.xz` and `gowalla_nyc/` (not part of voile). Rows are kept in
`results/places_traces.jsonl` as they are made, a run goes on where the last one stopped, and the
tables are written from them; remove the file to measure anew.

GeoLife: GPS tracks in and around Beijing, one place a minute, the 121st to the 240th minute of
each track that is so long. Half of the users (every other one) is attacked by somebody who knows
the tracks of the other half from their first minute on, and the other way round. Gowalla: the
check-ins of users in New York with 10 to 60 of them, users 401 to 800 in the order of their names;
every other one is public, the others are attacked. The attacker thinks in squares of 1 km; a home
is the 500 m square with most of a trace's places, a second place the next such square, found if
the guess is within 500 m; an origin and destination are a trace's first and last place, counted in
squares of 2 km, and the share of traces that would have to change theirs is given (total
variation), for the release, for the restored traces and for the shares that `voile places estimate`
finds in the release (over its own squares; it has no law of what `predict` repeats, and none where
both halves have another number of draws). Options are
the defaults. What the attacker is made of (how far steps reach, counts added, how `stays` ties its
rows, how a trace's own places are learned) was settled on other people's check-ins and on the
first two hours of these tracks, before anything counted here was read.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import tarfile
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import process_time

import numpy as np
from scipy.spatial import cKDTree

import voile

Rows = list[tuple[str, float, float, float]]
WAYS = ("each", "every", "every-by", "predict", "stays")
"""Of `protect`; every-by is `every` with one new place in so many as public trips ask for."""


@dataclass(frozen=True)
class Fold:
    """What is attacked, and what the attacker knows."""

    attacked: Rows
    public: Rows


def geolife(folder: Path) -> list[Fold]:
    """(trace, seconds, latitude, longitude): each half of the users against the other."""
    early: tuple[Rows, Rows] = ([], [])
    late: tuple[Rows, Rows] = ([], [])
    with tarfile.open(folder / "geolife/geolife_users.tar.xz") as archive:
        for entry in archive:
            if not entry.name.endswith(".plt"):
                continue
            half = int(entry.name.split("/")[-3]) % 2
            text = archive.extractfile(entry).read().decode()  # type: ignore[union-attr]
            minute = -1.0
            rows: Rows = []
            for line in text.splitlines()[6:]:
                parts = line.split(",")
                when = datetime.fromisoformat(f"{parts[5]} {parts[6]}").timestamp()
                lat, lon = float(parts[0]), float(parts[1])
                inside = 39.7 < lat < 40.2 and 116.0 < lon < 116.8
                if inside and when // 60 > minute:
                    minute = when // 60
                    rows.append((entry.name, when, lat, lon))
            early[half].extend(rows[:240] if len(rows) >= 5 else [])
            late[half].extend(rows[120:240] if len(rows) >= 125 else [])
    return [Fold(late[0], early[1]), Fold(late[1], early[0])]


def gowalla(folder: Path) -> list[Fold]:
    """The same of check-ins."""
    found: dict[str, Rows] = defaultdict(list)
    with gzip.open(folder / "gowalla_nyc/gowalla_events.csv.gz", "rt", newline="") as file:
        for user, time, lat, lon, _ in csv.reader(file, delimiter="\t"):
            when = datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
            found[user].append((user, when, float(lat), float(lon)))
    chosen = [user for user in sorted(found) if 10 <= len(found[user]) <= 60][400:800]
    halves: tuple[Rows, Rows] = ([], [])
    for place, user in enumerate(chosen):
        halves[place % 2].extend(sorted(found[user], key=lambda row: row[1]))
    return [Fold(halves[1], halves[0])]


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


def measured(folds: list[Fold], epsilon: float, way: str) -> list[str]:
    """One line of the table."""
    how = {"epsilon": epsilon, "trace": "trace", "time": "time", "way": way.removesuffix("-by")}
    rows = [row for fold in folds for row in fold.attacked]
    data, draws, steps = released(folds, how, fitted=way == "every-by")
    found, start = [], 0
    for fold, every in zip(folds, steps, strict=True):
        part = slice(start, start + len(fold.attacked))
        start = part.stop
        known = {"public": table(fold.public), "side": "1km", "home": "500m", "every": every}
        found.append(voile.places.follow(table(rows[part]), data[part], **how, **known))
    traces = sum(part.traces for part in found)
    true = trips(rows, *(np.array([row[axis] for row in rows]) for axis in (2, 3)))
    made = np.array([(r["lat"], r["lon"]) for r in data]).T
    restored = np.concatenate([part.restored for part in found], axis=1)
    moved = [misplaced(true, trips(rows, *axes), traces) for axes in (made, restored)]
    weights = [part.places / len(rows) for part in found]
    off = [
        sum(w * getattr(part, name) for w, part in zip(weights, found, strict=True))
        for name in ("released_error_m", "guess_error_m")
    ]
    counts = [
        sum(getattr(part, name) for part in found)
        for name in ("homes_in_release", "homes_found", "seconds_found")
    ]
    return [
        f"{epsilon:g}", way, f"{draws / len(rows):.0%}",
        f"{off[0]:,.0f}", f"{off[1]:,.0f}",
        ", ".join(f"{part.chain_weight:.0%}" for part in found),
        *map(str, counts), f"{moved[0]:.0%}", f"{moved[1]:.0%}",
        "–" if way == "predict" or len(set(steps)) > 1
        else f"{estimated(rows, data, how | {'every': steps[0]}):.0%}",
    ]  # fmt: skip


def released(
    folds: list[Fold], how: dict[str, object], *, fitted: bool
) -> tuple[list[dict[str, object]], int, list[int]]:
    """All rows as they are released, how many were drawn, and each fold's `every`."""
    if not fitted:
        rows = [row for fold in folds for row in fold.attacked]
        done = voile.places.protect(table(rows), **how, pass_="all", seed=1)
        return done.data, done.traces.draws, [5] * len(folds)
    parts = [
        voile.places.protect(
            table(fold.attacked), **how, every_by=table(fold.public), pass_="all", seed=1
        )
        for fold in folds
    ]
    data = [row for part in parts for row in part.data]
    return data, sum(p.traces.draws for p in parts), [p.traces.every for p in parts]


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
        folds = DATA[key][1](Path(given.data))
        rows = [row for fold in folds for row in fold.attacked]
        about = f"{len({row[0] for row in rows})} traces, {len(rows):,} places"
        for epsilon in given.epsilons.split(","):
            for way in given.ways.split(","):
                if (key, epsilon, way) in kept():
                    continue
                start = process_time()
                line = measured(folds, float(epsilon), way)
                keep({"data": key, "about": about, "line": line})
                print(key, line, f"{process_time() - start:.0f} s", flush=True)
                write()


def kept() -> dict[tuple[str, ...], dict[str, object]]:
    """The rows that were made, by data, ε and way."""
    path = RESULTS / "places_traces.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {(r["data"], *r["line"][:2]): r for r in map(json.loads, lines)}


def keep(row: dict[str, object]) -> None:
    """Append a row."""
    with (RESULTS / "places_traces.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write() -> None:
    """The tables of all rows that were kept."""
    rows = kept()
    text = [
        "# Traces at equal ε",
        "",
        "`python benchmarks/places_traces.py`; what is measured stands at the top of that file.",
        "ε is per km for one whole trace. Errors in metres, on average over places. The attacker's",
        "guesses are also the *restored* traces, which may be released at the same ε; *chain* is",
        "its weight in a guess against the release as it stands, as public trips had it (GeoLife:",
        "of both halves of the users). What is counted, people of Gowalla and hours of GeoLife,",
        "was never looked at before. Rows not there were not run.",
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
