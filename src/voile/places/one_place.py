"""One place at a time, in plain Python: no compiled loop is loaded, no array is made.

It draws what the mechanism's own `draw` draws from the same random bits: the same table, the same
basis weights at each lattice place, the same integers.
"""

from __future__ import annotations

import math
import secrets
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from voile.core.randomness import Generator, uniform_bits
from voile.core.weights import TOTAL_BITS
from voile.errors import InvalidInput
from voile.optimise.on_lattice import SplineMechanism
from voile.optimise.region import WORDS, RegionMechanism
from voile.optimise.smooth import SmoothMechanism

if TYPE_CHECKING:
    from voile.places.designs import PlacesDesign

_WEIGHT_BITS = 52


def one_place(design: PlacesDesign, mechanism: SplineMechanism) -> OnePlace:
    """A design, ready to draw for one place after another."""
    if isinstance(mechanism, SmoothMechanism):
        return OneOfSome(design, mechanism)
    if isinstance(mechanism, RegionMechanism):
        return OneOfARegion(design, mechanism)
    raise InvalidInput(f"one place cannot be drawn by a {type(mechanism).__name__}")


class OnePlace(ABC):
    """The nodes around a place and their weights; how an output is drawn is the mechanism's."""

    bits: tuple[int, ...]

    def __init__(self, design: PlacesDesign, mechanism: SplineMechanism) -> None:
        self._project = design.projection.transform
        self._low, self._high = design.box[0].tolist(), design.box[1].tolist()
        self._step, self._last = mechanism.resolution, mechanism.last_steps
        self._reach = design.reach
        self._axes, self._strides = mechanism.lattice_tables, mechanism.grid.strides
        self._degrees = list(zip(*(a.tolist() for a in design.output_degrees), strict=True))

    def release(self, lat: float, lon: float, rng: Generator | None) -> tuple[float, float] | None:
        """One blurred place; None where the place must be refused."""
        if not (abs(lat) <= 90 and abs(lon) <= 180):
            return None
        x, y = self._project(lon, lat)
        if not math.hypot(x, y) <= self._reach:
            return None
        if rng is None:
            words = [secrets.randbits(bits) for bits in self.bits]
        else:
            words = [int(uniform_bits(rng, 1, bits=bits)[0]) for bits in self.bits]
        return self._degrees[self.draw(x, y, words)]

    def draw(self, x: float, y: float, words: Sequence[int]) -> int:
        """The output that these random words draw at a place of the plane."""
        (first, here), (second, there) = (self._along(v, axis) for axis, v in enumerate((x, y)))
        weights, rows = [], []
        for i, one in enumerate(here):
            for j, other in enumerate(there):
                weights.append(int(one * other * 2**_WEIGHT_BITS))
                rows.append((first + i) * self._strides[0] + (second + j) * self._strides[1])
        weights[max(range(len(weights)), key=weights.__getitem__)] += 2**_WEIGHT_BITS - sum(weights)
        return self._chosen(weights, rows, words)

    @abstractmethod
    def _chosen(self, weights: list[int], rows: list[int], words: Sequence[int]) -> int:
        """The output, given the nodes' numbers and weights."""

    def _along(self, value: float, axis: int) -> tuple[int, list[float]]:
        """The cell along an axis, and the basis weights of the lattice place there."""
        low, table = self._low[axis], self._axes[axis]
        inside = min(max(value, low), self._high[axis])
        steps = min(round((inside - low) / self._step), self._last[axis])
        return int(table.cells[steps]), table.weights[steps].tolist()


class OneOfSome(OnePlace):
    """A table of all outputs: the first whose running sum exceeds the target."""

    bits = (TOTAL_BITS,)

    def __init__(self, design: PlacesDesign, mechanism: SmoothMechanism) -> None:
        super().__init__(design, mechanism)
        self._table, self._outputs = mechanism.table, len(mechanism.outputs)

    def _chosen(self, weights: list[int], rows: list[int], words: Sequence[int]) -> int:
        table, low, high = self._table[rows], 0, self._outputs - 1
        while low < high:
            middle = (low + high) // 2
            sums = table[:, middle].tolist()
            total = sum(u * s for u, s in zip(weights, sums, strict=True))
            if total >> _WEIGHT_BITS > words[0]:
                high = middle
            else:
                low = middle + 1
        return low


class OneOfARegion(OnePlace):
    """A sparse table: a node by its weight, then an output of its row, or of the floor."""

    bits = WORDS

    def __init__(self, design: PlacesDesign, mechanism: RegionMechanism) -> None:
        super().__init__(design, mechanism)
        self._region = mechanism

    def _chosen(self, weights: list[int], rows: list[int], words: Sequence[int]) -> int:
        region, rest, which = self._region, words[0], 0
        while rest >= weights[which]:
            rest -= weights[which]
            which += 1
        node = rows[which]
        start, stop = int(region.rows[node]), int(region.rows[node + 1])
        found = bisect_right(region.sums, words[1], start, stop)
        if found < stop:
            return int(region.listed[found])
        return bisect_right(region.floor, words[2])
