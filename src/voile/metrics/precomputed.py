"""Distances given as a matrix, such as travel times or path lengths."""

from __future__ import annotations

import hashlib

import numpy as np

from voile.core.arrays import Floats, Items, frozen
from voile.core.metric import Metric
from voile.errors import InvalidInput, NotAMetric, require

TOLERANCE = 1e-9
"""Relative slack of the triangle test, for matrices that were rounded when they were written."""


def precomputed(matrix: Floats, *, unit: str = "unit") -> Metric:
    """The metric of a symmetric matrix; items are the positions 0 … n−1.

    The triangle inequality is checked over all triples, n³ operations in blocks; a matrix that
    fails is refused.

    >>> import numpy as np
    >>> precomputed(np.array([[0, 1, 5], [1, 0, 1], [5, 1, 0]], dtype=float))
    Traceback (most recent call last):
    ...
    voile.errors.NotAMetric: the matrix violates the triangle inequality: d(0, 2) = 5 but going \
through 1 takes 2; use voile.metrics.precomputed(voile.metrics.shortest_path_closure(matrix))
    """
    table = _checked(matrix)
    _check_triangles(table)
    digest = hashlib.sha256(np.ascontiguousarray(table).tobytes()).hexdigest()[:16]

    def distance(left: Items, right: Items) -> Floats:
        return np.asarray(table[np.ix_(left, right)])

    def check(items: Items) -> None:
        positions = items.ndim == 1 and items.dtype.kind in "iu"
        require(positions, "items", "positions in the matrix", f"an array of {items.dtype}")
        inside = bool(((items >= 0) & (items < len(table))).all())
        require(inside, "items", f"positions below {len(table)}", "others")

    return Metric(
        "precomputed",
        unit,
        distance,
        parameters=(("sha256", digest), ("size", len(table))),
        largest=float(table.max()),
        check_items=check,
    )


def shortest_path_closure(matrix: Floats) -> Floats:
    """The largest metric that nowhere exceeds the matrix: shortest paths through it."""
    from scipy.sparse.csgraph import floyd_warshall

    closed: Floats = floyd_warshall(_checked(matrix), directed=False)
    return closed


def _checked(matrix: Floats) -> Floats:
    table = np.array(matrix, dtype=np.float64)
    square = table.ndim == 2 and table.shape[0] == table.shape[1] and table.size > 0
    require(square, "matrix", "square", f"shape {table.shape}")
    require(bool(np.isfinite(table).all()), "matrix", "finite", "NaN or infinity")
    require(bool((table >= 0).all()), "matrix", "non-negative", f"{table.min():.3g}")
    require(not np.diagonal(table).any(), "matrix diagonal", "zero", "other values")
    if not np.array_equal(table, table.T):
        if not np.allclose(table, table.T, rtol=TOLERANCE, atol=0):
            raise InvalidInput(
                "matrix must be symmetric; for one-way distances use the larger of the two: "
                "numpy.maximum(matrix, matrix.T)"
            )
        table = np.minimum(table, table.T)
    return np.asarray(frozen(table))


def _check_triangles(table: Floats) -> None:
    slack = 1 + TOLERANCE
    step = max(1, 2**22 // len(table))
    for start in range(0, len(table), step):
        rows = table[start : start + step]
        for through in range(len(table)):
            detour = rows[:, through, None] + table[None, through]
            over = rows > detour * slack
            if over.any():
                i, j = np.argwhere(over)[0]
                raise NotAMetric(
                    f"the matrix violates the triangle inequality: d({start + i}, {j}) = "
                    f"{rows[i, j]:g} but going through {through} takes {detour[i, j]:g}; use "
                    "voile.metrics.precomputed(voile.metrics.shortest_path_closure(matrix))"
                )
