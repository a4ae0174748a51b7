"""Noise of the stated length, then the exact nearest word."""

from __future__ import annotations

import math

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.mechanisms import madlib, vickrey
from voile.mechanisms._embedding import Embedding

pytest.importorskip("numba")


def cloud(size: int = 40, dimension: int = 4) -> Embedding:
    return Embedding.of(np.random.default_rng(size).normal(size=(size, dimension)))


def test_madlib_adds_noise_of_the_stated_length() -> None:
    """Radius Gamma(dimension, 1/ε): mean 4/2, standard deviation √4/2, of 100,000."""
    law = madlib(cloud(), epsilon=2.0)
    rows = np.zeros(100_000, dtype=np.intp)
    centre = law.embedding.points[0] * law.embedding.step
    radius = np.linalg.norm(law._noisy(rows, voile.seeded_rng(2)) - centre, axis=1)
    assert abs(radius.mean() - 2.0) < 6.2 * 1.0 / math.sqrt(100_000)


def test_an_epsilon_that_no_lattice_holds_is_refused() -> None:
    for epsilon in (1e-9, 1e18):
        with pytest.raises(InvalidInput, match="epsilon must be between"):
            madlib(cloud(), epsilon=epsilon).release([0], voile.seeded_rng(0))


def test_nearest_words_are_the_nearest() -> None:
    words = cloud(60, 3)
    law = madlib(words, epsilon=1.0)
    noisy = law._noisy(np.arange(60), voile.seeded_rng(3))
    points = words.points * words.step
    expected = ((noisy[:, None] - points[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert law._picked(noisy, voile.seeded_rng(0)).tolist() == expected.tolist()
    second = vickrey(words, epsilon=1.0, second=1.0)._picked(noisy, voile.seeded_rng(0))
    ranked = ((noisy[:, None] - points[None]) ** 2).sum(axis=2).argsort(axis=1)
    assert second.tolist() == ranked[:, 1].tolist()
