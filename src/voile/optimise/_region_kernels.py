"""Loops over a region's sparse table: drawing, evaluating, certifying, gathering windows.

A row of the table belongs to a node of the grid (a spline coefficient). It lists some outputs, in
order, with running sums out of 2**62; what is left of 2**62 goes to all outputs by fixed shares out
of 2**32, the floor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled
from voile.optimise._release_kernels import Signed, integer_weights

Short = NDArray[np.int32]
WHOLE = np.int64(1 << 62)
ROUNDING = 2.0**-46


@compiled
def first_above(sums: Signed, start: int, stop: int, target: np.int64) -> int:
    """The first position whose running sum exceeds the target; `stop` if none does."""
    while start < stop:
        middle = (start + stop) // 2
        if sums[middle] > target:
            stop = middle
        else:
            start = middle + 1
    return start


@compiled
def draw_each(
    index: Indices,
    weight: Floats,
    rows: Signed,
    listed: Short,
    sums: Signed,
    floor: Signed,
    words: Signed,
    drawn: Indices,
) -> None:
    """A node by its basis weight, then an output of its row: words of 52, 62 and 32 bits."""
    whole = np.empty(weight.shape[1], dtype=np.int64)
    for i in range(len(index)):
        integer_weights(weight[i], whole)
        rest, j = words[i, 0], 0
        while rest >= whole[j]:
            rest -= whole[j]
            j += 1
        node = index[i, j]
        found = first_above(sums, rows[node], rows[node + 1], words[i, 1])
        if found < rows[node + 1]:
            drawn[i] = listed[found]
        else:
            drawn[i] = first_above(floor, 0, len(floor), words[i, 2])


@compiled
def law_rows(
    index: Indices,
    weight: Floats,
    rows: Signed,
    listed: Short,
    sums: Signed,
    floor: Floats,
    law: Floats,
) -> None:
    """The law that is drawn from at each place, all outputs: (places, outputs)."""
    whole = np.empty(weight.shape[1], dtype=np.int64)
    for i in range(len(index)):
        integer_weights(weight[i], whole)
        left = 0.0
        for j in range(len(whole)):
            node, before = index[i, j], np.int64(0)
            share = whole[j] * 2.0**-52
            for k in range(rows[node], rows[node + 1]):
                law[i, listed[k]] += share * ((sums[k] - before) * 2.0**-62)
                before = sums[k]
            left += share * ((WHOLE - before) * 2.0**-62)
        for y in range(law.shape[1]):
            law[i, y] += left * floor[y]


@compiled
def well_formed(rows: Signed, listed: Short, sums: Signed, outputs: int) -> bool:
    """Outputs of a row in order and in range, running sums from 0 up to 2**62."""
    for node in range(len(rows) - 1):
        last, before = -1, np.int64(0)
        for k in range(rows[node], rows[node + 1]):
            if listed[k] <= last or listed[k] >= outputs or sums[k] < before or sums[k] > WHOLE:
                return False
            last, before = listed[k], sums[k]
    return True


@compiled
def weights_of(rows: Signed, sums: Signed, found: Signed, left: Floats) -> None:
    """What each entry weighs, and what each row leaves for the floor, out of one."""
    for node in range(len(rows) - 1):
        before = np.int64(0)
        for k in range(rows[node], rows[node + 1]):
            found[k] = sums[k] - before
            before = sums[k]
        left[node] = (WHOLE - before) * 2.0**-62


@compiled
def certify_output(
    nodes: Short,
    weights: Signed,
    share: float,
    left: Floats,
    wide: int,
    slow: tuple[Floats, Floats],
    fast: tuple[Floats, Floats],
    kind: int,
    scratch: Floats,
    found: Floats,
) -> None:
    """Bernstein bounds of one output's spline on the cells that its nodes reach.

    `slow` and `fast` hold value and slope weights along the two axes at the points of each cell:
    the first of it and the middle one, and at the very end the last. Raises found[0], the upper
    bound of ‖gradient‖/value, found[1], the lower, lowers found[2], the smallest coefficient, and
    raises found[3], the largest ratio of two coefficients of one cell. With no nodes: all cells.
    """
    tall = len(left) // wide
    top, bottom, west, east = 0, tall - 3, 0, wide - 3
    if len(nodes):
        top, bottom, west, east = tall, 0, wide, 0
        for k in range(len(nodes)):
            a, b = nodes[k] // wide, nodes[k] % wide
            top, bottom = min(top, a), max(bottom, a)
            west, east = min(west, b), max(east, b)
        top, bottom = max(0, top - 2), min(bottom, tall - 3)
        west, east = max(0, west - 2), min(east, wide - 3)
    for a in range(top, bottom + 3):
        for b in range(west, east + 3):
            scratch[a, b] = share * left[a * wide + b]
    for k in range(len(nodes)):
        scratch[nodes[k] // wide, nodes[k] % wide] += weights[k] * 2.0**-62
    values, slopes, sizes = np.empty(wide), np.empty(wide), np.empty(wide)
    for a in range(top, bottom + 1):
        for point in range(2 * a, 2 * a + (3 if a == tall - 3 else 2)):
            u, du = slow[0][point], slow[1][point]
            for b in range(west, east + 3):
                one, two, three = scratch[a, b], scratch[a + 1, b], scratch[a + 2, b]
                values[b] = u[0] * one + u[1] * two + u[2] * three
                slopes[b] = du[0] * one + du[1] * two + du[2] * three
                sizes[b] = abs(du[0]) * one + abs(du[1]) * two + abs(du[2]) * three
            for b in range(west, east + 1):
                for other in range(2 * b, 2 * b + (3 if b == wide - 3 else 2)):
                    v, dv = fast[0][other], fast[1][other]
                    value, along, across, big, large = 0.0, 0.0, 0.0, 0.0, 0.0
                    for j in range(3):
                        value += v[j] * values[b + j]
                        along += v[j] * slopes[b + j]
                        big += v[j] * sizes[b + j]
                        across += dv[j] * values[b + j]
                        large += abs(dv[j]) * values[b + j]
                    along, across = abs(along), abs(across)
                    upper = norm(along + ROUNDING * big, across + ROUNDING * large, kind)
                    most = upper / (value * (1 - 2 * ROUNDING)) if value > 0 else np.inf
                    found[0] = max(found[0], most)
                    if value > 0 and point % 2 == 0 and other % 2 == 0:
                        least = norm(
                            max(0.0, along - ROUNDING * big),
                            max(0.0, across - ROUNDING * large),
                            kind,
                        )
                        found[1] = max(found[1], least / (value * (1 + 2 * ROUNDING)))
    for a in range(top, bottom + 1):
        for b in range(west, east + 1):
            low, high = scratch[a, b], scratch[a, b]
            for i in range(3):
                for j in range(3):
                    low = min(low, scratch[a + i, b + j])
                    high = max(high, scratch[a + i, b + j])
            found[2] = min(found[2], low)
            found[3] = max(found[3], high / low if low > 0 else np.inf)


@compiled
def norm(one: float, other: float, kind: int) -> float:
    """ℓ₁, ℓ₂ or, for 0, ℓ_∞ of two non-negative numbers, times a little more than one."""
    if kind == 1:
        return (one + other) * (1 + ROUNDING)
    if kind == 2:
        return np.sqrt(one * one + other * other) * (1 + ROUNDING)
    return max(one, other) * (1 + ROUNDING)


# ── a region that is solved for: rows of doubles ───────────────────────────────────────────────


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
