"""The privacy constraints of one output, as cones that all outputs share.

An output's function is given by n coefficients q. Constraint k reads s = M_k q[I_k] and asks that
s lie in the cone {s₀ ≥ ‖(s₁ … s_{D−1})‖₂}; for D = 1 that is s₀ ≥ 0. Every constraint is scaled
so that the constant function 1 has s₀ > 0 and s₁ … = 0: constants are strictly inside, which is
what the repair rests on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require, require_epsilon


@dataclass(frozen=True, eq=False)
class Cones:
    """Shared constraints: `index` (m, L) into the coefficients, `matrix` (m, D, L)."""

    index: Indices
    matrix: Floats
    size: int

    @property
    def bandwidth(self) -> int:
        """How far apart two coefficients of one constraint lie."""
        return int((self.index.max(axis=1) - self.index.min(axis=1)).max())

    @property
    def rise(self) -> Floats:
        """s₀ of the constant function 1, constraint by constraint."""
        return np.asarray(self.matrix[:, 0, :].sum(axis=1))

    def slacks(self, coefficients: Floats) -> Floats:
        """S for one output's coefficients, shape (m, D)."""
        gathered = coefficients[self.index]
        return np.asarray(np.einsum("mdl,ml->md", self.matrix, gathered))

    def lift(self, coefficients: Floats) -> float:
        """The smallest constant whose addition puts the coefficients inside; 0 if they are."""
        slacks = self.slacks(coefficients)
        outside = np.sqrt((slacks[:, 1:] ** 2).sum(axis=1)) - slacks[:, 0]
        return max(0.0, float((outside / self.rise).max()))


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What stays as it is around coefficients that are solved for: see `block_solver`.

    `offset` (Y, m, D) is what the fixed coefficients add to each constraint, `total` (n,) what the
    functions must sum to, `start` (Y, n) what they are now.
    """

    offset: Floats
    total: Floats
    start: Floats

    def scaled(self, outputs: Indices, factor: float) -> Surroundings:
        """The same for some of the outputs, all functions multiplied by a factor."""
        return Surroundings(
            self.offset[outputs] * factor, self.total * factor, self.start[outputs] * factor
        )


def dual_exponent(p: float) -> float:
    """Q with 1/p + 1/q = 1."""
    if p == 1:
        return math.inf
    return 1.0 if p == math.inf else p / (p - 1)


def gradient_cones(
    index: Indices, rows: Floats, size: int, *, epsilon: float, p: float, facets: int = 24
) -> Cones:
    """‖∇‖_q ≤ ε·value at each point of `rows` (m, 1 + N, L), whose row 0 is the value.

    With q dual to p this is what (ε, ℓ_p)-privacy asks of a smooth function. ℓ₂ gives one
    second-order cone a point; ℓ₁ and ℓ_∞ linear rows (2N and 2^N). For another p the dual ball is
    replaced by an inscribed polygon with `facets` sides (N = 2) or by the largest Euclidean ball
    inside it (N = 3): both ask for a little more than needed, never for less.
    """
    epsilon = require_epsilon(epsilon)
    require(p >= 1, "p", "between 1 and infinity", p)
    dimensions = rows.shape[1] - 1
    scaled = rows.copy()
    scaled[:, 1:] /= epsilon
    q = dual_exponent(p)
    if dimensions == 1:
        normals = np.array([[1.0], [-1.0]])
    elif q == 2:
        return Cones(index, np.ascontiguousarray(scaled), size)
    elif q == math.inf:
        normals = np.concatenate([np.eye(dimensions), -np.eye(dimensions)])
    elif q == 1:
        normals = np.array(list(product((1.0, -1.0), repeat=dimensions)))
    elif dimensions == 2:
        normals = _inscribed_polygon(q, facets)
    else:  # ‖g‖_q ≤ N^(1/q − 1/2)·‖g‖₂ for q < 2, and ≤ ‖g‖₂ above
        scaled[:, 1:] *= max(1.0, dimensions ** (1 / q - 0.5))
        return Cones(index, np.ascontiguousarray(scaled), size)
    return _linear(index, scaled, size, normals)


def axis_cones(index: Indices, rows: Floats, size: int, *, budgets: tuple[float, ...]) -> Cones:
    """|∂_ℓ| ≤ ε_ℓ·value along each axis ℓ, with one budget an axis."""
    require(all(b > 0 for b in budgets), "budgets", "> 0 on each axis", budgets)
    scaled = rows.copy()
    scaled[:, 1:] /= np.asarray(budgets)[None, :, None]
    identity = np.eye(len(budgets))
    return _linear(index, scaled, size, np.concatenate([identity, -identity]))


def ratio_cones(pairs: Indices, exponents: Floats, size: int) -> Cones:
    """q_i ≤ e^exponent·q_j for each (i, j) of `pairs`: the pairwise constraints of a channel.

    Each row is divided by e^exponent, so that large exponents do not drown the others.
    """
    if (exponents <= 0).any():
        raise InvalidInput("two secrets at distance 0 must be merged before they are constrained")
    matrix = np.empty((len(pairs), 1, 2))
    matrix[:, 0, 0] = -np.exp(-exponents)
    matrix[:, 0, 1] = 1.0
    return Cones(np.ascontiguousarray(pairs, dtype=np.intp), matrix, size)


def _linear(index: Indices, rows: Floats, size: int, normals: Floats) -> Cones:
    """Value − n·gradient ≥ 0 for each normal n."""
    table = rows[:, :1, :] - np.einsum("kd,mdl->mkl", normals, rows[:, 1:, :])
    matrix = np.ascontiguousarray(table.reshape(-1, 1, rows.shape[2]))
    return Cones(np.repeat(index, len(normals), axis=0), matrix, size)


def _inscribed_polygon(q: float, facets: int) -> Floats:
    """Normals n with max n·g ≥ ‖g‖_q: the sides of a polygon inside the unit ball of ℓ_q.

    The polygon's corners lie on the unit sphere of ℓ_q at equal angles; a side through corners a
    and b is n·g = 1 with n·a = n·b = 1.
    """
    require(facets >= 4 and facets % 4 == 0, "facets", "a multiple of 4", facets)
    angles = 2 * math.pi * np.arange(facets) / facets
    corners = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    corners /= (np.abs(corners) ** q).sum(axis=1, keepdims=True) ** (1 / q)
    following = np.roll(corners, -1, axis=0)
    sides = np.stack([corners, following], axis=1)
    return np.asarray(np.linalg.solve(sides, np.ones((facets, 2, 1)))[..., 0])
