import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from laws import brute_force_epsilon, epsilons, spaces
from voile.core import weights as integer
from voile.core.certificate import certify


def table(*rows):
    rows = np.array(rows, dtype=object)
    return (rows * (integer.TOTAL // int(sum(rows[0])))).astype(np.uint64)


LINE = voile.Space([[0.0], [1.0], [3.0]], metric=voile.metrics.euclidean(unit="km"))


@given(spaces(most=6), st.integers(1, 5), st.integers(0, 2**32), st.sampled_from([1e-9, 1e-3, 4.0]))
def test_equals_three_plain_loops(space, outputs, seed, spread):
    log_weights = np.random.default_rng(seed).normal(size=(len(space), outputs)) * spread
    weights = integer.quantise(log_weights, floor=20)
    found = certify(space, weights)
    truth = brute_force_epsilon(space, weights)
    if math.isinf(truth):
        assert math.isinf(found.epsilon)
    else:
        assert found.lower <= truth * (1 + 1e-12)
        assert truth <= found.epsilon * (1 + 1e-12)
        # Sixteen roundings of the largest logarithm, over the distance in question.
        assert found.epsilon - found.lower <= 1e-12 * max(1.0, spread) * 60 / max(
            found.distance, 1e-3
        )


def test_names_the_worst_pair_and_output():
    weights = table([2, 1, 1], [2, 1, 1], [1, 1, 2])
    found = certify(LINE, weights)
    # Secrets 1 and 2 are 2 km apart; the factor 2 is reached at outputs 0 and 2.
    assert found.secrets == (1, 2)
    assert found.output in (0, 2)
    assert found.epsilon == pytest.approx(math.log(2) / 2, rel=1e-12)


def test_a_tie_is_decided_by_position_and_not_by_the_last_bit():
    """Two pairs reach the same ratio but for 2^-37 of it; the bound is the larger, to the bit."""
    places = voile.Space([[0.0], [1.0], [9.0], [10.0]], metric=voile.metrics.euclidean())
    hair = np.array([2**22, -(2**22)], dtype=object)
    first, later = np.array([3, 1], dtype=object) * 2**60, np.array([3, 1], dtype=object) * 2**60
    weights = np.array([first, first[::-1], later + hair, (later + hair)[::-1]]).astype(np.uint64)
    found = certify(places, weights)
    assert (found.secrets, found.output) == ((0, 1), 0)
    assert found.epsilon == certify(places, weights[[2, 3, 0, 1]]).epsilon
    alone = certify(voile.Space(places.items[2:], metric=places.metric), weights[2:])
    assert found.lower <= alone.epsilon <= found.epsilon


def test_a_zero_beside_a_non_zero_is_infinite():
    found = certify(LINE, table([2, 1, 1], [2, 0, 2], [2, 1, 1]))
    assert math.isinf(found.epsilon)
    assert found.output == 1
    assert set(found.secrets) == {0, 1}


def test_an_output_that_nobody_releases_is_no_leak():
    assert certify(LINE, table([1, 0], [1, 0], [1, 0])).epsilon == 0


def test_equal_secrets_must_have_equal_rows_to_the_last_unit():
    twins = voile.Space([[0.0], [0.0]], metric=voile.metrics.euclidean())
    same = table([1, 1], [1, 1])
    assert certify(twins, same).epsilon == 0
    off = same.copy()
    off[1] += np.array([1, -1], dtype=np.int64).astype(np.uint64)
    assert math.isinf(certify(twins, off).epsilon)


def test_one_unit_in_2_to_the_61_is_seen():
    """Doubles have 53 bits; a difference in the 61st still counts."""
    weights = table([1, 1], [1, 1], [1, 1])
    weights[2] += np.array([1, -1], dtype=np.int64).astype(np.uint64)
    found = certify(LINE, weights)
    assert found.epsilon == pytest.approx(2.0**-61 / 2, rel=1e-6)


def test_a_single_secret_has_nothing_to_tell():
    alone = voile.Space([[4.0]], metric=voile.metrics.euclidean())
    assert certify(alone, table([3, 1])).epsilon == 0
    assert "alike" in str(certify(alone, table([3, 1])))


@given(spaces(most=8), epsilons, st.integers(0, 2**32))
def test_merging_outputs_never_raises_it(space, epsilon, seed):
    """Post-processing, on random spaces, strengths and maps."""
    rng = np.random.default_rng(seed)
    channel = voile.mechanisms.exponential(space, epsilon=epsilon)
    new_outputs = int(rng.integers(1, len(space) + 1))
    mapping = rng.integers(new_outputs, size=len(space))
    merged = channel.merged(mapping, np.arange(new_outputs))
    # The upper ends may differ by their rounding allowance.
    assert merged.certificate().lower <= channel.certificate().epsilon


def test_blocks_do_not_change_the_answer(monkeypatch):
    from voile.core import certificate

    rng = np.random.default_rng(0)
    space = voile.Space(rng.normal(size=(90, 2)), metric=voile.metrics.euclidean())
    weights = integer.quantise(rng.normal(size=(90, 30)), floor=20)
    whole = certify(space, weights)
    monkeypatch.setattr(
        certificate, "_row_blocks", lambda rows: (slice(i, i + 1) for i in range(rows))
    )
    single = certify(space, weights)
    assert (single.epsilon, single.secrets) == (whole.epsilon, whole.secrets)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[2, 2], [4, 1]], "the same number above 0 in each row, 1 of 2"),
        ([[0, 0], [0, 0]], "the same number above 0"),
        ([[2, -2], [4, 1]], "integers >= 0"),
        ([[0.5, 0.5], [0.5, 0.5]], "integers >= 0"),
        ([[2**63, 1], [2**63, 1]], r"at most 2\*\*62|integers >= 0"),
        ([[1, 1]], "a table of 2 rows"),
        ([[1, 1]] * 3, "a table of 2 rows"),
        ([1, 1], "a table"),
        ([["1", "1"], ["1", "1"]], "integers >= 0"),
    ],
)
def test_what_is_no_table_of_one_total_is_refused(weights, message):
    """[[2, 2], [4, 1]] is 0.5 against 0.8 and 0.5 against 0.2: ln 2.5, and not ln 2."""
    pair = voile.Space([[0.0], [1.0]], metric=voile.metrics.euclidean())
    with pytest.raises(voile.errors.InvalidInput, match=message):
        voile.audit.certificate(pair, np.array(weights), claim=0.7)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64, np.uint64])
def test_a_small_table_of_any_integers_is_audited(kind):
    pair = voile.Space([[0.0], [1.0]], metric=voile.metrics.euclidean())
    table = np.array([[10, 10], [16, 4]], dtype=kind)
    finding = voile.audit.certificate(pair, table, claim=0.7)
    assert finding.verdict == "violated"
    assert finding.lower == pytest.approx(math.log(2.5))


def test_huge_distances_do_not_round_epsilon_down_to_nothing():
    far = voile.Space([[0.0], [1e308]], metric=voile.metrics.euclidean())
    found = certify(far, table([3, 1], [1, 3]))
    exact = Fraction(math.log(3)) / Fraction(1e308)
    assert Fraction(found.lower) <= exact * (1 + Fraction(1, 2**50))
    assert Fraction(found.epsilon) >= exact * (1 - Fraction(1, 2**50))
    weights = table([1, 1], [1, 1])
    weights[1] += np.array([1, -1], dtype=np.int64).astype(np.uint64)
    assert certify(far, weights).epsilon > 0  # 2**-61 / 1e308 is no double


def test_equal_rows_tell_nothing_however_near():
    near = voile.Space([[0.0], [5e-324], [1.0]], metric=voile.metrics.euclidean())
    assert certify(near, table([3, 1], [3, 1], [1, 3])).epsilon == pytest.approx(math.log(3))
    assert math.isinf(certify(near, table([3, 1], [1, 3], [1, 3])).epsilon)
