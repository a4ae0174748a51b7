"""What may be an item: a value that is kept as it was given and equals itself."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import voile
from voile.core.space import as_items, as_positions
from voile.errors import InvalidInput, OutsideSpace, VoileError

ANY = voile.metrics.discrete()


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    "values",
    [
        [],
        [[]],
        [[], []],
        5,
        "text",
        [[[1.0]]],
        [[1.0], [1.0, 2.0]],
        ["1", 1],
        [1, "1"],
        [float("nan")],
        [[0.0], [float("inf")]],
        [complex("nan")],
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
        objects("a", float("nan")),
        objects(np.array([1, 2]), np.array([1, 2])),
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    ],
    ids=repr,
)
def test_what_is_no_item_is_refused(values):
    with pytest.raises(InvalidInput):
        as_items(values)


def test_the_absent_value_of_pandas_is_no_item():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidInput):
        as_items(objects("a", pandas.NA))
    with pytest.raises(InvalidInput, match=r"missing|compared"):
        as_items(pandas.Series(["a", None, float("nan")], dtype=object))


@given(
    nps.arrays(
        st.sampled_from([np.float64, np.float32, np.int8, np.uint64, np.bool_, np.dtype("U3")]),
        nps.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    )
)
def test_any_array_is_taken_whole_or_refused(array):
    try:
        items = as_items(array)
    except VoileError:
        return
    short = array.dtype.kind == "f" and array.dtype.itemsize < 8
    assert items.dtype == (np.float64 if short else array.dtype)
    assert np.array_equal(items, array)
    assert not items.flags.writeable
    space = voile.Space(array, metric=ANY)
    positions = space.index(items)
    assert np.array_equal(space.items[positions], items)
    distances = space.distances()
    assert not np.diagonal(distances).any()
    assert np.array_equal(distances, distances.T)


@pytest.mark.parametrize(
    "values",
    [[[1, 2], [3]], [[["a"]]], "a", objects([1], [2]), objects({}, {})],
    ids=["ragged", "deep", "one", "lists", "sets"],
)
def test_a_question_of_another_form_is_an_error_of_ours(values):
    labels = voile.Space(["a", "b"], metric=ANY)
    with pytest.raises(InvalidInput):
        labels.index(values)


def test_true_is_not_one():
    ones = voile.Space([0, 1], metric=ANY)
    with pytest.raises(OutsideSpace):
        ones.index([True])
    flags = voile.Space([False, True], metric=ANY)
    assert flags.index([True, False]).tolist() == [1, 0]
    with pytest.raises(OutsideSpace):
        flags.index([1])
    pairs = voile.Space(np.array([[True, False], [False, True]]), metric=ANY)
    assert pairs.index(np.array([[False, True]])).tolist() == [1]


def test_zero_has_no_sign():
    zeros = voile.Space([[0.0], [-0.0]], metric=voile.metrics.euclidean())
    assert not zeros.distances().any()
    assert zeros.index([[-0.0]]).tolist() == [0]
    assert voile.mechanisms.exponential(zeros, epsilon=1.0).certificate().epsilon == 0.0


def test_the_nearest_of_what_is_no_point():
    line = voile.Space([[0.0], [1.0]], metric=voile.metrics.euclidean())
    assert line.nearest(np.empty((0, 1))).tolist() == []
    for wrong in ([[float("nan")]], [[float("inf")]], ["a"], [0.4], [[None]]):
        with pytest.raises(InvalidInput):
            line.nearest(wrong)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_space_travels_and_stays_read_only(again):
    found = again(voile.Space([[0.0], [1.0]], metric=voile.metrics.euclidean()))
    assert not found.items.flags.writeable
    assert found.diameter() == 1.0


def test_positions_are_whole():
    assert as_positions(np.array([2, 0], dtype=np.uint8), name="x", below=3).tolist() == [2, 0]
    for wrong in ([0.0], ["0"], [True], [[0]], [3], [-1]):
        with pytest.raises(InvalidInput, match="x must be"):
            as_positions(wrong, name="x", below=3)


def test_levels_are_whole_too():
    channel = voile.mechanisms.randomised_response(["a", "b"], epsilon=1.0)
    with pytest.raises(InvalidInput, match="levels must be"):
        voile.mechanisms.tiered([channel, channel], levels=[0.9, 1.2])


@pytest.mark.parametrize("items", [[[5], [3], [1]], [[200], [100], [0]]])
def test_falling_numbers_are_no_even_line_in_any_type(items):
    for kind in (np.uint8, np.uint64, np.int64, float):
        line = voile.Space(np.array(items, dtype=kind), metric=voile.metrics.euclidean())
        with pytest.raises(InvalidInput, match="increasing"):
            voile.mechanisms.geometric(line, epsilon=1.0)


def test_narrow_integers_are_an_even_line():
    line = voile.Space(np.array([[-100], [0], [100]], dtype=np.int8), metric=voile.metrics.lp(1))
    assert voile.mechanisms.geometric(line, epsilon=0.01).certificate().epsilon <= 0.01


def test_rows_that_differ_by_a_unit_have_a_spread():
    """Beyond the digits of a double: equal as doubles, and not released alike."""
    space = voile.Space(["a", "b"], metric=ANY)
    weights = np.full((2, 2), 2**61, dtype=np.uint64)
    weights[1] += np.array([1, -1]).astype(np.uint64)
    guarantee = voile.Guarantee(1e-12, ANY, "one label")
    both = voile.mechanisms.columnwise([voile.Channel(space, space.items, weights, guarantee)])
    assert both.guarantee.epsilon >= 2.0**-60
    alike = voile.Channel(space, space.items, weights[[0, 0]], guarantee)
    assert voile.mechanisms.columnwise([alike]).guarantee.epsilon == 0.0


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_half_and_single_precision_become_doubles(kind):
    """Distances are those of the numbers given, not of sines in half precision."""
    places = np.array([[41.9, 12.5], [41.90001, 12.5], [41.9, 12.50002]]).astype(kind)
    space = voile.Space(places, metric=voile.metrics.haversine())
    double = voile.Space(places.astype(float), metric=voile.metrics.haversine())
    assert space.items.dtype == np.float64
    assert np.array_equal(space.distances(), double.distances())
