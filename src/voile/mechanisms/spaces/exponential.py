"""The exponential mechanism on any finite metric space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.channel import Channel
from voile.core.space import Space, as_items
from voile.errors import require_epsilon


def exponential(
    space: Space,
    *,
    epsilon: float,
    outputs: Sequence[Any] | Items | None = None,
    granularity: str = "one secret",
) -> Channel:
    """Release y with probability proportional to exp(−(ε/2)·d(x, y)).

    McSherry and Talwar (FOCS 2007) with utility −d; on a metric space, Chatzikokolakis et al.
    (PETS 2013). By the triangle inequality the numerator moves by at most e^((ε/2)·d(x, x')) and
    so does the normaliser, which makes ε·d(x, x') in all. Half of that is often unused: see
    `calibrated`. Costs one table of distances.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    >>> exponential(line, epsilon=1.0).probabilities()[1].round(4)
    array([0.2741, 0.4519, 0.2741])
    """
    epsilon = require_epsilon(epsilon)
    released = space.items if outputs is None else as_items(outputs, name="outputs")
    space.metric.check_items(released)
    distances = space.metric.pairwise(space.items, released)

    def log_weights(strength: float) -> Floats:
        with np.errstate(over="ignore"):  # beyond all doubles is as far as can be
            return np.asarray(-0.5 * strength * distances)

    return Channel.build(
        space, log_weights, epsilon=epsilon, granularity=granularity, outputs=released
    )


def examples() -> list[Channel]:
    """A line, a plane with outputs of its own, and labels."""
    from voile import metrics

    rng = np.random.default_rng(3)
    plane = Space(rng.random((12, 2)) * 4, metric=metrics.euclidean(unit="km"))
    return [
        exponential(Space([[0.0], [1.0], [2.0]], metric=metrics.euclidean()), epsilon=1.0),
        exponential(plane, epsilon=0.8, outputs=rng.random((7, 2)) * 4, granularity="one location"),
        exponential(Space(["a", "b", "c"], metric=metrics.discrete()), epsilon=2.0),
    ]
