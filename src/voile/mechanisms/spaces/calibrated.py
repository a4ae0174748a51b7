"""Spend the whole budget: the strength whose certificate is the claim."""

from __future__ import annotations

from collections.abc import Callable

from voile.core.channel import Channel
from voile.errors import GuaranteeBroken, require, require_epsilon


def calibrated(
    build: Callable[[float], Channel], *, epsilon: float, tolerance: float = 1e-6
) -> Channel:
    """The channel `build(strength)` whose certificate is epsilon, and not less.

    A proof bounds the worst space; the certificate knows this one. On three points of a line the
    exponential mechanism for ε = 1 certifies 0.614, so it may run at a strength of 1.6 and still
    keep its claim. The strength is bracketed by doubling and found by Brent's method; the result
    claims epsilon on the ground of its own certificate, so privacy does not rest on the
    certificate being monotone in the strength. Costs about a dozen builds.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    >>> plain = voile.mechanisms.exponential(line, epsilon=1.0)
    >>> full = calibrated(
    ...     lambda strength: voile.mechanisms.exponential(line, epsilon=strength), epsilon=1.0
    ... )
    >>> round(plain.certificate().epsilon, 4), round(full.certificate().epsilon, 4)
    (0.6141, 1.0)
    >>> distance = line.distances()
    >>> round(plain.expected_loss(distance), 3), round(full.expected_loss(distance), 3)
    (0.636, 0.479)
    """
    from scipy.optimize import brentq

    epsilon = require_epsilon(epsilon)
    require(0 < tolerance < 1, "tolerance", "between 0 and 1", tolerance)
    best = build(epsilon)
    if best.certificate().epsilon > epsilon:
        raise GuaranteeBroken(
            f"build(epsilon) must keep its own claim of {epsilon:g}, its certificate is "
            f"{best.certificate().epsilon:.6g}"
        )
    target = epsilon * (1 - tolerance / 2)

    def excess(strength: float) -> float:
        nonlocal best
        trial = build(strength)
        if best.certificate().epsilon < trial.certificate().epsilon <= epsilon:
            best = trial
        return trial.certificate().epsilon - target

    high = epsilon
    while excess(high) < 0:
        high *= 2
        if high > 2**10 * epsilon:  # one secret, or a law that no strength changes
            return best.restated(epsilon=epsilon)
    if high > epsilon:
        brentq(excess, high / 2, high, xtol=0.1 * tolerance * epsilon, rtol=0.1 * tolerance)
    return best.restated(epsilon=epsilon)


def examples() -> list[Channel]:
    """The exponential law on three points, run at the strength that certifies 1."""
    from voile import metrics
    from voile.core.space import Space

    line = Space([[0.0], [1.0], [2.0]], metric=metrics.euclidean(unit="km"))
    distances = line.distances()

    def build(strength: float) -> Channel:
        return Channel.build(
            line, lambda s: -0.5 * s * distances, epsilon=strength, granularity="one location"
        )

    return [calibrated(build, epsilon=1.0)]
