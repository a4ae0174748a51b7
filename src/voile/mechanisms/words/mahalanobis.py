"""Noise shaped like the cloud of words, then the nearest word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voile.core.arrays import Floats
from voile.core.guarantee import Basis, Guarantee
from voile.errors import require, require_epsilon
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._word_noise import WordNoise


def mahalanobis(
    words: Embedding, *, epsilon: float, blend: float = 0.2, granularity: str = "one word"
) -> WordNoise:
    """Add noise of density close to e^(−ε‖A⁻¹z‖₂), release the nearest word.

    A² = λΣ + (1−λ)I with λ = `blend` and Σ the vocabulary's covariance, scaled to a mean
    variance of 1 (Xu et al., 2020). Long axes of the cloud get more noise, short ones less. The
    bound is in the regularised *Mahalanobis* distance ‖A⁻¹(x − x')‖₂ and not in Euclidean
    distance: two numbers ε for the two mechanisms are not comparable. Words are flattened by A⁻¹,
    rounded to a lattice, `lattice_laplace` is added there and A turns the sum back, which is
    post-processing like the nearest word; the distance is that of the lattice points.

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
    around = Embedding.of(flattened, unit=words.unit)
    parameters = (("blend", float(blend)), ("vectors", words.digest[:16]))
    metric = replace(around.metric, name="mahalanobis", parameters=parameters)
    guarantee = Guarantee(epsilon, metric, granularity, Basis.PROVED)
    return WordNoise(words, guarantee, around=around, shape=root)


def examples() -> list[WordNoise]:
    """A long cloud of thirty words."""
    cloud = np.random.default_rng(9).normal(size=(30, 4)) * [3.0, 1.0, 1.0, 0.5]
    return [mahalanobis(Embedding.of(cloud), epsilon=4.0)]
