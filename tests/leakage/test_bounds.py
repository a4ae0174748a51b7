import math

import numpy as np
import pytest
from scipy.stats import binom

from voile.errors import InvalidInput
from voile.leakage.bounds import (
    chernoff_interval,
    clopper_pearson,
    groups_needed,
    hoeffding_log10_failure,
)


@pytest.mark.parametrize(
    ("samples", "delta", "share", "expected"),
    [
        (11_214_777, 0.063, 0.0344, -7967.47),
        (11_214_777, 0.063, 0.06, -87.37),
        (49_141_440, 0.1365, 0.0004, -790639.07),
    ],
)
def test_golden_failure_probabilities(samples, delta, share, expected):
    """mPL paper, Table 3."""
    found = hoeffding_log10_failure(samples=samples, delta=delta, share=share)
    assert found == pytest.approx(expected, abs=5e-3)


def test_no_statement_where_the_share_is_not_below_delta():
    assert hoeffding_log10_failure(samples=10**9, delta=0.05, share=0.05) == 0.0
    assert hoeffding_log10_failure(samples=1, delta=0.05, share=0.049) == 0.0


def test_clopper_pearson_closed_forms():
    low, high = clopper_pearson(successes=0, samples=50, failure_probability=0.1)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.05 ** (1 / 50))
    low, high = clopper_pearson(successes=50, samples=50, failure_probability=0.1)
    assert high == 1.0
    assert low == pytest.approx(0.05 ** (1 / 50))


@pytest.mark.parametrize("p", [0.01, 0.2, 0.5])
def test_coverage(p):
    """Both intervals miss at most as often as they say, for coins and for correlated groups."""
    rng = np.random.default_rng(7)
    missed = {"binomial": 0, "groups": 0, "naive": 0}
    for _ in range(400):
        # 40 groups of 50 triples that are all alike inside a group: the worst correlation.
        groups = (rng.random(40) < p).astype(float)
        low, high = chernoff_interval(mean=groups.mean(), clusters=40, failure_probability=0.05)
        missed["groups"] += not low <= p <= high
        low, high = clopper_pearson(
            successes=int(groups.sum()) * 50, samples=2000, failure_probability=0.05
        )
        missed["naive"] += not low <= p <= high
        low, high = clopper_pearson(
            successes=int(groups.sum()), samples=40, failure_probability=0.05
        )
        missed["binomial"] += not low <= p <= high
    most = binom.isf(1e-9, 400, 0.05)  # what an interval of exactly 95 % stays below
    assert missed["groups"] <= most
    assert missed["binomial"] <= most
    assert missed["naive"] > 100  # counting triples as independent is wrong most of the time


def test_chernoff_is_tighter_than_hoeffding():
    _, high = chernoff_interval(mean=0.01, clusters=1000, failure_probability=0.05)
    assert high < 0.01 + math.sqrt(math.log(40) / 2000)


def test_planned_groups_suffice_and_fewer_do_not():
    count = groups_needed(delta=0.05, share=0.02, failure_probability=0.01)
    _, high = chernoff_interval(mean=0.02, clusters=count, failure_probability=0.01)
    assert high <= 0.05 + 1e-9
    _, high = chernoff_interval(mean=0.02, clusters=count - 1, failure_probability=0.01)
    assert high > 0.05


@pytest.mark.parametrize(
    "call",
    [
        lambda: groups_needed(delta=0.05, share=0.05, failure_probability=0.01),
        lambda: chernoff_interval(mean=1.5, clusters=10, failure_probability=0.01),
        lambda: chernoff_interval(mean=0.5, clusters=0, failure_probability=0.01),
        lambda: clopper_pearson(successes=1, samples=2, failure_probability=0.0),
        lambda: hoeffding_log10_failure(samples=1, delta=0.0, share=0.0),
    ],
)
def test_bad_input(call):
    with pytest.raises(InvalidInput):
        call()
