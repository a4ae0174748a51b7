"""The attacker who reads whole traces: what each release says of each square, and how people move.

States are squares of a grid over *public* trips, a Markov chain fitted to those says how people
move between them, and forward–backward gives the attacker's belief at every step; the guess is the
belief's mean, brought to the likeliest square nearby. The same belief, computed by the owner from
public data and the release alone, is a *restored* trace: post-processing, same ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from voile.attackers.markov import MarkovPrior, fit_markov
from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.places.noise import PlacesNoise
from voile.places.projection import Projection, projection_around
from voile.places.traces import Predicting, TraceLaw

LARGEST = 20_000
"""Squares that a chain may have."""


@dataclass(frozen=True, eq=False)
class Follower:
    """A fitted attacker: squares, how people move between them, and the law of releases."""

    law: TraceLaw
    around: Projection
    squares: Floats
    """Their middles, km on the plane."""
    chain: MarkovPrior

    def guesses(self, latitudes: Floats, longitudes: Floats) -> Floats:
        """The best guess (km on the plane) of each place of a released trace."""
        seen = self.around.to_km(latitudes, longitudes)
        beliefs = smoothed(self.chain, self.evidence(seen))
        return np.asarray(beliefs @ self.squares)

    def evidence(self, seen: Floats) -> Floats:
        """Ln of the likelihood of what was released, for each step and square; 0 says nothing."""
        count, way = len(seen), self.law.tracing.way
        table = np.zeros((count, len(self.squares)))
        if way == "predict":
            return self._predicted(seen, table)
        if way == "stays":
            drawn, draws = _first_of_each(seen)
        else:
            drawn = self.law.drawn_places(count)
            draws = len(drawn)
        share = self.law.share(count, draws, most_in_window=self._in_window(way, draws))
        noise = self.law.noise(share)
        for step in drawn:
            table[step] = self._density(noise, seen[step])
        return table

    def _density(self, noise: PlacesNoise, here: Floats) -> Floats:
        """Ln of the density at each square of a release here, from a table of 2,000 distances."""
        away = np.linalg.norm(self.squares - here, axis=1)
        farthest = float(2 ** np.ceil(np.log2(max(away.max(), 1.0))))
        return np.asarray(np.interp(away, *_table(noise, farthest)))

    def _in_window(self, way: str, draws: int) -> int | None:
        return min(self.law.tracing.window, draws) if way == "stays" else None

    def _predicted(self, seen: Floats, table: Floats) -> Floats:
        laws, draws = self.law.predicting(len(seen)), 1
        table[0] = self._density(laws.noise, seen[0])
        for step in range(1, len(seen)):
            if draws >= laws.fresh:
                break
            repeated = bool((seen[step] == seen[step - 1]).all())
            table[step] = _tested(laws, self.squares, seen[step - 1], near=repeated)
            if not repeated:
                table[step] += self._density(laws.noise, seen[step])
                draws += 1
        return table


@lru_cache(maxsize=256)
def _table(noise: PlacesNoise, farthest: float) -> tuple[Floats, Floats]:
    distances = np.linspace(0.0, farthest, 2000)
    return distances, noise.log_density(distances)


def _tested(laws: Predicting, squares: Floats, last: Floats, *, near: bool) -> Floats:
    """Ln of the chance that a test says near, or not, at each square."""
    rate, step = laws.test.rate, laws.noise.step
    left = rate * (laws.near - np.linalg.norm(squares - last, axis=1) / step)
    says = np.where(left < 0, np.exp(np.minimum(left, 0)) / 2, 1 - np.exp(-np.abs(left)) / 2)
    return np.asarray(np.log(np.maximum(says if near else 1 - says, 1e-300)))


def _first_of_each(seen: Floats) -> tuple[Indices, int]:
    """Where each released place stands first."""
    _, first = np.unique(seen, axis=0, return_index=True)
    return np.sort(first), len(first)


def follower(
    law: TraceLaw, public: list[tuple[Floats, Floats]], *, side: float, strength: float = 1.0
) -> Follower:
    """An attacker who knows public trips: latitudes and longitudes, trip by trip.

    The chain moves between squares of so many km that public trips touch, or that touch those.
    """
    lat, lon = (np.concatenate([trip[axis] for trip in public]) for axis in (0, 1))
    around = projection_around(lat, lon)
    cells = np.floor(around.to_km(lat, lon) / side).astype(np.int64)
    reach = np.stack(np.meshgrid((-1, 0, 1), (-1, 0, 1)), axis=-1).reshape(-1, 2)
    wide = np.unique((cells[:, None, :] + reach).reshape(-1, 2), axis=0)
    require(len(wide) <= LARGEST, "squares", f"at most {LARGEST:,}", len(wide), "take larger ones")
    number = {tuple(cell): place for place, cell in enumerate(wide.tolist())}
    steps = [number[tuple(cell)] for cell in cells.tolist()]
    ends = np.cumsum([len(trip[0]) for trip in public])[:-1]
    walks = [np.asarray(walk) for walk in np.split(np.array(steps), ends)]
    chain = fit_markov(walks, size=len(wide), strength=strength)
    return Follower(law, around, (wide + 0.5) * side, chain)


def smoothed(chain: MarkovPrior, evidence: Floats) -> Floats:
    """The belief in each state at each step, by forward–backward: exact under the chain."""
    count, size = evidence.shape
    seen = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    forward = np.empty((count, size))
    current = chain.start[None]
    for step in range(count):
        if step:
            current = chain.forward(forward[step - 1 : step])
        forward[step] = _whole(current[0] * seen[step])
    backward = np.ones(size)
    for step in reversed(range(count - 1)):
        backward = _whole(chain.backward((backward * seen[step + 1])[None])[0])
        forward[step] = _whole(forward[step] * backward)
    return forward


def _whole(row: Floats) -> Floats:
    return np.asarray(row / max(float(row.sum()), 1e-300))


@dataclass(frozen=True, eq=False)
class Home:
    """Where a person is most often, of squares of so many km: the middle, and how often."""

    place: Floats
    share: float

    @classmethod
    def of(cls, points: Floats, side: float) -> Home:
        """The square that most points lie in."""
        cells, counts = np.unique(np.floor(points / side), axis=0, return_counts=True)
        best = int(counts.argmax())
        inside = (np.floor(points / side) == cells[best]).all(axis=1)
        return cls(np.median(points[inside], axis=0), float(counts[best] / len(points)))
