"""What a worker does to a part of some places: each row's coordinates become a draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.randomness import Generator
from voile.jobs import Batch, ColumnsInClear, Planned, Replaced, RowProblem
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.places.coordinates import Coordinates
from voile.places.designs import PlacesDesign
from voile.places.fallen import moved_totals
from voile.places.lengths import length_words
from voile.places.loading import load_design
from voile.places.noise import PlacesNoise
from voile.places.outside import FEW, Outside, many_off, refused

Blur = PlacesDesign | PlacesNoise
"""What releases places."""


@lru_cache(maxsize=1)
def loaded_once(name: str, content: bytes) -> PlacesDesign:
    """Load once in a process."""
    return load_design(name, content=content)


@dataclass(frozen=True)
class SavedDesign:
    """A design as its file's bytes: what travels is what was certified."""

    name: str
    content: bytes

    def opened(self) -> PlacesDesign:
        """The design, certified anew once in each process."""
        return loaded_once(self.name, self.content)


@dataclass(frozen=True, eq=False)
class Located:
    """The rows of a batch on the map: which are, where they lie, and which lie off it."""

    before: tuple[Sequence[Any], ...]
    good: Bools
    points: NDArray[np.float64]
    off: Bools
    strays: int


@dataclass(frozen=True)
class PlacesReleaser:
    """Releases the two coordinate columns of a batch; the columns in clear pass as they are."""

    saved: SavedDesign | PlacesNoise
    columns: Coordinates
    outside: Outside
    clear: ColumnsInClear
    numbers: bool = False
    """Whether coordinates are written as numbers even where they were text."""

    @cached_property
    def blur(self) -> Blur:
        """What draws, opened where it is used."""
        return self.saved.opened()

    def plan(self, batch: Batch) -> Planned:
        """Where each row lies, and what is wrong with rows that lie nowhere."""
        before = tuple(batch.column(name) for name in self.columns.names)
        degrees = self.columns.degrees(before)
        good = np.asarray(np.isfinite(degrees).all(axis=1))
        problem = RowProblem(self.columns.wanted)
        problems: dict[int, RowProblem] = dict.fromkeys(np.flatnonzero(~good).tolist(), problem)
        problems |= self.clear.strangers(batch.rows)
        good[list(problems)] = False
        points, off, far = self.blur.located(*degrees[good].T)
        bad = self._refused(off, far)
        if bad.any():
            rows = np.flatnonzero(good)[bad]
            problems |= dict.fromkeys(rows.tolist(), RowProblem(self._why()))
            points, off, good[rows] = points[~bad], off[~bad], False
        one = self.blur.guarantee
        cost = ((one.epsilon, one.delta, 1),)
        located = Located(before, good, points, off, self.columns.strays(degrees[good]))
        return Planned(located, lambda: Bill.alike(cost, good), problems)

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """New coordinates for the rows that are paid, and counts of places on and off the map."""
        located: Located = planned.secrets
        lat, lon = np.zeros(len(paid)), np.zeros(len(paid))
        points, totals = located.points[paid[located.good]], {}
        if isinstance(self.blur, PlacesNoise) and self.blur.remap is not None:
            lat[paid], lon[paid], km = self.blur.drawn_and_moved(points, rng)
            totals = moved_totals(km)
        else:
            lat[paid], lon[paid] = self.blur.drawn(points, rng)
        return Replaced(
            self.columns.written(lat, lon, located.before, numbers=self.numbers),
            {
                "places": int(paid.sum()),
                "outside": int(located.off.sum()),
                "strays": located.strays,
                **totals,
            },
        )

    def _refused(self, off: NDArray[np.bool_], far: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which places are not released; all are refused if most look like another map's."""
        count, beyond = len(off), int(far.sum())
        problem = None
        if beyond > max(FEW, count / 2):
            problem = refused(beyond, beyond, count, self.blur.reach, self.outside)
        elif self.outside == Outside.FEW:
            problem = many_off(int(off.sum()) - beyond, count)
        if problem is not None:
            raise problem
        return off if self.outside == Outside.REFUSE else far

    def _why(self) -> str:
        named = " and ".join(self.columns.names)
        if self.outside == Outside.REFUSE:
            return f"{named} must lie on the mechanism's map"
        return f"{named} must lie within {length_words(self.blur.reach)} of the map's centre"
