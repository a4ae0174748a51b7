"""The joint bound holds for every release, by enumeration, and is not wastefully above."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.attackers.markov import MarkovPrior, markov_attack
from voile.errors import InvalidInput
from voile.leakage.joint import joint_bound, largest_ratios, reached


def world(seed, size, *, epsilon=1.0, spread=0.3):
    """Points in a plane, the exponential law over them, a chain that mixes a little."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(size, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    law = np.exp(-epsilon / 2 * distances)
    law /= law.sum(axis=1, keepdims=True)
    steps = 0.95 * rng.dirichlet(np.full(size, spread), size=size) + 0.05 / size
    return law, rng.dirichlet(np.ones(size)), steps, distances


def enumerated(law, start, steps, distances, length):
    """The largest leakage over all pairs, places and releases of exactly this length."""
    from scipy import sparse

    chain = MarkovPrior(start, sparse.csr_array(steps), np.zeros(len(start)))
    attack = markov_attack(np.log(law), chain)
    every = [np.array(y) for y in product(range(law.shape[1]), repeat=length)]
    prior = attack.log_posteriors([np.full(length, -1)])[0]
    shift = np.array(attack.log_posteriors(every)) - prior
    moved = np.abs(shift[..., :, None] - shift[..., None, :])
    apart = distances > 0
    return float((moved[..., apart] / distances[apart]).max())


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(2, 4),
    length=st.integers(1, 4),
    epsilon=st.floats(0.05, 4.0),
    spread=st.floats(0.05, 3.0),
)
def test_no_release_exceeds_the_bound(seed, size, length, epsilon, spread):
    law, start, steps, distances = world(seed, size, epsilon=epsilon, spread=spread)
    found = joint_bound(largest_ratios(np.log(law)), start, steps, distances, length=length)
    for shorter in range(1, length + 1):
        truth = enumerated(law, start, steps, distances, shorter)
        assert truth <= found.joint + 1e-9
    seen = reached(found, law, start, steps, distances)
    assert 0 <= seen <= truth + 1e-9, "some release reaches it, and none more"
    assert found.single <= found.joint + 1e-12
    assert found.joint <= found.any_prior + 1e-12
    if size == 2 or length == 1:  # two secrets have one ratio: nothing is relaxed
        assert found.joint == pytest.approx(truth, abs=1e-5)
        assert seen == pytest.approx(truth, abs=1e-5)


def test_it_is_not_far_above_the_truth():
    """Over twenty chains of four secrets and four releases: a tenth on average."""
    gaps = []
    for seed in range(20):
        law, start, steps, distances = world(seed, 4)
        found = joint_bound(largest_ratios(np.log(law)), start, steps, distances, length=4)
        gaps.append(found.joint / enumerated(law, start, steps, distances, 4))
    assert min(gaps) >= 1 - 1e-9
    assert np.mean(gaps) < 1.2
    assert max(gaps) < 1.5


def test_independent_secrets_add_nothing():
    law, start, _, distances = world(3, 5)
    found = joint_bound(
        largest_ratios(np.log(law)), start, np.tile(start, (5, 1)), distances, length=8
    )
    assert found.joint == pytest.approx(found.single, abs=1e-5)
    assert found.any_prior > 2 * found.single


def test_a_copied_secret_tells_as_often_as_it_is_released():
    """Steps that stay where they are: the releases of L copies add up, as any prior may."""
    law, start, _, distances = world(4, 3)
    steps = 0.999999 * np.eye(3) + 1e-6 / 3
    ratios = largest_ratios(np.log(law))
    found = joint_bound(ratios, start, steps, distances, length=3)
    assert found.joint == pytest.approx(3 * found.single, rel=1e-3)
    assert found.joint == pytest.approx(enumerated(law, start, steps, distances, 3), rel=1e-3)


def test_ratios_are_those_of_the_worst_release():
    law = np.log(np.random.default_rng(0).dirichlet(np.ones(7), size=4))
    found = largest_ratios(law)
    for i, j in product(range(4), repeat=2):
        assert found[i, j] == max(law[i, y] - law[j, y] for y in range(7))


def test_ratios_of_words_are_reached_at_the_word_itself():
    """What tuning takes for M, two columns of the law, is the maximum over the vocabulary."""
    from voile.mechanisms import word_exponential, word_truncated_exponential
    from voile.mechanisms._embedding import Embedding

    words = Embedding.of(np.random.default_rng(1).normal(size=(60, 4)))
    every = np.arange(60)
    for law in (
        word_exponential(words, epsilon=1.3),
        word_truncated_exponential(words, epsilon=9.0, gamma=1.5),
    ):
        logs = law.log_prob(every, every)
        np.testing.assert_allclose(
            np.diagonal(logs)[:, None] - logs.T, largest_ratios(logs), atol=1e-9
        )


def test_ratios_that_overflow_are_bounded_by_the_largest():
    ratios = np.array([[0.0, 500.0], [400.0, 0.0]])
    steps = np.array([[0.9, 0.1], [0.2, 0.8]])
    found = joint_bound(ratios, np.full(2, 0.5), steps, 1 - np.eye(2), length=3)
    assert np.isfinite(found.joint)
    assert found.joint <= found.any_prior + 1e-9


def test_what_cannot_be_bounded_is_refused():
    good = (np.zeros((2, 2)), np.full(2, 0.5), np.full((2, 2), 0.5), 1 - np.eye(2))
    for changed, message in (
        ({0: np.full((2, 2), np.inf)}, "finite numbers"),
        ({0: np.full((2, 2), -1.0)}, "finite numbers"),
        ({2: np.full((3, 3), 1 / 3)}, "steps must be 2 by 2"),
        ({3: np.zeros((2, 2))}, "at a distance above zero"),
        ({2: np.array([[1.0, 0.0], [1.0, 0.0]])}, "possible at every place"),
    ):
        given_ = [changed.get(k, table) for k, table in enumerate(good)]
        with pytest.raises(InvalidInput, match=message):
            joint_bound(*given_, length=2)
    with pytest.raises(InvalidInput, match="length"):
        joint_bound(*good, length=0)
    with pytest.raises(InvalidInput, match="between 2 and 500"):
        joint_bound(*(np.zeros((501, 501)),) * 4, length=1)
