"""Madlib: Laplace noise on a word's vector, then the nearest word."""

from __future__ import annotations

import numpy as np

from voile.core.guarantee import Basis, Guarantee
from voile.errors import require_epsilon
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._word_noise import WordNoise


def madlib(words: Embedding, *, epsilon: float, granularity: str = "one word") -> WordNoise:
    """Add noise of density close to e^(−ε‖z‖₂) to a word's vector, release the nearest word.

    Feyisetan et al. (WSDM 2020), on the lattice that the vectors lie on: `lattice_laplace` is drawn
    by integers, its log-probability ε-Lipschitz by a bound on them; the nearest word is
    post-processing. The noise is dimension/ε long
    on average, so at equal ε `word_truncated_exponential` keeps far more of the text. The nearest
    word is found over the whole vocabulary, by matrix products: thousands of words a second at
    50,000 words.

    >>> import voile
    >>> words = Embedding.of([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    >>> madlib(words, epsilon=90.0).release([1, 2], voile.seeded_rng(1))
    array([1, 2])
    """
    epsilon = require_epsilon(epsilon)
    guarantee = Guarantee(epsilon, words.metric, granularity, Basis.PROVED)
    return WordNoise(words, guarantee, around=words)


def examples() -> list[WordNoise]:
    """Thirty words in four dimensions."""
    words = Embedding.of(np.random.default_rng(7).normal(size=(30, 4)))
    return [madlib(words, epsilon=4.0)]
