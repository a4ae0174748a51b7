"""The estimator against closed forms, paper numbers and exact coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

import voile
from voile.audit.empirical import (
    ceiling,
    clopper_pearson,
    epsilon_of_success,
    from_rates,
    from_successes,
    shared,
)
from voile.errors import InvalidInput


@pytest.mark.parametrize(
    ("trials", "candidates", "golden"),
    [
        (10_000, 2, 7.54269),  # TeDA, section 4.2: the dashed line at 7.54
        (1_000_000, 2, 12.148),
        (10_000, 4, 8.641),
        (10_000, 8, 9.489),
        (10_000, 16, 10.251),
    ],
)
def test_ceilings_of_the_paper(trials, candidates, golden):
    digits = len(str(golden).split(".")[1])
    assert round(ceiling(trials, candidates=candidates), digits) == golden


@pytest.mark.parametrize(
    ("tail", "golden"), [(0.05, 8.113), (0.025, 7.905), (0.01, 7.683), (0.0025, 7.420)]
)
def test_ceilings_at_other_tails(tail, golden):
    assert round(ceiling(10_000, candidates=2, failure_probability=2 * tail), 3) == golden


@given(st.integers(1, 3000), st.data())
def test_ends_are_beta_quantiles(trials, data):
    successes = data.draw(st.integers(0, trials))
    low, high = clopper_pearson(successes, trials, failure_probability=0.02)
    if successes:
        assert low == pytest.approx(beta.ppf(0.01, successes, trials - successes + 1), rel=1e-9)
    if successes < trials:
        assert high == pytest.approx(beta.ppf(0.99, successes + 1, trials - successes), rel=1e-9)
    assert low <= successes / trials <= high


@pytest.mark.parametrize("trials", [10, 77, 400])
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01])
def test_coverage_is_at_least_nominal_exactly(trials, alpha):
    """Summed over all outcomes, not simulated: the interval may miss with α at most, at any p."""
    counts = np.arange(trials + 1)
    ends = np.array([clopper_pearson(int(s), trials, failure_probability=alpha) for s in counts])
    for p in np.linspace(0.003, 0.997, 331):
        mass = binom.pmf(counts, trials, p)
        assert mass[ends[:, 0] > p].sum() <= alpha / 2 + 1e-12
        assert mass[ends[:, 1] < p].sum() <= alpha / 2 + 1e-12


def test_a_normal_interval_would_fail_that_test():
    """The planted bug: mean ± z·s.e. misses far more often than it says near the ends."""
    trials, p, counts = 400, 0.997, np.arange(401)
    share = counts / trials
    high = share + 2.576 * np.sqrt(share * (1 - share) / trials)
    low = share - 2.576 * np.sqrt(share * (1 - share) / trials)
    missed = (low > p) | (high < p)
    assert binom.pmf(counts, trials, p)[missed].sum() > 0.05


@pytest.mark.parametrize(("labels", "epsilon"), [(2, 1.0), (10, 1.0), (4, 3.0)])
def test_a_thousand_audits_of_randomised_response_cover_the_truth(labels, epsilon):
    """The epsilon that a game of two can show is known; 1,000 whole audits must hold it."""
    keep = math.exp(epsilon) / (math.exp(epsilon) + labels - 1)
    other = (1 - keep) / (labels - 1)
    success = keep + (labels - 2) * other / 2  # a label of neither candidate is a coin toss
    truth = epsilon_of_success(success, candidates=2)
    assert truth <= epsilon + 1e-12
    wins = voile.seeded_rng(5).binomial(500, success, size=1000)
    held = 0
    for won in wins:
        estimate = from_successes(int(won), 500, candidates=2, failure_probability=0.05)
        held += estimate.lower <= truth <= estimate.upper
        assert estimate.lower <= estimate.middle <= estimate.upper
    # a miss has probability ≤ 0.05: more than 92 in 1,000 happen with probability below 1e-8
    assert 1000 - held <= 92


@given(st.floats(0.01, 6), st.integers(2, 20))
def test_success_and_epsilon_are_inverse(epsilon, candidates):
    label = voile.Guarantee(epsilon, voile.metrics.discrete(), "one text")
    best = label.best_guess(candidates=candidates)
    assert epsilon_of_success(best, candidates=candidates) == pytest.approx(epsilon, rel=1e-9)


@given(st.floats(0.01, 4), st.floats(0, 0.05), st.integers(2, 9))
def test_delta_is_paid_for(epsilon, delta, candidates):
    """What (ε, δ) allows is never reported as more than ε."""
    text = voile.Guarantee(epsilon, voile.metrics.discrete(), "one text", delta=delta)
    best = text.best_guess(candidates=candidates)
    if best < 1:
        assert epsilon_of_success(best, candidates=candidates, delta=delta) <= epsilon + 1e-9


def test_guards():
    assert epsilon_of_success(0.001, candidates=2, delta=0.01) == 0.0
    assert epsilon_of_success(0.2, candidates=2) == 0.0  # worse than guessing is no evidence
    assert from_successes(0, 10, candidates=2).lower == 0.0
    assert from_rates(0, 10, 10, 10).lower == 0.0
    with pytest.raises(InvalidInput, match="successes must be between 0 and 10, got 11"):
        clopper_pearson(11, 10, failure_probability=0.1)
    with pytest.raises(InvalidInput, match="candidates must be >= 2"):
        from_successes(1, 2, candidates=1)


def test_sharing_keeps_the_whole_run_honest():
    """Twenty attacks on pure noise: unshared, a false alarm is likely; shared, it is rare."""
    rng = voile.seeded_rng(11)
    alarms = {0.2: 0, shared(0.2, among=20): 0}
    for _ in range(200):
        wins = rng.binomial(300, 0.5, size=20)
        for each in alarms:
            found = [
                from_successes(int(w), 300, candidates=2, failure_probability=each).lower > 0
                for w in wins
            ]
            alarms[each] += any(found)
    assert alarms[0.2] > 120  # about 1 − 0.9^20 of 200
    assert alarms[0.01] <= 50  # at most 0.1 expected; 1e-9 beyond this


def test_ldp_auditors_randomised_response():
    """GRR with k = 100, ε = 1 and 10⁶ trials: LDP-Auditor printed 0.961.

    The expected counts give 0.955; one audit spreads by 0.012 around it, so 0.961 is inside.
    """
    channel = voile.mechanisms.randomised_response([str(i) for i in range(100)], epsilon=1.0)
    rng = voile.seeded_rng(1)
    trials = 1_000_000
    hits = [int((channel.draw(np.full(trials, v), rng) == 0).sum()) for v in (0, 99)]
    estimate = from_rates(hits[0], trials, hits[1], trials, failure_probability=0.01)
    keep = math.e / (math.e + 99)
    expected = from_rates(round(trials * keep), trials, round(trials * keep / math.e), trials)
    assert expected.lower == pytest.approx(0.955, abs=0.0005)
    assert estimate.lower == pytest.approx(expected.lower, abs=6 * 0.012)
    assert abs(0.961 - expected.lower) < 0.012
    assert estimate.lower < 1.0 < estimate.upper
