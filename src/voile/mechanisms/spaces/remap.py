"""Bayesian remap: release what serves best, given what the mechanism drew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.channel import Channel
from voile.errors import require


def remap(
    channel: Channel,
    *,
    loss: Floats,
    prior: Sequence[float] | Floats | None = None,
    outputs: Items | None = None,
) -> Channel:
    """Replace each output y by argmin over y' of Σ_x π(x) K(y|x) loss[x, y'].

    Chatzikokolakis, Elsalamouny and Palamidessi (PoPETs 2017), section 3. A deterministic
    function of the output and of a *public* prior, so post-processing: the guarantee stays, and
    the certificate can only fall. The expected loss never rises if the channel's own outputs are
    among the new ones. `loss` has a row for each secret and a column for each new output.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    >>> channel = voile.mechanisms.exponential(line, epsilon=1.0)
    >>> better = remap(channel, loss=line.distances(), prior=[0.8, 0.1, 0.1])
    >>> loss = line.distances()
    >>> better.expected_loss(loss, [0.8, 0.1, 0.1]) < channel.expected_loss(loss, [0.8, 0.1, 0.1])
    True
    """
    target = channel.outputs if outputs is None else outputs
    shape = (len(channel.space), len(target))
    require(np.shape(loss) == shape, "loss", f"of shape {shape}", np.shape(loss))
    require(bool(np.isfinite(loss).all()), "loss", "finite", "NaN or infinity")
    weights = np.full(shape[0], 1 / shape[0]) if prior is None else np.asarray(prior, dtype=float)
    good = weights.shape == (shape[0],) and bool((weights >= 0).all())
    good = good and 0 < float(weights.sum()) < np.inf
    require(good, "prior", f"{shape[0]} non-negative numbers, not all zero", "others")
    joint = weights[:, None] * channel.probabilities()
    expected = joint.T @ np.asarray(loss)
    return channel.merged(expected.argmin(axis=1), target)


def examples() -> list[Channel]:
    """The exponential law on a line under a skewed prior."""
    from voile import metrics
    from voile.core.space import Space

    line = Space([[float(i)] for i in range(9)], metric=metrics.euclidean(unit="km"))
    distances = line.distances()
    channel = Channel.build(
        line, lambda s: -0.5 * s * distances, epsilon=1.0, granularity="one location"
    )
    return [remap(channel, loss=distances, prior=np.arange(9, 0, -1) / 45)]
