"""Releasing a trace, the places of one person in their order, under one budget.

Let X = (x₁ … x_n) and X′ be two traces, d_i the geodesic distance of x_i and x′_i. If place i is
drawn with ε_i, the loss between them is at most Σ ε_i·d_i. So one place is worth ε_i; a window of
places, however they move, Σ over the window; and a whole trace of which no place moves by more
than d km at most (Σ ε_i)·d. `per` says which of the three sums ε is. What decides how the budget is
shared (how many places there are, which are drawn) is public or follows from what was released.

- **each**: every place is drawn.
- **every**: each k-th place and the last are drawn, those between lie on straight lines.
- **predict** (Chatzikokolakis, Palamidessi, Stronati, PETS 2014): is the place near what was
  released last? The distance, which changes by at most d_i, gets Laplace noise of ε_t; near, the
  last release is repeated, else a new one is drawn with ε_f, a stated number of times a trace.
- **stays**: places are rounded to squares, and each square of a trace is drawn once: whoever
  returns home every day does not average the noise away. Which rows share a square is in clear.

docs/explanation/traces.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.guarantee import Basis, Guarantee
from voile.core.lattice_laplace import (
    COARSEST,
    FINEST,
    WIDEST_STEP,
    LatticeLaplace,
    lattice_laplace,
)
from voile.core.randomness import Generator
from voile.errors import InvalidInput
from voile.metrics.lattice import rounding_reach
from voile.metrics.lp_norms import lp
from voile.places.earth import BoxMap, Globe
from voile.places.geodesy import GEODESIC_ERROR, plane_epsilon
from voile.places.lengths import length_words
from voile.places.noise import SMALLEST_EPSILON, PlacesNoise
from voile.places.solved import LARGEST_EPSILON
from voile.places.tracing import Tracing

_TEST = 0.5
"""The share of a budget that tests get."""
_RATIO = 1.02
"""Strengths are rounded down to powers of this: few laws serve traces of all lengths."""
KM_A_DEGREE = 111.2


@dataclass(frozen=True)
class Released:
    """What became of one trace: degrees, how many places were drawn, and what its places spent."""

    latitudes: Floats
    longitudes: Floats
    draws: int
    spent: float
    """Σ ε_i over the whole trace."""


@dataclass(frozen=True)
class Predicting:
    """The noise of a new place, that of a test, the steps that are near, and how many are new."""

    noise: PlacesNoise
    test: LatticeLaplace
    near: int
    fresh: int


@dataclass(frozen=True)
class TraceLaw:
    """One way to release traces: ε per km for one place, one window or one whole trace."""

    epsilon: float
    tracing: Tracing
    ground: Globe | BoxMap

    def release(
        self, latitudes: Floats, longitudes: Floats, times: Floats | None, rng: Generator
    ) -> Released:
        """One trace, its places in their order."""
        points = self.ground.to_km(latitudes, longitudes)[0]
        way = self.tracing.way
        if way == "predict":
            return self._predicted(points, rng)
        if way == "stays":
            return self._stays(latitudes, longitudes, rng)
        drawn = self.drawn_places(len(points))
        noise = self.noise(self.share(len(points), len(drawn)))
        found = noise.drawn(points[drawn], rng)
        lat, lon = (_between(drawn, axis, len(points), times) for axis in _unwrapped(*found))
        return Released(lat, _wrapped(lon), len(drawn), noise.epsilon * len(drawn))

    def noise(self, epsilon: float) -> PlacesNoise:
        """Noise of at most this strength; refused where a trace is too long for its budget."""
        if epsilon < SMALLEST_EPSILON * _RATIO:
            raise InvalidInput(
                f"a trace must leave at least ε = {SMALLEST_EPSILON:g} per km for a draw, and one "
                "is too long for its budget; cut traces into days, raise ε, or draw less often "
                "with --way every, predict or stays"
            )
        return _noise(min(LARGEST_EPSILON, _rounded_down(epsilon)), self.ground)

    def share(self, places: int, draws: int, *, most_in_window: int | None = None) -> float:
        """The ε of one draw, of so many in a trace of so many places."""
        per = self.tracing.per
        if per == "place":
            return self.epsilon
        if per == "trace":
            return self.epsilon / draws
        window = min(self.tracing.window, places)
        if most_in_window is None:
            every = self.tracing.every if self.tracing.way == "every" else 1
            most_in_window = min(draws, window if every == 1 else -(-window // every) + 1)
        return self.epsilon / most_in_window

    def most(self, places: int) -> float:
        """What a trace of so many places can spend at most: Σ ε_i."""
        windows = -(-places // self.tracing.window)
        return self.epsilon * {"trace": 1, "window": windows, "place": places}[self.tracing.per]

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is promised for the unit that ε is per."""
        step, way = WIDEST_STEP, self.tracing.way
        km = rounding_reach(step + 4 * GEODESIC_ERROR, p=2.0, dimensions=self.ground.dimensions)
        km += step if way == "predict" else 0.0  # a distance in whole steps
        km += 1.5 * self.tracing.square if way == "stays" else 0.0  # a square's diagonal
        outside = [
            "rounding: between two places d apart the loss is at most "
            f"ε·(d + {length_words(km, bound=True)})",
            "how many places a trace has, and the times that order them",
        ]
        if way == "stays":
            outside.append(f"which places of a trace lie in one square of {self.tracing.stay}")
        unit = self.tracing.unit
        return Guarantee(
            self.epsilon, lp(2.0, unit="km"), unit, Basis.PROVED, outside=tuple(outside)
        )

    def drawn_noise(self, seen: Floats) -> PlacesNoise:
        """The noise of the draws of a released trace, for each, every and stays: as it tells."""
        if self.tracing.way != "stays":
            return self.noise(self.share(len(seen), len(self.drawn_places(len(seen)))))
        draws = len(np.unique(seen, axis=0))
        most = min(self.tracing.window, draws)
        return self.noise(self.share(len(seen), draws, most_in_window=most))

    def draw_error(self, places: int, draws: int) -> float:
        """How far (km) a draw of such a trace falls on average at most: 2.36/ε_i km on the globe.

        A function of how many places it has and, for stays, of how many squares.
        """
        if self.tracing.way == "predict":
            return self.predicting(places).noise.mean_error
        window = min(self.tracing.window, draws) if self.tracing.way == "stays" else None
        return self.noise(self.share(places, draws, most_in_window=window)).mean_error

    def drawn_places(self, count: int) -> Indices:
        """Which places of so many are drawn, where that does not hang on the places."""
        if self.tracing.way == "each":
            return np.arange(count)
        return np.unique(np.append(np.arange(0, count, self.tracing.every), count - 1))

    # ── test, then release or repeat ───────────────────────────────────────────────────────

    def predicting(self, count: int) -> Predicting:
        """The laws of a trace of so many places, and how many of them may be drawn anew."""
        fresh = max(1, -(-count // self.tracing.every))
        window = min(self.tracing.window, count)
        tests, most, fresh = {
            "place": (1, 1, count),
            "window": (window, window, count),
            "trace": (max(1, count - 1), fresh, fresh),
        }[self.tracing.per]
        noise = self.noise((1 - _TEST) * self.epsilon / most)
        strength = plane_epsilon(_rounded_down(_TEST * self.epsilon / tests), self.ground.stretch)
        rate = min(COARSEST, strength * noise.step)
        if rate < FINEST:
            raise InvalidInput("a trace is too long for its budget; cut it into days, or raise ε")
        near = math.floor(noise.mean_error / noise.step)
        return Predicting(noise, lattice_laplace(1, rate), near, fresh)

    def _predicted(self, points: Floats, rng: Generator) -> Released:
        laws = self.predicting(len(points))
        noise, test = laws.noise, laws.test
        lattice = np.rint(points / noise.step).astype(np.int64)
        found: list[tuple[float, float]] = []
        last: list[int] = []
        draws = tested = 0
        for place, here in zip(points, lattice.tolist(), strict=True):
            if found and draws < laws.fresh:
                away = math.isqrt(sum((a - b) ** 2 for a, b in zip(here, last, strict=True)))
                tested += 1
                again = away + int(test.draw(1, rng)[0, 0]) <= laws.near
            else:
                again = bool(found)
            if again:
                found.append(found[-1])
                continue
            lat, lon = noise.drawn(place[None], rng)
            found.append((float(lat[0]), float(lon[0])))
            ground = self.ground.to_km(lat, lon)[0] / noise.step
            last = [round(v) for v in ground[0].tolist()]
            draws += 1
        lat, lon = np.array(found).T
        spent = draws * noise.epsilon + tested * test.rate / noise.step * self.ground.stretch
        return Released(lat, lon, draws, spent)

    # ── each square once ───────────────────────────────────────────────────────────────────

    def _stays(self, latitudes: Floats, longitudes: Floats, rng: Generator) -> Released:
        lat, lon, member = squares(latitudes, longitudes, self.tracing.square)
        in_window = min(self.tracing.window, len(lat))
        noise = self.noise(self.share(len(latitudes), len(lat), most_in_window=in_window))
        found = noise.drawn(self.ground.to_km(lat, lon)[0], rng)
        return Released(found[0][member], found[1][member], len(lat), noise.epsilon * len(lat))


def squares(latitudes: Floats, longitudes: Floats, side: float) -> tuple[Floats, Floats, Indices]:
    """The middles of the squares (of so many km) that places lie in, and whose is which."""
    rows = np.rint(latitudes * KM_A_DEGREE / side)
    middle = np.clip(rows * side / KM_A_DEGREE, -90, 90)
    wide = np.maximum(np.cos(np.radians(middle)), 0.01) * KM_A_DEGREE
    columns = np.rint(longitudes * wide / side)
    keys = np.stack([rows, columns], axis=1)
    _, first, member = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    east = np.clip((columns * side / wide)[first], -180, 180)
    return middle[first], east, np.asarray(member).reshape(-1)


def _between(drawn: Indices, values: Floats, count: int, times: Floats | None) -> Floats:
    """Values at all places from those at the drawn ones, on straight lines over time or order."""
    at = np.arange(count, dtype=float)
    if times is not None and bool((np.diff(times[drawn]) > 0).all()):
        at = np.clip(times, times[drawn[0]], times[drawn[-1]])
    return np.asarray(np.interp(at, at[drawn], values))


def _unwrapped(latitudes: Floats, longitudes: Floats) -> tuple[Floats, Floats]:
    """Longitudes without a jump, so that a line across the antimeridian stays short."""
    return latitudes, np.asarray(np.unwrap(longitudes, period=360))


def _wrapped(longitudes: Floats) -> Floats:
    return np.asarray((longitudes + 180) % 360 - 180)


def _rounded_down(epsilon: float) -> float:
    return float(_RATIO ** math.floor(math.log(epsilon) / math.log(_RATIO) + 1e-9)) * (1 - 1e-12)


@lru_cache(maxsize=512)
def _noise(epsilon: float, ground: Globe | BoxMap) -> PlacesNoise:
    return PlacesNoise(epsilon, ground)
