"""Loops over a region that is solved for, its rows in doubles: losses, start, windows."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled
from voile.optimise._region_kernels import Short
from voile.optimise._release_kernels import Signed


@compiled
def cityblock(places: Floats, outputs: Floats, found: Floats) -> None:
    """ℓ₁ distances of places (n, N) and outputs (N, Y) that lie side by side."""
    for i in range(len(places)):
        row = found[i]
        row[:] = 0.0
        for k in range(len(outputs)):
            here, there = places[i, k], outputs[k]
            for y in range(len(row)):
                row[y] += abs(here - there[y])


@compiled
def spread_node(
    i: int, j: int, tables: Floats, mapping: Indices, scratch: Floats, touched: Short
) -> int:
    """What the noise of one node gives to each output; how many outputs that are.

    `tables` (3, 3, 2M + 1, 2N + 1) hold the mass of a cell by its offset: of the first cell along
    an axis, of an inner one, of the last, the outer ones reaching to infinity.
    """
    tall, wide = mapping.shape
    far, broad = tables.shape[2] // 2, tables.shape[3] // 2
    count = 0
    for a in range(max(0, i - far), min(tall, i + far + 1)):
        one = 0 if a == 0 else 2 if a == tall - 1 else 1
        for b in range(max(0, j - broad), min(wide, j + broad + 1)):
            two = 0 if b == 0 else 2 if b == wide - 1 else 1
            mass = tables[one, two, a - i + far, b - j + broad]
            if mass > 0:
                y = mapping[a, b]
                if scratch[y] == 0:
                    touched[count] = y
                    count += 1
                scratch[y] += mass
    return count


@compiled
def count_rows(tables: Floats, mapping: Indices, outputs: int, counts: Signed) -> None:
    """How many outputs each node's row will list."""
    scratch, touched = np.zeros(outputs), np.empty(outputs, dtype=np.int32)
    for node in range(mapping.size):
        found = spread_node(
            node // mapping.shape[1], node % mapping.shape[1], tables, mapping, scratch, touched
        )
        counts[node] = found
        for k in range(found):
            scratch[touched[k]] = 0.0


@compiled
def fill_rows(
    tables: Floats, mapping: Indices, outputs: int, rows: Signed, listed: Short, values: Floats
) -> None:
    """The rows themselves, outputs in order."""
    scratch, touched = np.zeros(outputs), np.empty(outputs, dtype=np.int32)
    for node in range(mapping.size):
        found = spread_node(
            node // mapping.shape[1], node % mapping.shape[1], tables, mapping, scratch, touched
        )
        order = np.sort(touched[:found])
        for k in range(found):
            listed[rows[node] + k] = order[k]
            values[rows[node] + k] = scratch[order[k]]
            scratch[order[k]] = 0.0


@compiled
def masses(
    nodes: Indices, rows: Signed, listed: Short, values: Floats, mass: Floats, seen: Signed
) -> None:
    """What each output has on some nodes together, and on how many of them."""
    for node in nodes:
        for k in range(rows[node], rows[node + 1]):
            mass[listed[k]] += values[k]
            seen[listed[k]] += 1


@compiled
def gather(
    nodes: Indices, rows: Signed, listed: Short, values: Floats, local: Short, table: Floats
) -> None:
    """Some nodes' entries of some outputs as a table (outputs, nodes); `local` numbers them."""
    for column in range(len(nodes)):
        for k in range(rows[nodes[column]], rows[nodes[column] + 1]):
            row = local[listed[k]]
            if row >= 0:
                table[row, column] = values[k]


@compiled
def scatter(
    nodes: Indices, rows: Signed, listed: Short, values: Floats, local: Short, table: Floats
) -> None:
    """The way back."""
    for column in range(len(nodes)):
        for k in range(rows[nodes[column]], rows[nodes[column] + 1]):
            row = local[listed[k]]
            if row >= 0:
                values[k] = table[row, column]


@compiled
def to_integers(rows: Signed, values: Floats, sums: Signed) -> None:
    """Each value rounded down to a multiple of 2**-62, as running sums of its row."""
    for node in range(len(rows) - 1):
        total = np.int64(0)
        for k in range(rows[node], rows[node + 1]):
            total += np.int64(values[k] * 2.0**62)
            sums[k] = total
