"""Every task that writes a report, run as a user runs it on small files that hold canaries."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from voile.cli.app import app
from voile.places.projection import Projection
from voile.report import Digest, Provenance

HOW = Provenance("1.2.3", "voile x", "secure", "2026-01-02 03:04 UTC", 1.5, (Digest("f", "ab"),))
WORD, NAME, SECRET = "zyxwcanary", "Quetzalcoatlina", "xylophone"
LATITUDE, LONGITUDE = "45.012347", "5.023459"
CLASS, CATEGORY, NOTE = "canaryclass", "canarytown", "canarynote"
CANARIES = (WORD, NAME.lower(), SECRET, LATITUDE, LONGITUDE, CLASS, CATEGORY, NOTE)
"""Values of single records: an unknown word, a name, a rare known word, a place, labels."""

CITIES = ("paris", "london", "rome", "berlin", "madrid", "vienna")


@dataclass(frozen=True)
class Run:
    """What one command printed and wrote."""

    name: str
    code: int
    stdout: str
    stderr: str
    report: Path
    charts: Path


def write(path: Path, header: list[str], rows) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def texts(count: int) -> list[str]:
    rng = np.random.default_rng(3)
    made = []
    for k in range(count):
        start = int(rng.integers(6))
        cities = " ".join(CITIES[(start + step) % 6] for step in range(4))
        mood = "good" if k % 2 else "bad"
        made.append(f"the {mood} train from {cities} number {k}")
    made[1] = f"{NAME} of london wrote {WORD} about a {SECRET} in paris"
    return made


def make_inputs(folder: Path) -> dict[str, Path]:
    """Text, places and labelled records, each with a canary record among ordinary ones."""
    originals = texts(120)
    rng = np.random.default_rng(5)
    noise = [" ".join(rng.choice(CITIES, size=len(t.split()))) for t in originals]
    labels = ["up" if "good" in t else "down" for t in originals]
    lat, lon = Projection(45.0, 5.0).to_degrees(rng.uniform((-3, -2), (3, 2), (60, 2)))
    trips = [(k // 6, f"{a:.6f}", f"{b:.6f}", "x") for k, (a, b) in
             enumerate(zip(lat, lon, strict=True))]  # fmt: skip
    trips[7] = (1, LATITUDE, LONGITUDE, NOTE)
    others = [(k // 6, f"{a + 0.002:.6f}", f"{b:.6f}") for k, (a, b) in
              enumerate(zip(lat, lon, strict=True))]  # fmt: skip
    towns, people = ("north", "south", "west"), []
    for _ in range(240):
        ill = int(rng.integers(2))
        town = towns[int(rng.integers(3))]
        people.append((f"{rng.normal(ill, 1):.3f}", town, f"state{ill}"))
    people[11:14] = [("0.111", CATEGORY, "state1")] * 3
    people[30:75] = [("9.875", "west", CLASS)] * 45
    return {
        "text": write(folder / "reviews.csv", ["text", "label"],
                      zip(originals, labels, strict=True)),
        "many": write(folder / "many.csv", ["text"], ([t] for t in texts(240))),
        "noise": write(folder / "noise.csv", ["text"], ([t] for t in noise)),
        "pairs": write(folder / "pairs.csv", ["text", "released"],
                       zip(originals, noise, strict=True)),
        "trips": write(folder / "trips.csv", ["trip", "lat", "lon", "note"], trips),
        "others": write(folder / "others.csv", ["trip", "lat", "lon"], others),
        "people": write(folder / "people.csv", ["dose", "town", "state"], people),
    }  # fmt: skip


def commands(files: dict[str, Path], folder: Path) -> dict[str, list[str]]:
    """The command line of each task, cheap settings, in an order in which outputs exist."""
    text, noise, people = str(files["text"]), str(files["noise"]), str(files["people"])
    design, released = str(folder / "box.voile"), str(folder / "trips.out.csv")
    return {
        "places design": [
            "--epsilon", "0.8", "--box", "44.97,4.95,45.03,5.05", "--cells", "3x4",
            "--method", "laplace-remap", "--bound-sweeps", "40",
            "--sweep", "0.4,1.6", "--out", design, "--overwrite",
        ],
        "places protect": [
            str(files["trips"]), "--mechanism", design, "--out", released, "--overwrite",
            "--pass", "all", "--seed", "4",
        ],
        "places audit": [
            design, "--against", str(files["trips"]), released, "--trace", "trip",
            "--places", "60", "--public", str(files["others"]),
        ],
        "places utility": [
            str(files["trips"]), released, "--poi", str(files["others"]), "--nearest", "2",
        ],
        "labels audit": [people, "--label", "state", "--epsilon", "0.5,2"],
        "labels protect": [
            people, "--label", "state", "--epsilon", "2", "--out",
            str(folder / "people.out.csv"), "--overwrite", "--learn-from-private",
        ],
        "labels compare": [
            people, "--label", "state", "--label-epsilon", "4,1", "--record-epsilon", "4",
            "--repeats", "2",
        ],
        "text protect": [
            text, "--epsilon", "3", "--top", "2000", "--out", str(folder / "reviews.out.csv"),
            "--pass", "all", "--overwrite",
        ],
        "text audit": [
            str(files["many"]), str(files["many"]), "--epsilon", "0.3,2", "--sensitive", "all",
            "--epochs", "15",
            "--attacker", "rnn", "--candidates", "40",
        ],
        "text tune": [
            text, "--data", "held-out", "--epsilon", "0.5", "--rounds", "3", "--epochs", "1",
            "--attacker", "rnn", "--candidates", "40", "--documents", "60",
        ],
        "text utility": [text, noise, "--label", "label", "--no-encoder"],
        "text membership": [text, noise, "--label", "label", "--claim", "2"],
        "text calibrate": [
            str(files["pairs"]), "--released", "released", "--attacks", "tf-idf,overlap",
            "--temperature", "0", "--claim", "2",
        ],
        "text compare": [
            text, "--mechanisms", "tem,madlib", "--epsilon", "2,12", "--label", "label",
            "--attacks", "tf-idf,overlap", "--temperature", "0", "--trials", "100",
            "--target-epsilon-emp", "3",
        ],
    }  # fmt: skip


def run(name: str, arguments: list[str], folder: Path, *more: str, pictures: bool = True) -> Run:
    """One command with a report, and its pictures too unless they are not wanted."""
    stem = name.replace(" ", "-")
    report, charts = folder / f"{stem}.html", folder / f"{stem}-charts"
    words = [*name.split(), *arguments, "--report", str(report), *more]
    words += ["--charts", str(charts)] if pictures else []
    done = CliRunner().invoke(app, words, prog_name="voile", catch_exceptions=False)
    return Run(name, done.exit_code, done.stdout, done.stderr, report, charts)
