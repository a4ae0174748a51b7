"""The supremum of a spline mechanism's privacy loss over the whole continuous box, with proof.

On each piece of each cell, p = Σ_k B_k(x)·b_k and ∇p = Σ_k B_k(x)·g_k with the same non-negative
Bernstein polynomials B_k. If ‖g_k‖_q ≤ ε·b_k for all k, then ‖∇p(x)‖_q ≤ Σ B_k ‖g_k‖_q ≤ ε·p(x)
at every x, and integrating ∇ ln p along the segment from x to x' gives
|ln p(x) − ln p(x')| ≤ ε·‖x − x'‖_p by Hölder. So max_k ‖g_k‖_q / b_k bounds the supremum from
above; at points where a Bernstein coefficient is the function's own value it bounds it from below.
Cutting cells into pieces closes the bracket at second order.

Every number here is rounded outwards: a sum of at most 27 products of three factors, each right to
a dozen units in its last place (hyperbolic functions included, none of which cancel), is off by
less than 2⁻⁴⁶ times the sum of absolute values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.optimise.cones import dual_exponent
from voile.optimise.splines import SplineGrid, axis_tables

ROUNDING = 2.0**-46


@dataclass(frozen=True)
class SmoothCertificate:
    """The largest ‖∇p_y(x)‖_q / p_y(x) lies between `lower` and `supremum`.

    `epsilon` is the supremum plus what evaluating in doubles and rounding to integers can add
    between two places of the stated resolution; it is what a guarantee may claim. `smallest` is a
    lower bound on every probability, `sum_error` an upper bound on |Σ_y p_y(x) − 1|.
    """

    epsilon: float
    supremum: float
    lower: float
    output: int
    smallest: float
    sum_error: float
    rounding: float
    unit: str

    def __str__(self) -> str:
        return (
            f"certified ε = {self.epsilon:.6g} per {self.unit} on the whole box: gradient supremum "
            f"between {self.lower:.6g} and {self.supremum:.6g} (output {self.output}), rounding "
            f"adds {self.rounding:.1e}"
        )


def certify_splines(
    grid: SplineGrid,
    coefficients: Floats,
    *,
    p: float,
    resolution: float,
    weight_bits: int,
    pieces: int = 4,
    unit: str = "km",
) -> SmoothCertificate:
    """The certificate of splines `coefficients` (Y, n), evaluated and drawn as `smooth` does.

    Rounding term: an evaluated probability is off by a relative error η ≤ 2⁻⁴⁴·ρ, where ρ is the
    largest ratio of Σ|coefficient|·basis to value over a piece; the integer weight adds one unit
    in 2**weight_bits times the smallest probability; what the sum misses goes to the largest
    weight, which is at least 1/Y; a coordinate is off by a few units in its last place. Two
    distinct places are at least `resolution` apart, and each side of a ratio errs once:
    epsilon = supremum + 2·(η + …)/resolution.
    """
    q = dual_exponent(p)
    upper, lower, where, smallest, condition = 0.0, 0.0, 0, np.inf, 1.0
    tables = _axis_matrices(grid, pieces=1 if grid.degree == 1 else pieces)
    for y, row in enumerate(coefficients):
        found = _one_output(grid.cube(row), tables, q)
        if found[0] > upper:
            upper, where = found[0], y
        lower = max(lower, found[1])
        smallest, condition = min(smallest, found[2]), max(condition, found[3])
    sums = np.abs(coefficients.sum(axis=0) - 1.0)
    outputs = len(coefficients)
    sum_error = float(sums.max()) + outputs * 2.0**-52
    reach = max(max(abs(a), abs(b)) for a, b in zip(grid.low, grid.high, strict=True))
    evaluation = 4 * ROUNDING * condition + upper * reach * 2.0**-49
    unit_error = 2.0**-weight_bits / smallest if smallest > 0 else np.inf
    remainder = outputs * (sum_error + evaluation + outputs * 2.0**-weight_bits)
    rounding = 2 * (evaluation + unit_error + remainder) / resolution
    total = (upper + rounding) * (1 + 2.0**-50)
    return SmoothCertificate(total, upper, lower, where, smallest, sum_error, rounding, unit)


def _axis_matrices(grid: SplineGrid, *, pieces: int) -> list[tuple[Any, Any, Any]]:
    """Along each axis: values and slopes as matrices, and which points are attained."""
    from scipy.sparse import csr_array

    tables = []
    for axis in range(grid.dimensions):
        table = axis_tables(grid, axis, pieces=pieces)
        count, width = len(table.starts), grid.degree + 1
        columns = (table.starts[:, None] + np.arange(width)).ravel()
        ends = np.arange(0, count * width + 1, width)
        values, slopes = (
            csr_array((weights.ravel(), columns, ends), shape=(count, grid.shape[axis]))
            for weights in (table.values, table.slopes)
        )
        tables.append((values, slopes, table.attained.astype(bool)))
    return tables


def _one_output(
    cube: Floats, tables: list[tuple[Any, Any, Any]], q: float
) -> tuple[float, float, float, float]:
    """Upper and lower bound of the ratio, the smallest value, and the conditioning."""
    values = _apply(cube, [t[0] for t in tables])
    spread = _apply(np.abs(cube), [t[0] for t in tables])
    safe = values - ROUNDING * spread
    smallest = float(safe.min())
    if not smallest > 0:
        return np.inf, 0.0, smallest, np.inf
    steep, flat = [], []
    for chosen in range(len(tables)):
        factors = [t[1] if a == chosen else t[0] for a, t in enumerate(tables)]
        slope = np.abs(_apply(cube, factors))
        error = ROUNDING * _apply(np.abs(cube), [abs(f) for f in factors])
        steep.append(slope + error)
        flat.append(np.maximum(slope - error, 0.0))
    grow = 1 + ROUNDING
    upper = _norm(steep, q) * grow / safe
    lower = _norm(flat, q) / grow / (values + ROUNDING * spread)
    attained = np.ix_(*[t[2] for t in tables])
    return (
        float(upper.max()) * grow,
        float(lower[attained].max()) / grow,
        smallest,
        float((spread / safe).max()) * grow,
    )


def _apply(cube: Floats, factors: list[Any]) -> Floats:
    """One sparse matrix along each axis (three entries a row: a dense product would be waste)."""
    for axis, factor in enumerate(factors):
        front = np.moveaxis(cube, axis, 0)
        flat = np.ascontiguousarray(front).reshape(front.shape[0], -1)
        done = np.asarray(factor @ flat).reshape(factor.shape[0], *front.shape[1:])
        cube = np.moveaxis(done, 0, axis)
    return cube


def _norm(parts: list[Floats], q: float) -> Floats:
    stacked = np.stack(parts)
    if q == np.inf:
        return np.asarray(stacked.max(axis=0))
    if q == 1:
        return np.asarray(stacked.sum(axis=0))
    if q == 2:
        return np.asarray(np.sqrt((stacked**2).sum(axis=0)))
    largest = np.maximum(stacked.max(axis=0), 1e-300)
    return np.asarray(largest * ((stacked / largest) ** q).sum(axis=0) ** (1 / q))
