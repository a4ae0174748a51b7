"""Loops over a region's sparse table: drawing, evaluating, certifying.

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
def first_above(sums: Signed | Short, start: int, stop: int, target: np.int64 | int) -> int:
    """The first position whose number exceeds the target, of rising ones; `stop` if none does."""
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
    local: Indices,
    law: Floats,
    left: Floats,
) -> None:
    """What is drawn from rows at each place, and what is left for the floor.

    `local` says which column of `law` (places, columns) is an output's.
    """
    whole = np.empty(weight.shape[1], dtype=np.int64)
    for i in range(len(index)):
        integer_weights(weight[i], whole)
        left[i] = 0.0
        for j in range(len(whole)):
            node, before = index[i, j], np.int64(0)
            share = whole[j] * 2.0**-52
            for k in range(rows[node], rows[node + 1]):
                law[i, local[listed[k]]] += share * ((sums[k] - before) * 2.0**-62)
                before = sums[k]
            left[i] += share * ((WHOLE - before) * 2.0**-62)


@compiled
def listing(nodes: Indices, rows: Signed, listed: Short, seen: NDArray[np.bool_]) -> None:
    """Mark the outputs that some nodes' rows list."""
    for node in nodes:
        for k in range(rows[node], rows[node + 1]):
            seen[listed[k]] = True


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
def left_of(rows: Signed, sums: Signed, left: Floats) -> None:
    """What each row leaves for the floor, out of one."""
    for node in range(len(rows) - 1):
        used = sums[rows[node + 1] - 1] if rows[node] < rows[node + 1] else np.int64(0)
        left[node] = (WHOLE - used) * 2.0**-62


@compiled
def by_output(
    rows: Signed, listed: Short, sums: Signed, low: int, high: int
) -> tuple[Signed, Short, Signed]:
    """The entries of outputs low … high − 1: where each output's begin, their nodes, weights."""
    begins = np.zeros(high - low + 1, dtype=np.int64)
    first = np.empty(len(rows) - 1, dtype=np.int64)
    for node in range(len(first)):
        first[node] = first_above(listed, rows[node], rows[node + 1], low - 1)
        k = first[node]
        while k < rows[node + 1] and listed[k] < high:
            begins[listed[k] - low + 1] += 1
            k += 1
    begins = np.cumsum(begins)
    nodes, weights = np.empty(begins[-1], dtype=np.int32), np.empty(begins[-1], dtype=np.int64)
    at = begins.copy()
    for node in range(len(first)):
        k = first[node]
        while k < rows[node + 1] and listed[k] < high:
            goal = at[listed[k] - low]
            at[listed[k] - low] += 1
            nodes[goal] = node
            weights[goal] = sums[k] - sums[k - 1] if k > rows[node] else sums[k]
            k += 1
    return begins, nodes, weights


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
