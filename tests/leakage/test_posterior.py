import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from laws import spaces
from voile.attackers.bayes import joint_bayes
from voile.errors import InvalidInput
from voile.leakage.posterior import belief_shift, posterior_leakage


def shift_of(attack, releases):
    after, before = attack.log_posteriors([releases, np.full(len(releases), -1)])
    return belief_shift(after, before)


def plain_loop(shifts, distances, epsilons):
    """All triples, one at a time."""
    values = []
    for shift in shifts:
        for i in range(len(shift)):
            for j in range(i + 1, len(shift)):
                if distances[i, j] > 0:
                    both_out = np.isneginf(shift[i]) and np.isneginf(shift[j])
                    gap = 0.0 if both_out else abs(shift[i] - shift[j])
                    values.append(gap / distances[i, j])
    values = np.array(values)
    return values.max(), [int((values > e).sum()) for e in sorted(epsilons)], len(values)


@given(st.integers(2, 150), st.integers(1, 3), st.integers(0, 2**32), st.booleans())
def test_equals_a_plain_loop(size, releases, seed, impossible):
    rng = np.random.default_rng(seed)
    size = min(size, 40) if releases > 1 else size
    points = rng.integers(0, 6, size=(size, 2)).astype(float)  # with duplicates
    distances = voile.metrics.euclidean().pairwise(points, points)
    if not distances.any():
        return
    shifts = rng.normal(size=(releases, size))
    if impossible:
        shifts[:, rng.integers(size)] = -np.inf
    epsilons = [0.5, 0.1, 2.0]
    found = posterior_leakage(shifts, distances, epsilons=epsilons)
    highest, counts, triples = plain_loop(shifts, distances, epsilons)
    assert found.supremum == pytest.approx(highest)
    assert list(found.violations) == counts
    assert found.triples == triples
    release, i, j = found.worst
    with np.errstate(invalid="ignore"):
        if found.supremum > 0:
            worst = abs(shifts[release, i] - shifts[release, j]) / distances[i, j]
            assert worst == pytest.approx(found.supremum)
    if found.worst_pairs:
        assert found.worst_pairs[0] == (found.supremum, i, j)
        assert len(found.worst_pairs) <= 10
        assert len({pair[1:] for pair in found.worst_pairs}) == len(found.worst_pairs)


@given(spaces(most=10), st.floats(0.05, 5), st.integers(0, 2**32))
def test_single_releases_are_worth_the_certificate(space, epsilon, seed):
    """Proposition 2: for one release, the supremum is the channel's certificate, any prior."""
    channel = voile.mechanisms.exponential(space, epsilon=epsilon)
    distances = space.distances()
    if not distances.any():
        return
    prior = np.random.default_rng(seed).random(len(space)) + 0.01
    prior /= prior.sum()
    law = channel.log_probabilities()
    joint = law + np.log(prior)[:, None]
    log_posterior = (joint - np.log(np.exp(joint).sum(axis=0))).T
    shifts = belief_shift(log_posterior, np.log(prior)[None])
    found = posterior_leakage(shifts, distances, epsilons=[epsilon])
    assert found.supremum == pytest.approx(channel.certificate().epsilon, rel=1e-9, abs=1e-9)
    assert found.violations == (0,)


@given(st.integers(2, 4), st.integers(1, 3), st.floats(0.1, 3), st.integers(0, 2**32))
def test_independent_secrets_do_not_help_each_other(size, length, epsilon, seed):
    """Proposition 3: with a product prior, joint observation leaks no more than one release."""
    rng = np.random.default_rng(seed)
    space = voile.Space(rng.normal(size=(size, 2)), metric=voile.metrics.euclidean())
    channel = voile.mechanisms.exponential(space, epsilon=epsilon)
    marginals = rng.dirichlet(np.ones(size), size=length) + 1e-6
    marginals /= marginals.sum(axis=1, keepdims=True)
    prior = np.ones(())
    for row in marginals:
        prior = np.multiply.outer(prior, row)
    attack = joint_bayes(channel.log_probabilities(), prior / prior.sum())
    for _ in range(5):
        releases = rng.integers(size, size=length)
        shift = shift_of(attack, releases)
        found = posterior_leakage(shift, space.distances(), epsilons=[epsilon])
        assert found.supremum <= channel.certificate().epsilon * (1 + 1e-9) + 1e-9


@given(st.integers(2, 4), st.integers(0, 2**32))
def test_post_processing_never_raises_it(size, seed):
    """Proposition 1: merging outputs, under any joint prior and joint observation."""
    rng = np.random.default_rng(seed)
    space = voile.Space(rng.normal(size=(size, 2)), metric=voile.metrics.euclidean())
    channel = voile.mechanisms.exponential(space, epsilon=2.0)
    mapping = rng.integers(2, size=size)
    merged = channel.merged(mapping, np.arange(2))
    prior = rng.dirichlet(np.full(size * size, 0.3)).reshape(size, size) + 1e-6
    prior /= prior.sum()

    def worst(law):
        attack = joint_bayes(law, prior)
        outputs = law.shape[1]
        every = [np.array([a, b]) for a in range(outputs) for b in range(outputs)]
        used = [r for r in every if np.isfinite(law[:, r]).all()]
        shifts = [shift_of(attack, r) for r in used]
        return posterior_leakage(np.concatenate(shifts), space.distances(), epsilons=[1.0]).supremum

    assert worst(merged.log_probabilities()) <= worst(channel.log_probabilities()) * (1 + 1e-9)


def test_correlation_breaks_the_bound_found_by_search():
    """Per-record privacy holds for every channel searched; joint leakage exceeds it for some."""
    rng = np.random.default_rng(0)
    exceeded = 0
    for _ in range(40):
        space = voile.Space(rng.normal(size=(3, 1)), metric=voile.metrics.euclidean())
        channel = voile.mechanisms.geometric(
            voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean()), epsilon=0.5
        )
        assert channel.certificate().epsilon <= 0.5
        prior = rng.dirichlet(np.full(9, 0.2)).reshape(3, 3) + 1e-4
        attack = joint_bayes(channel.log_probabilities(), prior / prior.sum())
        shift = shift_of(attack, np.array([0, 2]))
        line = voile.metrics.euclidean().pairwise(channel.space.items, channel.space.items)
        exceeded += posterior_leakage(shift, line, epsilons=[0.5]).supremum > 0.5 + 1e-9
        assert len(space) == 3
    assert exceeded > 0


def test_groups_are_streamed_and_kept_apart():
    rng = np.random.default_rng(1)
    distances = voile.metrics.euclidean().pairwise(*[rng.normal(size=(20, 2))] * 2)
    tables = [rng.normal(size=(n, 20)) for n in (1, 4, 2)]
    streamed = posterior_leakage(iter(tables), distances, epsilons=[1.0])
    whole = posterior_leakage(np.concatenate(tables), distances, epsilons=[1.0])
    assert streamed.violations == whole.violations
    assert streamed.supremum == whole.supremum
    assert streamed.worst == whole.worst
    assert streamed.worst_pairs == whole.worst_pairs
    assert streamed.shares.shape == (3, 1)
    mean = np.average(streamed.shares[:, 0], weights=[1, 4, 2])
    assert mean == pytest.approx(whole.violation_shares[0])


@pytest.mark.parametrize(
    ("shifts", "distances", "epsilons", "message"),
    [
        (np.zeros((1, 1)), np.zeros((1, 1)), [1.0], "at least two"),
        (np.zeros((1, 2)), np.zeros((2, 2)), [1.0], "distance above zero"),
        (np.zeros((1, 3)), 1 - np.eye(2), [1.0], "2 candidates wide"),
        (np.zeros((1, 2)), 1 - np.eye(2), [0.0], "finite numbers > 0"),
        (np.zeros((1, 2)), 1 - np.eye(2), [], "finite numbers > 0"),
        (np.full((1, 2), np.nan), 1 - np.eye(2), [1.0], "NaN"),
        (np.zeros((1, 2)), np.zeros((2, 3)), [1.0], "square"),
    ],
)
def test_bad_input(shifts, distances, epsilons, message):
    with pytest.raises(InvalidInput, match=message):
        posterior_leakage(shifts, distances, epsilons=epsilons)


def test_a_candidate_without_a_prior_is_refused():
    with pytest.raises(InvalidInput, match="prior above zero"):
        belief_shift(np.zeros((1, 2)), np.array([[0.0, -np.inf]]))
