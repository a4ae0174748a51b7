"""Subset selection: its law over all sets, and what it supports."""

from itertools import combinations

import numpy as np
import pytest

import voile
from frequency_oracles import check_draws, check_estimates, check_law
from voile.errors import InvalidInput


def all_sets(oracle):
    return np.array(list(combinations(range(len(oracle.space)), oracle.size)))


@pytest.mark.parametrize(("labels", "epsilon"), [(2, 1.0), (6, 1.0), (7, 0.2), (5, 3.0)])
def test_the_law_over_all_releases(labels, epsilon):
    oracle = voile.mechanisms.subset_selection(list(range(labels)), epsilon=epsilon)
    check_law(oracle, all_sets(oracle))


def test_draws_follow_it_and_estimates_are_right():
    oracle = voile.mechanisms.subset_selection(list(range(6)), epsilon=0.7)
    assert oracle.size == 2
    check_draws(oracle, all_sets(oracle), voile.seeded_rng(1))
    check_estimates(oracle, voile.seeded_rng(2))


def test_sets_of_one_are_randomised_response():
    oracle = voile.mechanisms.subset_selection(list(range(5)), epsilon=3.0)
    plain = voile.mechanisms.randomised_response(list(range(5)), epsilon=3.0)
    assert oracle.size == 1
    assert oracle.own == pytest.approx(float(plain.probabilities()[0, 0]), rel=1e-6)


def test_bad_input():
    oracle = voile.mechanisms.subset_selection(list(range(6)), epsilon=0.7)
    for bad in ([[0]], [[1, 1]], [[3, 1]], [[0, 6]], [[0.0, 1.0]]):
        with pytest.raises(InvalidInput):
            oracle.support(np.array(bad))
    for labels in ([], ["a"], ["a", "a"]):
        with pytest.raises(InvalidInput):
            voile.mechanisms.subset_selection(labels, epsilon=1.0)
