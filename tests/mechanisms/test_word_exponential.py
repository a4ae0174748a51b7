"""The exponential law over words: tight where it can be, refused where it must be."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import voile
from voile.core.guarantee import Basis
from voile.errors import InvalidInput, OutsideSpace
from voile.mechanisms import word_exponential
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._word_law import WordLaw

pytest.importorskip("numba")


def crowded() -> Embedding:
    """One word at 0, two thousand at 1: the space where the exponential law's bound is tight."""
    return Embedding.of(np.array([[0.0]] + [[1.0]] * 2000))


def test_the_bound_is_not_wasted_and_a_stronger_law_breaks_it() -> None:
    law = word_exponential(crowded(), epsilon=4.0, neighbours=50)

    def effective(which: WordLaw) -> float:
        logs = which.log_prob([0, 1], [0, 1])
        return float(np.abs(logs[0] - logs[1]).max())

    assert 0.99 * 4.0 < effective(law) <= 4.0
    planted = dataclasses.replace(law, rate=1.05 * law.rate)
    assert effective(planted) > 4.0


def test_bad_arguments_are_refused() -> None:
    words = Embedding.of([[0.0], [1.0]])
    with pytest.raises(InvalidInput, match="epsilon must be a finite number > 0"):
        word_exponential(words, epsilon=0.0)
    with pytest.raises(InvalidInput, match="epsilon must be at least"):
        word_exponential(words, epsilon=1e-9)
    with pytest.raises(InvalidInput, match="at least two words"):
        Embedding.of([[0.0]])
    with pytest.raises(OutsideSpace, match="below 2"):
        word_exponential(words, epsilon=1.0).release([2], voile.secure_rng())
    with pytest.raises(InvalidInput, match="zero rows"):
        Embedding.of([[0.0], [1.0]], normalise=True)
    assert word_exponential(words, epsilon=1.0).guarantee.basis is Basis.PROVED
