"""Distances given as a matrix, such as travel times or path lengths."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

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
    looked_up = LookedUp(table)
    return Metric(
        "precomputed",
        unit,
        looked_up,
        parameters=(("sha256", digest), ("size", len(table))),
        largest=float(table.max()),
        check_items=looked_up.check,
    )


@dataclass(frozen=True, eq=False)
class LookedUp:
    """The distance of `precomputed`: entries of one table, equal if the tables are."""

    table: Floats

    def __call__(self, left: Items, right: Items) -> Floats:
        """The entries of these rows and columns."""
        return np.asarray(self.table[np.ix_(left, right)])

    def check(self, items: Items) -> None:
        """Items must be positions in the table."""
        positions = items.ndim == 1 and items.dtype.kind in "iu"
        require(positions, "items", "positions in the matrix", f"an array of {items.dtype}")
        inside = bool(((items >= 0) & (items < len(self.table))).all())
        require(inside, "items", f"positions below {len(self.table)}", "others")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LookedUp) and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash(self.table.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return _looked_up, (self.table,)  # a pickle would thaw the table


def _looked_up(table: Floats) -> LookedUp:
    return LookedUp(np.asarray(frozen(table)))


def shortest_path_closure(matrix: Floats) -> Floats:
    """The largest metric that nowhere exceeds the matrix: shortest paths through it.

    A 0 off the diagonal is a distance like any other: the two are one place.

    >>> shortest_path_closure(np.array([[0, 0, 9], [0, 0, 1], [9, 1, 0]]))
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 1., 0.]])
    """
    from scipy.sparse.csgraph import csgraph_from_dense, floyd_warshall

    # Of a dense matrix SciPy takes 0 for "no edge"; of a sparse one, what is not stored.
    graph = csgraph_from_dense(_checked(matrix), null_value=np.inf)
    closed: Floats = floyd_warshall(graph, directed=False)
    return closed


def _checked(matrix: Floats) -> Floats:
    given = np.asarray(matrix)
    require(given.dtype.kind in "fiub", "matrix", "numbers", f"an array of {given.dtype}")
    table = given.astype(np.float64) + 0.0  # no −0.0
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
            with np.errstate(over="ignore"):  # a detour beyond all doubles is no shorter way
                detour = rows[:, through, None] + table[None, through]
                over = rows > detour * slack
            if over.any():
                i, j = np.argwhere(over)[0]
                raise NotAMetric(
                    f"the matrix violates the triangle inequality: d({start + i}, {j}) = "
                    f"{rows[i, j]:g} but going through {through} takes {detour[i, j]:g}; use "
                    "voile.metrics.precomputed(voile.metrics.shortest_path_closure(matrix))"
                )
