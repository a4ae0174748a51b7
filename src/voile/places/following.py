"""The attacker who reads whole traces: what each release says of each state, and how people move.

States are squares over *public* trips and some km around them, or the junctions of a public road
network; chains fitted to the trips say how people move between them (`attackers.movement`), and
forward–backward gives the attacker's belief at every step. `rehearsing` decides on public trips
that the chains have not seen how the beliefs are read. The same belief, computed by the owner from
public data and the release alone, is a *restored* trace: post-processing, same ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from voile.attackers.movement import (
    Movement,
    States,
    fit_movement,
    plane_states,
    reach_of_steps,
    smoothed,
    street_states,
)
from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.places.noise import PlacesNoise
from voile.places.projection import Projection, projection_around
from voile.places.roads import RoadNetwork
from voile.places.traces import Predicting, TraceLaw

LARGEST = 20_000
"""Squares that a chain may have."""
_ROOMY = 6_000
"""Squares up to which ground that no public trip touches is added."""
_BEYOND = 8.0
"""Km around public trips where people may be as well."""
_ROUNDS = 2
"""How often a person's own places are learned from the beliefs before."""
_PUBLIC = 3.0
"""Visits that the public places are worth, against a person's own."""


@dataclass(frozen=True, eq=False)
class Trip:
    """A trace in degrees, in order, with times where there are some."""

    latitudes: Floats
    longitudes: Floats
    times: Floats | None = None

    def __len__(self) -> int:
        return len(self.latitudes)

    @property
    def gaps(self) -> Floats | None:
        """Seconds between one place and the next."""
        return None if self.times is None else np.asarray(np.diff(self.times))

    def cut(self, count: int) -> Trip:
        """Its first places."""
        times = None if self.times is None else self.times[:count]
        return Trip(self.latitudes[:count], self.longitudes[:count], times)


@dataclass(frozen=True)
class Reading:
    """How beliefs are read: with a person's own places, mixed with the release; homes by what."""

    own: bool = False
    """Whether where a trace seems to be most is taken for where its person tends to be."""
    weight: float = 1.0
    """Of the belief's mean in a guess; the rest is the release as it stands."""
    home: str = "guesses"
    """Where a home is looked for: in the release, in the guesses or in the summed beliefs."""


@dataclass(frozen=True, eq=False)
class ReadTrace:
    """One trace as it was read: guesses (km), and how much of it is believed in each state."""

    seen: Floats
    guesses: Floats
    visits: Floats


@dataclass(frozen=True, eq=False)
class Follower:
    """A fitted attacker: states, how people move between them, and the law of releases."""

    law: TraceLaw
    around: Projection
    states: States
    movement: Movement
    reading: Reading = Reading()

    def read(self, released: Trip) -> ReadTrace:
        """The best guess of each place of a released trace."""
        seen = self.around.to_km(released.latitudes, released.longitudes)
        beliefs = self.beliefs(seen, released.gaps, own=self.reading.own)
        means = self.means(seen, beliefs)
        weight = self.reading.weight
        return ReadTrace(seen, weight * means + (1 - weight) * seen, beliefs.sum(axis=0))

    def guesses(self, released: Trip) -> Floats:
        """The best guess (km on the plane) of each place of a released trace."""
        return self.read(released).guesses

    def beliefs(self, seen: Floats, gaps: Floats | None, *, own: bool) -> Floats:
        """The belief in each state at each place; with the person's own places by a few rounds.

        A round takes the frequencies by which the rarely made free step lands for a mixture of
        the public ones and of where the trace was believed to be (empirical Bayes).
        """
        evidence, movement = self.evidence(seen), self.movement
        steps = max(1, len(seen) - 1)
        found = smoothed(movement.steps(gaps, steps), evidence)
        public = movement.chains[0].start
        for _ in range(_ROUNDS if own else 0):
            mine = (found.sum(axis=0) + _PUBLIC * public) / (len(found) + _PUBLIC)
            found = smoothed(movement.tending_to(mine).steps(gaps, steps), evidence)
        return found

    def means(self, seen: Floats, beliefs: Floats) -> Floats:
        """The beliefs' means; rows of one draw of `stays` are one place and get one."""
        means = np.asarray(beliefs @ self.states.points)
        if self.law.tracing.way != "stays":
            return means
        member, counts = _draws(seen)[1:]
        summed = [np.bincount(member, weights=axis) / counts for axis in means.T]
        return np.stack(summed, axis=1)[member]

    # ── what a release says ────────────────────────────────────────────────────────────────

    def evidence(self, seen: Floats) -> Floats:
        """Ln of the likelihood of what was released, for each step and state; 0 says nothing."""
        count, way = len(seen), self.law.tracing.way
        if way == "predict":
            return self._predicted(seen)
        if way == "stays":
            return self._stayed(seen)
        drawn = self.law.drawn_places(count)
        noise = self.law.drawn_noise(seen)
        table = np.zeros((count, len(self.states)))
        for step in drawn:
            table[step] = self._density(noise, seen[step])
        return table

    def _stayed(self, seen: Floats) -> Floats:
        """Each draw says the same of all of its rows; a run of them shares it, being one visit."""
        first, member, _ = _draws(seen)
        noise = self.law.drawn_noise(seen)
        table = np.stack([self._density(noise, seen[row]) for row in first])[member]
        run = np.cumsum(np.append(0, member[1:] != member[:-1]))
        return np.asarray(table / np.bincount(run)[run][:, None])

    def _density(self, noise: PlacesNoise, here: Floats) -> Floats:
        """Ln of the density at each state of a release here."""
        return log_densities(noise, np.linalg.norm(self.states.points - here, axis=1))

    def _predicted(self, seen: Floats) -> Floats:
        laws, draws = self.law.predicting(len(seen)), 1
        table = np.zeros((len(seen), len(self.states)))
        table[0] = self._density(laws.noise, seen[0])
        for step in range(1, len(seen)):
            if draws >= laws.fresh:
                break
            repeated = bool((seen[step] == seen[step - 1]).all())
            table[step] = _tested(laws, self.states.points, seen[step - 1], near=repeated)
            if not repeated:
                table[step] += self._density(laws.noise, seen[step])
                draws += 1
        return table


def log_densities(noise: PlacesNoise, away: Floats) -> Floats:
    """Ln of the density of releases so many km off, from a table of 2,000 distances."""
    farthest = float(2 ** np.ceil(np.log2(max(away.max(), 1.0))))
    return np.asarray(np.interp(away, *_table(noise, farthest)))


@lru_cache(maxsize=256)
def _table(noise: PlacesNoise, farthest: float) -> tuple[Floats, Floats]:
    distances = np.linspace(0.0, farthest, 2000)
    return distances, noise.log_density(distances)


def _tested(laws: Predicting, states: Floats, last: Floats, *, near: bool) -> Floats:
    """Ln of the chance that a test says near, or not, at each state."""
    rate, step = laws.test.rate, laws.noise.step
    left = rate * (laws.near - np.linalg.norm(states - last, axis=1) / step)
    says = np.where(left < 0, np.exp(np.minimum(left, 0)) / 2, 1 - np.exp(-np.abs(left)) / 2)
    return np.asarray(np.log(np.maximum(says if near else 1 - says, 1e-300)))


def _draws(seen: Floats) -> tuple[Indices, Indices, Indices]:
    """Where each released place stands first, whose row is which, and how many rows each has."""
    _, first, member = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    member = np.asarray(member).reshape(-1)
    return first, member, np.bincount(member)


# ── fitting ────────────────────────────────────────────────────────────────────────────────────


def follower(
    law: TraceLaw, public: Sequence[Trip], *, side: float, roads: RoadNetwork | None = None
) -> Follower:
    """An attacker who knows public trips, and thinks in squares of so many km or in junctions."""
    if roads is None:
        lat = np.concatenate([trip.latitudes for trip in public])
        around = projection_around(lat, np.concatenate([trip.longitudes for trip in public]))
    else:
        around = roads.projection
    trips = [around.to_km(trip.latitudes, trip.longitudes) for trip in public]
    if roads is None:
        points = np.asarray((_cells(np.concatenate(trips), side) + 0.5) * side, dtype=float)
        states = plane_states(points, spacing=side, reach=reach_of_steps(trips, side, len(points)))
    else:
        require(len(roads) <= LARGEST, "junctions", f"at most {LARGEST:,}", len(roads))
        reach = reach_of_steps(trips, 0.1, len(roads))
        states = street_states(roads.points, roads.graph, reach=reach)
    return refitted(Follower(law, around, states, Movement(())), public)


def refitted(reader: Follower, public: Sequence[Trip]) -> Follower:
    """The same attacker, who knows these trips alone."""
    trips = [reader.around.to_km(trip.latitudes, trip.longitudes) for trip in public]
    gaps = [trip.gaps for trip in public]
    known = [gap for gap in gaps if gap is not None]
    timed = known if len(known) == len(gaps) else None
    return replace(reader, movement=fit_movement(reader.states, trips, timed))


def _cells(points: Floats, side: float) -> Indices:
    """The squares that public places touch, and those around them as far as there is room."""
    reach = np.stack(np.meshgrid((-1, 0, 1), (-1, 0, 1)), axis=-1).reshape(-1, 2)
    cells = np.unique(np.floor(points / side).astype(np.int64), axis=0)
    for ring in range(max(1, round(_BEYOND / side))):
        wider = np.unique((cells[:, None, :] + reach).reshape(-1, 2), axis=0)
        if ring and len(wider) > _ROOMY:
            break
        cells = wider
    require(
        len(cells) <= LARGEST, "squares", f"at most {LARGEST:,}", len(cells), "take larger ones"
    )
    return cells
