"""Whole records, column by column: the sum is the tight bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.leakage.labels_privacy import local_epsilon
from voile.mechanisms import columnwise, randomised_response, rr_with_prior
from voile.mechanisms._spread import spread


def small_record():
    return columnwise(
        [
            randomised_response(["x", "y", "z"], epsilon=0.4),
            randomised_response(["u", "v"], epsilon=0.7),
            rr_with_prior([0, 1, 2], prior=[0.5, 0.49, 0.01], epsilon=1.0),
        ]
    )


def test_columns_add_up_to_the_tight_local_epsilon_of_the_record():
    blur = small_record()
    secrets = np.array(list(itertools.product(range(3), range(2), range(3))))
    releases = np.array(list(itertools.product(range(3), range(2), range(2))))
    law = np.exp(blur.log_prob(secrets, releases))
    assert np.allclose(law.sum(axis=1), 1, atol=1e-12)
    brute = local_epsilon(law[:, None, :])
    assert brute <= blur.guarantee.epsilon <= brute + 1e-9
    assert blur.guarantee.epsilon <= 0.4 + 0.7 + 1.0


def test_columns_refuse_rows_that_do_not_fit():
    blur = small_record()
    for rows in ([[0, 0]], [[0, 0, 9]], [[0.5, 0.0, 1.0]], [[-1, 0, 0]]):
        with pytest.raises(InvalidInput):
            blur.release(rows, seeded_rng(1))


def test_spread_is_the_local_epsilon_of_a_channel():
    channel = randomised_response(list(range(5)), epsilon=1.7)
    assert 1.7 - 1e-6 < spread(channel) <= 1.7 + 1e-9
