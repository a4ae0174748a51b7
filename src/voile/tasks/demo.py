"""The main job on embedded data: blur places and labels, certify, and show the cost."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voile import mechanisms, metrics
from voile.audit import certificate, sampler
from voile.core.arrays import Floats
from voile.core.channel import Channel
from voile.core.randomness import secure_rng, seeded_rng
from voile.core.space import Space
from voile.errors import CannotWrite
from voile.storage import save

EPSILON = 2.0
TRIPS = 2_000


@dataclass(frozen=True)
class Row:
    """One mechanism on the demo's streets."""

    mechanism: str
    claim: float
    certified: float
    mean_error_km: float
    verdict: str


@dataclass(frozen=True)
class Demo:
    """What the demo found and where it wrote it."""

    folder: Path
    rows: tuple[Row, ...]
    chosen: str
    sentences: str
    sampler_verdict: str


def demo(folder: str | Path = "demo", *, seed: int | None = None) -> Demo:
    """Blur made-up trips in a made-up town with every suitable mechanism, and keep the best.

    Writes trips.csv, released.csv, town.voile (the mechanism) and summary.json into `folder`.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(f"cannot make the folder {target}: {problem.strerror}") from problem
    town, prior, trips = _town()
    distances = town.distances()
    channels = _candidates(town, distances, prior)
    rows = tuple(_row(name, channel, distances, prior) for name, channel in channels.items())
    best = min(rows, key=lambda row: row.mean_error_km)
    channel = channels[best.mechanism]
    rng = secure_rng() if seed is None else seeded_rng(seed)
    released = channel.draw(trips, rng)
    busiest = int(np.bincount(trips).argmax())
    law = channel.probabilities()[busiest]
    check = sampler(channel.draw(np.full(200_000, busiest), rng), law)
    _write_points(target / "trips.csv", town.items[trips])
    _write_points(target / "released.csv", channel.outputs[released])
    save(channel, target / "town.voile")
    sentences = channel.guarantee.explain(candidates=len(town))
    result = Demo(target, rows, best.mechanism, sentences, str(check.verdict))
    _write_summary(target / "summary.json", result, seed)
    return result


def _town() -> tuple[Space, Floats, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """Street corners 500 m apart, two busy quarters, and trips drawn from them."""
    rng = np.random.default_rng(20)
    corners = np.array([[x / 2, y / 2] for x in range(12) for y in range(9)])
    busy = sum(
        weight * np.exp(-((corners - centre) ** 2).sum(axis=1) / (2 * spread**2))
        for centre, spread, weight in (((1.5, 1.0), 0.7, 1.0), ((4.5, 3.0), 1.0, 0.8))
    )
    prior = (busy + 0.02) / (busy + 0.02).sum()
    trips = rng.choice(len(corners), size=TRIPS, p=prior)
    return Space(corners, metric=metrics.euclidean(unit="km")), prior, trips


def _candidates(town: Space, distances: Floats, prior: Floats) -> dict[str, Channel]:
    place = "one location"

    def exponential(strength: float) -> Channel:
        return mechanisms.exponential(town, epsilon=strength, granularity=place)

    laplace = mechanisms.planar_laplace_grid(town, epsilon=EPSILON)
    full = mechanisms.calibrated(exponential, epsilon=EPSILON)
    tight = mechanisms.tight_constraints(town, epsilon=EPSILON, granularity=place)
    plain = {
        "exponential": exponential(EPSILON),
        "exponential (full ε)": full,
        "planar Laplace": laplace,
        "tight constraints": tight,
    }
    remapped = {
        f"{name} + remap": mechanisms.remap(channel, loss=distances, prior=prior)
        for name, channel in plain.items()
    }
    return plain | remapped


def _row(name: str, channel: Channel, distances: Floats, prior: Floats) -> Row:
    finding = certificate(channel.space, channel.weights, claim=channel.guarantee.epsilon)
    return Row(
        name,
        channel.guarantee.epsilon,
        channel.certificate().epsilon,
        channel.expected_loss(distances, prior),
        str(finding.verdict),
    )


def _write_points(path: Path, points: Floats) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["x_km", "y_km"])
        writer.writerows(points.tolist())


def _write_summary(path: Path, result: Demo, seed: int | None) -> None:
    summary = {
        "guarantee": result.sentences,
        "randomness": "secure" if seed is None else "seeded: not for release",
        "chosen": result.chosen,
        "sampler": result.sampler_verdict,
        "mechanisms": [row.__dict__ for row in result.rows],
    }
    path.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
