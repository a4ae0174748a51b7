"""The mass of a discrete Gaussian between two integers, to about fourteen digits."""

from __future__ import annotations

import math

import numpy as np

from voile.core.arrays import Floats, Integers


def interval_log_mass(low: Integers, high: Integers, scales: Floats) -> Floats:
    """Ln of Σ e^(−z²/2σ²) / (σ·√2π) over low ≤ z < high, as a difference of tails of its size."""
    flip = high <= 0  # left of zero: the same on the right
    near, far = np.where(flip, 1 - high, low), np.where(flip, 1 - low, high)
    tail, beyond = _log_tail(np.maximum(near, 1), scales), _log_tail(far, scales)
    other = _log_tail(np.maximum(1 - near, 1), scales)
    with np.errstate(divide="ignore"):
        aside = tail + np.log1p(-np.exp(np.minimum(beyond - tail, 0.0)))
        around = np.log1p(-np.minimum(np.exp(beyond) + np.exp(other), 1.0))
    return np.asarray(np.where(near >= 1, aside, around))


def _log_tail(start: Integers, scales: Floats) -> Floats:
    """Ln of `tail_masses`, where the masses themselves are too small for doubles."""
    from scipy.special import log_ndtr

    reach = (start - 0.5) / scales
    close = np.minimum(reach, 1000.0)  # the ratio of density to tail tends to the reach itself
    hazard = np.exp(-0.5 * close**2 - 0.5 * math.log(2 * math.pi) - log_ndtr(-close))
    correction = -hazard * _maclaurin(reach / scales, scales)
    return np.asarray(log_ndtr(-reach) + np.log1p(np.maximum(correction, -0.5)))


def tail_masses(start: Integers, scales: Floats) -> Floats:
    """Σ e^(−z²/2σ²) / (σ·√2π) over z ≥ start, start ≥ 1: an integral from half a step before.

    Corrected by Euler and Maclaurin's terms g′/24 − 7g‴/5760 at its lower end. The next one is
    below 1e-14 of the tail where σ ≥ 64 and start/σ² ≤ 1/64; beyond it wider scales outweigh it.
    """
    from scipy.special import ndtr

    reach = (start - 0.5) / scales
    density = np.exp(-0.5 * reach**2) / math.sqrt(2 * math.pi)
    found = ndtr(-reach) - density * _maclaurin(reach / scales, scales)
    return np.asarray(np.maximum(found, 0.0))


def _maclaurin(steep: Floats, scales: Floats) -> Floats:
    """(−g′/24 + 7g‴/5760) / g over σ, g the Gaussian and `steep` its −g′/g."""
    third = steep * (3 / scales**2 - steep**2)
    return np.asarray((steep / 24 + 7 * third / 5760) / scales)
