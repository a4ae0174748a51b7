"""Noise shaped like the cloud of words, then the nearest word."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.guarantee import Basis, Guarantee
from voile.core.metric import KnownBy, Metric
from voile.errors import require, require_epsilon
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._word_noise import WordNoise


def mahalanobis(
    words: Embedding, *, epsilon: float, blend: float = 0.2, granularity: str = "one word"
) -> WordNoise:
    """Add noise of density proportional to e^(−ε‖A⁻¹z‖₂), release the nearest word.

    A² = λΣ + (1−λ)I with λ = `blend` and Σ the vocabulary's covariance, scaled to a mean
    variance of 1 (Xu et al., 2020). Long axes of the cloud get more noise, short ones less. The
    bound is in the regularised *Mahalanobis* distance ‖A⁻¹(x − x')‖₂ and not in Euclidean
    distance: two numbers ε for the two mechanisms are not comparable.

    >>> import voile
    >>> words = Embedding.of([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    >>> mahalanobis(words, epsilon=90.0).guarantee.metric.name
    'mahalanobis'
    """
    epsilon = require_epsilon(epsilon)
    require(0 <= blend <= 1, "blend", "between 0 and 1", blend)
    dimensions = words.points.shape[1]
    spread = np.atleast_2d(np.cov(words.points.T))
    mean = float(np.trace(spread)) / dimensions
    require(mean > 0, "the vectors", "not all equal", "one point")
    values, axes = np.linalg.eigh(blend * spread / mean + (1 - blend) * np.eye(dimensions))
    require(
        bool(values[0] > 1e-9), "blend", "below 1 for vectors that do not span the space", blend
    )
    root: Floats = (axes * np.sqrt(values)) @ axes.T
    flattened = words.points * words.step @ ((axes / np.sqrt(values)) @ axes.T)

    def distance(left: Items, right: Items) -> Floats:
        from scipy.spatial.distance import cdist

        return cdist(flattened[left], flattened[right], "euclidean")

    parameters = (("blend", float(blend)), ("vectors", words.digest[:16]))
    known = KnownBy((float(blend), words.digest), distance)
    metric = Metric("mahalanobis", words.unit, known, parameters=parameters)
    return WordNoise(words, Guarantee(epsilon, metric, granularity, Basis.PROVED), shape=root)


def examples() -> list[WordNoise]:
    """A long cloud of thirty words."""
    cloud = np.random.default_rng(9).normal(size=(30, 4)) * [3.0, 1.0, 1.0, 0.5]
    return [mahalanobis(Embedding.of(cloud), epsilon=4.0)]
