"""`voile.places.estimate`: where people are, and from where to where they go, from releases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.estimate.frequencies import likeliest_shares
from voile.jobs.settings import BootstrapSeed, Resamples
from voile.options import Data, Option, use_case
from voile.places.columns import read_degrees
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.geodesy import LARGEST_REACH
from voile.places.knowing import in_order
from voile.places.lengths import length_km, length_words
from voile.places.made_by import BESIDE, MadeBy
from voile.places.noise import PlacesNoise
from voile.places.projection import Projection, projection_around
from voile.places.trace_evidence import log_densities
from voile.places.traces import TraceLaw
from voile.places.tracing import ALONE, Tracing
from voile.progress import tell
from voile.report.model import Report, Table
from voile.report.result import SILENT, Result
from voile.report.words import counted

_ENTRIES = 20_000_000
"""Of a table of likelihoods, at most."""
_PAIRED = 80
"""Areas that may be an origin or a destination: those that the releases make likeliest."""
_ROUGH, _NOTHING = 100, 1e-3
"""After so many steps of EM, areas with so little of the largest share are left out: EM has
taken their share away by then, and does not give it back."""
_AGAIN = 300
"""Steps of EM for a resample."""
_LEAST = 1e-6
"""Smaller shares are none: EM comes near 0 and does not reach it."""
_SHOWN = 12


@dataclass(frozen=True)
class AreaShare:
    """An area (the middle of its square, degrees), or a pair of them, and its estimated share."""

    lat: float
    lon: float
    to_lat: float | None
    to_lon: float | None
    share: float
    lower: float
    upper: float


@dataclass(frozen=True, repr=False, eq=False)
class EstimatedPlaces(Result):
    """Likeliest shares of areas, largest first; of origins and destinations for traces."""

    records: int
    """Places, or traces."""
    areas: int
    area_km: float
    traces: bool
    confidence: float
    shares: tuple[AreaShare, ...]
    ground: str
    table: Floats = field(metadata=SILENT)
    """Shares of all areas, or from each (rows) to each."""
    middles: Floats = field(metadata=SILENT)
    """Latitudes and longitudes of the areas."""

    def _records(self) -> tuple[AreaShare, ...]:
        return self.shares

    def _report(self) -> Report:
        what = "origins and destinations" if self.traces else "places"
        ends = ("from", "to") if self.traces else ("area",)
        return Report(
            title="Estimated from releases",
            answer=(
                f"Where {counted(self.records, 'trace' if self.traces else 'place')} were, by the "
                f"likeliest shares of {what} over squares of {length_words(self.area_km)}."
            ),
            notes=(
                "Made of the release and its law alone: post-processing, which costs no budget.",
                f"Intervals: {self.ground}.",
            ),
            tables=(
                Table(
                    f"The largest shares, {self.confidence:.0%} intervals",
                    (*ends, "share", "at least", "at most"),
                    tuple(
                        (*_called(row, self.traces), row.share, row.lower, row.upper)
                        for row in self.shares[:_SHOWN]
                    ),
                ),
            ),
            terms=("epsilon", "release"),
        )


def _called(row: AreaShare, paired: bool) -> tuple[str, ...]:
    here = f"{row.lat:.4f}, {row.lon:.4f}"
    return (here, f"{row.to_lat:.4f}, {row.to_lon:.4f}") if paired else (here,)


@use_case("places estimate")
def estimate(
    released: Annotated[
        Data, Option("What `voile places protect` made, with noise.", reads="public")
    ],
    *,
    made_by: MadeBy = BESIDE,
    tracing: Tracing = ALONE,
    columns: Coordinates = DEGREES,
    area: Annotated[str, Option("Side of the squares that are counted.", shown=True)] = "2km",
    confidence: Annotated[float, Option("Of the intervals.")] = 0.95,
    resamples: Resamples = 100,
    seed: BootstrapSeed = 0,
) -> EstimatedPlaces:
    """Estimate how many people are where, or go from where to where, from released places.

    Example: `voile places estimate trips.protected.csv --trace trip --way each`

    The likelihood of each release in each square is the noise's own density; the shares under
    which all are likeliest are found by EM, whose likelihood is concave. With --trace it is the
    first and last place of each trace that is counted, in pairs. ε is that of the guarantee file
    beside the release (without one, say it); give the other options that it was made with. Restored
    and remapped releases are no draws of the noise.
    """
    tracing.check()
    require(0.5 <= confidence < 1, "confidence", "between 0.5 and 1", confidence)
    require(resamples >= 20, "resamples", ">= 20", resamples)
    degrees = np.stack(read_degrees(released, columns), axis=1)
    around = _plane(degrees)
    seen = around.to_km(*degrees.T)
    side = length_km(area, "--area")
    law = made_by.of(released, tracing, as_drawn=True)
    traced = isinstance(law, TraceLaw)
    if isinstance(law, TraceLaw):
        middles, tables = _pairs(law, seen, in_order(released, tracing), side)
        shape: tuple[int, ...] = (len(middles), len(middles))
    else:
        middles = _squares(seen, side, len(seen))
        tables, shape = _likelihoods(law, middles, seen, side), (len(middles),)
    tell("the likeliest shares")
    shares, low, high = _bootstrapped(tables, confidence, resamples, seed)
    return EstimatedPlaces(
        records=tables.shape[1],
        areas=len(middles),
        area_km=side,
        traces=traced,
        confidence=confidence,
        shares=_largest(shares, low, high, middles, around, shape),
        ground=f"percentiles of {resamples} resamples of the records (bootstrap), not exact",
        table=shares.reshape(shape),
        middles=np.stack(around.to_degrees(middles), axis=1),
    )


def _plane(degrees: Floats) -> Projection:
    """The plane whose squares are counted; refused where releases lie too far apart for one."""
    try:
        return projection_around(*degrees.T)
    except InvalidInput:
        raise InvalidInput(
            f"releases must lie within {LARGEST_REACH:,.0f} km of their middle, and some do not: "
            "squares are counted on one plane. Estimate each region by itself; a journey, or noise "
            "of a small ε, may have carried some places so far"
        ) from None


def _squares(seen: Floats, side: float, records: int) -> Floats:
    """The middles of the squares that releases fall in, and of those beside them."""
    reach = np.stack(np.meshgrid((-1, 0, 1), (-1, 0, 1)), axis=-1).reshape(-1, 2)
    cells = np.unique(np.floor(seen / side).astype(np.int64), axis=0)
    cells = np.unique((cells[:, None, :] + reach).reshape(-1, 2), axis=0)
    require(
        len(cells) * records <= _ENTRIES,
        "areas times records",
        f"at most {_ENTRIES:,}",
        len(cells) * records,
        "take larger areas",
    )
    return np.asarray((cells + 0.5) * side, dtype=float)


def _likelihoods(noise: PlacesNoise, middles: Floats, seen: Floats, side: float) -> Floats:
    """The density of each release (columns), on average over nine points of each square (rows)."""
    third = side / 3
    table = np.zeros((len(middles), len(seen)))
    for east in (-third, 0.0, third):
        for north in (-third, 0.0, third):
            away = np.linalg.norm(middles[:, None] + (east, north) - seen[None], axis=2)
            table += np.exp(log_densities(noise, away))
    return np.asarray(table / np.maximum(table.max(axis=0), 1e-300))


def _pairs(
    law: TraceLaw, seen: Floats, traces: list[Indices], side: float
) -> tuple[Floats, Floats]:
    """Squares, and the likelihood of each trace's ends in each pair of them."""
    if law.tracing.way == "predict":
        raise InvalidInput(
            "--way must be each, every or stays: what predict repeats was drawn for other places"
        )
    ends = np.array([[rows[0], rows[-1]] for rows in traces])
    middles = _squares(seen[ends.ravel()], side, 2 * len(traces))
    first = np.empty((len(middles), len(traces)))
    last = np.empty_like(first)
    for place, rows in enumerate(traces):
        noise = law.drawn_noise(seen[rows])
        first[:, place], last[:, place] = _likelihoods(noise, middles, seen[ends[place]], side).T
    shares = [
        likeliest_shares(table, np.ones(len(traces), dtype=np.intp)) for table in (first, last)
    ]
    likely = np.sort(np.argsort(-(shares[0] + shares[1]), kind="stable")[:_PAIRED])
    first, last = first[likely], last[likely]
    joint = first[:, None, :] * last[None, :, :]
    same = (seen[ends[:, 0]] == seen[ends[:, 1]]).all(axis=1)  # one draw: one place
    joint[:, :, same] = np.eye(len(likely))[:, :, None] * first[:, None, same]
    return middles[likely], np.asarray(joint.reshape(len(likely) ** 2, len(traces)) + 1e-300)


def _bootstrapped(
    table: Floats, confidence: float, resamples: int, seed: int
) -> tuple[Floats, Floats, Floats]:
    """The likeliest shares, and percentiles of those of resampled records."""
    records = table.shape[1]
    rough = likeliest_shares(table, np.ones(records, dtype=np.intp), steps=_ROUGH)
    used = np.flatnonzero(rough > rough.max() * _NOTHING)
    kept = table[used] + 1e-300
    shares = np.zeros(len(table))
    shares[used] = likeliest_shares(kept, np.ones(records, dtype=np.intp))
    rng = np.random.default_rng(seed)
    drawn = np.zeros((resamples, len(shares)))
    for place in range(resamples):
        tell("resampling", done=place, total=resamples)
        counts = np.bincount(rng.integers(0, records, records), minlength=records)
        drawn[place, used] = likeliest_shares(kept, counts, steps=_AGAIN)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    low = np.where(low < _LEAST, 0.0, low)
    return shares, np.minimum(low, shares), np.maximum(high, shares)


def _largest(
    shares: Floats,
    low: Floats,
    high: Floats,
    middles: Floats,
    around: Projection,
    shape: tuple[int, ...],
) -> tuple[AreaShare, ...]:
    lat, lon = around.to_degrees(middles)
    found = []
    for place in np.argsort(-shares, kind="stable").tolist():
        if shares[place] < 1e-3:
            break
        ends = np.unravel_index(place, shape)
        to = (None, None) if len(ends) == 1 else (float(lat[ends[1]]), float(lon[ends[1]]))
        own = (float(lat[ends[0]]), float(lon[ends[0]]))
        found.append(
            AreaShare(*own, *to, *(float(values[place]) for values in (shares, low, high)))
        )
    return tuple(found)
