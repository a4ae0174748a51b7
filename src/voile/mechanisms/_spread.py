"""The local-DP epsilon of a channel, whatever metric it was built for."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats
from voile.core.channel import Channel

_ROUNDING = 2.0**-45
"""More than a division, a logarithm and a short sum of doubles can be off by, relatively."""


def spread(channel: Channel) -> float:
    """The largest ln K(y|x) − ln K(y|x') over all secrets, rounded up; infinite beside a zero."""
    if (channel.weights == channel.weights[0]).all():
        return 0.0
    return outwards(float(pair_spreads(channel).max()))


def pair_spreads(channel: Channel) -> Floats:
    """For each pair of secrets the largest ln K(y|x) − ln K(y|x'); the diagonal is 0."""
    seen = channel.weights[:, channel.weights.any(axis=0)].astype(np.float64)
    size = len(seen)
    table = np.zeros((size, size))
    with np.errstate(divide="ignore", invalid="ignore"):
        for x in range(size):
            ratios = seen[x] / seen
            table[x] = np.log(np.where(np.isnan(ratios), 0.0, ratios).max(axis=1))
    return table


def outwards(epsilon: float) -> float:
    """The next number that is surely not below the true value of a computed epsilon."""
    return epsilon * (1 + _ROUNDING) + _ROUNDING
