import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from laws import spaces
from voile.errors import BadFile, InvalidInput, NotAMetric
from voile.metrics import metric_from


@given(spaces(most=8))
def test_axioms(space):
    distances = space.distances()
    assert np.array_equal(distances, distances.T)
    assert not np.diagonal(distances).any()
    detours = (distances[:, :, None] + distances[None, :, :]).min(axis=1)
    assert (distances <= detours * (1 + 1e-12) + 1e-15).all()
    assert (distances <= space.metric.largest).all()


@given(spaces(most=8), st.integers(1, 20))
def test_blocks_are_the_whole(space, elements):
    whole = space.distances()
    for rows, block in space.metric.blocks(space.items, space.items, elements=elements):
        assert np.array_equal(block, whole[rows])


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 7.0, math.inf])
def test_lp_formula(p):
    a, b = np.array([[1.0, -2.0, 0.5]]), np.array([[0.0, 2.0, 3.5]])
    found = voile.metrics.lp(p).pairwise(a, b)[0, 0]
    assert found == pytest.approx(np.linalg.norm((a - b)[0], ord=p))


@pytest.mark.parametrize("p", [0.5, 0.999, -1, math.nan])
def test_lp_below_one_is_no_metric(p):
    with pytest.raises(InvalidInput, match="between 1 and infinity"):
        voile.metrics.lp(p)


def test_angular_keeps_digits_where_arccos_loses_them():
    tiny = 1e-9
    a, b = np.array([[1.0, 0.0]]), np.array([[math.cos(tiny), math.sin(tiny)]])
    assert voile.metrics.angular().pairwise(a, b)[0, 0] == pytest.approx(tiny, rel=1e-6)
    assert math.acos(min(1.0, float((a @ b.T)[0, 0]))) == 0.0  # what arccos would say


def test_angular_ignores_length_and_refuses_zero():
    space = voile.Space([[1.0, 1.0], [1e-200, 1e-200], [3.0, 0.0]], metric=voile.metrics.angular())
    assert space.distances()[0].tolist() == pytest.approx([0, 0, math.pi / 4], abs=1e-15)
    with pytest.raises(InvalidInput, match="1 zero rows"):
        voile.Space([[1.0, 1.0], [0.0, 0.0]], metric=voile.metrics.angular())


def test_cosine_distance_fails_the_triangle():
    angles = np.radians([0, 60, 120])
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    distances = voile.metrics.cosine_distance().pairwise(points, points)
    assert distances[0, 2] == pytest.approx(1.5)
    assert distances[0, 1] + distances[1, 2] == pytest.approx(1.0)


def test_haversine_known_distances():
    pole, equator = np.array([[90.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 90.0], [0.0, 180.0]])
    quarter = math.pi / 2 * 6371.0088
    assert voile.metrics.haversine().pairwise(pole, equator)[0] == pytest.approx([quarter] * 3)
    metre = voile.metrics.haversine(unit="m").pairwise(
        np.array([[48.0, 2.0]]), np.array([[48.0 + 1e-6, 2.0]])
    )
    assert metre[0, 0] == pytest.approx(0.11119, rel=1e-3)


def test_haversine_notices_swapped_columns():
    with pytest.raises(InvalidInput, match="swapped"):
        voile.Space([[120.0, 45.0]], metric=voile.metrics.haversine())


def test_precomputed_is_checked_over_all_triples():
    points = np.random.default_rng(1).random((30, 2))
    matrix = voile.metrics.euclidean().pairwise(points, points)
    metric = voile.metrics.precomputed(matrix, unit="minute")
    space = voile.Space(np.arange(30), metric=metric)
    assert np.array_equal(space.distances(), matrix)
    broken = matrix.copy()
    broken[3, 7] = broken[7, 3] = matrix[3, 7] * 5 + 1
    with pytest.raises(NotAMetric, match="shortest_path_closure"):
        voile.metrics.precomputed(broken)
    closed = voile.metrics.shortest_path_closure(broken)
    assert voile.metrics.precomputed(closed).is_metric
    assert (closed <= broken + 1e-15).all()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.0, 1.0], [2.0, 0.0]], "symmetric"),
        ([[0.0, -1.0], [-1.0, 0.0]], "non-negative"),
        ([[1.0, 1.0], [1.0, 0.0]], "diagonal"),
        ([[0.0, 1.0]], "square"),
        ([[0.0, math.nan], [math.nan, 0.0]], "finite"),
    ],
)
def test_matrices_that_are_none(matrix, message):
    with pytest.raises(InvalidInput, match=message):
        voile.metrics.precomputed(np.array(matrix))


def test_precomputed_wants_positions():
    metric = voile.metrics.precomputed(np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(InvalidInput, match="positions"):
        voile.Space([[0.0], [1.0]], metric=metric)
    with pytest.raises(InvalidInput, match="positions below 2"):
        voile.Space([0, 2], metric=metric)


@pytest.mark.parametrize(
    "metric",
    [
        voile.metrics.lp(3.0, unit="km"),
        voile.metrics.chebyshev(unit="m"),
        voile.metrics.angular(),
        voile.metrics.hamming(),
        voile.metrics.discrete(),
        voile.metrics.haversine(unit="m"),
    ],
)
def test_a_metric_comes_back_from_its_name(metric):
    assert metric_from(metric.name, metric.unit, dict(metric.parameters)) == metric


def test_an_unknown_or_inconsistent_name_is_refused():
    with pytest.raises(BadFile, match="does not know"):
        metric_from("levenshtein", "edit", {})
    with pytest.raises(BadFile, match="does not match"):
        metric_from("manhattan", "km", {"p": 2.0})
