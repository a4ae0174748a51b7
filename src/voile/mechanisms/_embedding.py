"""Word vectors on an integer lattice, where every distance is known exactly."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices, Items, frozen
from voile.core.metric import KnownBy, Metric
from voile.core.space import Space, as_items
from voile.errors import InvalidInput, OutsideSpace, require

Coordinates = NDArray[np.int32]

_FINEST = 17
"""At most 17 binary places: finer than the five decimals that word vectors are published with."""
_NORM_BITS = 24
"""Norms stay below 2**24 steps, so a squared distance is an integer below 2**50."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors rounded once, publicly, to whole multiples of `step`: the space of word secrets.

    The squared distance S of two words is then an *integer* below 2**50. Sums of products of
    integers are exact in doubles below 2**53, in whatever order a matrix product adds them, so
    a blocked product on any machine and a loop over coordinates give the same S to the last
    bit. There is one definition of distance, d = step·√S, and no word can fall between two ways
    of computing it. Secrets are positions 0 … n−1.

    >>> words = Embedding.of([[0.0, 0.0], [3.0, 4.0]])
    >>> words.space.distances()
    array([[0., 5.],
           [5., 0.]])
    """

    coordinates: Coordinates
    step: float
    unit: str

    @classmethod
    def of(
        cls, vectors: Sequence[Any] | Items, *, normalise: bool = False, unit: str = "unit"
    ) -> Embedding:
        """Round vectors to the lattice, after scaling each to length 1 if `normalise`.

        Normalised vectors are compared by their chord 2·sin(θ/2), which is at most the angle θ.
        """
        points = as_items(vectors, name="vectors")
        numeric = points.ndim == 2 and points.dtype.kind in "fiu"
        require(numeric, "vectors", "rows of numbers", f"shape {points.shape} of {points.dtype}")
        require(len(points) >= 2, "a vocabulary", "at least two words", len(points))
        lengths = np.sqrt(_sums_of_squares(points))
        if normalise:
            if not lengths.all():
                raise InvalidInput(
                    f"vectors must not be zero to have an angle, got "
                    f"{int((lengths == 0).sum())} zero rows; drop those words"
                )
            points = points / lengths[:, None]
            lengths = np.ones(len(points))
            unit = "chord"
        longest = float(lengths.max())
        spare = _NORM_BITS - 1 - math.ceil(math.log2(longest)) if longest > 0 else _FINEST
        step = 2.0 ** -min(_FINEST, spare)
        coordinates = np.rint(points / step).astype(np.int32)
        return cls(np.asarray(frozen(coordinates)), step, unit)

    def __len__(self) -> int:
        return len(self.coordinates)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the lattice: the same words at the same places."""
        content = hashlib.sha256(f"{self.step!r} {self.coordinates.shape}".encode())
        content.update(np.ascontiguousarray(self.coordinates).tobytes())
        return content.hexdigest()

    @cached_property
    def metric(self) -> Metric:
        """Euclidean distance between positions; a true metric, of exact integers' roots."""
        name = "euclidean" if self.unit != "chord" else "chord"
        return Metric(
            name,
            self.unit,
            KnownBy(self.digest, self._distances),  # no closure: it travels to other processes
            parameters=(("vectors", self.digest[:16]),),
            largest=self._longest_chord if name == "chord" else math.inf,
            check_items=_check_positions,
        )

    def _distances(self, left: Items, right: Items) -> Floats:
        return self.step * np.sqrt(self.squared(left, right))

    @property
    def _longest_chord(self) -> float:
        """Two, and what rounding two opposite unit vectors may add."""
        return 2.0 + math.sqrt(self.coordinates.shape[1]) * self.step

    @cached_property
    def space(self) -> Space:
        """Positions 0 … n−1 under `metric`."""
        return Space(np.arange(len(self)), metric=self.metric)

    @cached_property
    def points(self) -> Floats:
        """The coordinates as doubles, in steps."""
        return np.asarray(frozen(self.coordinates.astype(np.float64)))

    @cached_property
    def _columns(self) -> Floats:
        """(−2b, 1, ‖b‖²) for each word b: with (a, ‖a‖², 1) one product gives ‖a − b‖²."""
        ones = np.ones(len(self))
        return np.asarray(frozen(np.column_stack([-2.0 * self.points, ones, self.squared_norms])))

    @cached_property
    def squared_norms(self) -> Floats:
        """‖word‖² in steps: integers, held exactly."""
        return np.asarray(frozen(np.einsum("ij,ij->i", self.points, self.points)))

    def squared(
        self,
        left: Indices | Items,
        right: Indices | Items | None = None,
        *,
        out: Floats | None = None,
    ) -> Floats:
        """Squared distances in steps between positions: integers, held exactly in doubles."""
        columns = self._columns if right is None else self._columns[right]
        chosen = self._columns[left]
        rows = np.column_stack([self.points[left], chosen[:, -1], np.ones(len(chosen))])
        return np.matmul(rows, columns.T, out=out)

    def squared_to(self, points: Floats) -> Floats:
        """‖point − word‖² − ‖point‖² for any points in steps: enough to find the nearest word."""
        product = points @ self._columns[:, :-2].T
        product += self._columns[:, -1]
        return product


def _sums_of_squares(points: Items) -> Floats:
    """By row, added a column at a time: in an order that no processor or library changes."""
    total = np.zeros(len(points))
    for column in points.T:
        total += column.astype(np.float64) ** 2
    return total


def positions_in(words: Embedding, values: Sequence[Any] | Items) -> Indices:
    """Values as positions in the vocabulary; `OutsideSpace` if one is not."""
    rows = np.asarray(values)
    whole = rows.ndim == 1 and (rows.dtype.kind in "iu" or rows.size == 0)
    require(whole, "words", "positions in the vocabulary", f"{rows.ndim}-d {rows.dtype}")
    strangers = int(((rows < 0) | (rows >= len(words))).sum())
    if strangers:
        raise OutsideSpace(f"words must be positions below {len(words)}, got {strangers} others")
    return rows.astype(np.intp)


def _check_positions(items: Items) -> None:
    positions = items.ndim == 1 and items.dtype.kind in "iu"
    require(positions, "words", "positions in the vocabulary", f"{items.dtype} items")
