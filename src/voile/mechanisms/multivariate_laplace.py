"""Laplace noise in any dimension, released as the nearest item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Items
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.errors import InvalidInput, require_epsilon


@dataclass(frozen=True, eq=False)
class MultivariateLaplace:
    """See `multivariate_laplace`."""

    space: Space
    guarantee: Guarantee

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """The item nearest to each secret plus noise."""
        points = self.space.items[self.space.index(secrets)].astype(np.float64)
        direction = rng.standard_normal(points.shape)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        radius = rng.standard_gamma(points.shape[1], len(points)) / self.guarantee.epsilon
        return self.space.items[self.space.nearest(points + radius[:, None] * direction)]


def multivariate_laplace(
    space: Space, *, epsilon: float, granularity: str = "one secret"
) -> MultivariateLaplace:
    """Add noise of density proportional to e^(−ε‖z‖₂), release the nearest item.

    Direction uniform, radius Gamma(dimension, 1/ε); with words as items this is Madlib
    (Feyisetan et al., WSDM 2020). The density is ε-Lipschitz in the secret and the nearest item
    is post-processing. In many dimensions the noise is long, dimension/ε on average, so that
    `exponential` or `truncated_exponential` serve better at equal ε. Its probabilities have no
    closed form beyond the plane, and the draw is in doubles: basis *proved*, not certified.

    >>> import voile
    >>> words = voile.Space([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], metric=voile.metrics.euclidean())
    >>> multivariate_laplace(words, epsilon=50.0).release([[1.0, 0.0]], voile.seeded_rng(1))
    array([[1., 0.]])
    """
    epsilon = require_epsilon(epsilon)
    if space.metric.name != "euclidean":
        raise InvalidInput(
            f"multivariate_laplace must have voile.metrics.euclidean(), got {space.metric}; for "
            "other metrics use truncated_exponential()"
        )
    return MultivariateLaplace(space, Guarantee(epsilon, space.metric, granularity, Basis.PROVED))


def examples() -> list[MultivariateLaplace]:
    """Words in three dimensions, and points on a line."""
    from voile import metrics

    words = np.random.default_rng(2).normal(size=(15, 3))
    line = [[float(i)] for i in range(6)]
    return [
        multivariate_laplace(Space(words, metric=metrics.euclidean()), epsilon=4.0),
        multivariate_laplace(Space(line, metric=metrics.euclidean()), epsilon=1.0),
    ]
