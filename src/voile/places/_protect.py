"""Releasing a file of places: each row's coordinates replaced by a draw."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.randomness import Generator, seeded_rng
from voile.errors import BadFile
from voile.files import no_such_column
from voile.jobs import (
    Batch,
    ColumnsInClear,
    Engine,
    JobReport,
    Location,
    Named,
    OnError,
    Planned,
    Replaced,
    RowProblem,
    check_output,
    columns_in_clear,
    location,
    open_source,
    run_job,
)
from voile.jobs.ledger_choice import NO_LEDGER, LedgerChoice, charging_for, ledger_facts
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.places.columns import degrees_of, not_degrees, times_among
from voile.places.designs import PlacesDesign, distance_words
from voile.places.outside import FEW, Outside, many_off, refused
from voile.storage import load

SEEDED = "seeded: not for release"


def load_design(path: str | Path, *, content: bytes | None = None) -> PlacesDesign:
    """The design in a file, or in a file's bytes, certified anew."""
    found = load(path, content=content)
    if not isinstance(found, PlacesDesign):
        raise BadFile(
            f"{path} must hold a design for places, it holds another kind; "
            "make one with `voile places design`"
        )
    return found


@lru_cache(maxsize=1)
def _loaded(name: str, content: bytes) -> PlacesDesign:
    """Load once in a process."""
    return load_design(name, content=content)


@dataclass(frozen=True)
class MakePlacesReleaser:
    """Builds a worker's releaser from the design's bytes: what travels is what was certified."""

    mechanism: str
    content: bytes
    lat: str
    lon: str
    outside: Outside
    clear: ColumnsInClear

    def __call__(self) -> PlacesReleaser:
        """One releaser for one process."""
        design = _loaded(self.mechanism, self.content)
        lat, lon = (
            np.array([f"{x:.6f}" for x in axis], dtype=object) for axis in design.output_degrees
        )
        return PlacesReleaser(design, self.lat, self.lon, self.outside, self.clear, lat, lon)


@dataclass(frozen=True, eq=False)
class Located:
    """The rows of a batch on the map: which are, where they lie, and which lie off it."""

    before: tuple[Sequence[Any], Sequence[Any]]
    good: Bools
    points: NDArray[np.float64]
    off: Bools


@dataclass(frozen=True)
class PlacesReleaser:
    """Releases the two coordinate columns of a batch; the columns in clear pass as they are."""

    design: PlacesDesign
    lat: str
    lon: str
    outside: Outside
    clear: ColumnsInClear
    latitudes: NDArray[np.object_]
    longitudes: NDArray[np.object_]
    """The outputs, as they are written."""

    def plan(self, batch: Batch) -> Planned:
        """Where each row lies, and what is wrong with rows that lie nowhere."""
        before = (batch.column(self.lat), batch.column(self.lon))
        degrees = degrees_of(*before)
        good = np.asarray(np.isfinite(degrees).all(axis=1))
        problem = RowProblem(not_degrees(self.lat, self.lon))
        problems: dict[int, RowProblem] = dict.fromkeys(np.flatnonzero(~good).tolist(), problem)
        problems |= self.clear.strangers(batch.rows)
        good[list(problems)] = False
        points, off, far = self.design.located(*degrees[good].T)
        bad = self._refused(off, far)
        if bad.any():
            rows = np.flatnonzero(good)[bad]
            problems |= dict.fromkeys(rows.tolist(), RowProblem(self._why()))
            points, off, good[rows] = points[~bad], off[~bad], False
        one = self.design.guarantee
        cost = ((one.epsilon, one.delta, 1),)
        located = Located(before, good, points, off)
        return Planned(located, lambda: Bill.alike(cost, good), problems)

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """New coordinates for the rows that are paid, and counts of places on and off the map."""
        located: Located = planned.secrets
        drawn = np.zeros(len(paid), dtype=np.intp)
        drawn[paid] = self.design.mechanism.draw(located.points[paid[located.good]], rng)
        return Replaced(
            {
                self.lat: _shown(self.latitudes[drawn], located.before[0]),
                self.lon: _shown(self.longitudes[drawn], located.before[1]),
            },
            {"places": int(paid.sum()), "outside": int(located.off.sum())},
        )

    def _refused(self, off: NDArray[np.bool_], far: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which places are not released; all are refused if most look like another map's."""
        count, beyond = len(off), int(far.sum())
        problem = None
        if beyond > max(FEW, count / 2):
            problem = refused(beyond, beyond, count, self.design.reach, self.outside)
        elif self.outside == Outside.FEW:
            problem = many_off(int(off.sum()) - beyond, count)
        if problem is not None:
            raise problem
        return off if self.outside == Outside.REFUSE else far

    def _why(self) -> str:
        if self.outside == Outside.REFUSE:
            return f"{self.lat} and {self.lon} must lie on the mechanism's map"
        return (
            f"{self.lat} and {self.lon} must lie within {self.design.reach:.3g} km of the map's "
            "centre"
        )


def protect_places(
    file: str | Path | Location,
    *,
    mechanism: str | Path,
    out: str | Path | Location,
    lat: str = "lat",
    lon: str = "lon",
    seed: int | None = None,
    engine: Engine | None = None,
    on_error: OnError = OnError.FAIL,
    batch_rows: int = 20_000,
    overwrite: bool = False,
    pass_columns: Named = (),
    drop_columns: Sequence[str] = (),
    outside: Outside = Outside.FEW,
    ledger: LedgerChoice = NO_LEDGER,
) -> dict[str, Any]:
    """Release a file's places and write `<out>` and `<out>.guarantee.json`; return the latter.

    Every other column must be named: in `pass_columns` (or "all") to be written as it is, in
    `drop_columns` to be left out. `outside` says what happens to places off the map; beyond the
    design's reach they are bad rows. With a ledger, a row charges its person the mechanism's
    epsilon; its column is no exception.
    """
    from voile import __version__

    check_output(out, overwrite=overwrite)
    source, target = open_source(file), location(out)
    try:
        with location(mechanism).open() as opened:
            content = opened.read()
    except OSError as problem:
        raise BadFile(f"cannot read {mechanism}: {problem.strerror}") from problem
    digest = hashlib.sha256(content).hexdigest()
    design = _loaded(str(mechanism), content)
    for column in (lat, lon):
        if column not in source.columns:
            raise no_such_column(column, source.columns, do="name it with --lat and --lon")
    clear = columns_in_clear(
        source, changed=(lat, lon), passing=pass_columns, dropping=drop_columns
    )
    times = times_among(source, clear)
    if seed is not None:
        seeded_rng(seed)
    design.mechanism.draw(
        np.asarray(design.mechanism.outputs[:1], dtype=float), np.random.default_rng(0)
    )  # compile once, before any worker starts
    charging = charging_for(ledger, design.guarantee, source.columns, seed=seed)

    def said(report: JobReport) -> dict[str, Any]:
        guarantee = design.guarantee
        return {
            "voile": __version__,
            "guarantee": guarantee.to_dict(),
            "method": design.facts.get("method"),
            "epsilon": guarantee.epsilon,
            "unit": guarantee.metric.unit,
            "metric": guarantee.metric.name,
            "distance": distance_words(design.mechanism.p, design.reach),
            "granularity": guarantee.granularity,
            "basis": str(guarantee.basis),
            "headline": guarantee.headline(),
            "explanation": guarantee.explain(),
            "outside": list(guarantee.outside),
            **clear.facts(),
            "times_in_clear": times,
            "mechanism_sha256": digest,
            "randomness": "secure" if seed is None else SEEDED,
            "seed": seed,
            "rows": report.rows,
            "skipped": report.skipped,
            "masked": report.masked,
            "places_outside_the_map": int(report.totals.get("outside", 0)),
            **ledger_facts(charging, report),
        }

    report = run_job(
        source,
        target,
        MakePlacesReleaser(str(mechanism), content, lat, lon, outside, clear),
        identity={
            "task": "places protect",
            "mechanism": digest,
            "lat": lat,
            "lon": lon,
            "seed": seed,
            "outside": str(outside),
        },
        dropped_columns=clear.dropped,
        engine=engine,
        batch_rows=batch_rows,
        on_error=on_error,
        overwrite=overwrite,
        charging=charging,
        seed=seed,
        guarantee=said,
    )
    return dict(report.guarantee) | {
        "seconds": report.seconds,
        "output": str(target),
        "resumed_parts": report.resumed,
    }


def _shown(drawn: NDArray[np.object_], before: Sequence[Any]) -> list[Any]:
    """Text where the file holds text, numbers where it holds numbers."""
    text = set(map(type, before)) <= {str}
    return drawn.tolist() if text else [float(value) for value in drawn]
