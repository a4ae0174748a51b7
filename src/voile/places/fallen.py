"""How far noise moves places by its law, and how far a remap then moved what was drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from voile.core.arrays import Floats
from voile.core.rounding import at_most
from voile.places.lengths import length_words
from voile.places.noise import PlacesNoise
from voile.places.traces import TraceLaw
from voile.report.words import counted

_FAR = 10
"""Draws that a remap moves by so many times the noise's mean error fell far from its places."""
_SUM, _BY = "moved km", "moved by at most 2^(k/4) km, k = "
_PARTS = 4
"""In which a doubling of distances is counted."""


@dataclass(frozen=True)
class Fall:
    """How far (km) noise moves a place, by its law: on average, and nine times in ten.

    With a remap that is what the noise alone does; how far the remap then moved the draws was
    measured on the draws themselves, which is post-processing: no private place has a part in it.
    """

    mean_km: float
    nine_in_ten_km: float
    public_places: int | None
    """Among how many public places one is then released, where that was asked for."""
    bayes: bool = False
    """Whether that is the one least far off on average, not the nearest."""
    moved_mean_km: float | None = None
    """How far the remap moved draws, on average."""
    moved_most_km: float | None = None
    """How far it moved them at most, rounded up by a fifth at most."""

    def sentence(self) -> str:
        """What a reader should know of it."""
        noise = "Noise" if self.public_places is None else "Noise alone, before the remap,"
        return (
            f"{noise} moves a place by at most {length_words(self.mean_km, bound=True)} on "
            "average, nine times in ten by less than "
            f"{length_words(self.nine_in_ten_km, bound=True)}{self._then()}"
        )

    def _then(self) -> str:
        if self.public_places is None:
            return ""
        then = f". Then each draw went to the nearest of {self.public_places:,} public places"
        if self.bayes:
            then = (
                f". Then each draw went to that of {self.public_places:,} public places which is "
                "least far off on average, if people are at those"
            )
        if self.moved_mean_km is None or self.moved_most_km is None:
            return then
        far = (
            ". That is far: are they the public places of this area?"
            if self.moved_mean_km > _FAR * self.mean_km
            else ""
        )
        return (
            f"{then}, {length_words(self.moved_mean_km)} on average and "
            f"{length_words(self.moved_most_km, bound=True)} at most{far}"
        )

    def rows(self) -> tuple[tuple[str, str], ...]:
        """What a table says of it."""
        mean, most = (length_words(km, bound=True) for km in (self.mean_km, self.nine_in_ten_km))
        if self.public_places is None:
            return (("mean error at most", mean), ("nine in ten within", most))
        found = [
            ("noise alone, before the remap: mean error at most", mean),
            ("noise alone, before the remap: nine in ten within", most),
        ]
        if self.moved_mean_km is not None and self.moved_most_km is not None:
            found += [
                ("the remap moved draws, on average", length_words(self.moved_mean_km)),
                ("the remap moved draws, at most", length_words(self.moved_most_km, bound=True)),
            ]
        return tuple(found)


def moved_totals(km: Floats) -> dict[str, float]:
    """How far draws of a part were moved, in numbers that parts can add up."""
    steps = np.ceil(_PARTS * np.log2(np.maximum(km, 1e-6))).astype(int)
    kinds = zip(*np.unique(steps, return_counts=True), strict=True)
    found = {f"{_BY}{k}": float(count) for k, count in kinds}
    return {_SUM: float(km.sum()), **found}


@dataclass(frozen=True)
class TraceFall:
    """How far (km) a draw of a trace falls on average at most, by its law: ε is shared out.

    Of the trace in which draws fall closest and of that in which they fall farthest: the shortest
    and the longest, for `stays` those of fewest and of most squares.
    """

    closest_places: int
    closest_error_km: float
    farthest_places: int
    farthest_error_km: float

    def sentence(self, restored: bool) -> str:
        """What a reader should know of it."""
        before = ", before traces were read as a whole" if restored else ""
        near, far = self._words
        if near == far:
            return f"A draw falls at most {near} off on average, by the law{before}"
        return (
            f"A draw falls at most {near} off on average in a trace of "
            f"{counted(self.closest_places, 'place')} and {far} in one of "
            f"{counted(self.farthest_places, 'place')}, by the law{before}"
        )

    def rows(self) -> tuple[tuple[str, str], ...]:
        """What a table says of it."""
        near, far = self._words
        return (
            (f"mean error of a draw at most, {counted(self.closest_places, 'place')}", near),
            (f"mean error of a draw at most, {counted(self.farthest_places, 'place')}", far),
        )[: 1 + (near != far)]

    @property
    def _words(self) -> tuple[str, str]:
        near, far = self.closest_error_km, self.farthest_error_km
        return length_words(near, bound=True), length_words(far, bound=True)


def draw_errors(law: TraceLaw, sizes: Collection[tuple[int, int]]) -> dict[str, float]:
    """How far draws fall, closest and farthest, among traces of (draws, places), as totals."""
    errors = [(law.draw_error(places, draws), places) for draws, places in sizes]
    found: dict[str, float] = {}
    for name, (error, places) in (("closest", min(errors)), ("farthest", max(errors))):
        found |= {f"{name}_places": places, f"{name}_error_km": float(at_most(error, digits=4))}
    return found


def trace_fall(totals: Mapping[str, float]) -> TraceFall | None:
    """How far draws of traces fall, where a trace was drawn."""
    names = [one.name for one in fields(TraceFall)]
    if not totals.keys() >= set(names):
        return None
    near, near_km, far, far_km = (totals[name] for name in names)
    return TraceFall(int(near), near_km, int(far), far_km)


def fall(noise: PlacesNoise, totals: Mapping[str, float]) -> Fall:
    """How far noise moves places, and how far a remap moved its draws, as the parts added up."""
    mean, most = (float(at_most(d, digits=4)) for d in (noise.mean_error, noise.error_within(0.9)))
    if noise.remap is None:
        return Fall(mean, most, None)
    steps = {int(k.removeprefix(_BY)): n for k, n in totals.items() if k.startswith(_BY)}
    found = Fall(mean, most, len(noise.remap.latitudes), noise.remap.bayes)
    if not steps:
        return found
    largest = float(at_most(2 ** (max(steps) / _PARTS), digits=3))
    return replace(found, moved_mean_km=totals[_SUM] / sum(steps.values()), moved_most_km=largest)
