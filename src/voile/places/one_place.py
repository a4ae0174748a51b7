"""One place at a time, in plain Python: no compiled loop is loaded, no array is made.

It draws what `SmoothMechanism.draw` draws from the same random bits: the same table, the same
basis weights at each lattice place, the same integers.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING

from voile.core.randomness import Generator, uniform_bits
from voile.core.weights import TOTAL_BITS
from voile.optimise.smooth import SmoothMechanism

if TYPE_CHECKING:
    from voile.places.designs import PlacesDesign

_WEIGHT_BITS = 52


class OnePlace:
    """A design of splines, ready to draw for one place after another."""

    def __init__(self, design: PlacesDesign, mechanism: SmoothMechanism) -> None:
        grid = mechanism.grid
        self._project = design.projection.transform
        self._low, self._high = design.box[0].tolist(), design.box[1].tolist()
        self._step, self._last = mechanism.resolution, mechanism.last_steps
        self._reach = design.reach
        self._axes, self._strides = mechanism.lattice_tables, grid.strides
        self._table, self._outputs = mechanism.table, len(mechanism.outputs)
        self._degrees = list(zip(*(a.tolist() for a in design.output_degrees), strict=True))

    def release(self, lat: float, lon: float, rng: Generator | None) -> tuple[float, float] | None:
        """One blurred place; None where the place must be refused."""
        if not (abs(lat) <= 90 and abs(lon) <= 180):
            return None
        x, y = self._project(lon, lat)
        if not math.hypot(x, y) <= self._reach:
            return None
        word = secrets.randbits(TOTAL_BITS) if rng is None else None
        if word is None:
            assert rng is not None
            word = int(uniform_bits(rng, 1, bits=TOTAL_BITS)[0])
        return self._degrees[self.draw(x, y, word)]

    def draw(self, x: float, y: float, target: int) -> int:
        """The first output whose running sum exceeds the target."""
        (first, here), (second, there) = (self._along(v, axis) for axis, v in enumerate((x, y)))
        weights, rows = [], []
        for i, one in enumerate(here):
            for j, other in enumerate(there):
                weights.append(int(one * other * 2**_WEIGHT_BITS))
                rows.append((first + i) * self._strides[0] + (second + j) * self._strides[1])
        weights[max(range(len(weights)), key=weights.__getitem__)] += 2**_WEIGHT_BITS - sum(weights)
        table, low, high = self._table[rows], 0, self._outputs - 1
        while low < high:
            middle = (low + high) // 2
            sums = table[:, middle].tolist()
            total = sum(u * s for u, s in zip(weights, sums, strict=True))
            if total >> _WEIGHT_BITS > target:
                high = middle
            else:
                low = middle + 1
        return low

    def _along(self, value: float, axis: int) -> tuple[int, list[float]]:
        """The cell along an axis, and the basis weights of the lattice place there."""
        low, table = self._low[axis], self._axes[axis]
        inside = min(max(value, low), self._high[axis])
        steps = min(round((inside - low) / self._step), self._last[axis])
        return int(table.cells[steps]), table.weights[steps].tolist()
