"""Clipping a vector and adding noise to it: the heart of ADePT and DP-BART."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.core.randomness import Generator
from voile.errors import require
from voile.rewriting.gaussian import analytic_sigma, classical_sigma, laplace_scale
from voile.rewriting.rewriter import check_fidelity

DELTA = 1e-5


@dataclass(frozen=True)
class GaussianNoise:
    """Independent Gaussian noise of one scale on every coordinate, then rounding to a grid.

    The grid, 2**-20 of the scale, hides the low bits through which floating-point noise gives
    away what it was added to; rounding is post-processing.
    """

    sigma: float

    def add(self, vectors: Floats, rng: Generator) -> Floats:
        """Noisy vectors."""
        return _rounded(vectors + self.sigma * rng.standard_normal(vectors.shape), self.sigma)


@dataclass(frozen=True)
class LaplaceNoise:
    """Independent Laplace noise of one scale on every coordinate, then rounding to a grid."""

    scale: float

    def add(self, vectors: Floats, rng: Generator) -> Floats:
        """Noisy vectors."""
        noise = rng.exponential(self.scale, vectors.shape) * rng.choice([-1.0, 1.0], vectors.shape)
        return _rounded(vectors + noise, self.scale)


def gaussian_noise(
    *, sensitivity: float, epsilon: float, delta: float = DELTA, fidelity: str = "sound"
) -> GaussianNoise:
    """Analytic noise if sound; the classical formula, too little past ε = 1, as released.

    >>> round(gaussian_noise(sensitivity=12.067, epsilon=250.0).sigma, 4)
    0.6509
    >>> round(gaussian_noise(sensitivity=12.067, epsilon=250.0, fidelity="as_released").sigma, 4)
    0.2338
    """
    check_fidelity(fidelity)
    scale = analytic_sigma if fidelity == "sound" else classical_sigma
    return GaussianNoise(scale(sensitivity=sensitivity, epsilon=epsilon, delta=delta))


def laplace_noise(*, clip: float, dimension: int, epsilon: float) -> LaplaceNoise:
    """Pure-ε noise for vectors clipped in the Euclidean norm."""
    return LaplaceNoise(laplace_scale(clip=clip, dimension=dimension, epsilon=epsilon))


def clip_norm(vectors: Any, *, clip: float) -> Floats:
    """z·min(1, C/‖z‖₂): no row is longer than C, up to the last bit of a double.

    >>> import numpy as np
    >>> clip_norm(np.array([[3.0, 4.0], [0.3, 0.4]]), clip=1.0).round(9).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    require(clip > 0, "clip", "> 0", clip)
    table = np.nan_to_num(np.asarray(vectors, dtype=np.float64))
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table * np.minimum(1.0, clip / np.maximum(lengths, 1e-300))


def clip_values(vectors: Any, *, bound: float) -> Floats:
    """Every coordinate into [−bound, bound]; NaN counts as 0."""
    require(bound > 0, "bound", "> 0", bound)
    table = np.nan_to_num(np.asarray(vectors, dtype=np.float64))
    return np.clip(table, -bound, bound)


def _rounded(vectors: Floats, scale: float) -> Floats:
    step = 2.0 ** (np.floor(np.log2(scale)) - 20)
    return np.rint(vectors / step) * step
