"""Unary encoding: its law over all rows of bits, and what it supports."""

import math
from itertools import product

import numpy as np
import pytest

import voile
from frequency_oracles import check_draws, check_estimates, check_law
from voile.errors import InvalidInput

ALL = np.array(list(product((0, 1), repeat=4)))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_law_over_all_releases(epsilon):
    check_law(voile.mechanisms.unary_encoding(list("abcd"), epsilon=epsilon), ALL)


def test_draws_follow_it_and_estimates_are_right():
    oracle = voile.mechanisms.unary_encoding(list("abcd"), epsilon=1.0)
    check_draws(oracle, ALL, voile.seeded_rng(1))
    check_estimates(oracle, voile.seeded_rng(2))


def test_closed_form_of_wang_and_others():
    oracle = voile.mechanisms.unary_encoding(list(range(30)), epsilon=1.4)
    top = math.exp(1.4)
    p, q = oracle.own, oracle.other
    assert q * (1 - q) / (p - q) ** 2 == pytest.approx(4 * top / (top - 1) ** 2, rel=1e-6)


def test_bad_input():
    oracle = voile.mechanisms.unary_encoding(list("abcd"), epsilon=1.0)
    for bad in ([[0, 1, 1]], [[0, 1, 2, 0]], [0, 1, 0, 1]):
        with pytest.raises(InvalidInput):
            oracle.support(np.array(bad))
    for labels in ([], ["a"], ["a", "a"]):
        with pytest.raises(InvalidInput):
            voile.mechanisms.unary_encoding(labels, epsilon=1.0)
