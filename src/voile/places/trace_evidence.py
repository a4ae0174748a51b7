"""What a release says of where its trace was: of traces under one budget, and of designs.

An attacker knows the law. For each place of a released trace and each state where a person can
be, the table holds ln P(what was released there | the state), but for a constant of the place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require
from voile.places.designs import PlacesDesign
from voile.places.knowing import Trip
from voile.places.noise import PlacesNoise
from voile.places.projection import Projection
from voile.places.traces import Predicting, TraceLaw

_MOST = 10**8
"""States times outputs of a design, in one table."""
_CANDIDATES = 1500
"""Public places among which a guess is looked for."""


@dataclass(frozen=True, eq=False)
class Ground:
    """The states' points, km on a plane, and the plane."""

    points: Floats
    around: Projection


@dataclass(frozen=True)
class NoiseEvidence:
    """Of traces that were released under one budget."""

    law: TraceLaw

    def release(self, trip: Trip, rng: Generator) -> tuple[Floats, Floats]:
        """As `places protect --trace`."""
        made = self.law.release(trip.latitudes, trip.longitudes, trip.times, rng)
        return made.latitudes, made.longitudes

    def alone(self, around: Projection, seen: Floats) -> Floats:
        """The release as it stands."""
        return seen

    def ties(self, seen: Floats) -> Indices | None:
        """Rows of one square, with `stays`."""
        return _draws(seen)[1] if self.law.tracing.way == "stays" else None

    def table(self, ground: Ground, seen: Floats) -> Floats:
        """As each way draws."""
        way, states = self.law.tracing.way, ground.points
        if way == "predict":
            return self._predicted(states, seen)
        noise = self.law.drawn_noise(seen)
        if way == "stays":
            return _stayed(noise, states, seen)
        table = np.zeros((len(seen), len(states)))
        for step in self.law.drawn_places(len(seen)):
            table[step] = _density(noise, states, seen[step])
        return table

    def _predicted(self, states: Floats, seen: Floats) -> Floats:
        laws, draws = self.law.predicting(len(seen)), 1
        table = np.zeros((len(seen), len(states)))
        table[0] = _density(laws.noise, states, seen[0])
        for step in range(1, len(seen)):
            if draws >= laws.fresh:
                break
            repeated = bool((seen[step] == seen[step - 1]).all())
            table[step] = _tested(laws, states, seen[step - 1], near=repeated)
            if not repeated:
                table[step] += _density(laws.noise, states, seen[step])
                draws += 1
        return table


def _stayed(noise: PlacesNoise, states: Floats, seen: Floats) -> Floats:
    """Each draw says the same of all of its rows; a run of them shares it, being one visit."""
    first, member = _draws(seen)
    table = np.stack([_density(noise, states, seen[row]) for row in first])[member]
    run = np.cumsum(np.append(0, member[1:] != member[:-1]))
    return np.asarray(table / np.bincount(run)[run][:, None])


def _density(noise: PlacesNoise, states: Floats, here: Floats) -> Floats:
    """Ln of the density at each state of a release here."""
    return log_densities(noise, np.linalg.norm(states - here, axis=1))


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


def _draws(seen: Floats) -> tuple[Indices, Indices]:
    """Where each released place stands first, and whose row is which."""
    _, first, member = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    return first, np.asarray(member).reshape(-1)


# ── a design ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class DesignEvidence:
    """Of places that a design released, each by itself: the very probabilities that are drawn."""

    design: PlacesDesign
    _kept: list[tuple[Floats, Floats]] = field(default_factory=list, repr=False)

    def release(self, trip: Trip, rng: Generator) -> tuple[Floats, Floats]:
        """As `places protect --mechanism`; places too far from the map are refused."""
        points, _, far = self.design.located(trip.latitudes, trip.longitudes)
        if far.any():
            raise InvalidInput("a trip must lie within reach of the map")
        return self.design.drawn(points, rng)

    def ties(self, seen: Floats) -> Indices | None:
        """None: every row is a draw."""
        return None

    def alone(self, around: Projection, seen: Floats) -> Floats:
        """The Bayes guess under the design's public prior."""
        known = self.design.projection.to_km(*around.to_degrees(seen))
        guesses = self.guesses[self.matched(known)[0]]
        return around.to_km(*self.design.projection.to_degrees(guesses))

    @cached_property
    def guesses(self) -> Floats:
        """For each output the public place (km on the design's plane) least far off on average."""
        from scipy.spatial.distance import cdist

        places, prior = candidates(self.design, _CANDIDATES)
        joint = prior[:, None] * self.design.mechanism.probabilities(places)
        return np.asarray(places[(joint.T @ cdist(places, places)).argmin(axis=1)])

    def table(self, ground: Ground, seen: Floats) -> Floats:
        """The column of each output that was released."""
        known = self.design.projection.to_km(*ground.around.to_degrees(seen))
        return self._law(ground)[:, self.matched(known)[0]].T

    def matched(self, shown: Floats) -> tuple[Indices, Floats]:
        """The output nearest each row (km on the design's plane), and how far off it is."""
        distance, nearest = self._tree.query(shown)
        return np.asarray(nearest, dtype=np.intp), np.asarray(distance)

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(np.asarray(self.design.mechanism.outputs, dtype=float))

    def _law(self, ground: Ground) -> Floats:
        """Ln of the law at each state; kept, since all traces ask for it."""
        for points, law in self._kept:
            if points is ground.points:
                return law
        size = len(ground.points) * len(self.design.mechanism.outputs)
        require(size <= _MOST, "states × outputs", f"at most {_MOST:,}", size, "take a larger side")
        points = self.design.located(*ground.around.to_degrees(ground.points))[0]
        parts = [
            np.log(np.maximum(self.design.mechanism.probabilities(part), 1e-300))
            for part in np.array_split(points, 1 + len(points) // 1000)
        ]
        self._kept[:] = [(ground.points, np.concatenate(parts))]
        return self._kept[0][1]


TraceEvidence = NoiseEvidence | DesignEvidence
"""A law of releases, as somebody reads it who knows it."""


def candidates(design: PlacesDesign, largest: int) -> tuple[Floats, Floats]:
    """The public places and their prior, thinned to so many."""
    step = max(1, -(-len(design.places) // largest))
    return design.places[::step], design.prior[::step] / design.prior[::step].sum()
