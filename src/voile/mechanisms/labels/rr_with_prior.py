"""Randomised response among the labels that are likely beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.channel import Channel
from voile.errors import require, require_epsilon
from voile.mechanisms._records import label_space


def rr_with_prior(
    labels: Sequence[Any] | Items,
    *,
    prior: Sequence[float] | Floats,
    epsilon: float,
    granularity: str = "one label",
) -> Channel:
    """Answer among the m likeliest labels: the truth with e^ε/(e^ε + m − 1) if it is one of them.

    A label outside the m answers evenly among them. m maximises the chance of a true answer,
    e^ε/(e^ε + m − 1) · (their prior probability): RRWithPrior of Ghazi et al. (NeurIPS 2021,
    algorithm 2), who prove that no ε-private mechanism answers truly more often (theorem 3).
    Between rows of the m the ratio is e^ε, and an even row 1/m lies between 1/(e^ε + m − 1) and
    e^ε/(e^ε + m − 1): ε-local DP for *any* prior, right or wrong, as long as the prior is public.

    >>> channel = rr_with_prior(["a", "b", "c"], prior=[0.6, 0.39, 0.01], epsilon=1.0)
    >>> channel.outputs.tolist(), channel.probabilities().round(4).tolist()
    (['a', 'b'], [[0.7311, 0.2689], [0.2689, 0.7311], [0.5, 0.5]])
    """
    epsilon = require_epsilon(epsilon)
    space = label_space(labels)
    chances = np.asarray(prior, dtype=float)
    good = chances.shape == (len(space),) and bool((chances >= 0).all())
    require(good and abs(chances.sum() - 1) < 1e-9, "prior",
            f"{len(space)} probabilities that sum to 1", "others")  # fmt: skip
    order = np.argsort(-chances, kind="stable")
    other = np.exp(-epsilon)
    truth = np.cumsum(chances[order]) / (1 + np.arange(len(space)) * other)
    likely = order[: int(truth.argmax()) + 1]
    same = np.arange(len(space))[:, None] == likely[None, :]

    def log_weights(strength: float) -> Floats:
        return np.asarray(strength * same)

    channel = Channel.build(
        space,
        log_weights,
        epsilon=epsilon,
        granularity=granularity,
        outputs=space.items[likely],
    )
    note = "the prior, which must be public or have been paid for: the answers show which it was"
    return replace(channel, guarantee=replace(channel.guarantee, outside=(note,)))


def examples() -> list[Channel]:
    """A label too rare to be answered, and a prior that keeps all."""
    return [
        rr_with_prior(["a", "b", "c"], prior=[0.6, 0.39, 0.01], epsilon=1.0),
        rr_with_prior(list(range(4)), prior=[0.25] * 4, epsilon=2.0),
    ]
