"""The linear program behind `label_cf`: change cells as little as a ratio bound allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from voile.core.arrays import Floats

MANY = 4_000
"""Variables beyond which an interior point is found sooner than a vertex by the simplex method."""


def ratio_bounds(table: Floats, lower: Floats, upper: Floats) -> Floats:
    """The largest ln T_y(c') − ln T_y'(c') for each pair of labels, over all P in the bracket.

    T_y(c') = Σ_c P(c|y)·table[c, c']. P(·|y) and P(·|y') vary independently, so the largest ratio
    is the largest T_y over the smallest T_y', each a fractional knapsack: start at the lower
    bounds and spend what is missing to 1 on the cells in the order of their table entries. What is
    missing is rounded outwards: beside a share near 1 it is known to so many digits only.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        high = np.log(_extreme(table, lower, upper, largest=True))
        low = np.log(_extreme(table, lower, upper, largest=False))
        gaps = high[:, None, :] - low[None, :, :]
    gaps = np.where(np.isnan(gaps), 0.0, gaps)  # a cell that nobody is given
    result = np.asarray(gaps.max(axis=2))
    np.fill_diagonal(result, 0.0)
    return result


def _extreme(table: Floats, lower: Floats, upper: Floats, *, largest: bool) -> Floats:
    """Largest or smallest Σ_c P(c|y)·table[c, c'], shape (labels, cells')."""
    values = np.empty((lower.shape[1], table.shape[1]))
    for y in range(lower.shape[1]):
        room = upper[:, y] - lower[:, y]
        rounding = len(table) * 2.0**-51
        missing = 1.0 - lower[:, y].sum() + (rounding if largest else -rounding)
        base = lower[:, y] @ table
        order = np.argsort(-table if largest else table, axis=0, kind="stable")
        spent = np.cumsum(room[order], axis=0)
        given = np.clip(missing - (spent - room[order]), 0.0, room[order])
        values[y] = base + (given * np.take_along_axis(table, order, axis=0)).sum(axis=0)
    return np.maximum(values, 0.0)


def least_costly_cells(
    lower: Floats, upper: Floats, *, cost: Floats, worst: float, log_room: Floats
) -> Floats:
    """F with the least Σ cost[c, c']·F(c'|c) + worst·max_c (1 − F(c|c)), T_y ≤ e^log_room·T_y'.

    For all y, y' (log_room[y, y']) and all P in the bracket. One variable t ≤ F(c|c) stands for the
    cell that is kept least.

    The largest T_y(c') over the bracket is, by duality, the least of
    λ + Σ_c [upper·(f_c − λ)₊ − lower·(λ − f_c)₊] with f_c = F(c'|c); so one free λ and one
    positive part a_c ≥ f_c − λ for each cell, output and label make the bound linear. The smallest
    T_y' likewise. For a known P they are not needed and the program has cells² variables.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    cells, labels = lower.shape
    entries: list[tuple[int, int, float]] = []
    rows = 0
    exact = bool(np.array_equal(lower, upper))
    columns = cells * cells
    start: dict[tuple[bool, int, int], int] = {}
    if not exact:
        for largest in (True, False):
            for y in range(labels):
                for out in range(cells):
                    start[largest, y, out] = columns
                    columns += 1 + cells

    def variable(c: int, out: int) -> int:
        return c * cells + out

    def bound(largest: bool, y: int, out: int, factor: float) -> list[tuple[int, float]]:
        """Terms of factor × (an upper or lower bound of T_y(out))."""
        terms = [(variable(c, out), factor * lower[c, y]) for c in range(cells)]
        if exact:
            return terms
        first = start[largest, y, out]
        # λ + Σ [U a − L (a − f + λ)] = λ(1 − ΣL) + Σ (U − L) a + Σ L f, and the mirror image.
        sign = 1.0 if largest else -1.0
        free = 1.0 - float(lower[:, y].sum())
        gaps = upper[:, y] - lower[:, y]
        terms.append((first, factor * free))
        terms += [(first + 1 + c, sign * factor * gaps[c]) for c in range(cells)]
        return terms

    for y in range(labels):
        for other in range(labels):
            if y == other:
                continue
            factor = float(np.exp(log_room[y, other]))
            scale = 1.0 / max(1.0, factor)  # keeps coefficients near 1 for a large room
            for out in range(cells):
                for column, value in bound(True, y, out, scale):
                    entries.append((rows, column, value))
                for column, value in bound(False, other, out, -factor * scale):
                    entries.append((rows, column, value))
                rows += 1
    for (largest, _, out), first in start.items():
        sign = 1.0 if largest else -1.0
        for c in range(cells):  # a ≥ ±(f − λ)
            entries.append((rows, variable(c, out), sign))
            entries.append((rows, first, -sign))
            entries.append((rows, first + 1 + c, -1.0))
            rows += 1
    least_kept = columns
    columns += 1
    for c in range(cells):
        entries += [(rows, least_kept, 1.0), (rows, variable(c, c), -1.0)]
        rows += 1
    at, where = (np.array([entry[i] for entry in entries]) for i in (0, 1))
    values = np.array([entry[2] for entry in entries])
    inequalities: Any = csr_array((values, (at, where)), shape=(rows, columns))
    sums: Any = csr_array(
        (np.ones(cells * cells), (np.repeat(np.arange(cells), cells), np.arange(cells * cells))),
        shape=(cells, columns),
    )
    objective = np.zeros(columns)
    objective[: cells * cells] = cost.ravel()
    objective[least_kept] = -worst
    limits: list[tuple[float | None, float | None]] = [(0.0, 1.0)] * (cells * cells)
    limits += [(0.0, None)] * (columns - cells * cells)
    for first in start.values():
        limits[first] = (None, None)
    for method in ("highs-ipm", "highs") if columns > MANY else ("highs", "highs-ipm"):
        solved = linprog(
            objective, A_ub=inequalities, b_ub=np.zeros(rows), A_eq=sums, b_eq=np.ones(cells),
            bounds=limits, method=method,
        )  # fmt: skip
        if solved.x is not None:
            return np.asarray(solved.x[: cells * cells]).reshape(cells, cells)
    return np.eye(cells)  # a proposal like any other: what it tells too much is mixed away
