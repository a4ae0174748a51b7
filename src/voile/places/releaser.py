"""What a worker does to a part of some places: each row's coordinates become a draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.randomness import Generator
from voile.jobs import Batch, ColumnsInClear, Planned, Replaced, RowProblem
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.places.columns import degrees_of, not_degrees
from voile.places.designs import PlacesDesign
from voile.places.loading import load_design
from voile.places.outside import FEW, Outside, many_off, refused


@lru_cache(maxsize=1)
def loaded_once(name: str, content: bytes) -> PlacesDesign:
    """Load once in a process."""
    return load_design(name, content=content)


@dataclass(frozen=True)
class MakePlacesReleaser:
    """Builds a worker's releaser from the design's bytes: what travels is what was certified."""

    mechanism: str
    content: bytes
    lat: str
    lon: str
    outside: Outside
    clear: ColumnsInClear

    def __call__(self) -> PlacesReleaser:
        """One releaser for one process."""
        design = loaded_once(self.mechanism, self.content)
        lat, lon = (
            np.array([f"{x:.6f}" for x in axis], dtype=object) for axis in design.output_degrees
        )
        return PlacesReleaser(design, self.lat, self.lon, self.outside, self.clear, lat, lon)


@dataclass(frozen=True, eq=False)
class Located:
    """The rows of a batch on the map: which are, where they lie, and which lie off it."""

    before: tuple[Sequence[Any], Sequence[Any]]
    good: Bools
    points: NDArray[np.float64]
    off: Bools


@dataclass(frozen=True)
class PlacesReleaser:
    """Releases the two coordinate columns of a batch; the columns in clear pass as they are."""

    design: PlacesDesign
    lat: str
    lon: str
    outside: Outside
    clear: ColumnsInClear
    latitudes: NDArray[np.object_]
    longitudes: NDArray[np.object_]
    """The outputs, as they are written."""

    def plan(self, batch: Batch) -> Planned:
        """Where each row lies, and what is wrong with rows that lie nowhere."""
        before = (batch.column(self.lat), batch.column(self.lon))
        degrees = degrees_of(*before)
        good = np.asarray(np.isfinite(degrees).all(axis=1))
        problem = RowProblem(not_degrees(self.lat, self.lon))
        problems: dict[int, RowProblem] = dict.fromkeys(np.flatnonzero(~good).tolist(), problem)
        problems |= self.clear.strangers(batch.rows)
        good[list(problems)] = False
        points, off, far = self.design.located(*degrees[good].T)
        bad = self._refused(off, far)
        if bad.any():
            rows = np.flatnonzero(good)[bad]
            problems |= dict.fromkeys(rows.tolist(), RowProblem(self._why()))
            points, off, good[rows] = points[~bad], off[~bad], False
        one = self.design.guarantee
        cost = ((one.epsilon, one.delta, 1),)
        located = Located(before, good, points, off)
        return Planned(located, lambda: Bill.alike(cost, good), problems)

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """New coordinates for the rows that are paid, and counts of places on and off the map."""
        located: Located = planned.secrets
        drawn = np.zeros(len(paid), dtype=np.intp)
        drawn[paid] = self.design.mechanism.draw(located.points[paid[located.good]], rng)
        return Replaced(
            {
                self.lat: _shown(self.latitudes[drawn], located.before[0]),
                self.lon: _shown(self.longitudes[drawn], located.before[1]),
            },
            {"places": int(paid.sum()), "outside": int(located.off.sum())},
        )

    def _refused(self, off: NDArray[np.bool_], far: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which places are not released; all are refused if most look like another map's."""
        count, beyond = len(off), int(far.sum())
        problem = None
        if beyond > max(FEW, count / 2):
            problem = refused(beyond, beyond, count, self.design.reach, self.outside)
        elif self.outside == Outside.FEW:
            problem = many_off(int(off.sum()) - beyond, count)
        if problem is not None:
            raise problem
        return off if self.outside == Outside.REFUSE else far

    def _why(self) -> str:
        if self.outside == Outside.REFUSE:
            return f"{self.lat} and {self.lon} must lie on the mechanism's map"
        return (
            f"{self.lat} and {self.lon} must lie within {self.design.reach:.3g} km of the map's "
            "centre"
        )


def _shown(drawn: NDArray[np.object_], before: Sequence[Any]) -> list[Any]:
    """Text where the file holds text, numbers where it holds numbers."""
    text = set(map(type, before)) <= {str}
    return drawn.tolist() if text else [float(value) for value in drawn]
