"""The nearest words of a word, by exact integers: all distances, a few candidates, one sort.

Squared distances are integers below 2**50 and their sums are exact in doubles, in any order and
with fused additions or without: so what is found is the same on every processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voile.mechanisms._word_kernels import njit

Array = Any

_TILE = 512
"""Outputs whose coordinates are held together in the processor's cache."""
EVERY = 16
"""A bound is guessed from every 16th output."""
_PLACE_BITS = 13
"""A key is S·2**13 + the candidate's place: below 2**63, sorted by distance, then position."""
_ROOM = 2**_PLACE_BITS


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_products(points: Array, columns: Array, sums: Array) -> None:
    """sums[r] += points[r] · columns for two rows r, which share what is read."""
    dimensions = points.shape[1]
    first, second = sums[0], sums[1]
    fours = dimensions - dimensions % 4
    for i in range(0, fours, 4):
        a, b, c, d = points[0, i], points[0, i + 1], points[0, i + 2], points[0, i + 3]
        e, f, g, h = points[1, i], points[1, i + 1], points[1, i + 2], points[1, i + 3]
        one, two, three, four = columns[i], columns[i + 1], columns[i + 2], columns[i + 3]
        for j in range(len(first)):
            w, x, y, z = one[j], two[j], three[j], four[j]
            first[j] = first[j] + a * w + b * x + c * y + d * z
            second[j] = second[j] + e * w + f * x + g * y + h * z
    for i in range(fours, dimensions):
        for j in range(len(first)):
            first[j] += points[0, i] * columns[i, j]
            second[j] += points[1, i] * columns[i, j]


@njit(cache=True, nogil=True)
def squared_block(points: Array, columns: Array, norms: Array, squared: Array) -> None:
    """‖point − column‖² for two points and all columns; `norms` are those of the columns."""
    own = np.zeros(2)
    for row in range(2):
        for i in range(points.shape[1]):
            own[row] += points[row, i] * points[row, i]
    squared[:] = 0.0
    add_products(points, columns, squared)
    for row in range(2):
        for j in range(len(norms)):
            squared[row, j] = own[row] + norms[j] - 2.0 * squared[row, j]


@njit(cache=True, nogil=True)
def bounds_of(points: Array, sample: Array, norms: Array, kept: int, bounds: Array) -> None:
    """A squared distance below which about 1.5·kept outputs lie, from every 16th of them."""
    share = kept // EVERY
    rank = share + share // 4 + 12
    if rank >= sample.shape[1] or sample.shape[1] * EVERY <= _ROOM // 2:
        bounds[:] = np.inf
        return
    squared = np.empty((2, len(norms)))
    for row in range(0, len(points), 2):
        squared_block(points[row : row + 2], sample, norms, squared)
        bounds[row] = np.partition(squared[0], rank)[rank]
        bounds[row + 1] = np.partition(squared[1], rank)[rank]


@njit(cache=True, nogil=True)
def nearest(
    points: Array,
    columns: Array,
    norms: Array,
    sample: Array,
    sample_norms: Array,
    index: Array,
    squared: Array,
) -> None:
    """The first K outputs of each point (an even number of them) by (S, position): exact.

    A guessed bound leaves a few candidates to sort. Where it leaves fewer than K, or more than
    there is room for (many words at one place), the whole row is sorted.
    """
    count, size, kept = len(points), columns.shape[1], index.shape[1]
    bounds = np.empty(count)
    bounds_of(points, sample, sample_norms, kept, bounds)
    keys = np.empty((count, _ROOM), dtype=np.int64)
    places = np.empty((count, _ROOM), dtype=np.int32)
    found = np.zeros(count, dtype=np.int64)
    for start in range(0, size, _TILE):
        tile = np.ascontiguousarray(columns[:, start : start + _TILE])
        lengths = norms[start : start + _TILE]
        distances = np.empty((2, len(lengths)))
        for first in range(0, count, 2):
            squared_block(points[first : first + 2], tile, lengths, distances)
            for half in range(2):
                row, here = first + half, distances[half]
                bound, filled = bounds[row], found[row]
                for j in range(len(lengths)):
                    if here[j] <= bound:
                        if filled < _ROOM:
                            keys[row, filled] = np.int64(here[j]) * _ROOM + filled
                            places[row, filled] = start + j
                        filled += 1
                found[row] = filled
    for row in range(count):
        if kept <= found[row] <= _ROOM:
            chosen = np.sort(keys[row, : found[row]])
            for i in range(kept):
                index[row, i] = places[row, chosen[i] % _ROOM]
                squared[row, i] = chosen[i] // _ROOM
        else:
            pair = np.ascontiguousarray(points[row - row % 2 : row - row % 2 + 2])
            whole = np.empty((2, size))
            squared_block(pair, columns, norms, whole)
            order = np.argsort(whole[row % 2], kind="mergesort")  # stable: positions break ties
            for i in range(kept):
                index[row, i] = order[i]
                squared[row, i] = np.int64(whole[row % 2, order[i]])
