"""The truncated exponential mechanism (TEM) over a vocabulary of any size."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from voile.errors import InvalidInput, require, require_epsilon
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._neighbours import KEPT, Neighbours
from voile.mechanisms._word_law import WordLaw, word_law


def word_truncated_exponential(
    words: Embedding,
    *,
    epsilon: float,
    beta: float | None = None,
    gamma: float | None = None,
    neighbours: int | Neighbours = KEPT,
    cache: str | Path | None = None,
    granularity: str = "one word",
) -> WordLaw:
    """Release word y with probability proportional to exp(−(ε/2)·min(d(x, y), γ)).

    Carvalho, Vasiloudis and Feyisetan (2021), algorithm 2 in closed form; γ is given, or
    (2/ε)·ln((1−β)(n−1)/β) with β = 0.001 (theorem 3). Metric private because min(d, γ) is a
    metric bounded by d, so numerator and normaliser each move by at most e^((ε/2)·d(x, x')).

    Exact without a table. Each word's `neighbours` nearest words get integers P, the least ones
    above their scaled weights; every other word gets the last of these, B, which bounds its
    weight because it is farther. One uniform integer below Σ P_near + n·B proposes a word, drawn
    over the *whole* vocabulary in its second part; a near word met there is refused, so that a
    far word is proposed by exactly B integers. It is accepted with the double r = weight / P, by
    comparing binary places with random bits. Hence K(y|x) = P(y)·r(y) / Σ P·r exactly, a rational
    number within 2^−45 of the ideal weight; that error, at worst between words one lattice step
    apart, is taken off ε beforehand. Cost: one pass over the vocabulary for a word's neighbours
    the first time it occurs, then about a microsecond a draw at 50,000 words. With `cache`, a
    folder, the neighbours of all words are found at once and kept there as one file.

    >>> import voile
    >>> words = Embedding.of([[0.0], [1.0], [9.0]])
    >>> law = word_truncated_exponential(words, epsilon=1.0, gamma=2.0, neighbours=1)
    >>> [round(float(p), 4) for p in law.exact_row(0)]
    [0.5065, 0.3072, 0.1863]
    >>> law.release([0, 0, 0], voile.seeded_rng(1)).shape
    (3,)
    """
    epsilon = require_epsilon(epsilon)
    if gamma is not None and beta is not None:
        raise InvalidInput("give either gamma or beta, and not both")
    if gamma is None:
        share = 0.001 if beta is None else beta
        require(0 < share < 1, "beta", "between 0 and 1", share)
        gamma = max(0.0, 2 / epsilon * math.log((1 - share) * (len(words) - 1) / share))
    require(gamma >= 0, "gamma", ">= 0", gamma)
    return word_law(
        words,
        epsilon=epsilon,
        gamma=gamma,
        neighbours=neighbours,
        cache=cache,
        granularity=granularity,
    )


def examples() -> list[WordLaw]:
    """Sixty words: γ from β with a long tail, γ given, and a tail of equals."""
    words = Embedding.of(np.random.default_rng(6).normal(size=(60, 5)))
    return [
        word_truncated_exponential(words, epsilon=3.0, neighbours=8),
        word_truncated_exponential(words, epsilon=6.0, gamma=1.5),
        word_truncated_exponential(words, epsilon=6.0, gamma=1.0, neighbours=3),
    ]
