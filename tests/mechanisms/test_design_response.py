"""Block designs: balanced, tight, unbiased, and no noisier than unary encoding."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from voile.errors import InvalidInput
from voile.estimate.debiasing import unbiased_scores
from voile.mechanisms.labels.design_response import _hyperplanes, _points


def blocks_of(channel):
    law = channel.probabilities()
    return law > (law.min() + law.max()) / 2


@pytest.mark.parametrize(("prime", "dimension"), [(2, 3), (2, 5), (3, 3), (5, 3), (7, 3)])
def test_hyperplanes_are_a_design(prime, dimension):
    count = _points(prime, dimension)
    table = _hyperplanes(prime, dimension, count).astype(int)
    assert table.shape == (count, count)
    pairs = table @ table.T
    assert (np.diagonal(pairs) == _points(prime, dimension - 1)).all()
    off = pairs[~np.eye(count, dtype=bool)]
    assert (off == _points(prime, dimension - 2)).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 70), st.floats(0.05, 6.0))
def test_tight_balanced_and_unbiased_for_any_number_of_labels(labels, epsilon):
    channel = voile.mechanisms.design_response(list(range(labels)), epsilon=epsilon)
    assert channel.certificate().epsilon <= epsilon
    assert channel.certificate().lower >= 0.999 * epsilon
    held = blocks_of(channel)
    assert len(set(held.sum(axis=1).tolist())) == 1
    scores = unbiased_scores(channel)
    assert scores @ channel.probabilities().T == pytest.approx(np.eye(labels), abs=1e-6)


@pytest.mark.parametrize("labels", [32, 64, 160])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_no_noisier_than_unary_encoding_nor_than_randomised_response(labels, epsilon):
    """At a rare label, to 3 %: Wang et al. 2017, table 1."""
    channel = voile.mechanisms.design_response(list(range(labels)), epsilon=epsilon)
    scores, law = unbiased_scores(channel)[0], channel.probabilities()[1:].mean(axis=0)
    variance = float(law @ scores**2)
    top = math.exp(epsilon)
    assert variance <= 1.03 * 4 * top / (top - 1) ** 2
    assert variance <= 1.03 * (labels - 2 + top) / (top - 1) ** 2


def test_few_labels_or_a_large_epsilon_are_randomised_response():
    for labels, epsilon in ((2, 0.1), (5, 2.0), (32, 5.0), (100, 40.0)):
        channel = voile.mechanisms.design_response(list(range(labels)), epsilon=epsilon)
        plain = voile.mechanisms.randomised_response(list(range(labels)), epsilon=epsilon)
        assert np.array_equal(channel.weights, plain.weights)


@pytest.mark.parametrize("labels", [[], ["a", "a"], [[1, 2], [3, 4]]])
def test_labels_that_are_none(labels):
    with pytest.raises(InvalidInput):
        voile.mechanisms.design_response(labels, epsilon=1.0)
