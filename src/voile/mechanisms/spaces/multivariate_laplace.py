"""Laplace noise in any dimension, released as the nearest item."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Integers, Items
from voile.core.guarantee import Basis, Guarantee
from voile.core.lattice_laplace import (
    FINEST,
    LatticeLaplace,
    finer,
    lattice_laplace,
)
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.errors import InvalidInput, require_epsilon
from voile.metrics.lp_norms import euclidean

_FINENESS = 2.0**-14
"""The lattice step times √dimension, as a share of the smallest distance: what it costs of ε."""


@dataclass(frozen=True, eq=False)
class MultivariateLaplace:
    """See `multivariate_laplace`. `step` is that of the lattice that noise is drawn on."""

    space: Space
    guarantee: Guarantee
    step: float
    noise: LatticeLaplace

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """The item nearest to each secret plus noise."""
        places = self._lattice[self.space.index(secrets)]
        noisy = self.noise.add(places, rng) * self.step
        return self.space.items[self.space.nearest(noisy)]

    @cached_property
    def _lattice(self) -> Integers:
        return np.rint(self.space.items / self.step).astype(np.int64)


def multivariate_laplace(
    space: Space, *, epsilon: float, granularity: str = "one secret"
) -> MultivariateLaplace:
    """Add noise of density close to e^(−ε‖z‖₂), release the nearest item.

    With words as items this is Madlib (Feyisetan et al., WSDM 2020). Items are moved to a lattice
    so fine that no distance grows by more than a 16,000th, which is taken off ε; `lattice_laplace`
    is drawn by integers, Lipschitz by a bound on them, and the nearest item is post-processing. In
    many dimensions the noise is long, dimension/ε on average, so that `exponential` or
    `truncated_exponential` serve better at equal ε. Its probabilities have no closed form beyond
    the plane.

    >>> import voile
    >>> words = voile.Space([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], metric=voile.metrics.euclidean())
    >>> multivariate_laplace(words, epsilon=50.0).release([[1.0, 0.0]], voile.seeded_rng(1))
    array([[1., 0.]])
    """
    epsilon = require_epsilon(epsilon)
    if space.metric != euclidean(unit=space.metric.unit):
        raise InvalidInput(
            f"multivariate_laplace must have voile.metrics.euclidean(), got {space.metric}; for "
            "other metrics use truncated_exponential()"
        )
    dimension = space.items.shape[1]
    smallest = min(space.smallest_distance(), 1e6 / epsilon)  # without a pair, any lattice will do
    wanted = smallest * _FINENESS / math.sqrt(dimension)
    step = 2.0 ** math.floor(math.log2(wanted))
    step /= finer(epsilon * step)
    strength = epsilon / (1 + _FINENESS)
    farthest = float(np.abs(space.items).max()) / step
    if strength * step < FINEST or farthest >= 2.0**52:
        raise InvalidInput(
            "items must be further apart for their size and epsilon: noise on a lattice that "
            "tells them apart would be too long to draw; merge the closest ones or raise epsilon"
        )
    guarantee = Guarantee(epsilon, space.metric, granularity, Basis.PROVED)
    return MultivariateLaplace(space, guarantee, step, lattice_laplace(dimension, strength * step))


def examples() -> list[MultivariateLaplace]:
    """Words in three dimensions, and points on a line."""
    from voile import metrics

    words = np.random.default_rng(2).normal(size=(15, 3))
    line = [[float(i)] for i in range(6)]
    return [
        multivariate_laplace(Space(words, metric=metrics.euclidean()), epsilon=4.0),
        multivariate_laplace(Space(line, metric=metrics.euclidean()), epsilon=1.0),
    ]
