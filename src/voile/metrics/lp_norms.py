"""ℓ_p distances between points, and the square that is not one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.metric import Metric
from voile.errors import require

_NAMES = {1.0: "manhattan", 2.0: "euclidean", math.inf: "chebyshev"}
_SMALLEST, _LARGEST = 1e-100, 1e150
"""Coordinates in this range, and 0, have squared differences in the range of a double.

Two different doubles of at least 1e-100 differ by at least 1e-116, which has a square.
"""
_EXACT = 2**53
"""Integers up to here are doubles."""


def check_points(items: Items) -> None:
    """Items must be points: rows of numbers."""
    numeric = items.dtype.kind in "fiu" and items.ndim == 2 and items.shape[1] > 0
    shape = f"shape {items.shape} of {items.dtype}"
    do = "for points on a line give one-element rows: [[0.0], [1.0]]"
    require(numeric, "points", "rows of numbers", shape, do)


def lp(p: float, *, unit: str = "unit") -> Metric:
    """‖a − b‖_p = (Σ |a_i − b_i|^p)^(1/p), the largest |a_i − b_i| for p = ∞.

    A metric for every p in [1, ∞]; below 1 the triangle inequality fails. Cost O(dimension).
    Computed without overflow, as m·(Σ (|a_i − b_i|/m)^p)^(1/p) with m the largest difference;
    integers are subtracted as integers, so time stamps in nanoseconds keep their differences.

    >>> import numpy as np
    >>> lp(3.0).pairwise(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(4)
    array([[1.2599]])
    """
    require(p >= 1, "p", "between 1 and infinity", p)
    p = float(p)
    name = _NAMES.get(p, f"l{p:g}")
    return Metric(name, unit, LpDistance(p), parameters=(("p", p),), check_items=check_points)


@dataclass(frozen=True)
class LpDistance:
    """The distance of `lp`: equal for equal p, and able to travel to other processes."""

    p: float

    def __call__(self, left: Items, right: Items) -> Floats:
        """All distances."""
        if not all(_as_doubles(items, p=self.p) for items in (left, right)):
            return _scaled(self.p, left, right)
        if left.shape[1] == 1:  # on a line all of them are |a − b|, and scipy need not be loaded
            with np.errstate(over="ignore"):  # an infinite distance is refused by who asked
                return np.asarray(np.abs(left.astype(np.float64) - right.astype(np.float64).T))
        from scipy.spatial.distance import cdist

        if self.p == 1:
            return cdist(left, right, "cityblock")
        if self.p == 2:
            return cdist(left, right, "euclidean")
        if self.p == math.inf:
            return cdist(left, right, "chebyshev")
        return _scaled(self.p, left, right)


def _as_doubles(items: Items, *, p: float) -> bool:
    """Whether differences and their squares are right in doubles, without further care."""
    if items.dtype.kind in "iu":
        low, high = int(items.min(initial=0)), int(items.max(initial=0))
        return low >= -_EXACT and high <= _EXACT
    if items.dtype.itemsize > 8:
        return False
    if p != 2:
        return True
    size = np.abs(items)
    least = np.min(size, where=size > 0, initial=1.0)
    return bool(size.max(initial=0.0) <= _LARGEST and least >= _SMALLEST)


def _scaled(p: float, left: Items, right: Items) -> Floats:
    """ℓ_p relative to the largest difference of each pair, which neither over- nor underflows."""
    axes = list(zip(left.T[:, :, None], right.T[:, None, :], strict=True))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # infinities are refused
        if p == 1:
            return np.asarray(sum(differences(a, b) for a, b in axes))
        most = differences(*axes[0])
        for a, b in axes[1:]:
            np.maximum(most, differences(a, b), out=most)
        if p == math.inf or len(axes) == 1:
            return most
        scale = np.where(most > 0, most, 1.0)
        total = np.zeros_like(most)
        for a, b in axes:
            total += (differences(a, b) / scale) ** p
        return np.asarray(most * np.maximum(total, 1.0) ** (1 / p))


def differences(left: Items, right: Items) -> Floats:
    """|a − b| as the nearest double: integers are subtracted before they are converted."""
    common = np.result_type(left, right)
    if common.kind not in "iu":
        with np.errstate(over="ignore"):  # an infinity is refused where distances are checked
            return np.abs(np.subtract(left, right, dtype=common)).astype(np.float64)
    left, right = left.astype(common), right.astype(common)
    # Modulo 2**64, which is exact: the difference of two 64-bit integers lies below it.
    high, low = np.maximum(left, right), np.minimum(left, right)
    return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)


def euclidean(*, unit: str = "unit") -> Metric:
    """Straight-line distance, ℓ_2."""
    return lp(2.0, unit=unit)


def manhattan(*, unit: str = "unit") -> Metric:
    """City-block distance, ℓ_1."""
    return lp(1.0, unit=unit)


def chebyshev(*, unit: str = "unit") -> Metric:
    """Largest coordinate difference, ℓ_∞."""
    return lp(math.inf, unit=unit)


def _squared(left: Items, right: Items) -> Floats:
    from scipy.spatial.distance import cdist

    if all(_as_doubles(items, p=2.0) for items in (left, right)):
        return cdist(left, right, "sqeuclidean")
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(_scaled(2.0, left, right) ** 2)


def squared_euclidean(*, unit: str = "unit²") -> Metric:
    """‖a − b‖₂²: for losses only. 0, 1, 2 on a line have 4 > 1 + 1, so it is not a metric."""
    return Metric(
        "squared euclidean",
        unit,
        _squared,
        instead="voile.metrics.euclidean()",
        check_items=check_points,
    )
