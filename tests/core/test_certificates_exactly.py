"""Certificates against exact recomputation: a small run of `benchmarks/certificates.py`."""

import importlib.util
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import voile


@pytest.fixture(scope="module")
def bench(root):
    spec = importlib.util.spec_from_file_location(
        "certificates", root / "benchmarks" / "certificates.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_four_hundred_random_channels(bench):
    """Every constructor over every kind of space: none wrong, and nothing raises but our errors."""
    by_name, by_space, over = bench.run(400, seed=7)
    assert set(by_name) == set(bench.CONSTRUCTORS)
    assert set(by_space) == set(bench.SPACES)
    assert not sum(counts["wrong"] for counts in by_name.values())
    assert np.median(over) < 1e-12


def test_the_recomputation_sees_a_certificate_that_is_off(bench):
    """By one part in 10¹², and by a distance that overflowed."""
    line = voile.Space([[0.0], [1.0], [3.0]], metric=voile.metrics.euclidean())
    channel = voile.mechanisms.exponential(line, epsilon=1.0)
    assert bench.check(channel)[0] == ""
    honest = channel.certificate()
    for change, problem in (
        ({"epsilon": honest.epsilon * (1 - 1e-12)}, "below the truth"),
        ({"lower": honest.epsilon * (1 + 1e-12)}, "lower end above the truth"),
        ({"epsilon": float("inf")}, "infinite"),
    ):
        wrong = type(honest)(**{**vars(honest), **change})
        object.__setattr__(channel, "_certificate", wrong)
        assert bench.check(channel)[0] == problem


def test_its_arithmetic_by_hand(bench):
    assert bench.exact_distance(3.0, [0, 0], [1, 1]) == pytest.approx(
        Decimal(2) ** (1 / Decimal(3))
    )
    assert bench.exact_epsilon([[1, 3], [3, 1]], lambda i, j: Fraction(2)) == Decimal(3).ln() / 2
    assert bench.exact_epsilon([[0, 4], [1, 3]], lambda i, j: Fraction(2)).is_infinite()
    assert bench.exact_epsilon([[2, 2], [2, 2]], lambda i, j: Fraction(0)) == 0
