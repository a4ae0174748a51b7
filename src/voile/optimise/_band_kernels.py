"""The loops of the block solver over matrices: one banded Hessian an output, and their inverses.

H_y = Mᵀ W_y⁻² M is banded because a constraint touches neighbours only. The sum of the inverses
is what couples the outputs, and it is all that has to be dense.
"""

from __future__ import annotations

import math

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled_loosely


@compiled_loosely
def assemble(index: Indices, matrix: Floats, signed: Floats, w: Floats, eta: Floats,
             bands: Floats) -> None:
    """bands[y][i, b − (i − j)] = H_y[i, j] for j ≤ i.

    W⁻² = (2 v vᵀ − J)/eta² with v = (w₀, −w₁, …), so H gains 2 u uᵀ − Mᵀ J M with u = Mᵀ v; the
    second part, `signed`, is the same for all outputs.
    """
    outputs = w.shape[0]
    m, depth, width = matrix.shape
    band = bands.shape[2] - 1
    for y in range(outputs):
        bands[y, :, :] = 0.0
        for k in range(m):
            weight = 1.0 / (eta[y, k] * eta[y, k])
            for i in range(width):
                left = w[y, k, 0] * matrix[k, 0, i]
                for a in range(1, depth):
                    left -= w[y, k, a] * matrix[k, a, i]
                at = index[k, i]
                for j in range(width):
                    other = index[k, j]
                    if other > at:
                        continue
                    right = w[y, k, 0] * matrix[k, 0, j]
                    for a in range(1, depth):
                        right -= w[y, k, a] * matrix[k, a, j]
                    bands[y, at, band - at + other] += weight * (
                        2 * left * right - signed[k, i, j]
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
def add_inverses(bands: Floats, work: Floats, total: Floats) -> None:
    """total += Σ_y H_y⁻¹ (lower triangle), by forward and backward sweeps over rows."""
    outputs, n, width = bands.shape
    band = width - 1
    for y in range(outputs):
        rows = bands[y]
        for i in range(n):
            here = work[i]
            for c in range(i):
                here[c] = 0.0
            for k in range(max(0, i - band), i):
                factor = rows[i, band - i + k]
                if factor != 0.0:
                    above = work[k]
                    for c in range(k + 1):
                        here[c] -= factor * above[c]
            inverse = 1.0 / rows[i, band]
            for c in range(i):
                here[c] *= inverse
            here[i] = inverse
        for i in range(n - 1, -1, -1):
            here = work[i]
            for k in range(i + 1, min(n, i + band + 1)):
                factor = rows[k, band - k + i]
                if factor != 0.0:
                    below = work[k]
                    for c in range(i + 1):
                        here[c] -= factor * below[c]
            inverse = 1.0 / rows[i, band]
            goal = total[i]
            for c in range(i + 1):
                here[c] *= inverse
                goal[c] += here[c]


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
