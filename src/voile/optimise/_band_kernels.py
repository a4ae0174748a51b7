"""The loops of the block solver over matrices: one banded Hessian an output, and their inverses.

H_y = Mᵀ W_y⁻² M is banded because a constraint touches neighbours only. The sum of the inverses
is what couples the outputs, and it is all that has to be dense.
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
    """bands[y][i, b − (i − j)] = H_y[i, j] for j ≤ i.

    W⁻² = (2 v vᵀ − J)/eta² with v = (w₀, −w₁, …), so H gains 2 u uᵀ − Mᵀ J M with u = Mᵀ v; the
    second part, `signed`, is the same for all outputs.
    """
    outputs = w.shape[0]
    m, depth, width = matrix.shape
    band = bands.shape[2] - 1
    turned = np.empty(width)
    for y in range(outputs):
        bands[y, :, :] = 0.0
        for k in range(m):
            weight = 1.0 / (eta[y, k] * eta[y, k])
            for i in range(width):
                total = w[y, k, 0] * matrix[k, 0, i]
                for a in range(1, depth):
                    total -= w[y, k, a] * matrix[k, a, i]
                turned[i] = total
            for i in range(width):
                at = index[k, i]
                twice = 2 * turned[i]
                for j in range(width):
                    other = index[k, j]
                    if other <= at:
                        bands[y, at, band - at + other] += weight * (
                            twice * turned[j] - signed[k, i, j]
                        )


@compiled_loosely
def factorise(bands: Floats, regularise: float) -> int:
    """Banded Cholesky factors in place; how many pivots had to be replaced."""
    outputs, n, width = bands.shape
    band = width - 1
    replaced = 0
    for y in range(outputs):
        rows = bands[y]
        for i in range(n):
            first = max(0, i - band)
            diagonal = rows[i, band] * (1.0 + regularise)
            for j in range(first, i):
                total = rows[i, band - i + j]
                for k in range(max(first, j - band), j):
                    total -= rows[i, band - i + k] * rows[j, band - j + k]
                rows[i, band - i + j] = total / rows[j, band]
            pivot = diagonal
            for k in range(first, i):
                pivot -= rows[i, band - i + k] ** 2
            if not pivot > 1e-15 * diagonal:
                pivot = max(diagonal, 1.0) * 1e100
                replaced += 1
            rows[i, band] = math.sqrt(pivot)
    return replaced


@compiled_loosely
def subtract_rows(
    goal: Floats, work: Floats, factors: Floats, first: int, count: int, width: int
) -> None:
    """goal[:width] −= Σ_j factors[j]·work[first + j, :width], eight rows in a pass.

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
            goal[c] -= (
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
            goal[c] -= factor * row[c]
        j += 1


@compiled_loosely
def add_inverses(bands: Floats, work: Floats, total: Floats) -> None:
    """Total += Σ_y H_y⁻¹ (lower triangle), by forward and backward sweeps over rows.

    `work` must come in as zeros: above its diagonal it stays zero in the forward sweep.
    """
    outputs, n, width = bands.shape
    band = width - 1
    factors = np.empty(band)
    here = np.empty(n)
    for y in range(outputs):
        rows = bands[y]
        for i in range(n):
            first = max(0, i - band)
            here[: i + 1] = 0.0
            here[i] = 1.0
            subtract_rows(here, work, rows[i, band - i + first : band], first, i - first, i)
            inverse = 1.0 / rows[i, band]
            goal = work[i]
            for c in range(i + 1):
                goal[c] = here[c] * inverse
        for i in range(n - 1, -1, -1):
            count = min(n, i + band + 1) - i - 1
            for j in range(count):
                factors[j] = rows[i + 1 + j, band - 1 - j]
            here[: i + 1] = work[i, : i + 1]
            subtract_rows(here, work, factors, i + 1, count, i + 1)
            inverse = 1.0 / rows[i, band]
            goal, sums = work[i], total[i]
            for c in range(i + 1):
                value = here[c] * inverse
                goal[c] = value
                sums[c] += value


@compiled_loosely
def solve_each(bands: Floats, v: Floats) -> None:
    """v_y ← H_y⁻¹ v_y in place."""
    outputs, n, width = bands.shape
    band = width - 1
    for y in range(outputs):
        rows = bands[y]
        for i in range(n):
            total = v[y, i]
            for k in range(max(0, i - band), i):
                total -= rows[i, band - i + k] * v[y, k]
            v[y, i] = total / rows[i, band]
        for i in range(n - 1, -1, -1):
            value = v[y, i] / rows[i, band]
            v[y, i] = value
            for k in range(max(0, i - band), i):
                v[y, k] -= rows[i, band - i + k] * value
