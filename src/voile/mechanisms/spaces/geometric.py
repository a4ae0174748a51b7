"""The truncated geometric mechanism on an even line."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats
from voile.core.channel import Channel
from voile.core.space import Space
from voile.errors import InvalidInput, require, require_epsilon
from voile.metrics.lp_norms import differences


def geometric(space: Space, *, epsilon: float, granularity: str = "one number") -> Channel:
    """Two-sided geometric noise on evenly spaced numbers, the tails folded onto the ends.

    With α = e^(−ε·step): K(y|x) = α^|x−y|·(1−α)/(1+α) inside, α^|x−y|/(1+α) at the two ends
    (Ghosh, Roughgarden and Sundararajan, STOC 2009, universally optimal for counts). The noise
    has ratio e^(ε·step) between neighbours, and folding is post-processing: ε per unit, tight.

    >>> import voile
    >>> counts = voile.Space([[0], [1], [2]], metric=voile.metrics.euclidean(unit="count"))
    >>> geometric(counts, epsilon=1.0).probabilities()[0].round(4)
    array([0.7311, 0.17  , 0.0989])
    """
    epsilon = require_epsilon(epsilon)
    step = _even_step(space)
    positions = np.arange(len(space))
    steps = np.abs(positions[:, None] - positions[None, :])
    ends = (positions == 0) | (positions == len(space) - 1)

    def log_weights(strength: float) -> Floats:
        with np.errstate(divide="ignore", over="ignore"):
            inside = np.log(-np.expm1(-strength * step)) if len(space) > 2 else 0.0
            return np.asarray(-strength * step * steps + np.where(ends, 0.0, inside)[None, :])

    return Channel.build(space, log_weights, epsilon=epsilon, granularity=granularity)


def _even_step(space: Space) -> float:
    if "p" not in dict(space.metric.parameters) or space.items.shape[1] != 1:
        raise InvalidInput(
            f"geometric must have numbers on a line with an l_p metric, got {space.metric}; "
            "write them as one-element rows: [[0], [1], [2]]"
        )
    values = space.items[:, 0]
    if len(values) == 1:
        return 1.0
    gaps = differences(values[1:], values[:-1])
    increasing = bool((values[1:] > values[:-1]).all())
    even = increasing and np.allclose(gaps, gaps[0], rtol=1e-9, atol=0)
    require(even, "items", "increasing and evenly spaced", "other gaps", "use exponential()")
    return float(gaps.min())


def examples() -> list[Channel]:
    """Counts, and quarter steps."""
    from voile import metrics

    counts = Space([[n] for n in range(11)], metric=metrics.euclidean(unit="count"))
    quarters = Space([[n / 4] for n in range(30)], metric=metrics.manhattan(unit="hour"))
    return [geometric(counts, epsilon=0.5), geometric(quarters, epsilon=2.0)]
