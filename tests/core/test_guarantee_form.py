"""The one serial form of a guarantee: complete, JSON to the letter, and refused if it is not it."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from voile.core.guarantee import Basis, Guarantee
from voile.core.metric import Metric
from voile.errors import BadFile, InvalidInput

METRICS = [
    voile.metrics.euclidean(unit="km"),
    voile.metrics.chebyshev(unit="m"),
    voile.metrics.lp(3.5),
    voile.metrics.angular(),
    voile.metrics.haversine(),
    voile.metrics.hamming(),
    voile.metrics.discrete(),
    voile.metrics.precomputed(np.array([[0.0, 1.0], [1.0, 0.0]]), unit="minute"),
]
LABEL = Guarantee(1.5, voile.metrics.discrete(), "one label", Basis.CERTIFIED)


@given(
    st.floats(0, allow_nan=False),
    st.sampled_from(METRICS),
    st.sampled_from(list(Basis)),
    st.floats(0, 1),
    st.lists(st.text(max_size=8), max_size=3).map(tuple),
)
def test_it_comes_back_from_json(epsilon, metric, basis, delta, outside):
    one = Guarantee(epsilon, metric, "one place", basis, delta, outside)
    text = json.dumps(one.to_dict(), allow_nan=False)
    assert Guarantee.from_dict(json.loads(text), metric=metric) == one
    by_name = Guarantee.from_dict(json.loads(text))
    assert by_name.to_dict() == one.to_dict()
    assert by_name.explain() == one.explain()


def test_what_was_read_by_name_composes_and_measures_nothing():
    one, other = (Guarantee.from_dict(LABEL.to_dict()) for _ in range(2))
    assert one == other
    assert one.then(other).epsilon == 3.0
    with pytest.raises(InvalidInput, match="a name and no distances"):
        one.metric.pairwise(np.array([1]), np.array([2]))


def test_the_metric_at_hand_must_be_the_one_that_is_named():
    with pytest.raises(BadFile, match="speaks of"):
        Guarantee.from_dict(LABEL.to_dict(), metric=voile.metrics.hamming())


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": None},
        {"epsilon": -1.0},
        {"epsilon": "1"},
        {"epsilon": True},
        {"epsilon": math.nan},
        {"delta": 2},
        {"basis": "sworn"},
        {"granularity": 3},
        {"outside": [1]},
        {"outside": None},
        {"metric": None},
        {"metric": {"name": "discrete"}},
        {"metric": {"name": "x", "unit": "y", "parameters": {"p": [1]}, "largest": 1.0}},
        {"metric": {"name": "x", "unit": "y", "parameters": {}, "largest": math.nan}},
        {"metric": {"name": 1, "unit": "y", "parameters": {}, "largest": 1.0}},
        {"metric": {"name": "x", "unit": "y", "parameters": [], "largest": "far"}},
    ],
)
def test_another_form_is_refused(change):
    with pytest.raises(voile.VoileError):
        Guarantee.from_dict(LABEL.to_dict() | change)


@pytest.mark.parametrize("field", sorted(LABEL.to_dict()))
def test_no_field_may_be_missing(field):
    record = LABEL.to_dict()
    del record[field]
    with pytest.raises(BadFile):
        Guarantee.from_dict(record)


def test_a_guarantee_of_numpy_numbers_is_one_of_doubles():
    one = Guarantee(np.float32(0.5), METRICS[0], "one place", delta=np.float64(0.0))
    assert type(one.epsilon) is float
    assert json.dumps(one.to_dict(), allow_nan=False)
    for wrong in ("0.5", None, True, np.bool_(True), 1j):
        with pytest.raises(InvalidInput, match="epsilon must be >= 0"):
            Guarantee(wrong, METRICS[0], "one place")


def test_a_metric_of_ones_own_is_equal_to_itself_only():
    """Two functions under one name are two metrics: their guarantees do not add up."""

    def near(left, right):
        return np.abs(left[:, None] - right[None, :]).astype(float)

    def far(left, right):
        return 10 * near(left, right)

    one, other = Metric("mine", "km", near), Metric("mine", "km", far)
    assert one == Metric("mine", "km", near)
    assert one != other
    with pytest.raises(InvalidInput, match="compose only over one metric"):
        Guarantee(1.0, one, "one place").then(Guarantee(1.0, other, "one place"))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_metrics_travel_and_stay_equal(metric):
    import pickle

    again = pickle.loads(pickle.dumps(metric))
    assert again == metric
    assert hash(again) == hash(metric)


def test_tables_make_the_difference_between_looked_up_metrics():
    one = voile.metrics.precomputed(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert one == voile.metrics.precomputed([[0.0, 1.0], [1.0, -0.0]])
    assert one != voile.metrics.precomputed(np.array([[0.0, 2.0], [2.0, 0.0]]))


def test_word_metrics_are_equal_if_their_vectors_are():
    from voile.mechanisms._embedding import Embedding

    vectors = np.random.default_rng(0).normal(size=(9, 3))
    one, same, other = (Embedding.of(v).metric for v in (vectors, vectors, vectors + 1))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
