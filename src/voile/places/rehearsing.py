"""How to read beliefs, decided on public trips that the chains were not fitted to.

The attacker knows the law, so it releases public trips itself and looks what would have served:
the release as it stands, the chains, or something between; the person's own places or not; homes by
the release, the guesses or the summed beliefs. What is counted later has no part in it. Reading
each place by itself is among the choices, so the attacker is no weaker than that in rehearsal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voile.core.arrays import Floats
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.places.following import Follower, Reading, refitted
from voile.places.homes import BELIEFS, GUESSES, KINDS, RELEASE, apart, homes
from voile.places.knowing import Trip
from voile.progress import tell

WEIGHTS = tuple(k / 10 for k in range(11))
_MOST = 25
"""Trips that are rehearsed for each half."""


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """A public trip that was released and read: truth, release, guesses alone, beliefs' means."""

    true: Floats
    seen: Floats
    alone: Floats
    means: dict[bool, Floats]
    visits: dict[bool, Floats]
    states: Floats

    def error(self, own: bool, weight: float) -> float:
        """Km off, summed over places."""
        guess = weight * self.means[own] + (1 - weight) * self.alone
        return float(np.linalg.norm(guess - self.true, axis=1).sum())

    def is_found(self, reading: Reading, within: float) -> bool:
        """Whether a reading finds the home."""
        found = found_homes(
            reading.home,
            self.seen,
            reading.weight * self.means[reading.own] + (1 - reading.weight) * self.alone,
            (self.states, self.visits[reading.own]),
            side=within,
        )
        return bool(apart(found, homes(self.true, None, side=within))[0] <= within)


def found_homes(
    kind: str, seen: Floats, guesses: Floats, believed: tuple[Floats, Floats], *, side: float
) -> Floats:
    """Home and second place of a trace, as one kind of reading finds them."""
    made: dict[str, Callable[[], Floats]] = {
        RELEASE: lambda: homes(seen, None, side=side),
        GUESSES: lambda: homes(guesses, None, side=side),
        BELIEFS: lambda: homes(*believed, side=side),
    }
    return made[kind]()


def rehearsed(reader: Follower, public: Sequence[Trip], *, longest: int, within: float) -> Follower:
    """The attacker with the reading that served best, on each half after fitting to the other.

    Halves are of trips in their order, so that trips of one person, which usually stand together,
    lie in one half. Trips are cut to the longest that was released.
    """
    half = len(public) // 2
    played: list[Rehearsed] = []
    for known, other in ((public[:half], public[half:]), (public[half:], public[:half])):
        if len(known) and len(other):
            fitted = refitted(reader, known)
            some = [
                other[k] for k in np.linspace(0, len(other) - 1, min(len(other), _MOST)).astype(int)
            ]
            for count, trip in enumerate(some):
                tell("rehearsing on public trips", done=count, total=len(some))
                played += _played(fitted, trip.cut(longest), seed=len(played))
    if not played:
        return reader
    own, weight = min(
        ((own, weight) for own in (False, True) for weight in WEIGHTS),
        key=lambda pair: (sum(p.error(*pair) for p in played), pair),
    )
    best = Reading(own, weight)
    kinds = [replace(best, home=kind) for kind in KINDS]
    counts = [sum(p.is_found(kind, within) for p in played) for kind in kinds]
    return replace(reader, reading=kinds[int(np.argmax(counts))])


def _played(reader: Follower, trip: Trip, *, seed: int) -> list[Rehearsed]:
    """A public trip released and read; nothing if its budget is too small for it."""
    try:
        made = reader.law.release(trip, seeded_rng(seed))
    except InvalidInput:
        return []
    around = reader.around
    true = around.to_km(trip.latitudes, trip.longitudes)
    seen = around.to_km(*made)
    beliefs = {own: reader.beliefs(seen, trip.gaps, own=own) for own in (False, True)}
    return [
        Rehearsed(
            true,
            seen,
            reader.law.alone(around, seen),
            {own: reader.means(seen, table) for own, table in beliefs.items()},
            {own: table.sum(axis=0) for own, table in beliefs.items()},
            reader.states.points,
        )
    ]
