"""Randomised response with a prior: private for any prior, and the best for its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.errors import InvalidInput
from voile.leakage.labels import label_only_utility
from voile.mechanisms import randomised_response, rr_with_prior

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40)
@given(seeds, st.integers(2, 6), st.floats(0.05, 5))
def test_rr_with_prior_is_private_and_answers_truly_as_often_as_any_could(seed, classes, epsilon):
    prior = np.random.default_rng(seed).dirichlet(np.full(classes, 0.5))
    channel = rr_with_prior(list(range(classes)), prior=prior, epsilon=epsilon)
    assert channel.certificate().epsilon <= epsilon
    table = channel.probabilities()
    truth = sum(prior[y] * table[y, z] for z, y in enumerate(channel.outputs.tolist()))
    assert truth == pytest.approx(label_only_utility(prior, epsilon=epsilon), rel=1e-6)


def test_rr_with_an_even_prior_is_randomised_response():
    even = rr_with_prior(["a", "b", "c"], prior=[1 / 3] * 3, epsilon=2.0)
    plain = randomised_response(["a", "b", "c"], epsilon=2.0)
    assert np.array_equal(even.weights, plain.weights)


def test_rr_with_prior_refuses_what_is_no_prior():
    for prior in ([0.5, 0.6], [1.0], [1.5, -0.5]):
        with pytest.raises(InvalidInput, match="prior must be"):
            rr_with_prior(["a", "b"], prior=prior, epsilon=1.0)


def test_a_label_that_is_almost_sure_is_always_answered_and_costs_nothing():
    channel = rr_with_prior(["yes", "no"], prior=[0.95, 0.05], epsilon=0.5)
    assert channel.outputs.tolist() == ["yes"]
    assert channel.certificate().epsilon == 0.0
