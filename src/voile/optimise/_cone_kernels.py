"""The loops of the block solver over cones: scaling, residuals, directions, step lengths.

Arrays carry outputs first: p (Y, n), s and z (Y, m, D). A cone of dimension 1 is a half line, and
every formula below reduces to the linear program's. Nesterov–Todd scaling as in Vandenberghe,
"The CVXOPT linear and quadratic cone program solvers" (2010), section 4.
"""

from __future__ import annotations

import math

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled_loosely


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
    outputs, n = p.shape
    m, depth, width = matrix.shape
    for y in range(outputs):
        for i in range(n):
            dual[y, i] = costs[y, i] - price[i]
        for k in range(m):
            for a in range(depth):
                total = -s[y, k, a]
                weight = z[y, k, a]
                for j in range(width):
                    total += matrix[k, a, j] * p[y, index[k, j]]
                    dual[y, index[k, j]] -= matrix[k, a, j] * weight
                primal[y, k, a] = total


@compiled_loosely
def scale(s: Floats, z: Floats, w: Floats, eta: Floats, point: Floats) -> None:
    """The scaling W of each cone: W z = W⁻¹ s = point, with W = eta·(hyperbolic Householder w)."""
    outputs, m, depth = s.shape
    for y in range(outputs):
        for k in range(m):
            s0, z0 = s[y, k, 0], z[y, k, 0]
            ns = 0.0
            nz = 0.0
            for a in range(1, depth):
                ns += s[y, k, a] ** 2
                nz += z[y, k, a] ** 2
            ns, nz = math.sqrt(ns), math.sqrt(nz)
            js = max((s0 - ns) * (s0 + ns), 1e-40 * s0 * s0 + 1e-300)
            jz = max((z0 - nz) * (z0 + nz), 1e-40 * z0 * z0 + 1e-300)
            rs, rz = 1 / math.sqrt(js), 1 / math.sqrt(jz)
            inner = 1.0 + s0 * rs * z0 * rz
            for a in range(1, depth):
                inner += s[y, k, a] * rs * z[y, k, a] * rz
            half = 0.5 / math.sqrt(inner / 2)
            total = 1.0
            for a in range(1, depth):
                value = (s[y, k, a] * rs - z[y, k, a] * rz) * half
                w[y, k, a] = value
                total += value * value
            w[y, k, 0] = math.sqrt(total)
            e = math.sqrt(math.sqrt(js) * rz)
            eta[y, k] = e
            along = 0.0
            for a in range(1, depth):
                along += w[y, k, a] * z[y, k, a]
            turn = z0 + along / (1 + w[y, k, 0])
            point[y, k, 0] = e * (w[y, k, 0] * z0 + along)
            for a in range(1, depth):
                point[y, k, a] = e * (z[y, k, a] + turn * w[y, k, a])


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
    outputs, m, depth = point.shape
    for y in range(outputs):
        for k in range(m):
            head = centre
            for a in range(depth):
                head -= point[y, k, a] ** 2
            for a in range(1, depth):
                target[y, k, a] = -2 * point[y, k, 0] * point[y, k, a]
            if correct:
                e, w0 = eta[y, k], w[y, k, 0]
                along_s = 0.0
                along_z = 0.0
                for a in range(1, depth):
                    along_s += w[y, k, a] * ds[y, k, a]
                    along_z += w[y, k, a] * dz[y, k, a]
                left0 = (w0 * ds[y, k, 0] - along_s) / e
                right0 = e * (w0 * dz[y, k, 0] + along_z)
                turn_s = -ds[y, k, 0] + along_s / (1 + w0)
                turn_z = dz[y, k, 0] + along_z / (1 + w0)
                head -= left0 * right0
                for a in range(1, depth):
                    left = (ds[y, k, a] + turn_s * w[y, k, a]) / e
                    right = e * (dz[y, k, a] + turn_z * w[y, k, a])
                    head -= left * right
                    target[y, k, a] -= left0 * right + right0 * left
            p0 = point[y, k, 0]
            norm = 0.0
            along = 0.0
            for a in range(1, depth):
                norm += point[y, k, a] ** 2
                along += point[y, k, a] * target[y, k, a]
            norm = math.sqrt(norm)
            det = max((p0 - norm) * (p0 + norm), 1e-40 * p0 * p0 + 1e-300)
            first = (p0 * head - along) / det
            for a in range(1, depth):
                target[y, k, a] = (target[y, k, a] - first * point[y, k, a]) / p0
            target[y, k, 0] = first


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
    outputs, n = dual.shape
    m, depth, width = matrix.shape
    for y in range(outputs):
        for i in range(n):
            v[y, i] = -dual[y, i]
        for k in range(m):
            e, w0 = eta[y, k], w[y, k, 0]
            along = 0.0
            for a in range(1, depth):
                along += w[y, k, a] * primal[y, k, a]
            turn = -primal[y, k, 0] + along / (1 + w0)
            head = target[y, k, 0] - (w0 * primal[y, k, 0] - along) / e
            again = 0.0
            for a in range(1, depth):
                rest = target[y, k, a] - (primal[y, k, a] + turn * w[y, k, a]) / e
                again += w[y, k, a] * rest
            back = -head + again / (1 + w0)
            for a in range(depth):
                if a == 0:
                    value = (w0 * head - again) / e
                else:
                    rest = target[y, k, a] - (primal[y, k, a] + turn * w[y, k, a]) / e
                    value = (rest + back * w[y, k, a]) / e
                for j in range(width):
                    v[y, index[k, j]] += matrix[k, a, j] * value


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
    outputs = dp.shape[0]
    m, depth, width = matrix.shape
    for y in range(outputs):
        for k in range(m):
            e, w0 = eta[y, k], w[y, k, 0]
            along = 0.0
            for a in range(depth):
                total = primal[y, k, a]
                for j in range(width):
                    total += matrix[k, a, j] * dp[y, index[k, j]]
                ds[y, k, a] = total
                if a > 0:
                    along += w[y, k, a] * total
            turn = -ds[y, k, 0] + along / (1 + w0)
            head = target[y, k, 0] - (w0 * ds[y, k, 0] - along) / e
            again = 0.0
            for a in range(1, depth):
                rest = target[y, k, a] - (ds[y, k, a] + turn * w[y, k, a]) / e
                dz[y, k, a] = rest
                again += w[y, k, a] * rest
            back = -head + again / (1 + w0)
            dz[y, k, 0] = (w0 * head - again) / e
            for a in range(1, depth):
                dz[y, k, a] = (dz[y, k, a] + back * w[y, k, a]) / e


@compiled_loosely
def longest_step(s: Floats, ds: Floats) -> float:
    """The largest step that keeps every s + step·ds in its cone."""
    outputs, m, depth = s.shape
    best = 1e30
    for y in range(outputs):
        for k in range(m):
            s0, d0 = s[y, k, 0], ds[y, k, 0]
            if d0 < 0:
                best = min(best, -s0 / d0)
            if depth == 1:
                continue
            quadratic, linear, norm = d0 * d0, s0 * d0, 0.0
            for a in range(1, depth):
                quadratic -= ds[y, k, a] ** 2
                linear -= s[y, k, a] * ds[y, k, a]
                norm += s[y, k, a] ** 2
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
