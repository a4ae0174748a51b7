"""The truncated exponential mechanism (TEM), in closed form."""

from __future__ import annotations

import math

import numpy as np

from voile.core.arrays import Floats
from voile.core.channel import Channel
from voile.core.space import Space
from voile.errors import InvalidInput, require, require_epsilon


def truncation_distance(size: int, *, epsilon: float, beta: float) -> float:
    """γ = (2/ε)·ln((1−β)(n−1)/β): a draw stays within γ with probability at least 1 − β.

    Carvalho et al. (2021), "TEM", section 3.

    >>> round(truncation_distance(400_000, epsilon=2.0, beta=0.001), 5)
    19.80597
    """
    epsilon = require_epsilon(epsilon)
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    require(size >= 2, "the number of items", ">= 2", size)
    return max(0.0, 2.0 / epsilon * math.log((1 - beta) * (size - 1) / beta))


def truncated_exponential(
    space: Space,
    *,
    epsilon: float,
    beta: float | None = None,
    gamma: float | None = None,
    granularity: str = "one secret",
) -> Channel:
    """Release y with probability proportional to exp(−(ε/2)·min(d(x, y), γ)).

    The mechanism of Carvalho et al. scores items within γ by −d, gives all others one element ⊥
    with score −γ + (2/ε)·ln(number of others), adds Gumbel noise of scale 2/ε, and draws
    uniformly among the others if ⊥ wins. Gumbel-argmax is the exponential mechanism, and ⊥'s
    weight exp((ε/2)·score) is exactly the sum of the others at distance γ: the closed form
    above. Private because min(d, γ) is again a metric bounded by d. (Scoring ⊥ with
    ln(n / number within γ), as some implementations do, breaks the bound.)

    Give `gamma`, or `beta` for γ = `truncation_distance` (default β = 0.001).

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0], [9.0]], metric=voile.metrics.euclidean())
    >>> truncated_exponential(line, epsilon=1.0, gamma=2.0).probabilities()[0].round(4)
    array([0.5065, 0.3072, 0.1863])
    """
    epsilon = require_epsilon(epsilon)
    if gamma is not None and beta is not None:
        raise InvalidInput("give either gamma or beta, and not both")
    if gamma is None:
        share = 0.001 if beta is None else beta
        gamma = truncation_distance(max(2, len(space)), epsilon=epsilon, beta=share)
    require(gamma >= 0, "gamma", ">= 0", gamma)
    truncated = np.minimum(space.distances(), gamma)

    def log_weights(strength: float) -> Floats:
        return -0.5 * strength * truncated

    return Channel.build(space, log_weights, epsilon=epsilon, granularity=granularity)


def examples() -> list[Channel]:
    """Words in five dimensions, with γ from β and with γ given."""
    from voile import metrics

    words = Space(np.random.default_rng(5).normal(size=(40, 5)), metric=metrics.euclidean())
    return [
        truncated_exponential(words, epsilon=6.0, granularity="one word"),
        truncated_exponential(words, epsilon=3.0, gamma=2.5, granularity="one word"),
    ]
