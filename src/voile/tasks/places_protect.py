"""Releasing a file of places: each row's coordinates replaced by a draw."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.core.randomness import Generator, secure_rng, seeded_rng
from voile.domains.places.design import PlacesDesign
from voile.errors import BadFile, InvalidInput, require
from voile.jobs import Batch, BeyondBudget, OnError, Released, RowProblem, open_source, run_job
from voile.jobs.workspace import write_json, writing
from voile.ledger import Bill, Cost
from voile.storage import load
from voile.tasks.ledger_charge import LedgerChoice, charging_for, ledger_facts

SEEDED = "seeded: not for release"


def load_design(path: str | Path) -> PlacesDesign:
    """The design in a file, certified anew."""
    found = load(path)
    if not isinstance(found, PlacesDesign):
        raise BadFile(
            f"{path} must hold a design for places, it holds another kind; "
            "make one with `voile places design`"
        )
    return found


@lru_cache(maxsize=1)
def _loaded(path: str, digest: str) -> PlacesDesign:
    """Load once in a process; the digest tells another file under the same name."""
    return load_design(path)


@dataclass(frozen=True)
class MakePlacesTransform:
    """Builds a worker's transform, with a generator of its own."""

    mechanism: str
    digest: str
    lat: str
    lon: str
    seed: int | None

    def __call__(self) -> PlacesTransform:
        """One transform for one process."""
        design = _loaded(self.mechanism, self.digest)
        lat, lon = design.projection.to_degrees(np.asarray(design.mechanism.outputs, dtype=float))
        text = [(f"{a:.6f}", f"{b:.6f}") for a, b in zip(lat, lon, strict=True)]
        fresh = secure_rng() if self.seed is None else None
        return PlacesTransform(design, self.lat, self.lon, self.seed, fresh, text)


@dataclass(frozen=True)
class PlacesTransform:
    """Releases the two coordinate columns of a batch; other columns pass as they are."""

    design: PlacesDesign
    lat: str
    lon: str
    seed: int | None
    fresh: Generator | None
    outputs: list[tuple[str, str]]

    def __call__(self, batch: Batch) -> Released:
        """One row or problem for each row, and counts of places inside and outside the map."""
        degrees = _degrees_of(batch.rows, self.lat, self.lon)
        good = np.asarray(np.isfinite(degrees).all(axis=1))
        points = np.zeros_like(degrees)
        points[good] = self.design.projection.to_km(degrees[good, 0], degrees[good, 1])
        outside = self._outside(points[good])
        chosen = good
        if batch.charge is not None:
            chosen = good & batch.charge(Bill.alike(self._price(), good))
        drawn = np.full(len(degrees), -1, dtype=np.intp)
        drawn[chosen] = self.design.mechanism.draw(points[chosen], self._rng(batch.part))
        rows: list[Mapping[str, Any] | RowProblem] = []
        for row, ok, output in zip(batch.rows, good.tolist(), drawn.tolist(), strict=True):
            if output >= 0:
                latitude, longitude = self.outputs[output]
                rows.append({**row, self.lat: latitude, self.lon: longitude})
            elif ok:
                rows.append(BeyondBudget())
            else:
                rows.append(
                    RowProblem(f"{self.lat} and {self.lon} must be degrees within ±90 and ±180")
                )
        return Released(rows, {"places": int(good.sum()), "outside": outside})

    def _price(self) -> Cost:
        """What one place spends."""
        return ((self.design.guarantee.epsilon, self.design.guarantee.delta, 1),)

    def _outside(self, points: Floats) -> int:
        """How many places lie outside the map; refused if most of them are far away."""
        low, high = self.design.box
        beyond = np.linalg.norm(points - np.clip(points, low, high), axis=1)
        far = int((beyond > np.linalg.norm(high - low)).sum())
        if len(points) > 10 and far > len(points) / 2:
            raise InvalidInput(
                f"places must lie on the mechanism's map, and {far} of {len(points)} in one part "
                f"are more than its diagonal away; are --lat and --lon swapped, or is it another "
                f"city's mechanism?"
            )
        return int((beyond > 0).sum())

    def _rng(self, part: int) -> Generator:
        if self.fresh is not None:
            return self.fresh
        require(self.seed is not None, "seed", "given", self.seed)
        return np.random.default_rng([int(self.seed or 0), part])


def protect_places(
    file: str | Path,
    *,
    mechanism: str | Path,
    out: str | Path,
    lat: str = "lat",
    lon: str = "lon",
    seed: int | None = None,
    jobs: int = 1,
    on_error: OnError = OnError.FAIL,
    batch_rows: int = 20_000,
    overwrite: bool = False,
    ledger: LedgerChoice | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> dict[str, Any]:
    """Release a file's places and write `<out>` and `<out>.guarantee.json`; return the latter.

    With a ledger, a row charges its person the mechanism's epsilon.
    """
    from voile import __version__

    source, target = open_source(file), Path(out)
    try:
        digest = hashlib.sha256(Path(mechanism).read_bytes()).hexdigest()
    except OSError as problem:
        raise BadFile(f"cannot read {mechanism}: {problem.strerror}") from problem
    design = _loaded(str(mechanism), digest)
    for column in (lat, lon):
        if column not in source.columns:
            raise InvalidInput(
                f"the file must have a column {column!r}, it has "
                f"{', '.join(source.columns[:20])}; name it with --lat and --lon"
            )
    if seed is not None:
        seeded_rng(seed)
    design.mechanism.draw(
        np.asarray(design.mechanism.outputs[:1], dtype=float), np.random.default_rng(0)
    )  # compile once, before any worker starts
    charging = charging_for(ledger, design.guarantee, source.columns, seed=seed)
    report = run_job(
        source,
        target,
        MakePlacesTransform(str(mechanism), digest, lat, lon, seed),
        identity={
            "task": "places protect",
            "mechanism": digest,
            "lat": lat,
            "lon": lon,
            "seed": seed,
        },
        jobs=jobs,
        batch_rows=batch_rows,
        on_error=on_error,
        overwrite=overwrite,
        charging=charging,
        progress=progress,
    )
    guarantee = design.guarantee
    others = [c for c in source.columns if c not in (lat, lon)]
    facts: dict[str, Any] = {
        "voile": __version__,
        "method": design.facts.get("method"),
        "epsilon": guarantee.epsilon,
        "unit": guarantee.metric.unit,
        "metric": guarantee.metric.name,
        "granularity": guarantee.granularity,
        "basis": str(guarantee.basis),
        "headline": guarantee.headline(),
        "explanation": guarantee.explain(),
        "outside": list(guarantee.outside),
        "columns_in_clear": others,
        "mechanism_sha256": digest,
        "randomness": "secure" if seed is None else SEEDED,
        "seed": seed,
        "rows": report.rows,
        "skipped": report.skipped,
        "masked": report.masked,
        "places_outside_the_map": int(report.totals.get("outside", 0)),
        **ledger_facts(charging, report),
    }
    with writing(target):
        write_json(target.with_name(target.name + ".guarantee.json"), facts)
    return facts | {
        "seconds": report.seconds,
        "output": str(target),
        "resumed_parts": report.resumed,
    }


def _degrees_of(rows: Sequence[Mapping[str, Any]], lat: str, lon: str) -> Floats:
    """Rows of latitude and longitude; NaN where a row has no usable pair."""
    try:  # the usual case, without a call for each row
        table = np.array([[row[lat] for row in rows], [row[lon] for row in rows]], dtype=float).T
    except (KeyError, TypeError, ValueError):
        pairs = [_degrees(row.get(lat), row.get(lon)) for row in rows]
        return np.array(pairs, dtype=float).reshape(-1, 2)
    table[(np.abs(table) > (90.0, 180.0)).any(axis=1)] = np.nan
    return table


def _degrees(latitude: Any, longitude: Any) -> tuple[float, float]:
    try:
        lat, lon = float(latitude), float(longitude)
    except (TypeError, ValueError):
        return (np.nan, np.nan)
    return (lat, lon) if abs(lat) <= 90 and abs(lon) <= 180 else (np.nan, np.nan)
