"""Distances at the ends of the number range: right, or an error; never infinite, never NaN."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from voile.core.metric import Metric
from voile.errors import GuaranteeBroken, InvalidInput

POWERS = [1.0, 1.5, 2.0, 3.0, 64.0, 400.0, math.inf]


def exact(p, a, b):
    """The distance by rationals, roots taken of a number near 1."""
    gaps = [abs(Fraction(x) - Fraction(y)) for x, y in zip(a, b, strict=True)]
    most = max(gaps)
    if p == math.inf or not most:
        return float(most)
    if p == 1:
        return float(sum(gaps))
    return float(most) * math.fsum(float(gap / most) ** p for gap in gaps) ** (1 / p)


numbers = st.floats(-300, 300).map(lambda power: 10.0**power) | st.just(0.0)
signed = st.tuples(numbers, st.sampled_from([1, -1])).map(math.prod)


@given(st.lists(signed, min_size=2, max_size=2), st.lists(signed, min_size=2, max_size=2))
def test_no_power_over_or_underflows(a, b):
    for p in POWERS:
        found = voile.metrics.lp(p).pairwise(np.array([a]), np.array([b]))[0, 0]
        assert found == pytest.approx(exact(p, a, b), rel=1e-12, abs=0)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1), st.sampled_from(POWERS))
def test_integers_are_subtracted_as_integers(a, b, p):
    points = np.array([[a], [b]], dtype=np.int64)
    found = voile.metrics.lp(p).pairwise(points, points)
    assert found[0, 1] == found[1, 0] == float(abs(a - b))


def test_unsigned_and_narrow_integers():
    wide = np.array([[2**64 - 1, 0], [2**64 - 3, 0]], dtype=np.uint64)
    assert voile.metrics.euclidean().pairwise(wide, wide)[0, 1] == 2.0
    narrow = np.array([[-128], [127]], dtype=np.int8)
    for p in POWERS:
        assert voile.metrics.lp(p).pairwise(narrow, narrow)[0, 1] == 255.0
    angles = voile.metrics.angular().pairwise(
        np.array([[-128, 0]], dtype=np.int8), np.array([[0, 1], [-1, 0]], dtype=np.int8)
    )
    assert angles[0] == pytest.approx([math.pi / 2, 0.0])


def test_time_stamps_in_nanoseconds_keep_their_claim():
    """1.7e18 ns: doubles are 256 apart there, and distances were up to 8 times too large."""
    start = 1_700_000_000_000_000_000
    stamps = np.array([[start], [start + 1], [start + 17], [start + 300]], dtype=np.int64)
    space = voile.Space(stamps, metric=voile.metrics.euclidean(unit="ns"))
    assert space.distances()[0].tolist() == [0.0, 1.0, 17.0, 300.0]
    channel = voile.mechanisms.exponential(space, epsilon=0.01)
    logs = channel.log_probabilities()
    for i, j in ((0, 1), (1, 2), (2, 3)):
        apart = abs(int(stamps[i, 0]) - int(stamps[j, 0]))
        assert np.abs(logs[i] - logs[j]).max() <= 0.01 * apart * (1 + 1e-9)
    even = voile.Space(stamps[:2], metric=voile.metrics.euclidean(unit="ns"))
    assert voile.mechanisms.geometric(even, epsilon=0.5).certificate().epsilon <= 0.5


def test_integers_that_doubles_cannot_hold_are_not_rounded_in_silence():
    with pytest.raises(InvalidInput, match="numbers that doubles hold"):
        voile.Space([[2**53 + 1], [0.5]], metric=voile.metrics.euclidean())
    with pytest.raises(InvalidInput, match="numbers that doubles hold"):
        voile.Space([[2**63 + 1], [-1]], metric=voile.metrics.euclidean())
    assert voile.Space([[2**53], [0.5]], metric=voile.metrics.euclidean()).diameter() == 2.0**53


def test_extended_doubles_keep_their_digits():
    one = np.array([[np.longdouble(1)], [np.longdouble(1) + np.longdouble(2) ** -60]])
    if one[0, 0] == one[1, 0]:
        pytest.skip("long doubles are doubles here")
    assert voile.metrics.euclidean().pairwise(one, one)[0, 1] == 2.0**-60


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_a_distance_beyond_all_doubles_is_an_error(p):
    ends = voile.Space([[-1.7e308], [1.7e308]], metric=voile.metrics.lp(p))
    with pytest.raises(InvalidInput, match="distances must be finite"):
        ends.distances()
    with pytest.raises(InvalidInput, match="distances must be finite"):
        voile.mechanisms.exponential(ends, epsilon=1e-6)


@pytest.mark.parametrize("p", [64.0, 400.0])
def test_a_far_pair_is_certified_by_its_distance(p):
    """1e5 to the power of 64 overflows; what is certified is 1e5 all the same."""
    far = voile.Space([[0.0], [1e5]], metric=voile.metrics.lp(p))
    assert far.diameter() == 1e5
    channel = voile.mechanisms.exponential(far, epsilon=1e-6)
    logs = channel.log_probabilities()
    true = np.abs(logs[0] - logs[1]).max() / 1e5
    assert channel.certificate().lower * (1 - 1e-6) <= true <= channel.certificate().epsilon
    guarantee = voile.Guarantee(1e-9, far.metric, "one place")
    with pytest.raises(GuaranteeBroken):
        voile.Channel.from_probabilities(far, [[0.98, 0.02], [0.02, 0.98]], guarantee)


@pytest.mark.parametrize("gap", [1e-200, 5e-324])
def test_points_that_differ_are_apart_however_near(gap):
    near = voile.Space([[0.0, 0.0], [gap, gap]], metric=voile.metrics.euclidean())
    assert near.smallest_distance() == pytest.approx(gap * math.sqrt(2), rel=0.5)
    three = voile.Space([[0.0, 0.0], [gap, gap], [1.0, 1.0]], metric=near.metric)
    channel = voile.mechanisms.exponential(three, epsilon=1.0)
    assert np.array_equal(channel.weights[0], channel.weights[1])  # or no integers would do
    other = channel.weights.copy()
    other[1] += np.array([1, -1, 0]).astype(np.uint64)
    with pytest.raises(GuaranteeBroken):
        voile.Channel(three, channel.outputs, other, channel.guarantee)


@pytest.mark.parametrize(
    "wrong", [math.inf, -math.inf, math.nan, -1.0, 3.0], ids=["inf", "-inf", "NaN", "< 0", "far"]
)
def test_a_metric_of_ones_own_is_held_to_it(wrong):
    def distance(left, right):
        table = (left[:, None] != right[None, :]).astype(float)
        table[table > 0] = wrong
        return table

    space = voile.Space([0, 1], metric=Metric("mine", "step", distance, largest=2.0))
    with pytest.raises(InvalidInput, match="distances must be"):
        space.distances()
    with pytest.raises(InvalidInput, match="distances must be"):
        voile.mechanisms.exponential(space, epsilon=1.0)


def test_only_an_extended_metric_may_say_infinity():
    def distance(left, right):
        return np.where(left[:, None] == right[None, :], 0.0, np.inf)

    metric = Metric("islands", "step", distance, extended=True)
    assert math.isinf(voile.Space([0, 1], metric=metric).diameter())


def test_rows_of_two_forms_have_no_distance():
    for metric in (voile.metrics.euclidean(), voile.metrics.hamming(), voile.metrics.discrete()):
        with pytest.raises(InvalidInput, match="of one form"):
            metric.pairwise(np.zeros((2, 2)), np.zeros((2, 3)))
    space = voile.Space([[0.0, 0.0], [1.0, 1.0]], metric=voile.metrics.euclidean())
    with pytest.raises(InvalidInput, match="rows of numbers"):
        voile.mechanisms.exponential(space, epsilon=1.0, outputs=[0.0, 1.0])
    with pytest.raises(InvalidInput, match="of one form"):
        voile.mechanisms.exponential(space, epsilon=1.0, outputs=[[0.0], [1.0]])


def test_a_zero_off_the_diagonal_is_a_distance():
    closed = voile.metrics.shortest_path_closure([[0, 0, 9], [0, 0, 1], [9, 1, 0]])
    assert closed.tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert voile.metrics.precomputed(closed).is_metric


@given(st.integers(2, 7), st.integers(0, 2**32))
def test_the_closure_is_what_all_paths_give(size, seed):
    """Against Bellman's plain iteration, with zeros, duplicates and huge entries."""
    rng = np.random.default_rng(seed)
    table = rng.choice([0.0, 0.5, 1.0, 3.0, 1e300], size=(size, size))
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, 0.0)
    plain = table.copy()
    for _ in range(size):
        plain = np.minimum(plain, (plain[:, :, None] + plain[None, :, :]).min(axis=1))
    assert np.array_equal(voile.metrics.shortest_path_closure(table), plain)


@pytest.mark.parametrize("matrix", [[["0", "1"], ["1", "0"]], [[0j, 1j], [1j, 0j]], [[None]]])
def test_matrices_of_other_things(matrix):
    with pytest.raises(InvalidInput, match="matrix must be numbers"):
        voile.metrics.precomputed(matrix)
