"""Same or different, and in how many places."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.metric import Metric
from voile.errors import require


def _different(left: Items, right: Items) -> Floats:
    if left.ndim == 1:
        return (left[:, None] != right[None, :]).astype(np.float64)
    return (left[:, None, :] != right[None, :, :]).any(axis=2).astype(np.float64)


def _positions_apart(left: Items, right: Items) -> Floats:
    count = np.zeros((len(left), len(right)))
    for a, b in zip(left.T, right.T, strict=True):
        count += a[:, None] != b[None, :]
    return count


def discrete() -> Metric:
    """1 between different items, 0 between equal ones: metric privacy with it is local DP.

    >>> import numpy as np
    >>> discrete().pairwise(np.array(["a"]), np.array(["a", "b"]))
    array([[0., 1.]])
    """
    return Metric("discrete", "change", _different, largest=1.0)


def hamming() -> Metric:
    """The number of positions in which two rows of equal length differ.

    >>> import numpy as np
    >>> hamming().pairwise(np.array([[1, 2, 3]]), np.array([[1, 0, 0]]))
    array([[2.]])
    """
    return Metric("hamming", "position", _positions_apart, check_items=_check_rows)


def _check_rows(items: Items) -> None:
    require(items.ndim == 2, "items", "rows of one length", f"{items.ndim} dimension")
