"""How much Gaussian noise a clipped vector needs."""

from __future__ import annotations

import math

from voile.errors import InvalidInput, require, require_epsilon


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The tight δ of Gaussian noise at μ = sensitivity/σ (Balle and Wang, ICML 2018, thm 8).

    δ = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), computed through ln Φ so that e^2500 never appears.

    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    from scipy.special import log_ndtr

    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(first) * -math.expm1(min(0.0, second - first))


def analytic_sigma(*, sensitivity: float, epsilon: float, delta: float) -> float:
    """The smallest σ for which Gaussian noise is (ε, δ)-DP: the analytic Gaussian mechanism.

    Root of `gaussian_delta` in μ, which grows with μ; valid for every ε > 0. The answer is
    rounded up by 1e-12 of itself, so the δ it gives is at most the one asked for.

    >>> round(analytic_sigma(sensitivity=10.0, epsilon=100.0, delta=1e-5), 4)
    0.9467
    """
    from scipy.optimize import brentq

    _check(sensitivity, epsilon, delta)
    low = high = math.sqrt(2 * epsilon)
    while gaussian_delta(low, epsilon) > delta:
        low /= 2
    while gaussian_delta(high, epsilon) < delta:
        high *= 2
    mu = float(brentq(lambda m: gaussian_delta(m, epsilon) - delta, low, high, xtol=1e-15))
    return sensitivity / mu * (1 + 1e-12)


def classical_sigma(*, sensitivity: float, epsilon: float, delta: float) -> float:
    """σ = (Δ/ε)·√(2 ln(1.25/δ)): what published rewriters use, and private only for ε ≤ 1.

    Dwork and Roth (2014), thm A.1, assumes ε < 1. Past that the true epsilon runs away from the
    nominal one: see `true_epsilon`. Offered to reproduce published results, never as private.

    >>> round(classical_sigma(sensitivity=12.067, epsilon=1000.0, delta=1e-5), 5)
    0.05846
    """
    _check(sensitivity, epsilon, delta)
    return sensitivity / epsilon * math.sqrt(2 * math.log(1.25 / delta))


def true_epsilon(*, sigma: float, sensitivity: float, delta: float) -> float:
    """The epsilon that Gaussian noise of scale σ really gives at δ.

    >>> sigma = classical_sigma(sensitivity=1.0, epsilon=1000.0, delta=1e-5)
    >>> round(true_epsilon(sigma=sigma, sensitivity=1.0, delta=1e-5))
    22181
    """
    from scipy.optimize import brentq

    _check(sensitivity, 1.0, delta)
    require(sigma > 0, "sigma", "> 0", sigma)
    mu = sensitivity / sigma
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    high = 1.0
    while gaussian_delta(mu, high) > delta:
        high *= 2
    return float(brentq(lambda e: gaussian_delta(mu, e) - delta, 0.0, high, xtol=1e-12))


def _check(sensitivity: float, epsilon: float, delta: float) -> None:
    epsilon = require_epsilon(epsilon)
    require(0 < sensitivity < math.inf, "sensitivity", "finite and > 0", sensitivity)
    if not 0 < delta < 1:
        raise InvalidInput(f"delta must be in (0, 1) for Gaussian noise, got {delta:g}")
