"""The loops of the block solver over cones: scaling, residuals, directions, step lengths.

A chunk holds some outputs side by side, and its arrays carry them last: p (n, V), s and z
(m, D, V). All outputs share M, so the innermost loop runs over them, without a gather, and is
vectorised. A cone of dimension 1 is a half line, and every formula below reduces to the linear
program's. Nesterov–Todd scaling as in Vandenberghe, "The CVXOPT linear and quadratic cone program
solvers" (2010), section 4.
"""

from __future__ import annotations

import math

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled_loosely


@compiled_loosely
def scaled(w: Floats, eta: Floats, sign: float, along: Floats, x: Floats) -> None:
    """X ← W x for one cone (D, V), where W = eta·(hyperbolic Householder w); W⁻¹ x for sign −1.

    The inverse is the same map with w₁, w₂, … turned round and 1/eta.
    """
    depth, count = x.shape
    along[:] = 0.0
    for a in range(1, depth):
        for y in range(count):
            along[y] += sign * w[a, y] * x[a, y]
    for y in range(count):
        head, part = x[0, y], along[y]
        x[0, y] = (w[0, y] * head + part) * (eta[y] if sign > 0 else 1 / eta[y])
        along[y] = sign * (head + part / (1 + w[0, y]))
    for a in range(1, depth):
        for y in range(count):
            x[a, y] = (x[a, y] + along[y] * w[a, y]) * (eta[y] if sign > 0 else 1 / eta[y])


@compiled_loosely
def residuals(
    index: Indices,
    matrix: Floats,
    p: Floats,
    s: Floats,
    z: Floats,
    price: Floats,
    costs: Floats,
    primal: Floats,
    dual: Floats,
) -> None:
    """Primal = M p − s, dual = c − price − Mᵀ z."""
    n, count = p.shape
    m, depth, width = matrix.shape
    for i in range(n):
        for y in range(count):
            dual[i, y] = costs[i, y] - price[i]
    for k in range(m):
        for a in range(depth):
            row, weight = primal[k, a], z[k, a]
            for y in range(count):
                row[y] = -s[k, a, y]
            for j in range(width):
                factor = matrix[k, a, j]
                if factor != 0:
                    here, there = p[index[k, j]], dual[index[k, j]]
                    for y in range(count):
                        row[y] += factor * here[y]
                        there[y] -= factor * weight[y]


@compiled_loosely
def scale(s: Floats, z: Floats, w: Floats, eta: Floats, point: Floats) -> None:
    """The scaling W of each cone: W z = W⁻¹ s = point."""
    m, depth, count = s.shape
    js, rs, rz = np.empty(count), np.empty(count), np.empty(count)
    inner, along = np.empty(count), np.empty(count)
    for k in range(m):
        rs[:] = 0.0
        rz[:] = 0.0
        for a in range(1, depth):
            for y in range(count):
                rs[y] += s[k, a, y] ** 2
                rz[y] += z[k, a, y] ** 2
        for y in range(count):
            s0, z0 = s[k, 0, y], z[k, 0, y]
            ns, nz = math.sqrt(rs[y]), math.sqrt(rz[y])
            js[y] = max((s0 - ns) * (s0 + ns), 1e-40 * s0 * s0 + 1e-300)
            jz = max((z0 - nz) * (z0 + nz), 1e-40 * z0 * z0 + 1e-300)
            rs[y], rz[y] = 1 / math.sqrt(js[y]), 1 / math.sqrt(jz)
            inner[y] = 1.0 + s0 * rs[y] * z0 * rz[y]
        for a in range(1, depth):
            for y in range(count):
                inner[y] += s[k, a, y] * rs[y] * z[k, a, y] * rz[y]
        along[:] = 1.0
        for a in range(1, depth):
            for y in range(count):
                value = (s[k, a, y] * rs[y] - z[k, a, y] * rz[y]) * 0.5 / math.sqrt(inner[y] / 2)
                w[k, a, y] = value
                along[y] += value * value
        for y in range(count):
            w[k, 0, y] = math.sqrt(along[y])
            eta[k, y] = math.sqrt(math.sqrt(js[y]) * rz[y])
        for a in range(depth):
            for y in range(count):
                point[k, a, y] = z[k, a, y]
        scaled(w[k], eta[k], 1.0, along, point[k])


@compiled_loosely
def targets(
    w: Floats,
    eta: Floats,
    point: Floats,
    ds: Floats,
    dz: Floats,
    centre: float,
    correct: bool,
    target: Floats,
) -> None:
    """Target = point ∖ (centre·e − point∘point − (W⁻¹ ds)∘(W dz)), the last if `correct`."""
    m, depth, count = point.shape
    left, right = np.empty((depth, count)), np.empty((depth, count))
    along, norm = np.empty(count), np.empty(count)
    for k in range(m):
        here, goal = point[k], target[k]
        goal[0, :] = centre
        for a in range(depth):
            for y in range(count):
                goal[0, y] -= here[a, y] ** 2
        for a in range(1, depth):
            for y in range(count):
                goal[a, y] = -2 * here[0, y] * here[a, y]
        if correct:
            for a in range(depth):
                for y in range(count):
                    left[a, y], right[a, y] = ds[k, a, y], dz[k, a, y]
            scaled(w[k], eta[k], -1.0, along, left)
            scaled(w[k], eta[k], 1.0, along, right)
            for a in range(depth):
                for y in range(count):
                    goal[0, y] -= left[a, y] * right[a, y]
            for a in range(1, depth):
                for y in range(count):
                    goal[a, y] -= left[0, y] * right[a, y] + right[0, y] * left[a, y]
        norm[:] = 0.0
        along[:] = 0.0
        for a in range(1, depth):
            for y in range(count):
                norm[y] += here[a, y] ** 2
                along[y] += here[a, y] * goal[a, y]
        for y in range(count):
            p0, length = here[0, y], math.sqrt(norm[y])
            det = max((p0 - length) * (p0 + length), 1e-40 * p0 * p0 + 1e-300)
            goal[0, y] = (p0 * goal[0, y] - along[y]) / det
        for a in range(1, depth):
            for y in range(count):
                goal[a, y] = (goal[a, y] - goal[0, y] * here[a, y]) / here[0, y]


@compiled_loosely
def right_hand_side(
    index: Indices,
    matrix: Floats,
    w: Floats,
    eta: Floats,
    target: Floats,
    primal: Floats,
    dual: Floats,
    v: Floats,
) -> None:
    """V = −dual + Mᵀ W⁻¹ (target − W⁻¹ primal)."""
    n, count = dual.shape
    m, depth, width = matrix.shape
    x, along = np.empty((depth, count)), np.empty(count)
    for i in range(n):
        for y in range(count):
            v[i, y] = -dual[i, y]
    for k in range(m):
        for a in range(depth):
            for y in range(count):
                x[a, y] = primal[k, a, y]
        scaled(w[k], eta[k], -1.0, along, x)
        for a in range(depth):
            for y in range(count):
                x[a, y] = target[k, a, y] - x[a, y]
        scaled(w[k], eta[k], -1.0, along, x)
        for a in range(depth):
            for j in range(width):
                factor = matrix[k, a, j]
                if factor != 0:
                    there = v[index[k, j]]
                    for y in range(count):
                        there[y] += factor * x[a, y]


@compiled_loosely
def cone_direction(
    index: Indices,
    matrix: Floats,
    w: Floats,
    eta: Floats,
    target: Floats,
    primal: Floats,
    dp: Floats,
    ds: Floats,
    dz: Floats,
) -> None:
    """Ds = M dp + primal, dz = W⁻¹ (target − W⁻¹ ds)."""
    count = dp.shape[1]
    m, depth, width = matrix.shape
    along = np.empty(count)
    for k in range(m):
        for a in range(depth):
            row = ds[k, a]
            for y in range(count):
                row[y] = primal[k, a, y]
            for j in range(width):
                factor = matrix[k, a, j]
                if factor != 0:
                    here = dp[index[k, j]]
                    for y in range(count):
                        row[y] += factor * here[y]
        x = dz[k]
        for a in range(depth):
            for y in range(count):
                x[a, y] = ds[k, a, y]
        scaled(w[k], eta[k], -1.0, along, x)
        for a in range(depth):
            for y in range(count):
                x[a, y] = target[k, a, y] - x[a, y]
        scaled(w[k], eta[k], -1.0, along, x)


@compiled_loosely
def longest_step(s: Floats, ds: Floats) -> float:
    """The largest step that keeps every s + step·ds in its cone."""
    m, depth, count = s.shape
    best = 1e30
    for k in range(m):
        for y in range(count):
            s0, d0 = s[k, 0, y], ds[k, 0, y]
            if d0 < 0:
                best = min(best, -s0 / d0)
            if depth == 1:
                continue
            quadratic, linear, norm = d0 * d0, s0 * d0, 0.0
            for a in range(1, depth):
                quadratic -= ds[k, a, y] ** 2
                linear -= s[k, a, y] * ds[k, a, y]
                norm += s[k, a, y] ** 2
            norm = math.sqrt(norm)
            constant = (s0 - norm) * (s0 + norm)
            spread = linear * linear - quadratic * constant
            if spread < 0:
                continue
            root = math.sqrt(spread)
            if linear <= 0:
                if root - linear > 0:
                    best = min(best, constant / (root - linear))
            elif quadratic < 0:
                best = min(best, (linear + root) / (-quadratic))
    return best
