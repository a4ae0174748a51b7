"""Choosing the noise of places by eye: where a place may be reported, and traces before and after.

Nothing here is a release: what is drawn is seeded, shown to the owner, and written nowhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, require
from voile.files.rows import RowProblem
from voile.files.source import open_source
from voile.places.columns import instant
from voile.places.coordinates import Coordinates
from voile.places.earth import Globe
from voile.places.knowing import Trip
from voile.places.lengths import length_km, rounded_up
from voile.places.noise import SMALLEST_EPSILON, PlacesNoise, noise_of_error
from voile.places.solved import LARGEST_EPSILON
from voile.places.traces import Released, TraceLaw, squares
from voile.places.tracing import Tracing

Points = tuple[tuple[float, float], ...]
"""Latitudes and longitudes."""
SHOWN = 600
"""So many places are drawn on a map."""
MOST_TRACES = 40
MOST_ROWS = 200_000
"""Traces are looked for among so many rows: what a place may spend hangs on the whole of one."""


@dataclass(frozen=True)
class NoiseFigures:
    """What an epsilon per km does to a place, in km."""

    epsilon: float
    mean_error: float
    half_within: float
    nine_in_ten_within: float
    explanation: str


@dataclass(frozen=True)
class TraceShown:
    """One trace before and after as it would be released, and what its places spend together."""

    before: Points
    after: Points
    places: int
    draws: int
    spent: float
    figures: NoiseFigures
    """Of one draw of it."""


@dataclass(frozen=True, eq=False)
class PlacesBench:
    """Places of some data, which trace each is of, and when it was."""

    points: Floats
    """Latitude and longitude of each row."""
    traces: tuple[str, ...] = field(repr=False)
    times: Floats | None = None
    left_out: int = 0
    """Rows without a place, a time or a trace, where these are asked for."""
    more: bool = False
    """Whether the data go on beyond the rows that were read."""

    @property
    def shown(self) -> Points:
        """The first places."""
        return pairs(*self.points[:SHOWN].T)

    def noise_at(self, epsilon: float) -> PlacesNoise:
        """The noise of an epsilon per km, anywhere on Earth."""
        return _noise(epsilon)

    def epsilon_for(self, mean_error: str, tracing: Tracing | None = None, name: str = "") -> float:
        """The least epsilon, to three digits, whose releases fall within a length on average.

        Of places that share epsilon: of the draws of one trace, or of a middling one.
        """
        wanted = length_km(mean_error, "the mean error")
        alone = _noise_within(wanted).epsilon
        if tracing is None:
            return alone
        rows = self.rows_of(name or self.middling)
        epsilon = alone / self._draw_noise(rows, trace_law(1.0, tracing)).epsilon
        while self._draw_noise(rows, trace_law(epsilon, tracing)).mean_error > wanted:
            epsilon *= 1.01
        return rounded_up(epsilon, 3)

    def figures(
        self, epsilon: float, tracing: Tracing | None = None, name: str = ""
    ) -> NoiseFigures:
        """How far releases fall, from the law that is drawn from; of a trace's draws as above."""
        if tracing is None:
            return _figures(self.noise_at(epsilon))
        rows = self.rows_of(name or self.middling)
        return _figures(self._draw_noise(rows, trace_law(epsilon, tracing)))

    def blurred(self, epsilon: float, *, tracing: Tracing | None = None, seed: int = 0) -> Points:
        """The first places once, by a seed; with traces, as the whole of their traces would be."""
        if not self.traces[0]:
            return self._drawn(self.points[:SHOWN], epsilon, seed)
        made = np.full_like(self.points[:SHOWN], np.nan)
        for name in dict.fromkeys(self.traces[:SHOWN]):
            rows = self.rows_of(name)
            released = self._released(name, epsilon, tracing, seed)
            near = rows < len(made)
            made[rows[near], 0] = released.latitudes[near]
            made[rows[near], 1] = released.longitudes[near]
        return pairs(*made.T)

    def around(
        self, latitude: float, longitude: float, epsilon: float, *, seed: int = 0, count: int = 400
    ) -> Points:
        """Where one place may be reported: so many draws by a seed."""
        require(abs(latitude) <= 90 and abs(longitude) <= 180, "a place", "in degrees", "another")
        return self._drawn(np.tile([latitude, longitude], (count, 1)), epsilon, seed)

    def _drawn(self, places: Floats, epsilon: float, seed: int) -> Points:
        noise = self.noise_at(epsilon)
        points, _, _ = noise.located(places[:, 0], places[:, 1])
        return pairs(*noise.drawn(points, seeded_rng(seed)))

    # ── traces ─────────────────────────────────────────────────────────────────────────────

    def names(self) -> tuple[str, ...]:
        """The traces, those of most places first."""
        longest = sorted(self._rows, key=lambda name: -len(self._rows[name]))
        return tuple(name for name in longest[:MOST_TRACES] if name)

    @property
    def middling(self) -> str:
        """A trace that is as long as most are."""
        return sorted(self._rows, key=lambda name: len(self._rows[name]))[
            (len(self._rows) - 1) // 2
        ]

    @cached_property
    def _rows(self) -> dict[str, Indices]:
        """The rows of each trace, in the order of their times where they have some."""
        names, member = np.unique(np.array(self.traces, dtype=str), return_inverse=True)
        when = np.zeros(len(member)) if self.times is None else self.times
        order = np.lexsort((when, member))
        parts = np.split(order, np.flatnonzero(np.diff(member[order])) + 1)
        return {str(name): rows for name, rows in zip(names, parts, strict=True)}

    def rows_of(self, name: str) -> Indices:
        """The rows of a trace."""
        if not name or name not in self._rows:
            raise InvalidInput("the trace must be one of those among the rows that were read")
        return self._rows[name]

    def trip(self, rows: Indices) -> Trip:
        """A trace as it is."""
        when = None if self.times is None else self.times[rows]
        return Trip(self.points[rows, 0], self.points[rows, 1], when)

    def trace(
        self, name: str, epsilon: float, *, tracing: Tracing | None, seed: int = 0
    ) -> TraceShown:
        """One trace, the whole of it released under one budget; its first places are shown.

        Without `tracing` each place is by itself, at the whole epsilon.
        """
        rows = self.rows_of(name)
        made = self._released(name, epsilon, tracing, seed)
        return TraceShown(
            pairs(*self.points[rows[:SHOWN]].T),
            pairs(made.latitudes[:SHOWN], made.longitudes[:SHOWN]),
            len(rows),
            made.draws,
            made.spent,
            self.figures(epsilon, tracing, name),
        )

    def released(
        self, name: str, epsilon: float, *, tracing: Tracing | None, seed: int = 0
    ) -> Trip:
        """The same as a trip, for whoever reads it."""
        made = self._released(name, epsilon, tracing, seed)
        return Trip(made.latitudes, made.longitudes, self.trip(self.rows_of(name)).times)

    def _released(self, name: str, epsilon: float, tracing: Tracing | None, seed: int) -> Released:
        """By a seed of the trace's own, so that it is the same alone and among others."""
        rows = self.rows_of(name)
        trip, rng = self.trip(rows), seeded_rng(MOST_ROWS * seed + int(rows.min()))
        if tracing is not None:
            law = trace_law(epsilon, tracing)
            return law.release(trip.latitudes, trip.longitudes, trip.times, rng)
        noise = self.noise_at(epsilon)
        points, _, _ = noise.located(trip.latitudes, trip.longitudes)
        return Released(*noise.drawn(points, rng), len(rows), epsilon * len(rows))

    def _draw_noise(self, rows: Indices, law: TraceLaw) -> PlacesNoise:
        """The noise of one draw of a trace."""
        if law.tracing.way == "predict":
            return law.predicting(len(rows)).noise
        if law.tracing.way == "stays":
            lat, lon = self.points[rows].T
            return law.drawn_noise(squares(lat, lon, law.tracing.square)[2][:, None].astype(float))
        return law.drawn_noise(self.points[rows])


def trace_law(epsilon: float, tracing: Tracing) -> TraceLaw:
    """The law of traces anywhere on Earth."""
    return TraceLaw(epsilon, replace(tracing, trace="trace"), Globe())


def _figures(noise: PlacesNoise) -> NoiseFigures:
    half, most = noise.error_within(0.5), noise.error_within(0.9)
    said = noise.guarantee.explain(distances=(_two_digits(half), _two_digits(most))).splitlines()
    shown = [line for line in said[1:] if not line.startswith("Not covered: ")]
    return NoiseFigures(noise.epsilon, noise.mean_error, half, most, " ".join(shown))


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _noise_within(wanted: float) -> PlacesNoise:
    """As `noise_of_error` finds it, but from one or two looks at the law: a slider waits for it."""
    epsilon = rounded_up(0.75 * math.pi / wanted, 3)  # what the continuous law would need
    if not SMALLEST_EPSILON <= epsilon <= 0.95 * LARGEST_EPSILON:
        return noise_of_error(wanted, Globe(), None)
    while (found := _noise(epsilon)).mean_error > wanted:
        epsilon = rounded_up(epsilon * (1 + 1e-6), 3)
    return found


_noise = lru_cache(maxsize=16)(PlacesNoise)


def pairs(latitudes: Floats, longitudes: Floats) -> Points:
    """Degrees as they are shown."""
    both = zip(latitudes.tolist(), longitudes.tolist(), strict=True)
    return tuple((round(lat, 6), round(lon, 6)) for lat, lon in both)


def open_places(
    data: Any, *, lat: str = "lat", lon: str = "lon", trace: str | None = None,
    time: str | None = None,
) -> PlacesBench:  # fmt: skip
    """The first places of some data, ready to be looked at; with traces, the whole of these."""
    source, columns = open_source(data), Coordinates(lat=lat, lon=lon)
    wanted = [*columns.names, *(name for name in (trace, time) if name is not None)]
    source.must_have(*wanted)
    most = SHOWN if trace is None else MOST_ROWS
    rows = (row for _, row in source.rows() if not isinstance(row, RowProblem))
    read = [[row.get(name) for name in wanted] for row in islice(rows, most + 1)]
    more, read = len(read) > most, read[:most]
    table = columns.degrees([[row[k] for row in read] for k in range(len(columns.names))])
    there = ~np.isnan(table).any(axis=1)
    names, times = np.full(len(read), ""), None
    if trace is not None:
        place = wanted.index(trace, len(columns.names))
        names = np.array([str("" if row[place] is None else row[place]).strip() for row in read])
        there &= names != ""
    if time is not None:
        times = np.array([instant(row[-1]) for row in read])
        there &= np.isfinite(times)
    if not there.any():
        raise InvalidInput(f"{columns.wanted}; none of the first {len(read):,} rows is so")
    return PlacesBench(
        table[there],
        tuple(names[there].tolist()),
        None if times is None else times[there],
        int((~there).sum()),
        more,
    )
