"""The planar Laplace density integrated over rectangles, to a stated precision.

Around the secret the density is ε²/(2π)·e^(−ε·r), and the mass beyond radius r is
G(r) = (1 + ε·r)·e^(−ε·r). In polar coordinates the mass of a region is its winding number
around the secret minus (1/2π)·∮ G dθ along its border, so a rectangle needs four integrals, one
an edge. On an edge at distance h, with t = h·sinh(u) along it, dθ = du / cosh(u) and
r = h·cosh(u): a smooth integrand, for which 64 Gauss–Legendre nodes are exact to rounding.
No tail is lost to cancellation: a far cell is a difference of G's of its own size. Near the secret
G is close to 1 and the integrals of 1 − G, the mass within r, are taken instead. A small cell away
from the secret, whose opposite edges differ little, is integrated over its area: there the density
is smooth, and 12 × 12 nodes are exact to rounding.
"""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_BLOCK = 2**15
_AREA_NODES, _AREA_WEIGHTS = np.polynomial.legendre.leggauss(12)
PRECISION = 2.0**-40
"""The relative error of a mass is below this, times how much longer a cell is than wide."""
_NEAR = 1.0
"""Cells that lie within 1/ε of the secret are near, and cells narrower than 1/ε are small."""
_FAR = 60.0
"""Beyond ε·t = 60 along an edge, G is below 1e-24 of its value at the edge's middle."""


def cell_log_masses(
    left: Floats, right: Floats, bottom: Floats, top: Floats, *, epsilon: float
) -> Floats:
    """The logarithm of each rectangle's mass, its borders given relative to the secret.

    Borders may be infinite; the four arrays broadcast to one shape. Works in blocks.
    """
    borders = np.broadcast_arrays(left, right, bottom, top)
    masses = np.empty(borders[0].shape)
    flat = masses.reshape(-1)
    edges = [np.asarray(border, dtype=float).reshape(-1) * epsilon for border in borders]
    for start in range(0, len(flat), _BLOCK):
        part = slice(start, start + _BLOCK)
        flat[part] = _masses(*(edge[part] for edge in edges))
    with np.errstate(divide="ignore"):
        return np.log(masses)


def _masses(left: Floats, right: Floats, bottom: Floats, top: Floats) -> Floats:
    """Masses of rectangles whose borders are given in units of 1/ε."""
    side = np.maximum(right - left, top - bottom)
    farthest = np.hypot(np.maximum(-left, right), np.maximum(-bottom, top))
    away = np.hypot(_beyond(left, right), _beyond(bottom, top)) >= side
    small = away & (side <= _NEAR)
    near = ~small & (farthest <= _NEAR)
    rest = ~(small | near)
    masses = np.empty(left.shape)
    borders = (left, right, bottom, top)
    masses[small] = _area(*(border[small] for border in borders))
    masses[near] = _swept(*(border[near] for border in borders), within=True)
    others = [border[rest] for border in borders]
    masses[rest] = _winding(*others) - _swept(*others, within=False)
    return np.maximum(masses, 0.0)


def _beyond(low: Floats, high: Floats) -> Floats:
    """How far 0 is from the interval."""
    return np.maximum(np.maximum(low, -high), 0.0)


def _area(left: Floats, right: Floats, bottom: Floats, top: Floats) -> Floats:
    """∫∫ e^(−r) / 2π over rectangles away from the secret."""

    def nodes(low: Floats, high: Floats) -> Floats:
        return ((low + high)[:, None] + (high - low)[:, None] * _AREA_NODES) / 2

    radius = np.hypot(nodes(left, right)[:, :, None], nodes(bottom, top)[:, None, :])
    values = (np.exp(-radius) @ _AREA_WEIGHTS) @ _AREA_WEIGHTS
    return np.asarray(values * (right - left) * (top - bottom) / (8 * np.pi))


def _swept(left: Floats, right: Floats, bottom: Floats, top: Floats, *, within: bool) -> Floats:
    """(1/2π)·∮ dθ around a rectangle of the mass within, or beyond, each point's radius."""
    total = (
        _edge(right, bottom, top, within=within)
        - _edge(left, bottom, top, within=within)
        + _edge(top, left, right, within=within)
        - _edge(bottom, left, right, within=within)
    )
    return np.asarray(total / (2 * np.pi))


def _edge(offset: Floats, start: Floats, end: Floats, *, within: bool) -> Floats:
    """∫ G dθ, or ∫ (1 − G) dθ, along the edge {offset} × [start, end], lengths in units of 1/ε.

    Counted anticlockwise for offset > 0.
    """
    from scipy.special import gammainc

    height = np.abs(offset)
    usable = np.isfinite(height) & (height > 0)
    safe = np.where(usable, height, 1.0)
    low = np.arcsinh(np.clip(start, -_FAR - safe, _FAR + safe) / safe)
    high = np.arcsinh(np.clip(end, -_FAR - safe, _FAR + safe) / safe)
    total = np.zeros(np.broadcast(low, high).shape)
    # Split at u = 0, where the integrand peaks.
    for a, b in (
        (np.minimum(low, 0), np.minimum(high, 0)),
        (np.maximum(low, 0), np.maximum(high, 0)),
    ):
        u = (a[..., None] + b[..., None]) / 2 + (b - a)[..., None] / 2 * _NODES
        radius = safe[..., None] * np.cosh(u)
        mass = gammainc(2, radius) if within else (1 + radius) * np.exp(-radius)
        values = mass / np.cosh(u)
        total += (b - a) / 2 * (values @ _NODE_WEIGHTS)
    return np.where(usable, np.sign(offset) * total, 0.0)


def _winding(left: Floats, right: Floats, bottom: Floats, top: Floats) -> Floats:
    """1 inside, 0 outside, ½ on an edge, ¼ on a corner."""

    def within(low: Floats, high: Floats) -> Floats:
        strictly = (low < 0) & (high > 0)
        border = (low == 0) | (high == 0)
        return np.where(strictly, 1.0, np.where(border, 0.5, 0.0))

    return within(left, right) * within(bottom, top)
