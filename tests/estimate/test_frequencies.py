"""Estimates from released values: unbiased exactly, intervals that cover, liars that are caught."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import voile
from voile.errors import InvalidInput, OutsideSpace
from voile.estimate import (
    likeliest_frequencies,
    sample_size,
    two_way_counts,
    unbiased_frequencies,
    unbiased_mean,
    unbiased_table,
)
from voile.estimate.debiasing import scores_of, unbiased_scores
from voile.estimate.intervals import (
    BOUNDED,
    EXACT,
    NORMAL,
    bounded_interval,
    interval,
    quantile,
    worst_variance,
)

rr = voile.mechanisms.randomised_response


def line(levels, epsilon):
    space = voile.Space([[float(i)] for i in range(levels)], metric=voile.metrics.euclidean())
    return voile.mechanisms.geometric(space, epsilon=epsilon)


CHANNELS = [rr(list("abcd"), epsilon=1.0), rr([0, 1], epsilon=0.2), line(6, 0.7)]


@pytest.mark.parametrize("channel", CHANNELS)
def test_scores_are_unbiased_and_sum_to_one(channel):
    scores = unbiased_scores(channel)
    assert scores @ channel.probabilities().T == pytest.approx(np.eye(len(scores)), abs=1e-9)
    assert scores.sum(axis=0) == pytest.approx(np.ones(scores.shape[1]), abs=1e-9)


def test_the_textbook_estimator_of_randomised_response():
    k, epsilon = 5, 1.2
    channel = rr(list(range(k)), epsilon=epsilon)
    counts = np.array([100, 250, 300, 150, 200])
    p = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    q = (1 - p) / (k - 1)
    expected = (counts / 1000 - q) / (p - q)
    found = unbiased_frequencies(channel, counts=counts)
    assert found.shares == pytest.approx(expected, abs=1e-7)
    assert found.ground == EXACT
    assert found.shares.sum() == pytest.approx(1)


def exact_coverage(channel, share, records, confidence, of=interval):
    """The probability that the interval of secret 0 holds its share, summed over all counts."""
    scores = unbiased_scores(channel)[0]
    law = np.array([share, 1 - share]) @ channel.probabilities()
    held = 0.0
    for count in range(records + 1):
        found = of(scores, np.array([count, records - count]), confidence=confidence)
        if found.lower <= share <= found.upper:
            held += binom.pmf(count, records, law[0])
    return held


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_exact_intervals_cover_whatever_the_truth(epsilon, share):
    channel = rr(["ill", "well"], epsilon=epsilon)
    for records in (20, 300):
        held = exact_coverage(channel, share, records, 0.95)
        assert held >= 0.95
        assert held <= 0.999


def test_a_planted_interval_without_the_noise_is_caught():
    """A liar debiases the value and forgets that the interval is stretched by the same factor."""

    def too_narrow(scores, counts, *, confidence):
        found = interval(scores, counts, confidence=confidence)
        half = quantile(confidence) * np.sqrt(max(found.value * (1 - found.value), 0.0) / 300)
        return type(found)(found.value, found.value - half, found.value + half, 0.95, 300, EXACT)

    channel = rr(["ill", "well"], epsilon=0.5)
    assert exact_coverage(channel, 0.3, 300, 0.95, of=too_narrow) < 0.6
    assert exact_coverage(channel, 0.3, 300, 0.8) < 0.95  # nor is 80 % taken for 95 %


def drawn(channel, population, records, times, seed):
    rng = np.random.default_rng(seed)
    return rng.multinomial(records, population @ channel.probabilities(), size=times)


def test_normal_intervals_cover_on_a_line():
    """6 standard errors of 2,000 trials below 95 %: a false alarm in 10⁹."""
    channel, population = line(6, 0.7), np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])
    trials = drawn(channel, population, 2_000, 2_000, 5)
    held = np.zeros(6)
    for counts in trials:
        found = unbiased_frequencies(channel, counts=counts)
        held += (found.lower <= population) & (population <= found.upper)
    assert found.ground == NORMAL
    assert (held / 2_000 > 0.92).all()
    assert (held / 2_000 < 0.98).all()


def test_a_planted_debias_factor_is_caught_by_its_mean():
    """Unbiased to 1e-9 in exact expectation; a factor that is off by a per cent is not."""
    channel, population = rr(list("abc"), epsilon=1.0), np.array([0.6, 0.3, 0.1])
    law = population @ channel.probabilities()
    assert unbiased_scores(channel) @ law == pytest.approx(population, abs=1e-9)
    liar = unbiased_scores(rr(list("abc"), epsilon=1.01))
    assert np.abs(liar @ law - population).max() > 1e-3


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 200), min_size=4, max_size=4).filter(any))
def test_the_likeliest_is_no_less_likely_than_any_other(counts):
    channel = rr(list("abcd"), epsilon=0.8)
    counts = np.array(counts)
    found = likeliest_frequencies(channel, counts=counts)
    assert found.shares.sum() == pytest.approx(1)
    assert (found.shares >= 0).all()
    assert (found.lower <= found.shares).all()
    assert (found.shares <= found.upper).all()
    assert found.gap <= 1e-7

    def likelihood(shares):
        return float(counts @ np.log(shares @ channel.probabilities())) / counts.sum()

    best = likelihood(found.shares)
    for other in np.random.default_rng(1).dirichlet(np.ones(4), size=30):
        assert likelihood(other) <= best + 1e-7


def test_em_is_inversion_where_inversion_gives_shares():
    channel = line(5, 1.0)
    population = np.array([0.3, 0.2, 0.2, 0.2, 0.1])
    counts = np.round(1e7 * population @ channel.probabilities()).astype(int)
    plain = unbiased_frequencies(channel, counts=counts)
    likely = likeliest_frequencies(channel, counts=counts, gap=1e-12, steps=100_000)
    assert likely.shares == pytest.approx(plain.shares, abs=1e-4)


def test_em_against_the_peer():
    qif = pytest.importorskip("qif")
    channel = line(5, 1.0)
    counts = np.array([500, 100, 150, 150, 100])
    found = likeliest_frequencies(channel, counts=counts, gap=1e-10, steps=200_000)
    peer = qif.channel.iterative_bayesian_update(
        channel.probabilities(), counts / counts.sum(), np.full(5, 0.2), 1e-12, 200_000
    )
    assert found.shares == pytest.approx(np.asarray(peer[0]).ravel(), abs=2e-3)


def test_em_without_an_inverse_says_so():
    space = voile.Space([0, 1, 2], metric=voile.metrics.discrete())
    claim = voile.Guarantee(5.0, voile.metrics.discrete(), "one value")
    table = np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    channel = voile.Channel.from_probabilities(space, table, claim, outputs=np.array([0, 1]))
    with pytest.raises(InvalidInput, match="tell the 3 secrets apart"):
        unbiased_frequencies(channel, counts=np.array([5, 5]))
    found = likeliest_frequencies(channel, counts=np.array([500, 100]))
    assert found.ground.startswith("none")
    assert found.upper.tolist() == [1, 1, 1]


def test_a_mean_and_its_variance():
    channel, population = line(6, 0.7), np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])
    values = np.arange(6.0)
    trials = drawn(channel, population, 2_000, 2_000, 7)
    found = [unbiased_mean(channel, values, counts=counts) for counts in trials]
    truth = float(values @ population)
    held = np.mean([one.lower <= truth <= one.upper for one in found])
    assert 0.92 < held < 0.98
    spread = np.std([one.value for one in found])
    assert np.mean([one.value for one in found]) == pytest.approx(
        truth, abs=7 * spread / 2_000**0.5
    )
    half = np.mean([(one.upper - one.lower) / 2 for one in found])
    assert half == pytest.approx(1.96 * spread, rel=0.12)


def test_the_sample_size_suffices_at_the_worst_population_and_no_less_would():
    channel = line(4, 0.9)
    values = np.array([0.0, 1.0, 2.0, 5.0])
    worst = worst_variance(channel, values)
    scores = values @ unbiased_scores(channel)
    most = 0.0
    for population in np.random.default_rng(2).dirichlet(np.full(4, 0.3), size=4_000):
        law = population @ channel.probabilities()
        most = max(most, float(law @ scores**2 - (law @ scores) ** 2))
    assert most <= worst * (1 + 1e-9)
    assert most >= 0.97 * worst
    needed = sample_size(channel, half_width=0.1, values=values)
    assert needed == int(np.ceil(quantile(0.95) ** 2 * worst / 0.01))


def test_a_two_way_table_from_two_noisy_columns():
    first, second = rr(list("abc"), epsilon=1.5), line(4, 1.0)
    joint = np.random.default_rng(4).dirichlet(np.ones(12)).reshape(3, 4)
    law = first.probabilities().T @ joint @ second.probabilities()
    rng = np.random.default_rng(6)
    held, mean = np.zeros((3, 4)), np.zeros((3, 4))
    for _ in range(800):
        counts = rng.multinomial(5_000, law.ravel()).reshape(law.shape)
        found = unbiased_table(first, second, counts)
        held += (found.lower <= joint) & (joint <= found.upper)
        mean += found.shares / 800
    assert (held / 800 > 0.90).all()
    assert mean == pytest.approx(joint, abs=0.01)


def test_counting_pairs():
    first, second = rr([0, 1], epsilon=1.0), rr([0, 1, 2], epsilon=1.0)
    counts = two_way_counts(first, second, np.array([[0, 2], [1, 0], [0, 2]]))
    assert counts.tolist() == [[0, 0, 2], [1, 0, 0]]
    for bad in ([], [[0, 3]], [[0]], [[0.5, 1.0]]):
        with pytest.raises(InvalidInput):
            two_way_counts(first, second, np.array(bad))


def test_bad_input():
    channel = rr(["a", "b"], epsilon=1.0)
    with pytest.raises(InvalidInput, match="at least one"):
        unbiased_frequencies(channel, [])
    with pytest.raises(OutsideSpace):
        unbiased_frequencies(channel, ["a", "z"])
    with pytest.raises(InvalidInput, match="either releases or counts"):
        unbiased_frequencies(channel)
    with pytest.raises(InvalidInput, match="whole numbers"):
        unbiased_frequencies(channel, counts=np.array([0.5, 0.5]))
    with pytest.raises(InvalidInput, match="at least one"):
        unbiased_frequencies(channel, counts=np.array([0, 0]))
    with pytest.raises(InvalidInput, match="confidence"):
        unbiased_frequencies(channel, ["a"], confidence=1.0)
    with pytest.raises(InvalidInput, match="normal approximation"):
        unbiased_frequencies(line(4, 1.0), counts=np.array([3, 3, 3, 3]))
    with pytest.raises(InvalidInput, match="finite numbers"):
        unbiased_mean(channel, [1.0, np.nan], ["a"])
    with pytest.raises(InvalidInput, match="half_width"):
        sample_size(channel, half_width=0)


def test_a_mean_that_rare_values_make_is_held():
    """200 records of which none shows the value that one in 300 has: no normal one is taken."""
    scores, counts = np.array([0.0, 1.0, 1000.0]), np.array([150, 50, 0])
    truth = 0.25 + 1000 / 300
    assert interval(scores, counts, confidence=0.95).ground == BOUNDED
    assert interval(scores, counts, confidence=0.95).upper >= truth
    found = bounded_interval(scores, counts, confidence=0.95)
    assert found.lower <= truth <= found.upper
    assert found.value == pytest.approx(0.25)


@pytest.mark.parametrize(("records", "share"), [(100, 0.01), (200, 0.01), (1000, 0.002)])
def test_intervals_cover_where_few_records_carry_the_score(records, share):
    """The normal interval alone missed in one of six; here the ground is said, and it holds."""
    law = np.kron(line(8, 8.0).probabilities(), rr([0, 1], epsilon=8.0).probabilities())
    scores = np.repeat(np.eye(8), 2, axis=1)[4] @ scores_of(law)
    secret = np.full(8, 0.0)
    secret[4], secret[[0, 1, 7]] = share, (1 - share) / 3
    outputs = np.repeat(secret / 2, 2) @ law
    draws = np.random.default_rng(1).multinomial(records, outputs / outputs.sum(), size=600)
    found = [interval(scores, counts, confidence=0.95) for counts in draws]
    assert {one.ground for one in found} == {BOUNDED}
    missed = sum(not one.lower <= share <= one.upper for one in found)
    assert missed <= binom.ppf(1 - 1e-9, 600, 0.05)
    many = interval(scores, 100_000 * outputs.round(5), confidence=0.95)
    assert many.ground == NORMAL
