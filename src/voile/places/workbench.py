"""Choosing the noise of places by eye: where a place may be reported, and traces before and after.

Nothing here is a release: what is drawn is seeded, shown to the owner, and written nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

import numpy as np

from voile.core.arrays import Floats
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, require
from voile.files import no_such_column
from voile.files.rows import Row, RowProblem
from voile.files.source import open_source
from voile.places.coordinates import Coordinates
from voile.places.earth import Globe
from voile.places.lengths import length_km
from voile.places.noise import PlacesNoise, noise_of_error
from voile.places.traces import TraceLaw
from voile.places.tracing import Tracing

Points = tuple[tuple[float, float], ...]
"""Latitudes and longitudes."""
MOST_TRACES = 40


@dataclass(frozen=True)
class NoiseFigures:
    """What an epsilon per km does to any place, in km."""

    epsilon: float
    mean_error: float
    half_within: float
    nine_in_ten_within: float
    explanation: str


@dataclass(frozen=True)
class TraceShown:
    """One trace before and after, and what its places spent together."""

    before: Points
    after: Points
    draws: int
    spent: float


@dataclass(frozen=True, eq=False)
class PlacesBench:
    """The first places of some data, and which trace each is of."""

    points: Floats
    """Latitude and longitude of each row."""
    traces: tuple[str, ...] = field(repr=False)
    left_out: int = 0
    """Rows without a place."""

    def noise_at(self, epsilon: float) -> PlacesNoise:
        """The noise of an epsilon per km, anywhere on Earth."""
        return _noise(epsilon)

    def epsilon_for(self, mean_error: str) -> float:
        """The least epsilon whose releases fall within such a length on average."""
        return noise_of_error(length_km(mean_error, "the mean error"), Globe(), None).epsilon

    def figures(self, epsilon: float) -> NoiseFigures:
        """How far releases fall, from the law that is drawn from."""
        noise = self.noise_at(epsilon)
        half, most = noise.error_within(0.5), noise.error_within(0.9)
        said = noise.guarantee.explain(distances=(half, most)).splitlines()
        shown = [line for line in said[1:] if not line.startswith("Not covered: ")]
        return NoiseFigures(epsilon, noise.mean_error, half, most, " ".join(shown))

    def blurred(self, epsilon: float, *, seed: int = 0) -> Points:
        """Every place once, by a seed."""
        return self._drawn(self.points, epsilon, seed)

    def around(
        self, latitude: float, longitude: float, epsilon: float, *, seed: int = 0, count: int = 400
    ) -> Points:
        """Where one place may be reported: so many draws by a seed."""
        require(abs(latitude) <= 90 and abs(longitude) <= 180, "a place", "in degrees", "another")
        return self._drawn(np.tile([latitude, longitude], (count, 1)), epsilon, seed)

    def _drawn(self, places: Floats, epsilon: float, seed: int) -> Points:
        noise = self.noise_at(epsilon)
        points, _, _ = noise.located(places[:, 0], places[:, 1])
        return _pairs(*noise.drawn(points, seeded_rng(seed)))

    def names(self) -> tuple[str, ...]:
        """The traces, those of most places first."""
        names, counts = np.unique(np.array(self.traces, dtype=str), return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MOST_TRACES]
        return tuple(str(names[i]) for i in order if names[i])

    def trace(
        self, name: str, epsilon: float, *, per: Literal["place", "trace"] = "trace", seed: int = 0
    ) -> TraceShown:
        """One trace in the order of its rows, released under one budget."""
        rows = [place for place, own in enumerate(self.traces) if own == name]
        if not rows:
            raise InvalidInput("the trace must be one of those among the first rows")
        chosen = self.points[rows]
        law = TraceLaw(epsilon, Tracing(trace="trace", per=per), Globe())
        made = law.release(chosen[:, 0], chosen[:, 1], None, seeded_rng(seed))
        after = _pairs(made.latitudes, made.longitudes)
        return TraceShown(_pairs(*chosen.T), after, made.draws, made.spent)


_noise = lru_cache(maxsize=16)(PlacesNoise)


def _pairs(latitudes: Floats, longitudes: Floats) -> Points:
    pairs = zip(latitudes.tolist(), longitudes.tolist(), strict=True)
    return tuple((round(lat, 6), round(lon, 6)) for lat, lon in pairs)


def open_places(
    data: Any, *, lat: str = "lat", lon: str = "lon", trace: str | None = None, count: int = 600
) -> PlacesBench:
    """The first places of some data, ready to be looked at."""
    source, columns = open_source(data), Coordinates(lat=lat, lon=lon)
    for column in (*columns.names, *([] if trace is None else [trace])):
        if column not in source.columns:
            raise no_such_column(column, source.columns)
    read = [row for _, row in islice(source.rows(), count) if not isinstance(row, RowProblem)]
    table = columns.degrees([[row.get(name) for row in read] for name in columns.names])
    there = ~np.isnan(table).any(axis=1)
    if not there.any():
        raise InvalidInput(f"{columns.wanted}; none of the first {len(read)} rows is so")
    return PlacesBench(table[there], _names(read, there, trace), int((~there).sum()))


def _names(rows: Sequence[Row], there: Any, trace: str | None) -> tuple[str, ...]:
    return tuple(
        "" if trace is None else str(row.get(trace, ""))
        for row, kept in zip(rows, there.tolist(), strict=True)
        if kept
    )
