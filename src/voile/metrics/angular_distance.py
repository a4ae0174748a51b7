"""The angle between two vectors, and cosine distance, which is no metric."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.metric import Metric
from voile.errors import InvalidInput
from voile.metrics.lp_norms import check_points


def _check_directions(items: Items) -> None:
    check_points(items)
    zero = np.flatnonzero(~items.any(axis=1))
    if len(zero):
        raise InvalidInput(
            f"vectors must not be zero to have an angle, got {len(zero)} zero rows "
            f"(the first is row {zero[0]}); drop them"
        )


def _unit_vectors(items: Items) -> Floats:
    points = items.astype(np.float64)  # the smallest integer of a type has no absolute value
    scaled: Floats = points / np.abs(points).max(axis=1, keepdims=True)
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled


def _chords(left: Items, right: Items) -> Floats:
    from scipy.spatial.distance import cdist

    return np.minimum(cdist(_unit_vectors(left), _unit_vectors(right), "euclidean"), 2.0)


def _angles(left: Items, right: Items) -> Floats:
    return np.asarray(2.0 * np.arcsin(_chords(left, right) / 2.0))


def _one_minus_cosine(left: Items, right: Items) -> Floats:
    return np.asarray(_chords(left, right) ** 2 / 2.0)


def angular() -> Metric:
    """The angle between two vectors in radians: arccos of their cosine, at most π.

    Computed as 2·arcsin(‖u − v‖ / 2) on unit vectors, which keeps its digits where vectors are
    nearly parallel and arccos would lose them. Vectors of one direction are one secret.

    >>> import numpy as np
    >>> angular().pairwise(np.array([[1.0, 0.0]]), np.array([[0.0, 3.0]])).round(5)
    array([[1.5708]])
    """
    return Metric("angular", "radian", _angles, largest=np.pi, check_items=_check_directions)


def cosine_distance() -> Metric:
    """1 − cosine: for losses and attacks only.

    Directions at 0°, 60° and 120° have 1.5 > 0.5 + 0.5, so it is not a metric.
    """
    return Metric(
        "cosine distance",
        "1 − cosine",
        _one_minus_cosine,
        largest=2.0,
        instead="voile.metrics.angular(), or voile.metrics.euclidean() on normalised vectors",
        check_items=_check_directions,
    )
