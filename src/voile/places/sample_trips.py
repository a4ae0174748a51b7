"""A small made-up city as files, and the pick-ups of a made-up fleet in it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.errors import CannotWrite, require
from voile.places.city import synthetic_city
from voile.places.roads import RoadNetwork

COLUMNS = ("vehicle", "stop", "lat", "lon")
REACH = 2.5
"""Kilometres: how far a vehicle tends to go for its next passenger."""


@lru_cache(maxsize=1)
def city() -> tuple[RoadNetwork, Floats]:
    """The streets of a city of 20 × 15 km with about 750 junctions, and where people are."""
    return synthetic_city(seed=0, columns=32, rows=24)


def trips(
    vehicles: int = 60, *, stops: int = 12, seed: int = 0
) -> list[tuple[str, int, float, float]]:
    """(vehicle, stop, latitude, longitude) of every pick-up, vehicle by vehicle.

    A first pick-up is drawn from where people are, the next ones from there too but weighted
    with exp(−distance / 2.5 km): a Markov chain, which is what an attacker who reads whole
    traces makes use of. Points lie within 30 m of a junction of `city`.

    >>> [row[:2] for row in trips(2, stops=3)]
    [('v001', 1), ('v001', 2), ('v001', 3), ('v002', 1), ('v002', 2), ('v002', 3)]
    """
    require(1 <= vehicles <= 10_000, "vehicles", "between 1 and 10000", vehicles)
    require(1 <= stops <= 1000, "stops", "between 1 and 1000", stops)
    network, prior = city()
    rng = np.random.default_rng([22, seed])
    rows = []
    for vehicle in range(1, vehicles + 1):
        here = int(rng.choice(len(network), p=prior))
        for stop in range(1, stops + 1):
            point = network.points[here] + rng.uniform(-0.03, 0.03, 2)
            lat, lon = network.projection.to_degrees(point[None])
            rows.append((f"v{vehicle:03d}", stop, float(lat[0]), float(lon[0])))
            away = np.linalg.norm(network.points - network.points[here], axis=1)
            weights = prior * np.exp(-away / REACH)
            here = int(rng.choice(len(network), p=weights / weights.sum()))
    return rows


def write_trips(path: str | Path, *, vehicles: int = 60, stops: int = 12, seed: int = 0) -> Path:
    """The pick-ups as a CSV file with the columns vehicle, stop, lat and lon."""
    rows = ([v, s, *_degrees(a, b)] for v, s, a, b in trips(vehicles, stops=stops, seed=seed))
    return _write(Path(path), COLUMNS, rows)


def write_city(folder: str | Path) -> Path:
    """The city as `voile places design --roads` reads it: points.csv and edges.csv."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(f"cannot make the folder {target}: {problem.strerror}") from problem
    network, _ = city()
    lat, lon = network.projection.to_degrees(network.points)
    points = ([i, *_degrees(a, b)] for i, (a, b) in enumerate(zip(lat, lon, strict=True)))
    _write(target / "points.csv", ("id", "lat", "lon"), points)
    edges = (
        [int(a), int(b), f"{1000 * length:.1f}"]
        for (a, b), length in zip(network.edges, network.lengths, strict=True)
    )
    _write(target / "edges.csv", ("from", "to", "length"), edges)
    return target


def write_crowd(path: str | Path, *, count: int = 3000, seed: int = 0) -> Path:
    """Public points for `--prior`: where people tend to be, as a census would tell."""
    network, prior = city()
    chosen = np.random.default_rng([23, seed]).choice(len(network), size=count, p=prior)
    lat, lon = network.projection.to_degrees(network.points[chosen])
    rows = (_degrees(a, b) for a, b in zip(lat, lon, strict=True))
    return _write(Path(path), ("lat", "lon"), rows)


def _degrees(lat: float, lon: float) -> list[str]:
    return [f"{lat:.6f}", f"{lon:.6f}"]


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
    except OSError as problem:
        raise CannotWrite(f"cannot write {path}: {problem.strerror or problem}") from problem
    return path
