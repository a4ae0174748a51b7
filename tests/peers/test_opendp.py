"""OpenDP as an oracle: randomised response, and a noisy max that is another mechanism."""

import math

import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, p_value

opendp = pytest.importorskip("opendp", reason="opendp is a test-only peer")


@pytest.fixture(scope="module")
def dp():
    import opendp.prelude

    opendp.prelude.enable_features("contrib")
    return opendp.prelude


def test_randomised_response_has_the_same_privacy(dp):
    channel = voile.mechanisms.randomised_response([False, True], epsilon=1.0)
    keep = float(channel.probabilities()[0, 0])
    peer = dp.m.make_randomized_response_bool(prob=keep)
    assert peer.map(1) == pytest.approx(channel.certificate().epsilon, rel=1e-6)


def test_randomised_response_draws_the_same_law(dp):
    labels = ["a", "b", "c"]
    channel = voile.mechanisms.randomised_response(labels, epsilon=1.0)
    law = channel.probabilities()[0]
    peer = dp.m.make_randomized_response(categories=labels, prob=float(law[0]))
    counts = np.bincount([labels.index(peer("a")) for _ in range(20_000)], minlength=3)
    assert p_value(counts, law) > FALSE_ALARM


def permute_and_flip(scores, epsilon):
    """Its law in closed form for three candidates (McKenna and Sheldon, 2020)."""
    from itertools import permutations

    accept = [math.exp(epsilon / 2 * (score - max(scores))) for score in scores]
    law = np.zeros(len(scores))
    for order in permutations(range(len(scores))):
        left = 1.0
        for candidate in order:
            law[candidate] += left * accept[candidate]
            left *= 1 - accept[candidate]
    return law / math.factorial(len(scores))


def test_noisy_max_is_permute_and_flip_and_not_the_exponential_mechanism(dp):
    """At equal ε the two laws differ, so its draws cannot be held against our weights."""
    scores, epsilon = [0.0, -1.0, -2.0], 2.0
    line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    exponential = voile.mechanisms.exponential(line, epsilon=epsilon).probabilities()[0]
    flipped = permute_and_flip(scores, epsilon)
    noisy_max = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.linf_distance(T=float),
        dp.max_divergence(),
        scale=2 / epsilon,
    )
    counts = np.bincount([noisy_max(scores) for _ in range(20_000)], minlength=3)
    assert p_value(counts, flipped) > FALSE_ALARM
    assert p_value(counts, exponential) < FALSE_ALARM
