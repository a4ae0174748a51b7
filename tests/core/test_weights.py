import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import voile
from laws import FALSE_ALARM, draws_needed, p_value
from voile.core import weights as integer
from voile.core.randomness import uniform_bits


@given(
    nps.arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 40)),
               elements=st.floats(-1e4, 1e4)),
    st.integers(-1, 40),
)  # fmt: skip
def test_rows_sum_to_the_total_exactly(log_weights, floor):
    weights = integer.quantise(log_weights, floor=floor)
    assert [sum(row) for row in weights.tolist()] == [integer.TOTAL] * len(weights)
    if floor >= 0:
        # Renormalising after the clamp may take its 2**-8 share, never more.
        assert int(weights.min()) >= 2**floor * (1 - 2**-7) - 1


@pytest.mark.parametrize("at_once", [1, 7, 23, 24, 10_000])
def test_how_many_rows_are_worked_on_together_changes_nothing(monkeypatch, at_once):
    table = np.random.default_rng(0).normal(size=(9, 8), scale=5)
    alone = np.vstack([integer.quantise(row[None], floor=20) for row in table])
    monkeypatch.setattr(integer, "_AT_ONCE", at_once)
    assert np.array_equal(integer.quantise(table, floor=20), alone)


@given(nps.arrays(float, st.integers(2, 60), elements=st.floats(-30, 0)))
def test_weights_are_within_a_unit_of_the_real_law(log_weights):
    from fractions import Fraction

    weights = integer.quantise(log_weights[None], floor=-1)[0]
    exact = np.exp(log_weights - log_weights.max())
    total = sum(Fraction(float(value)) for value in exact)
    for weight, value in zip(weights.tolist(), exact.tolist(), strict=True):
        real = Fraction(value) / total * integer.TOTAL
        # One unit of rounding, and a double's relative error on the share itself.
        assert abs(weight - real) <= 2 + real * Fraction(1, 2**50)


def test_equal_rows_stay_equal():
    row = np.random.default_rng(1).normal(size=1001)
    weights = integer.quantise(np.stack([row, row, row - 3.0]), floor=20)
    assert np.array_equal(weights[0], weights[1])


def test_a_hundred_thousand_outputs():
    weights = integer.quantise(np.random.default_rng(1).normal(size=(2, 100_000)) * 9, floor=20)
    assert [sum(row) for row in weights.tolist()] == [integer.TOTAL] * 2


@pytest.mark.parametrize("bad", [[[np.nan, 0.0]], [[-np.inf, -np.inf]], [[np.inf, 0.0]]])
def test_a_row_without_a_law_is_refused(bad):
    with pytest.raises(voile.VoileError, match="finite largest value"):
        integer.quantise(np.array(bad), floor=-1)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=200), st.integers(1, 9))
def test_both_search_paths_agree(rows, outputs):
    """Few draws a row are bisected together, many go through searchsorted: same answer."""
    log_weights = np.random.default_rng(outputs).normal(size=(6, outputs)) * 5
    cumulative = np.cumsum(integer.quantise(log_weights, floor=-1), axis=1, dtype=np.uint64)
    rows = np.array(rows)
    targets = uniform_bits(voile.seeded_rng(3), len(rows), bits=62)
    expected = [
        np.searchsorted(cumulative[r], t, side="right") for r, t in zip(rows, targets, strict=True)
    ]
    assert integer._bisect(cumulative, rows, targets).tolist() == expected
    assert integer.draw(cumulative, rows, voile.seeded_rng(3)).tolist() == expected


def test_every_boundary_of_the_running_sum_falls_to_the_right_output():
    """The draw is exact: output y is taken for W[y] of the 2**62 targets, no more, no fewer."""
    weights = np.array([[5, 0, 7, integer.TOTAL - 12]], dtype=np.uint64)
    cumulative = np.cumsum(weights, axis=1, dtype=np.uint64)
    targets = np.array([0, 4, 5, 11, 12, integer.TOTAL - 1], dtype=np.uint64)
    found = integer._bisect(cumulative, np.zeros(6, dtype=np.intp), targets)
    assert found.tolist() == [0, 0, 2, 2, 3, 3]


def test_draws_follow_the_weights():
    law = np.array([0.5, 0.25, 0.125, 0.0625, 0.0625])
    with np.errstate(divide="ignore"):
        weights = integer.quantise(np.log(law)[None], floor=-1)
    cumulative = np.cumsum(weights, axis=1, dtype=np.uint64)
    biased = law + np.array([0.01, -0.01, 0, 0, 0])
    count = draws_needed(law, biased)
    drawn = integer.draw(cumulative, np.zeros(count, dtype=np.intp), voile.seeded_rng(11))
    assert p_value(np.bincount(drawn, minlength=5), law) > FALSE_ALARM
    liar = np.random.default_rng(11).choice(5, size=count, p=biased)
    assert p_value(np.bincount(liar, minlength=5), law) < FALSE_ALARM


def test_wrong_totals_are_refused():
    with pytest.raises(voile.VoileError, match=r"sum to exactly 2\*\*62"):
        integer.check_rows(np.array([[1, 2]], dtype=np.uint64))
    with pytest.raises(voile.VoileError, match=r"at most 2\*\*62"):
        # Would wrap round to 2**62 in 64-bit arithmetic.
        integer.check_rows(np.array([[2**63, 2**63 + 2**62]], dtype=np.uint64))
