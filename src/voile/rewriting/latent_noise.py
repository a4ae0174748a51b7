"""Clipping a vector and adding noise to it: the heart of ADePT and DP-BART."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Integers
from voile.core.discrete_gaussian import FINENESS, discrete_gaussian
from voile.core.randomness import Generator
from voile.errors import require
from voile.rewriting.gaussian import analytic_sigma, classical_sigma
from voile.rewriting.rewriter import check_fidelity

DELTA = 1e-5

SMALLEST_EPSILON, SMALLEST_DELTA, LARGEST_DIMENSION = 0.001, 1e-15, 2**15
"""Within them the lattice costs less than 2**-30 of ε and of δ."""
_STEPS = 2**26
"""Lattice steps in σ."""


@dataclass(frozen=True)
class GaussianNoise:
    """Independent discrete Gaussian noise of one scale on every coordinate of a lattice.

    Coordinates are cut towards zero to multiples of σ·2**-26, so that no vector leaves the ball or
    box that it was clipped to, and an integer drawn exactly from P(z) ∝ e^(−z²/2σ²) is added.
    Its probabilities are those of continuous noise rounded to the lattice, within e^(±κ) each and
    κ below 2**-30 of ε; `gaussian_noise` takes that off ε and δ: docs/explanation/lattice-noise.md.
    """

    sigma: float

    def add(self, vectors: Floats, rng: Generator) -> Floats:
        """Noisy vectors."""
        require(
            vectors.shape[1] <= LARGEST_DIMENSION,
            "vectors",
            f"of at most {LARGEST_DIMENSION} coordinates",
            vectors.shape[1],
        )
        step = self.sigma / _STEPS
        scales = np.full(vectors.size, _STEPS // FINENESS, dtype=np.int64)
        noise = discrete_gaussian(scales, rng).reshape(vectors.shape)
        return np.asarray((_towards_zero(vectors, step) + noise) * step, dtype=np.float64)


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
    if fidelity != "sound":
        return GaussianNoise(classical_sigma(sensitivity=sensitivity, epsilon=epsilon, delta=delta))
    require(epsilon >= SMALLEST_EPSILON, "epsilon", f">= {SMALLEST_EPSILON:g}", epsilon)
    require(delta >= SMALLEST_DELTA, "delta", f">= {SMALLEST_DELTA:g}", delta)
    inside = 1 - 2.0**-30  # what the lattice may cost: κ below 2**-30 of ε, and as much of δ
    sigma = analytic_sigma(sensitivity=sensitivity, epsilon=epsilon * inside, delta=delta * inside)
    return GaussianNoise(sigma)


def lattice_excess(dimension: int, epsilon: float) -> float:
    """κ: by how much discrete noise can exceed the ε of continuous noise.

    With n coordinates and σ = s lattice steps, −n/24s² ≤ ln(rounded / discrete) ≤ ‖z‖²/24s⁴, and
    ‖z‖ ≤ s·(√n + √(2L)) but for a probability e^(−L), taken at L = ε + 60.
    """
    length = math.sqrt(dimension) + math.sqrt(2 * (epsilon + 60))
    return (dimension + length**2) / (24 * float(_STEPS) ** 2)


def clip_norm(vectors: Any, *, clip: float) -> Floats:
    """z·min(1, C/‖z‖₂), shortened by 2**-40 more: no row is longer than C, rounding included.

    >>> import numpy as np
    >>> clip_norm(np.array([[3.0, 4.0], [0.3, 0.4]]), clip=1.0).round(9).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    require(clip > 0, "clip", "> 0", clip)
    table = np.nan_to_num(np.asarray(vectors, dtype=np.float64))
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    # The norm of a row of doubles is off by fewer than 2**-40 of itself for any row in use.
    return table * np.minimum(1.0, clip * (1 - 2.0**-40) / np.maximum(lengths, 1e-300))


def clip_values(vectors: Any, *, bound: float) -> Floats:
    """Every coordinate into [−bound, bound]; NaN counts as 0."""
    require(bound > 0, "bound", "> 0", bound)
    table = np.nan_to_num(np.asarray(vectors, dtype=np.float64))
    return np.clip(table, -bound, bound)


def _towards_zero(vectors: Floats, step: float) -> Integers:
    """Coordinates as whole steps, none further from zero than it was."""
    whole = np.trunc(vectors / step)
    return np.clip(whole, -(2.0**62), 2.0**62).astype(np.int64)
