"""The loop over pairs of `voile.leakage.joint`, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

Array = Any


@njit(cache=True, nogil=True)
def stepped(steps: Array, ratios: Array) -> Array:
    """For all pairs of rows a bound on the logarithm of the ratio of their means.

    `ratios[c, d]` bounds w_c/w_d; steps are rows of probabilities.
    """
    size = len(steps)
    widest = np.empty(size)
    likeliest = np.empty(size, dtype=np.int64)
    for c in range(size):
        widest[c] = ratios[c].max()
        likeliest[c] = steps[c].argmax()
    ones = np.ones(size)
    upper, lower = np.empty((size, size)), np.empty((size, size))
    for r in range(size):
        for c in range(size):
            upper[r, c] = ratios[c, r]
            lower[r, c] = 1 / ratios[r, c]
    answer = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            best = highest(steps[i], steps[j], ones, widest)
            r = likeliest[i]
            best = min(best, highest(steps[i], steps[j], lower[r], upper[r]))
            if likeliest[j] != r:
                r = likeliest[j]
                best = min(best, highest(steps[i], steps[j], lower[r], upper[r]))
            answer[i, j] = math.log(max(best, 1.0))
    return answer


@njit(cache=True, nogil=True)
def highest(above: Array, below: Array, lower: Array, upper: Array) -> float:
    """At least the maximum of ⟨above, w⟩/⟨below, w⟩ over lower ≤ w ≤ upper."""
    least = 0.0
    for c in range(len(above)):
        least += below[c] * lower[c]
    ratio, excess = 1.0, 0.0
    for _ in range(50):
        top, bottom = 0.0, 0.0
        for c in range(len(above)):
            w = upper[c] if above[c] > ratio * below[c] else lower[c]
            top += above[c] * w
            bottom += below[c] * w
        excess = top - ratio * bottom
        if top <= ratio * bottom * (1 + 1e-12):
            break
        ratio = top / bottom
    else:
        top, bottom = 0.0, 0.0
        for c in range(len(above)):
            w = upper[c] if above[c] > ratio * below[c] else lower[c]
            top += above[c] * w
            bottom += below[c] * w
        excess = top - ratio * bottom
    return ratio + max(excess, 0.0) / least
