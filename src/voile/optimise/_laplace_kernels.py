"""Masses of planar Laplace noise over a grid of rectangles, through their corners.

`voile.mechanisms._laplace_cells` derives the mass of a rectangle as its winding number minus four
edge integrals. Edges of neighbouring cells join up, so on a grid each corner (u, v) is needed once:
Q(u, v) = F(u, v) + F(v, u), with F(h, t) = sign(h·t)·∫₀^asinh(|t/h|) (1 + |h| cosh s)
e^(−|h| cosh s) / cosh s ds, and a cell's mass is its winding number minus
(Q(r, t) − Q(r, b) − Q(l, t) + Q(l, b)) / 2π. Absolute error about 1e-14: for expected losses, not
for ratios.
"""

from __future__ import annotations

import math

import numpy as np

from voile.core.arrays import Floats
from voile.optimise._compile import compiled_loosely

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(32)
_REACH = 40.0


@compiled_loosely
def edge(height: float, along: float, nodes: Floats, weights: Floats) -> float:
    """F(height, along), both in units of 1/ε."""
    if height == 0.0 or along == 0.0:
        return 0.0
    h, t = abs(height), abs(along)
    if h > _REACH:
        return 0.0
    end = math.asinh(min(t, _REACH + h) / h)
    total = 0.0
    for k in range(len(nodes)):
        c = math.cosh(end * (nodes[k] + 1.0) / 2.0)
        total += weights[k] * (1.0 + h * c) * math.exp(-h * c) / c
    value = total * end / 2.0
    return value if (height > 0) == (along > 0) else -value


@compiled_loosely
def corner_table(dx: Floats, dy: Floats, nodes: Floats, weights: Floats, table: Floats) -> None:
    """table[i, j] = Q(dx[i], dy[j]); the first and last entries stand for ∓ infinity."""
    wide, tall = len(dx), len(dy)
    far = 1e9
    for i in range(wide):
        edge_x = i == 0 or i == wide - 1
        u = (-far if i == 0 else far) if edge_x else dx[i]
        for j in range(tall):
            edge_y = j == 0 or j == tall - 1
            v = (-far if j == 0 else far) if edge_y else dy[j]
            value = 0.0
            if not edge_x:
                value += edge(u, v, nodes, weights)
            if not edge_y:
                value += edge(v, u, nodes, weights)
            table[i, j] = value


@compiled_loosely
def cell_masses(
    places: Floats,
    xs: Floats,
    ys: Floats,
    epsilon: float,
    nodes: Floats,
    weights: Floats,
    masses: Floats,
) -> None:
    """masses[x, i·cells_y + j] of the noise around each place; border cells reach to infinity."""
    wide, tall = len(xs), len(ys)
    table = np.empty((wide, tall))
    dx, dy = np.empty(wide), np.empty(tall)
    for x in range(len(places)):
        for i in range(wide):
            dx[i] = epsilon * (xs[i] - places[x, 0])
        for j in range(tall):
            dy[j] = epsilon * (ys[j] - places[x, 1])
        corner_table(dx, dy, nodes, weights, table)
        for i in range(wide - 1):
            left = -1.0 if i == 0 else dx[i]
            right = 1.0 if i == wide - 2 else dx[i + 1]
            in_x = 1.0 if left < 0 < right else (0.5 if left == 0 or right == 0 else 0.0)
            for j in range(tall - 1):
                bottom = -1.0 if j == 0 else dy[j]
                top = 1.0 if j == tall - 2 else dy[j + 1]
                in_y = 1.0 if bottom < 0 < top else (0.5 if bottom == 0 or top == 0 else 0.0)
                swept = table[i + 1, j + 1] - table[i + 1, j] - table[i, j + 1] + table[i, j]
                value = in_x * in_y - swept / (2.0 * math.pi)
                masses[x, i * (tall - 1) + j] = max(value, 0.0)
