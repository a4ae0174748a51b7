from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.errors import InvalidInput
from voile.optimise.cones import _inscribed_polygon, dual_exponent, ratio_cones
from voile.optimise.repair import mend
from voile.optimise.splines import SplineGrid, _basis, _slope, _value

GRIDS = [
    SplineGrid((0.0,), (2.0,), (5,), 2),
    SplineGrid((-1.0, 0.0), (3.0, 1.5), (3, 4), 1),
    SplineGrid((-1.0, 0.0), (3.0, 1.5), (5, 3), 2),
    SplineGrid((0.0, 0.0, 0.0), (1.0, 2.0, 3.0), (2, 3, 2), 2),
    SplineGrid((0.0,), (2.0,), (5,), 2, tension=3.0),
    SplineGrid((-1.0, 0.0), (3.0, 1.5), (5, 3), 2, tension=0.7),
    SplineGrid((0.0, 0.0, 0.0), (1.0, 2.0, 3.0), (2, 3, 2), 2, tension=9.0),
]


def evaluate(grid, coefficients, points):
    index, weight = grid.basis(points)
    return (weight * coefficients[index]).sum(axis=1)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_basis_is_a_partition_of_unity_and_not_negative(grid):
    points = np.random.default_rng(1).uniform(grid.low, grid.high, (500, grid.dimensions))
    _, weight = grid.basis(points)
    assert weight.min() >= 0
    assert np.abs(weight.sum(axis=1) - 1).max() < 1e-14


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_cube_puts_each_coefficient_at_its_place(grid):
    numbers = np.arange(grid.size, dtype=float)
    cube = grid.cube(numbers)
    assert cube.shape == grid.shape
    for where in np.ndindex(*grid.shape):
        assert cube[where] == sum(i * s for i, s in zip(where, grid.strides, strict=True))


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("pieces", [1, 2])
def test_bernstein_rows_bracket_values_and_gradients(grid, pieces):
    """Each value, and each partial derivative, lies between its Bernstein coefficients."""
    rng = np.random.default_rng(2)
    coefficients = rng.normal(size=grid.size)
    index, rows = grid.rows(pieces=pieces)
    found = np.einsum("mdl,ml->md", rows, coefficients[index])
    points = rng.uniform(grid.low, grid.high, (2000, grid.dimensions))
    values = evaluate(grid, coefficients, points)
    assert found[:, 0].min() - 1e-12 <= values.min()
    assert values.max() <= found[:, 0].max() + 1e-12
    for axis in range(grid.dimensions):
        step = np.zeros(grid.dimensions)
        step[axis] = 1e-6
        inner = np.clip(points, np.asarray(grid.low) + 1e-5, np.asarray(grid.high) - 1e-5)
        slope = (
            evaluate(grid, coefficients, inner + step) - evaluate(grid, coefficients, inner - step)
        ) / 2e-6
        column = found[:, 1 + axis]
        assert column.min() - 1e-5 <= slope.min()
        assert slope.max() <= column.max() + 1e-5


def test_bernstein_functions_of_a_piece_rebuild_the_spline():
    """Under tension: values and slopes are convex combinations of the coefficients of a piece."""
    grid, pieces = SplineGrid((0.0,), (2.0,), (4,), 2, tension=5.0), 3
    coefficients = np.random.default_rng(4).normal(size=grid.size)
    index, rows = grid.rows(pieces=pieces)
    found = np.einsum("mdl,ml->md", rows, coefficients[index])
    width = 2.0 / 4 / pieces
    x = np.linspace(0, width, 50)
    top = np.cosh(5.0 * width) - 1
    first, last = (np.cosh(5.0 * (width - x)) - 1) / top, (np.cosh(5.0 * x) - 1) / top
    for piece in range(4 * pieces):
        value, slope = (
            first * b[0] + (1 - first - last) * b[1] + last * b[2]
            for b in found[2 * piece : 2 * piece + 3].T
        )
        at = (piece * width + x)[:, None]
        assert value == pytest.approx(evaluate(grid, coefficients, at), abs=1e-12)
        inner = at[1:-1]
        moved = [evaluate(grid, coefficients, inner + h) for h in (1e-6, -1e-6)]
        assert slope[1:-1] == pytest.approx((moved[0] - moved[1]) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("tension", [0.05, 0.8, 6.0])
def test_the_exponential_is_a_spline_of_its_own_tension(tension):
    """e^(τx) needs no approximation and meets its Bernstein bounds with equality."""
    grid = SplineGrid((0.0,), (3.0,), (6,), 2, tension=tension)
    x = np.linspace(0, 3, 400)[:, None]
    index, weight = grid.basis(x)
    dense = np.zeros((len(x), grid.size))
    np.put_along_axis(dense, index, weight, axis=1)
    wanted = np.exp(-tension * x[:, 0])
    coefficients = np.linalg.lstsq(dense, wanted, rcond=None)[0]
    assert np.abs(dense @ coefficients - wanted).max() < 1e-12
    index, rows = grid.rows(pieces=2)
    value, slope = np.einsum("mdl,ml->dm", rows, coefficients[index])
    assert slope / value == pytest.approx(-tension, rel=1e-6)


@pytest.mark.parametrize("tension", [2e-4, 0.03, 0.5, 2.0, 7.0, 20.0])
def test_tables_and_basis_are_right_to_a_dozen_units_in_the_last_place(tension):
    """What the certificate's rounding term counts on, against forty digits."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 40
        t = Decimal(tension)

        def rise(x, order):  # (cosh tx − 1) and its derivatives, over 2(cosh t − 1)
            up, down = (t * x).exp(), (-t * x).exp()
            value = [(up + down) / 2 - 1, t * (up - down) / 2, t * t * (up + down) / 2][order]
            return value / (t.exp() + (-t).exp() - 2)

        def middle(u, v, order):  # f(u) + f'(u)·tanh(t(v − u)/2)/t
            half = t * (v - u) / 2
            tanh = (half.exp() - (-half).exp()) / (half.exp() + (-half).exp())
            return rise(u, order) + rise(u, order + 1) * tanh / t

        for u, v in ((0.0, 0.0), (0.25, 0.25), (0.5, 0.5), (0.0, 0.5), (0.25, 0.5), (0.5, 1.0)):
            last, first = (middle(Decimal(x), Decimal(y), 0) for x, y in ((u, v), (1 - v, 1 - u)))
            up, down = (middle(Decimal(x), Decimal(y), 1) for x, y in ((u, v), (1 - v, 1 - u)))
            for exact, found in zip(
                (first, 1 - first - last, last, -down, down - up, up),
                (*_value(u, v, tension), *_slope(u, v, tension)),
                strict=True,
            ):
                assert abs(Decimal(found) - exact) <= abs(exact) * Decimal(12 * 2.0**-52)
            if u == v:
                row = _basis(np.array([u]), 2, tension)[0]
                for exact, found in zip((first, 1 - first - last, last), row, strict=True):
                    assert abs(Decimal(float(found)) - exact) <= abs(exact) * Decimal(12 * 2.0**-52)


def test_without_tension_the_limit_is_the_quadratic():
    for tension in (0.0, 1e-5, 2e-3):
        grid = SplineGrid((0.0,), (4.0,), (4,), 2, tension=tension)
        plain = SplineGrid((0.0,), (4.0,), (4,), 2).rows(pieces=2)[1]
        assert grid.rows(pieces=2)[1] == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("tension", [-1.0, np.nan, 1e3])
def test_a_tension_out_of_range_is_refused(tension):
    with pytest.raises(InvalidInput, match="tension"):
        SplineGrid((0.0,), (4.0,), (4,), 2, tension=tension)
    with pytest.raises(InvalidInput, match="tension"):
        SplineGrid((0.0,), (4.0,), (4,), 1, tension=0.5)


def test_points_outside_are_projected():
    grid = GRIDS[2]
    coefficients = np.random.default_rng(3).normal(size=grid.size)
    outside, border = np.array([[9.0, 1.0]]), np.array([[3.0, 1.0]])
    assert evaluate(grid, coefficients, outside) == evaluate(grid, coefficients, border)


@given(st.floats(1.2, 8.0), st.floats(0, 6.3))
@settings(max_examples=200, deadline=None)
def test_inscribed_polygon_asks_for_at_least_the_dual_norm(p, angle):
    q = dual_exponent(p)
    gradient = np.array([np.cos(angle), np.sin(angle)])
    asked = (_inscribed_polygon(q, 24) @ gradient).max()
    norm = np.linalg.norm(gradient, q)
    assert norm * (1 - 1e-9) <= asked <= norm * 1.04


@given(st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_any_table_can_be_mended(seed):
    """Rubbish in, a private table out: the solver's answer is only a proposal."""
    rng = np.random.default_rng(seed)
    n, outputs = 6, 4
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    distance = np.abs(pairs[:, 0] - pairs[:, 1]) * 0.7
    cones = ratio_cones(pairs, distance, n)
    table, _ = mend(rng.normal(size=(outputs, n)), cones, floor=2.0**-30)
    assert np.abs(table.sum(axis=0) - 1).max() < 1e-12
    assert table.min() >= 2.0**-30 * (1 - 1e-9)
    logs = np.log(table)
    ratio = np.abs(logs[:, pairs[:, 0]] - logs[:, pairs[:, 1]]) / distance
    assert ratio.max() <= 1 + 1e-12


def test_zero_distance_is_refused():
    with pytest.raises(InvalidInput, match="merged"):
        ratio_cones(np.array([[0, 1]]), np.array([0.0]), 2)
