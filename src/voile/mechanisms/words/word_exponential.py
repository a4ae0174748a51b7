"""The exponential mechanism over a vocabulary of any size."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from voile.mechanisms._embedding import Embedding
from voile.mechanisms._neighbours import KEPT, Neighbours
from voile.mechanisms._word_law import WordLaw, word_law


def word_exponential(
    words: Embedding,
    *,
    epsilon: float,
    neighbours: int | Neighbours = KEPT,
    cache: str | Path | None = None,
    granularity: str = "one word",
) -> WordLaw:
    """Release word y with probability proportional to exp(−(ε/2)·d(x, y)).

    McSherry and Talwar (FOCS 2007) with utility −d; the law of SanText (Yue et al., Findings of
    ACL 2021) when the vocabulary is public. Words so far away that their weight would be below
    e^−41 of the word's own keep that weight: together less than 10^−12 of a row for a million
    words. The draw, its proof and its cost are those of `word_truncated_exponential`.

    >>> import voile
    >>> words = Embedding.of([[0.0], [1.0], [9.0]])
    >>> law = word_exponential(words, epsilon=1.0)
    >>> [round(float(p), 4) for p in law.exact_row(0)]
    [0.6182, 0.3749, 0.0069]
    """
    return word_law(
        words,
        epsilon=epsilon,
        gamma=math.inf,
        neighbours=neighbours,
        cache=cache,
        granularity=granularity,
    )


def examples() -> list[WordLaw]:
    """Forty words with most of them in the tail, and with all of them near."""
    words = Embedding.of(np.random.default_rng(5).normal(size=(40, 5)))
    return [
        word_exponential(words, epsilon=4.0, neighbours=6),
        word_exponential(words, epsilon=1.0),
    ]
