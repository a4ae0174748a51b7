"""The tight epsilon of a table of integer weights, over all pairs and outputs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from voile.core.arrays import Floats, Indices, Weights
from voile.core.metric import Metric
from voile.core.rounding import at_most
from voile.core.space import Space
from voile.core.weights import check_one_total
from voile.errors import require

_ROUNDING = 2.0**-48
"""Bound on the error of a difference of two computed logarithms, relative to the largest one.

Each logarithm is taken relative to its column's first entry: one division of integers that
fit a double's 53 bits to within half a unit, then log or log1p, both good to four units in the
last place. Eight units cover one logarithm with room to spare, sixteen the difference of two.
"""


_AS_LARGE = 1 - 2.0**-32
"""Ratios this close are one: which of them comes out larger is up to the processor."""
_TINIEST = math.nextafter(0.0, 1.0)
"""Rows that differ have an epsilon above zero, were it the smallest there is."""


_SMALL = 2**18
"""So many differences are quickly had without scipy, whose loading takes a quarter of a second."""


@dataclass(frozen=True)
class Certificate:
    """The largest |ln K(y|x) − ln K(y|x')| / d(x, x'), and where it is reached.

    `epsilon` is rounded up and `lower` down, so the true value lies between them.
    `secrets` and `output` are positions in the space and among the outputs.
    """

    epsilon: float
    lower: float
    secrets: tuple[int, int]
    output: int
    distance: float
    unit: str

    def __str__(self) -> str:
        if self.secrets[0] == self.secrets[1]:
            return f"certified ε = 0 per {self.unit}: all secrets are released alike"
        first, second = self.secrets
        return (
            f"certified ε = {at_most(self.epsilon, digits=6)} per {self.unit}, reached by secrets "
            f"{first} and {second}, {self.distance:.4g} {self.unit} apart, at output {self.output}"
        )


def certify(space: Space, weights: Weights) -> Certificate:
    """The certificate of a channel: exact over all pairs, in blocks, on all cores.

    Costs n²·m/2 comparisons for n secrets and m outputs, and memory for one table of logarithms
    and a block of distances.

    Proof of the bound: all rows have the same total, so ln K(y|x) − ln K(y|x') is the log-ratio
    of two integers; its computed value is off by at most `_ROUNDING` times the largest
    logarithm, which is added before the division by the distance. Rows that are equal integer
    by integer tell nothing at any distance; at distance 0 no others are allowed.
    """
    rows = len(space)
    require(weights.shape[:1] == (rows,), "weights", f"a table of {rows} rows", weights.shape)
    check_one_total(weights)
    seen = weights.any(axis=0)
    columns = np.flatnonzero(seen)
    table = weights if seen.all() else weights[:, columns]
    hole = _hole(space, table)
    if hole is not None:
        first, second, column, distance = hole
        infinite = float("inf")
        place = (first, second)
        unit = space.metric.unit
        return Certificate(infinite, infinite, place, int(columns[column]), distance, unit)
    kinds, logs = _kinds(table), _relative_logs(table)
    error = _ROUNDING * float(np.abs(logs).max())

    def worst_of(rows: slice) -> _Worst:
        return _worst_in(space, kinds, logs, rows, error)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = list(pool.map(worst_of, _row_blocks(len(table))))
    upper, lower = max((worst.upper, worst.lower) for worst in found)
    first, second = next(w.secrets for w in found if w.upper >= upper * _AS_LARGE)
    column = _first_largest(np.abs(logs[first] - logs[second]))
    distance = float(_between(space.metric, space, first, second))
    return Certificate(
        upper, lower, (first, second), int(columns[column]), distance, space.metric.unit
    )


def _row_blocks(rows: int) -> Iterator[slice]:
    step = max(1, min(128, 2**21 // rows))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _hole(space: Space, table: Weights) -> tuple[int, int, int, float] | None:
    """A zero beside a non-zero in one column: an infinite log-ratio."""
    zero = table == 0
    mixed = np.flatnonzero(zero.any(axis=0))
    if not len(mixed):
        return None
    column = int(mixed[0])
    first = int(zero[:, column].argmax())
    second = int((~zero[:, column]).argmax())
    return first, second, column, float(_between(space.metric, space, first, second))


def _between(metric: Metric, space: Space, first: int, second: int) -> float:
    return float(metric.pairwise(space.items[[first]], space.items[[second]])[0, 0])


def _relative_logs(table: Weights) -> Floats:
    """ln(W[x, y] / W[0, y]), accurate also where the two are close."""
    reference = table[0].astype(np.float64)
    difference = table.astype(np.int64) - table[0].astype(np.int64)
    with np.errstate(divide="ignore"):
        near = np.log1p(difference / reference)
        far = np.log(table / reference)
    return np.where(table >= reference / 2, near, far)


class _Worst(NamedTuple):
    """The bracket of a block's largest ratio, and the first pair that reaches it."""

    upper: float
    lower: float
    secrets: tuple[int, int]


def _first_largest(values: Floats) -> int:
    """The position of the largest value, the first of those that rounding may have parted."""
    return int((values >= values.max() * _AS_LARGE).argmax())


def _worst_in(space: Space, kinds: Indices, logs: Floats, rows: slice, error: float) -> _Worst:
    """The largest ratio of a block of rows with all rows from the block's first on."""
    later = slice(rows.start, len(logs))
    gaps = _gaps(logs[rows], logs[later])
    distances = space.metric.pairwise(space.items[rows], space.items[later])
    apart = distances > 0
    same = kinds[rows, None] == kinds[None, later]
    upper = np.full_like(gaps, np.inf)
    with np.errstate(over="ignore", under="ignore"):
        np.divide(gaps + error, distances, out=upper, where=apart)
    np.maximum(upper, _TINIEST, out=upper)
    upper[same] = 0.0
    largest = int(upper.argmax())
    i, j = np.unravel_index(_first_largest(upper), upper.shape)
    high, secrets = float(upper.flat[largest]), (rows.start + int(i), rows.start + int(j))
    if same.all() or high == np.inf:
        return _Worst(high, high, secrets)
    low = max(0.0, float(gaps.flat[largest] - error)) / float(distances.flat[largest])
    # One part in 2**51 covers the rounding of the sum and of the quotient, a unit more that of a
    # quotient too small for all its digits.
    return _Worst(
        math.nextafter(high * (1 + 2.0**-51), math.inf),
        max(0.0, math.nextafter(low * (1 - 2.0**-51), -math.inf)),
        secrets,
    )


def _gaps(some: Floats, others: Floats) -> Floats:
    """The largest |a − b| between rows; scipy is loaded for tables that are worth it alone."""
    if some.size * len(others) <= _SMALL and bool(np.isfinite(others).all()):
        return np.asarray(np.abs(some[:, None, :] - others[None, :, :]).max(axis=2))
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(some, others, "chebyshev"))


def _kinds(table: Weights) -> Indices:
    """A number for each row, the same for equal rows."""
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(row.tobytes(), len(known)) for row in table], dtype=np.intp)
