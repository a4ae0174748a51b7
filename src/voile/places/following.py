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

import numpy as np
from numpy.typing import NDArray

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
from voile.places.geodesy import LARGEST_REACH
from voile.places.knowing import Trip
from voile.places.projection import Projection, projection_around
from voile.places.roads import RoadNetwork
from voile.places.trace_evidence import Ground, TraceEvidence

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


@dataclass(frozen=True)
class Reading:
    """How beliefs are read: with a person's own places, mixed with each place alone; homes."""

    own: bool = False
    """Whether where a trace seems to be most is taken for where its person tends to be."""
    weight: float = 1.0
    """Of the belief's mean in a guess; the rest is the guess of the place by itself."""
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

    law: TraceEvidence
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
        alone = self.law.alone(self.around, seen)
        guesses = np.where(_off(seen)[:, None], seen, weight * means + (1 - weight) * alone)
        return ReadTrace(seen, guesses, beliefs.sum(axis=0))

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
        """The beliefs' means; rows of one draw are one place and get one."""
        means, member = np.asarray(beliefs @ self.states.points), self.law.ties(seen)
        if member is None:
            return means
        counts = np.bincount(member)
        summed = [np.bincount(member, weights=axis) / counts for axis in means.T]
        return np.stack(summed, axis=1)[member]

    def evidence(self, seen: Floats) -> Floats:
        """Ln of the likelihood of what was released, for each step and state; none off the map."""
        table = self.law.table(Ground(self.states.points, self.around), seen)
        return np.where(_off(seen)[:, None], 0.0, table)


# ── fitting ────────────────────────────────────────────────────────────────────────────────────


def follower(
    law: TraceEvidence, public: Sequence[Trip], *, side: float, roads: RoadNetwork | None = None
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


def _off(seen: Floats) -> NDArray[np.bool_]:
    """Which places lie farther from the map's centre than one plane keeps distances."""
    return np.asarray(np.linalg.norm(seen, axis=1) > LARGEST_REACH)


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
