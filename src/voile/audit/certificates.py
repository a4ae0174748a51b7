"""Whether a channel keeps its claim, computed over every pair and output."""

from __future__ import annotations

import numpy as np

from voile.audit.finding import Finding
from voile.core.arrays import Weights
from voile.core.certificate import certify
from voile.core.space import Space
from voile.errors import require


def certificate(space: Space, weights: Weights, *, claim: float) -> Finding:
    """The exact finding on a table of integer weights: holds or violated, never open.

    A row a secret, in the order of the space; the law of a row is its weights over their sum,
    which must be one for all rows.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0]], metric=voile.metrics.euclidean(unit="km"))
    >>> channel = voile.mechanisms.exponential(line, epsilon=1.0)
    >>> print(certificate(line, channel.weights, claim=0.4).verdict)
    violated
    """
    found = certify(space, _as_weights(weights))
    return Finding(
        question="Largest odds change over all pairs:",
        claim=claim,
        lower=found.lower,
        upper=found.epsilon,
        unit=space.metric.unit,
        detail=str(found),
    )


def _as_weights(table: Weights) -> Weights:
    """Integers of any kind as the unsigned ones that are certified, unless one would change."""
    given = np.asarray(table)
    whole = given.dtype.kind in "iu" and not (given < 0).any()
    require(whole, "weights", "integers >= 0", f"an array of {given.dtype}")
    return given.astype(np.uint64)
