"""Public places that releases are moved to: the nearest, or that which serves best on average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.places.earth import BoxMap, Globe

LARGEST = 20_000
"""Public places whose posterior is worth computing for every release."""
_TABLED = 4_000
_LOOKED_AT = 32
"""Places nearest to the posterior's median that are compared: the expected distance is convex."""
_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False)
class PublicPlaces:
    """Junctions of a road network, or points of interest; those that stand twice weigh double."""

    latitudes: Floats
    longitudes: Floats
    bayes: bool = False
    """Whether releases go where they are least far off on average, not to the nearest place."""

    def __post_init__(self) -> None:
        fits = not self.bayes or len(self.latitudes) <= LARGEST
        require(fits, "public places", f"at most {LARGEST:,}", len(self.latitudes), "thin them")

    def moved(
        self, noisy: Floats, ground: Globe | BoxMap, log_law: Callable[[Floats], Floats]
    ) -> tuple[Floats, Floats]:
        """The public place of each noisy point (km in the space of the noise)."""
        if not self.bayes:
            return self.nearest(*ground.to_degrees(noisy))
        points = self._in(ground)
        rows = max(1, _BLOCK // len(points))
        blocks = [noisy[k : k + rows] for k in range(0, len(noisy), rows)]
        found = [least_far(points, block, log_law) for block in blocks]
        chosen = np.concatenate(found) if found else np.empty(0, dtype=np.intp)
        return self.latitudes[chosen], self.longitudes[chosen]

    def _in(self, ground: Globe | BoxMap) -> Floats:
        return ground.to_km(self.latitudes, self.longitudes)[0]

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(Globe().to_km(self.latitudes, self.longitudes)[0])

    def nearest(self, latitudes: Floats, longitudes: Floats) -> tuple[Floats, Floats]:
        """The public place nearest each place."""
        chosen = self._tree.query(Globe().to_km(latitudes, longitudes)[0])[1]
        return self.latitudes[chosen], self.longitudes[chosen]


def least_far(points: Floats, noisy: Floats, log_law: Callable[[Floats], Floats]) -> Indices:
    """Which point is least far off on average, given each noisy one and that people are at points.

    The belief in point i after the draw z is proportional to f(‖z − x_i‖), f being the very law
    that is drawn from (tabled by distance). Its expected distance is convex, so that of the points
    nearest to its median (Weiszfeld's iteration) the best one is taken.
    """
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist

    away = cdist(noisy, points)
    radius = np.linspace(0.0, float(away.max()), _TABLED)
    logs = np.interp(away, radius, log_law(radius))
    beliefs = np.exp(logs - logs.max(axis=1, keepdims=True))
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    middle = beliefs @ points
    for _ in range(8):
        pull = beliefs / (cdist(middle, points) + 1e-6)
        middle = pull @ points / pull.sum(axis=1, keepdims=True)
    count = min(_LOOKED_AT, len(points))
    near = np.asarray(cKDTree(points).query(middle, k=[*range(1, count + 1)])[1])
    costs = np.empty(near.shape)
    for place in range(count):
        apart = np.linalg.norm(points[None] - points[near[:, place], None], axis=2)
        costs[:, place] = (beliefs * apart).sum(axis=1)
    best = (costs + 1e-12 * costs.max() * np.arange(count)).argmin(axis=1)
    return np.asarray(near[np.arange(len(near)), best], dtype=np.intp)
