"""The loops of the block solver over matrices: one banded Hessian an output, and their inverses.

H_y = Mᵀ W_y⁻² M is banded because a constraint touches neighbours only. The sum of the inverses
is what couples the outputs, and it is all that has to be dense. Bands are (n, b + 1, V): the
outputs of a chunk last, as in the loops over cones.
"""

from __future__ import annotations

import math

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled_loosely


@compiled_loosely
def assemble(
    index: Indices, matrix: Floats, signed: Floats, w: Floats, eta: Floats, bands: Floats
) -> None:
    """bands[i, b − (i − j), y] = H_y[i, j] for j ≤ i.

    W⁻² = (2 v vᵀ − J)/eta² with v = (w₀, −w₁, …), so H gains (2 u uᵀ − Mᵀ J M)/eta² with u = Mᵀ v;
    Mᵀ J M, `signed`, is the same for all outputs, and u uᵀ for a half line. Constraints of one cell
    touch the same coefficients and follow each other: they are summed before they are spread.
    """
    m, depth, width = matrix.shape
    band, count = bands.shape[1] - 1, bands.shape[2]
    turned, weight = np.empty((width, count)), np.empty(count)
    cell = np.zeros((width, width, count))
    bands[:, :, :] = 0.0
    for k in range(m):
        for y in range(count):
            weight[y] = 1.0 / (eta[k, y] * eta[k, y])
        if depth > 1:
            for i in range(width):
                row = turned[i]
                for y in range(count):
                    row[y] = w[k, 0, y] * matrix[k, 0, i]
                for a in range(1, depth):
                    for y in range(count):
                        row[y] -= w[k, a, y] * matrix[k, a, i]
        for i in range(width):
            for j in range(i + 1):
                goal, once = cell[i, j], signed[k, i, j]
                if depth == 1:
                    if once != 0:
                        for y in range(count):
                            goal[y] += once * weight[y]
                else:
                    here, other = turned[i], turned[j]
                    for y in range(count):
                        goal[y] += weight[y] * (2 * here[y] * other[y] - once)
        last = k + 1 == m
        if not last:
            for i in range(width):
                last = last or index[k, i] != index[k + 1, i]
        if last:
            for i in range(width):
                for j in range(i + 1):
                    high, low = max(index[k, i], index[k, j]), min(index[k, i], index[k, j])
                    for y in range(count):
                        bands[high, band - high + low, y] += cell[i, j, y]
                        cell[i, j, y] = 0.0


@compiled_loosely
def factorise(bands: Floats, regularise: float) -> int:
    """Banded Cholesky factors in place; how many pivots had to be replaced."""
    n, width, count = bands.shape
    band = width - 1
    replaced = 0
    total = np.empty(count)
    for i in range(n):
        first = max(0, i - band)
        here = bands[i]
        for j in range(first, i):
            there = bands[j]
            for y in range(count):
                total[y] = here[band - i + j, y]
            for k in range(max(first, j - band), j):
                left, right = here[band - i + k], there[band - j + k]
                for y in range(count):
                    total[y] -= left[y] * right[y]
            for y in range(count):
                here[band - i + j, y] = total[y] / there[band, y]
        for y in range(count):
            total[y] = here[band, y] * (1.0 + regularise)
        for k in range(band - i + first, band):
            for y in range(count):
                total[y] -= here[k, y] ** 2
        for y in range(count):
            diagonal = here[band, y] * (1.0 + regularise)
            pivot = total[y]
            if not pivot > 1e-15 * diagonal:
                pivot = max(diagonal, 1.0) * 1e100
                replaced += 1
            here[band, y] = math.sqrt(pivot)
    return replaced


@compiled_loosely
def add_rows(
    goal: Floats, work: Floats, factors: Floats, first: int, count: int, width: int
) -> None:
    """goal[:width] += Σ_j factors[j]·work[first + j, :width], eight rows in a pass.

    One row at a time would be bound by reading and writing `goal`, not by multiplying.
    """
    j = 0
    while j + 8 <= count:
        f0, f1, f2, f3 = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        f4, f5, f6, f7 = factors[j + 4], factors[j + 5], factors[j + 6], factors[j + 7]
        at = first + j
        r0, r1, r2, r3 = work[at], work[at + 1], work[at + 2], work[at + 3]
        r4, r5, r6, r7 = work[at + 4], work[at + 5], work[at + 6], work[at + 7]
        for c in range(width):
            goal[c] += (
                f0 * r0[c]
                + f1 * r1[c]
                + f2 * r2[c]
                + f3 * r3[c]
                + f4 * r4[c]
                + f5 * r5[c]
                + f6 * r6[c]
                + f7 * r7[c]
            )
        j += 8
    while j < count:
        factor = factors[j]
        row = work[first + j]
        for c in range(width):
            goal[c] += factor * row[c]
        j += 1


@compiled_loosely
def add_inverses(bands: Floats, total: Floats) -> None:
    """Total += Σ_y H_y⁻¹, its lower triangle, by columns of blocks from the last to the first.

    In blocks at least as wide as the band, H = L Lᵀ has L block bidiagonal: D_i on the diagonal,
    S_i below it. With U = S_i D_i⁻¹ and G = H⁻¹, for k > i

        G_ki = −G_k,i+1 U,    G_ii = D_i⁻ᵀ D_i⁻¹ − Uᵀ G_i+1,i,

    so that a column of blocks follows from the next one by a single product.
    """
    n, width, outputs = bands.shape
    band = width - 1
    size = min(n, max(band, 16))
    panel = np.empty((n, size))  # the column of blocks at hand, from its diagonal block down
    inverse, link = np.empty((size, size)), np.empty((size, size))
    turned = np.empty((size, size))
    row, other = np.empty(size), np.empty(size)
    for y in range(outputs):
        rows = bands[:, :, y].copy()
        for start in range((n - 1) // size * size, -1, -size):
            end = min(n, start + size)
            here, below = end - start, min(n, end + size) - end
            for i in range(here):
                first = max(0, i - band)
                at = rows[start + i]
                row[:here] = 0.0
                add_rows(row, inverse, at[band - i + first : band], first, i - first, i)
                for c in range(here):
                    inverse[i, c] = -row[c] / at[band]
                inverse[i, i] = 1.0 / at[band]
                for c in range(here):
                    turned[c, i] = inverse[i, c]
            for i in range(below):
                first = max(start, end + i - band)
                row[:here] = 0.0
                if first < end:
                    factors = rows[end + i, band - end - i + first : band - i]
                    add_rows(row, inverse, factors, first - start, end - first, here)
                link[i, :here] = row[:here]
            for r in range(end, n):
                row[:here] = 0.0
                add_rows(row, link, panel[r], 0, below, here)
                for c in range(here):
                    panel[r, c] = -row[c]
            for i in range(here):
                row[:here] = 0.0
                add_rows(row, inverse, turned[i, i:here], i, here - i, here)
                if below:
                    for j in range(below):
                        other[j] = -link[j, i]
                    add_rows(row, panel, other, end, below, here)
                panel[start + i, :here] = row[:here]
            for r in range(start, n):
                for c in range(here):
                    total[r, start + c] += panel[r, c]


@compiled_loosely
def solve_each(bands: Floats, v: Floats) -> None:
    """v_y ← H_y⁻¹ v_y in place, v (n, V)."""
    n, width, count = bands.shape
    band = width - 1
    for i in range(n):
        here, goal = bands[i], v[i]
        for k in range(max(0, i - band), i):
            factor, other = here[band - i + k], v[k]
            for y in range(count):
                goal[y] -= factor[y] * other[y]
        for y in range(count):
            goal[y] /= here[band, y]
    for i in range(n - 1, -1, -1):
        here, value = bands[i], v[i]
        for y in range(count):
            value[y] /= here[band, y]
        for k in range(max(0, i - band), i):
            factor, goal = here[band - i + k], v[k]
            for y in range(count):
                goal[y] -= factor[y] * value[y]
