"""Rare words are bounded, common ones are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import voile
from voile.mechanisms import santext_plus
from voile.mechanisms._embedding import Embedding

pytest.importorskip("numba")


def cloud(size: int = 40, dimension: int = 4) -> Embedding:
    return Embedding.of(np.random.default_rng(size).normal(size=(size, dimension)))


def worst(mechanism: object, size: int) -> float:
    """The largest log-ratio per distance over pairs at a finite distance."""
    everything = np.arange(size)
    logs = mechanism.log_prob(everything, everything)  # type: ignore[attr-defined]
    distances = mechanism.space.distances()  # type: ignore[attr-defined]
    found = 0.0
    for x in everything:
        with np.errstate(invalid="ignore"):
            gaps = np.nan_to_num(np.abs(logs - logs[x]), nan=0.0, posinf=math.inf).max(axis=1)
        near = np.isfinite(distances[x]) & (distances[x] > 0)
        if near.any():
            found = max(found, float((gaps[near] / distances[x][near]).max()))
    return found


def test_santext_plus_bounds_rare_words_and_nothing_else() -> None:
    words = cloud()
    law = santext_plus(words, epsilon=3.0, neighbours=6)
    probabilities = np.exp(law.log_prob(np.arange(40), np.arange(40)))
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert 0.5 < worst(law, 40) <= 3.0
    assert not probabilities[20:, :20].any()  # a rare word never becomes a common one
    assert np.allclose(np.diag(probabilities)[:20], 0.8)  # a common one stays
    assert math.isinf(law.space.distances()[0, 1])
    assert any("most frequent words" in note for note in law.guarantee.outside)
    rng = voile.seeded_rng(1)
    drawn = law.release(np.full(100_000, 3), rng)
    # Hoeffding at 1e-9: √(ln(2e9)/(2·100,000)) = 0.0104
    assert abs((drawn == 3).mean() - 0.8) < 0.0104
