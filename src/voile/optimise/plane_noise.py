"""Laplace noise on a lattice of the plane, and the mass of each cell of a grid around a place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voile.core.arrays import Floats, Integers
from voile.core.interval_masses import tail_masses
from voile.core.lattice_laplace import FINEST, LatticeLaplace, lattice_laplace, lattice_step
from voile.core.randomness import Generator
from voile.errors import require

_AT_ONCE = 2**21
"""Tails that are held together: 16 MB of doubles."""


@dataclass(frozen=True)
class PlaneNoise:
    """Noise z with |ln P(z) − ln P(z')| ≤ ε·‖z − z'‖_p between lattice points, p = 1 or 2.

    For ℓ₂ it is `lattice_laplace` in the plane, for ℓ₁ one on each axis. The lattice is at least
    512 times finer than 1/ε, and a 1024th of the unit or finer: about a metre where that is a km.
    """

    epsilon: float
    p: float

    @property
    def step(self) -> float:
        """The lattice's step, a power of two."""
        return lattice_step(self.epsilon)

    @cached_property
    def _noise(self) -> LatticeLaplace:
        rate = self.epsilon * self.step
        least = FINEST / self.step
        require(rate >= FINEST, "epsilon", f"at least {least:.2g} for noise", self.epsilon)
        return lattice_laplace(2 if self.p == 2.0 else 1, rate)

    def lattice(self, places: Floats) -> Integers:
        """The nearest lattice points, counted in steps."""
        return np.asarray(np.rint(places / self.step), dtype=np.int64)

    def draw(self, places: Floats, rng: Generator) -> Floats:
        """The lattice point of each place, plus noise."""
        rows = self.lattice(places).reshape(-1, self._noise.dimension)
        noisy = self._noise.add(rows, rng).reshape(-1, 2)
        return np.asarray(noisy * self.step, dtype=np.float64)

    def cell_law(self, places: Floats, xs: Floats, ys: Floats) -> Floats:
        """The probability that each cell holds a place plus noise; outer cells reach to infinity.

        Given its scale the noise has independent coordinates, so a place's table is one product
        of two thin matrices. Good to about 1e-12 of each mass. Costs places × borders × scales.
        """
        points = self.lattice(places)
        borders = [np.ceil(edges[1:-1] / self.step).astype(np.int64) for edges in (xs, ys)]
        masses = np.empty((len(points), len(xs) - 1, len(ys) - 1))
        scales, shares = self._noise.scales, np.exp(self._noise.log_shares)
        held = max(1, _AT_ONCE // (max(map(len, borders)) + 1) // len(scales))
        for start in range(0, len(points), held):
            part = slice(start, start + held)
            wide, tall = (
                _intervals(border - points[part, axis, None], scales)
                for axis, border in enumerate(borders)
            )
            if self.p == 2.0:
                np.matmul(wide * shares, tall.swapaxes(1, 2), out=masses[part])
            else:
                np.multiply((wide @ shares)[:, :, None], (tall @ shares)[:, None], out=masses[part])
        return masses.reshape(len(points), -1)


def _intervals(starts: Integers, scales: Floats) -> Floats:
    """Masses between neighbouring starts for each scale: (places, starts + 1, scales).

    Left of the place from tails to the left, right of it from tails to the right, so that each is a
    difference of numbers of its own size.
    """
    right = (starts >= 1)[..., None]
    tails = tail_masses(np.where(starts >= 1, starts, 1 - starts)[..., None], scales)
    edge = np.zeros((len(starts), 1, len(scales)))
    beyond = np.concatenate([edge, np.where(right, tails, 0.0), edge], axis=1)
    before = np.concatenate([edge, np.where(right, 0.0, tails), edge], axis=1)
    ahead = np.concatenate([edge[..., :1] > 0, right, edge[..., :1] == 0], axis=1)
    around = ~ahead[:, :-1] & ahead[:, 1:]
    return np.asarray(
        np.where(
            around,
            1.0 - before[:, :-1] - beyond[:, 1:],
            beyond[:, :-1] - beyond[:, 1:] + before[:, 1:] - before[:, :-1],
        )
    )
