"""Local hashing: hashes of two labels are independent, and the law over all releases."""

from itertools import product

import numpy as np
import pytest

import voile
from frequency_oracles import check_draws, check_estimates, check_law
from voile.errors import InvalidInput
from voile.mechanisms.labels.local_hashing import _hashes


def all_releases(oracle):
    return np.array(list(product(range(oracle.field), repeat=oracle._digits.shape[1] + 2)))


@pytest.mark.parametrize(("labels", "epsilon"), [(4, 0.3), (5, 1.0), (9, 1.1), (3, 1.5)])
def test_the_law_over_all_releases(labels, epsilon):
    oracle = voile.mechanisms.local_hashing(list(range(labels)), epsilon=epsilon)
    check_law(oracle, all_releases(oracle))


def test_hashes_of_two_labels_are_independent_exactly():
    oracle = voile.mechanisms.local_hashing(list(range(8)), epsilon=0.8)
    width = oracle._digits.shape[1] + 1
    seeds = np.array(list(product(range(oracle.field), repeat=width)))
    for first in range(8):
        for second in range(first):
            one, other = (
                _hashes(seeds, oracle._digits[[i]], oracle.field) for i in (first, second)
            )
            table = np.zeros((oracle.field, oracle.field), dtype=int)
            np.add.at(table, (one, other), 1)
            assert (table == len(seeds) // oracle.field**2).all()


def test_draws_follow_it_and_estimates_are_right():
    oracle = voile.mechanisms.local_hashing(list(range(4)), epsilon=1.0)
    check_draws(oracle, all_releases(oracle), voile.seeded_rng(1))
    check_estimates(oracle, voile.seeded_rng(2))


def test_a_domain_of_any_size():
    oracle = voile.mechanisms.local_hashing(list(range(20_000)), epsilon=2.0)
    reports = oracle.release([17_000] * 400, voile.seeded_rng(3))
    assert reports.shape == (400, oracle._digits.shape[1] + 2)
    held = float((_hashes(reports[:, :-1], oracle._digits[[17_000]], 7) == reports[:, -1]).mean())
    assert abs(held - oracle.own) < 0.16


def test_bad_input():
    oracle = voile.mechanisms.local_hashing(list("abcd"), epsilon=1.0)
    for bad in ([[0, 1, 1]], [[0, 1, 9, 0]], [0, 1, 0, 1]):
        with pytest.raises(InvalidInput):
            oracle.support(np.array(bad))
    for labels in ([], ["a"], ["a", "a"]):
        with pytest.raises(InvalidInput):
            voile.mechanisms.local_hashing(labels, epsilon=1.0)
