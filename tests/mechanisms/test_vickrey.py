"""The second word as often as stated."""

from __future__ import annotations

import numpy as np
import pytest

import voile
from voile.mechanisms import vickrey
from voile.mechanisms._embedding import Embedding

pytest.importorskip("numba")


def test_vickrey_takes_the_second_with_the_stated_probability() -> None:
    """Noise so short that d₁ ≈ 0.25 and d₂ ≈ 0.75 from a point between two words."""
    words = Embedding.of([[0.0], [1.0], [50.0]])
    law = vickrey(words, epsilon=1.0, second=0.5)
    picked = law._picked(np.full((100_000, 1), 0.25), voile.seeded_rng(4))
    assert set(picked.tolist()) == {0, 1}
    assert abs((picked == 0).mean() - 0.75) < 0.0104  # Hoeffding at 1e-9
