"""Randomised response: tell the truth, or any other answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.channel import Channel
from voile.errors import require_epsilon
from voile.mechanisms._records import label_space


def randomised_response(
    labels: Sequence[Any] | Items, *, epsilon: float, granularity: str = "one label"
) -> Channel:
    """Keep the label with probability e^ε/(e^ε + k − 1), else any of the k − 1 others.

    Warner (1965) for two labels; k-ary by Kairouz, Oh and Viswanath (2014), where it is optimal
    for large ε. Two rows differ in two columns, each by a factor e^ε exactly: ε-local DP.

    >>> channel = randomised_response(["yes", "no"], epsilon=1.0)
    >>> channel.probabilities().round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    epsilon = require_epsilon(epsilon)
    space = label_space(labels)
    same = np.eye(len(space))

    def log_weights(strength: float) -> Floats:
        return strength * same

    return Channel.build(space, log_weights, epsilon=epsilon, granularity=granularity)


def examples() -> list[Channel]:
    """Warner's two answers, and ten labels."""
    return [
        randomised_response(["yes", "no"], epsilon=1.0),
        randomised_response(list(range(10)), epsilon=3.0),
    ]
