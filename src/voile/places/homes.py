"""Where a person is most: a home, and the place after it, from points or from beliefs."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats

RELEASE, GUESSES, BELIEFS = KINDS = ("release", "guesses", "beliefs")
"""Where homes are looked for."""


def homes(points: Floats, weights: Floats | None, *, side: float) -> Floats:
    """The middles (rows) of the two squares with most of the points, or of their weight.

    Squares of so many km; the second lies more than two sides from the first, and where there is
    none it is not a number. Among equals the first in order of coordinates is taken.

    >>> homes(np.array([[0.1, 0.1], [0.2, 0.1], [5.0, 5.0]]), None, side=1.0).tolist()
    [[0.15000000000000002, 0.1], [5.0, 5.0]]
    """
    heavy = np.ones(len(points)) if weights is None else weights
    _, member = np.unique(np.floor(points / side), axis=0, return_inverse=True)
    member = np.asarray(member).reshape(-1)
    mass = np.bincount(member, weights=heavy)
    summed = [np.bincount(member, weights=heavy * axis) for axis in points.T]
    middles = np.stack(summed, axis=1) / np.maximum(mass, 1e-300)[:, None]
    found = np.full((2, 2), np.nan)
    best = int((mass + 1e-12 * mass.max()).argmax())
    found[0] = middles[best]
    far = np.linalg.norm(middles - found[0], axis=1) > 2 * side
    if far.any():
        found[1] = middles[int(np.where(far, mass, -1.0).argmax())]
    return found


def apart(found: Floats, true: Floats) -> Floats:
    """Km between what was found and what is there, home and second; ∞ where there is none."""
    away = np.linalg.norm(found - true, axis=1)
    return np.where(np.isfinite(away), away, np.inf)
