"""Evaluating a spline mechanism at a place and drawing from it, integers compared with integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled

Signed = NDArray[np.int64]
TOTAL = np.int64(1 << 62)
SCALE = float(1 << 62)


@compiled
def integer_row(index: Indices, weight: Floats, table: Floats, values: Floats, row: Signed) -> None:
    """The integer weights at one place: truncated, the remainder to the largest of them."""
    outputs = table.shape[1]
    for y in range(outputs):
        values[y] = 0.0
    for j in range(len(index)):
        factor = weight[j]
        line = table[index[j]]
        for y in range(outputs):
            values[y] += factor * line[y]
    total = np.int64(0)
    largest = 0
    for y in range(outputs):
        row[y] = np.int64(values[y] * SCALE)
        total += row[y]
        if row[y] > row[largest]:
            largest = y
    row[largest] += TOTAL - total


@compiled
def integer_rows(index: Indices, weight: Floats, table: Floats, rows: Signed) -> None:
    """The integer weights at many places."""
    values = np.empty(table.shape[1])
    for i in range(len(index)):
        integer_row(index[i], weight[i], table, values, rows[i])


@compiled
def draw_each(
    index: Indices, weight: Floats, table: Floats, targets: Signed, drawn: Indices
) -> None:
    """One output for each place: the first whose running sum exceeds the target."""
    outputs = table.shape[1]
    values = np.empty(outputs)
    row = np.empty(outputs, dtype=np.int64)
    for i in range(len(index)):
        integer_row(index[i], weight[i], table, values, row)
        target = targets[i]
        running = np.int64(0)
        found = outputs - 1
        for y in range(outputs):
            running += row[y]
            if running > target:
                found = y
                break
        drawn[i] = found
