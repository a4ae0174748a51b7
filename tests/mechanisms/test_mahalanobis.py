"""Noise of the cloud's shape."""

from __future__ import annotations

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.mechanisms import mahalanobis
from voile.mechanisms._embedding import Embedding

pytest.importorskip("numba")


def test_mahalanobis_shapes_the_noise_and_says_so() -> None:
    vectors = np.random.default_rng(1).normal(size=(300, 2)) * [5.0, 0.5]
    law = mahalanobis(Embedding.of(vectors), epsilon=1.0, blend=0.9)
    noise = law._noisy(np.zeros(50_000, dtype=np.intp), voile.seeded_rng(5))
    spread = noise.std(axis=0)
    assert spread[0] > 2 * spread[1]
    metric = law.guarantee.metric
    assert metric.name == "mahalanobis"
    plain = mahalanobis(Embedding.of(vectors), epsilon=1.0, blend=0.0)
    everything = np.arange(20)
    assert np.allclose(
        plain.guarantee.metric.pairwise(everything, everything),
        plain.embedding.metric.pairwise(everything, everything),
    )
    with pytest.raises(InvalidInput, match="blend"):
        mahalanobis(Embedding.of(vectors), epsilon=1.0, blend=2.0)
