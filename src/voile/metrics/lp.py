"""ℓ_p distances between points, and the square that is not one."""

from __future__ import annotations

import math
from functools import partial

from voile.core.arrays import Floats, Items
from voile.core.metric import Metric
from voile.errors import require

_NAMES = {1.0: "manhattan", 2.0: "euclidean", math.inf: "chebyshev"}


def check_points(items: Items) -> None:
    """Items must be points: rows of numbers."""
    numeric = items.dtype.kind in "fiu" and items.ndim == 2
    shape = f"shape {items.shape} of {items.dtype}"
    do = "for points on a line give one-element rows: [[0.0], [1.0]]"
    require(numeric, "points", "rows of numbers", shape, do)


def lp(p: float, *, unit: str = "unit") -> Metric:
    """‖a − b‖_p = (Σ |a_i − b_i|^p)^(1/p), the largest |a_i − b_i| for p = ∞.

    A metric for every p in [1, ∞]; below 1 the triangle inequality fails. Cost O(dimension).

    >>> import numpy as np
    >>> lp(3.0).pairwise(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(4)
    array([[1.2599]])
    """
    require(p >= 1, "p", "between 1 and infinity", p)
    p = float(p)
    name = _NAMES.get(p, f"l{p:g}")
    distance = partial(_distances, p)  # not a closure: it travels to other processes
    return Metric(name, unit, distance, parameters=(("p", p),), check_items=check_points)


def _distances(p: float, left: Items, right: Items) -> Floats:
    from scipy.spatial.distance import cdist

    if p == 1:
        return cdist(left, right, "cityblock")
    if p == 2:
        return cdist(left, right, "euclidean")
    if p == math.inf:
        return cdist(left, right, "chebyshev")
    return cdist(left, right, "minkowski", p=p)


def euclidean(*, unit: str = "unit") -> Metric:
    """Straight-line distance, ℓ_2."""
    return lp(2.0, unit=unit)


def manhattan(*, unit: str = "unit") -> Metric:
    """City-block distance, ℓ_1."""
    return lp(1.0, unit=unit)


def chebyshev(*, unit: str = "unit") -> Metric:
    """Largest coordinate difference, ℓ_∞."""
    return lp(math.inf, unit=unit)


def squared_euclidean(*, unit: str = "unit²") -> Metric:
    """‖a − b‖₂²: for losses only. 0, 1, 2 on a line have 4 > 1 + 1, so it is not a metric."""

    def distance(left: Items, right: Items) -> Floats:
        from scipy.spatial.distance import cdist

        return cdist(left, right, "sqeuclidean")

    return Metric(
        "squared euclidean",
        unit,
        distance,
        instead="voile.metrics.euclidean()",
        check_items=check_points,
    )
