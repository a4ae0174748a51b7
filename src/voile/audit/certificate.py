"""Whether a channel keeps its claim, computed over every pair and output."""

from __future__ import annotations

from voile.audit.finding import Finding
from voile.core.arrays import Weights
from voile.core.certificate import certify
from voile.core.space import Space


def certificate(space: Space, weights: Weights, *, claim: float) -> Finding:
    """The exact finding on a table of integer weights: holds or violated, never open.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0]], metric=voile.metrics.euclidean(unit="km"))
    >>> channel = voile.mechanisms.exponential(line, epsilon=1.0)
    >>> print(certificate(line, channel.weights, claim=0.4).verdict)
    violated
    """
    found = certify(space, weights)
    return Finding(
        question="Largest odds change over all pairs:",
        claim=claim,
        lower=found.lower,
        upper=found.epsilon,
        unit=space.metric.unit,
        detail=str(found),
    )
