"""Masses of planar Laplace noise over a grid of rectangles, through their edges.

`voile.mechanisms._laplace_cells` derives the mass of a rectangle as its winding number minus four
edge integrals. Edges of neighbouring cells coincide, so on a grid each is integrated once. A far
cell is a difference of integrals of its own size: errors are relative (about 1e-11), so that
ratios of tiny masses are right too.
"""

from __future__ import annotations

import math

import numpy as np

from voile.core.arrays import Floats
from voile.optimise._compile import compiled_loosely

_RULES = [np.polynomial.legendre.leggauss(count) for count in (8, 16, 32)]
NODES, NODE_WEIGHTS = (np.concatenate([rule[k] for rule in _RULES]) for k in (0, 1))
"""Gauss's rules of 8, 16 and 32 nodes, one after the other."""
_REACH = 60.0
"""Beyond the nearest point of an edge by this many units of 1/ε, e^(−r) falls below 1e-26 of it."""


_PIECE = 2.0
"""The integrand has poles π/2 beside the real line: over two units 32 nodes see it to rounding."""


@compiled_loosely
def _from_foot(h: float, start: float, end: float, nodes: Floats, weights: Floats) -> float:
    """∫ (1 + r) e^(−r) dθ along a segment at distance h, between 0 ≤ start < end from its foot."""
    first = math.asinh(start / h)
    width = math.asinh(min(end, start + _REACH + h) / h) - first
    pieces = int(width / _PIECE) + 1  # many only where the place lies close to the segment's line
    half = width / pieces / 2.0
    # Along an edge of length L the exponent changes by at most L, so on the Bernstein ellipse ρ the
    # error is below e^(Lρ/4)·ρ^(−2·nodes): 1e-15 with fewer nodes where an edge is short both ways.
    first_node, last_node = 24, 56
    if half <= 0.25 and end - start <= 1.0:
        first_node, last_node = 0, 8
    elif half <= 0.5 and end - start <= 3.0:
        first_node, last_node = 8, 24
    total = 0.0
    for piece in range(pieces):
        low = first + 2.0 * half * piece
        for k in range(first_node, last_node):
            c = math.cosh(low + half * (nodes[k] + 1.0))
            total += weights[k] * (1.0 + h * c) * math.exp(-h * c) / c
    return total * half


@compiled_loosely
def segment(offset: float, start: float, end: float, nodes: Floats, weights: Floats) -> float:
    """The same for the edge {offset} × [start, end], lengths in units of 1/ε, signed as offset."""
    if offset == 0.0:
        return 0.0
    h = abs(offset)
    total = 0.0
    if start < 0.0:
        total += _from_foot(h, max(-end, 0.0), -start, nodes, weights)
    if end > 0.0:
        total += _from_foot(h, max(start, 0.0), end, nodes, weights)
    return total if offset > 0 else -total


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
    wide, tall = len(xs) - 1, len(ys) - 1
    dx, dy = np.empty(wide + 1), np.empty(tall + 1)
    upright, level = np.zeros((wide + 1, tall)), np.zeros((wide, tall + 1))
    for x in range(len(places)):
        for i in range(1, wide):
            dx[i] = epsilon * (xs[i] - places[x, 0])
        for j in range(1, tall):
            dy[j] = epsilon * (ys[j] - places[x, 1])
        dx[0], dx[wide], dy[0], dy[tall] = -math.inf, math.inf, -math.inf, math.inf
        for i in range(1, wide):  # edges at infinity weigh nothing
            for j in range(tall):
                upright[i, j] = segment(dx[i], dy[j], dy[j + 1], nodes, weights)
        for i in range(wide):
            for j in range(1, tall):
                level[i, j] = segment(dy[j], dx[i], dx[i + 1], nodes, weights)
        for i in range(wide):
            in_x = _within(dx[i], dx[i + 1])
            for j in range(tall):
                swept = upright[i + 1, j] - upright[i, j] + level[i, j + 1] - level[i, j]
                value = in_x * _within(dy[j], dy[j + 1]) - swept / (2.0 * math.pi)
                masses[x, i * tall + j] = max(value, 0.0)


@compiled_loosely
def _within(low: float, high: float) -> float:
    """1 if 0 lies between, ½ if on a border, 0 otherwise."""
    if low < 0.0 < high:
        return 1.0
    return 0.5 if low == 0.0 or high == 0.0 else 0.0
