"""Noise, then the nearest word or the second nearest."""

from __future__ import annotations

import numpy as np

from voile.core.guarantee import Basis, Guarantee
from voile.errors import require, require_epsilon
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._word_noise import WordNoise


def vickrey(
    words: Embedding, *, epsilon: float, second: float = 0.75, granularity: str = "one word"
) -> WordNoise:
    """Add noise of density close to e^(−ε‖z‖₂), release the nearest word or the second.

    With d₁ ≤ d₂ the distances of the noisy vector to its two nearest words and t = `second`, the
    nearest is released with probability (1−t)·d₂ / (t·d₁ + (1−t)·d₂) (Xu et al., 2021): t = 0 is
    `madlib`, t = 1 always the second, so that words in sparse regions are changed more often.
    The choice reads the noisy vector alone and is post-processing. (Leaving out the *true* word
    where it comes first, as some implementations do, reads the secret and breaks the bound.)

    >>> import voile
    >>> words = Embedding.of([[0.0], [1.0], [9.0]])
    >>> vickrey(words, epsilon=90.0, second=1.0).release([0, 0], voile.seeded_rng(1))
    array([1, 1])
    """
    epsilon = require_epsilon(epsilon)
    require(0 <= second <= 1, "second", "between 0 and 1", second)
    guarantee = Guarantee(epsilon, words.metric, granularity, Basis.PROVED)
    return WordNoise(words, guarantee, around=words, second=float(second))


def examples() -> list[WordNoise]:
    """Thirty words, the second nearest taken often."""
    words = Embedding.of(np.random.default_rng(10).normal(size=(30, 4)))
    return [vickrey(words, epsilon=4.0)]
