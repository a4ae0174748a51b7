"""The tight epsilon of a table of integer weights, over all pairs and outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Weights
from voile.core.metric import Metric
from voile.core.space import Space

_ROUNDING = 2.0**-48
"""Bound on the error of a difference of two computed logarithms, relative to the largest one.

Each logarithm is taken relative to its column's first entry: one division of integers that
fit a double's 53 bits to within half a unit, then log or log1p, both good to four units in the
last place. Eight units cover one logarithm with room to spare, sixteen the difference of two.
"""


_TIE = 2.0**-32
"""Ratios this close, relatively, are taken as equal when one pair is to be named."""


@dataclass(frozen=True)
class Certificate:
    """The largest |ln K(y|x) − ln K(y|x')| / d(x, x'), and where it is reached.

    `epsilon` is rounded up and `lower` down, so the true value lies between them.
    `secrets` and `output` are positions in the space and among the outputs: of pairs that reach
    it to nine digits, the first.
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
            f"certified ε = {self.epsilon:.6g} per {self.unit}, reached by secrets {first} and "
            f"{second}, {self.distance:.4g} {self.unit} apart, at output {self.output}"
        )


def certify(space: Space, weights: Weights) -> Certificate:
    """The certificate of a channel: exact over all pairs, in blocks, on all cores.

    Costs n²·m/2 comparisons for n secrets and m outputs, and memory for one table of logarithms
    and a block of distances.

    Proof of the bound: all rows have the same total, so ln K(y|x) − ln K(y|x') is the log-ratio
    of two integers; its computed value is off by at most `_ROUNDING` times the largest
    logarithm, which is added before the division by the distance. At distance 0 the rows must
    be equal integer by integer.
    """
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
    logs = _relative_logs(table)
    error = _ROUNDING * float(np.abs(logs).max())

    def worst_of(rows: slice) -> tuple[float, float, int, int]:
        return _worst_in(space, table, logs, rows, error)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = list(pool.map(worst_of, _row_blocks(len(table))))
    upper, lower = max(block[0] for block in found), max(block[1] for block in found)
    _, _, first, second = found[_first_largest(np.array([block[0] for block in found]))]
    column = _first_largest(np.abs(logs[first] - logs[second]))
    distance = float(_between(space.metric, space, first, second))
    return Certificate(
        upper, lower, (first, second), int(columns[column]), distance, space.metric.unit
    )


def _first_largest(values: Floats) -> int:
    """The first of the largest values: a tie is decided by position, not by the last bit.

    A logarithm's last bit differs between processors, and many pairs of a regular space reach
    the same ratio.
    """
    return int((values >= values.max() * (1 - _TIE)).argmax())


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


def _worst_in(
    space: Space, table: Weights, logs: Floats, rows: slice, error: float
) -> tuple[float, float, int, int]:
    """The largest ratio of a block of rows with all rows from the block's first on."""
    from scipy.spatial.distance import cdist

    later = slice(rows.start, len(logs))
    gaps = cdist(logs[rows], logs[later], "chebyshev")
    distances = space.metric.pairwise(space.items[rows], space.items[later])
    apart = distances > 0
    upper = np.zeros_like(gaps)
    np.divide(gaps + error, distances, out=upper, where=apart)
    for i, j in np.argwhere(~apart):
        if not np.array_equal(table[rows.start + i], table[rows.start + j]):
            upper[i, j] = np.inf
    i, j = np.unravel_index(_first_largest(upper.ravel()), upper.shape)
    high = float(upper.max())
    if high == 0.0:
        return (0.0, 0.0, 0, 0)
    if high == np.inf:
        return (np.inf, np.inf, rows.start + int(i), rows.start + int(j))
    low = max(0.0, float((gaps[i, j] - error) / distances[i, j]))
    # One part in 2**51 covers the rounding of the sum and of the quotient.
    return high * (1 + 2.0**-51), low * (1 - 2.0**-51), rows.start + int(i), rows.start + int(j)
