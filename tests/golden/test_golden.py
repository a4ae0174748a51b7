"""Numbers that pin the library down, each with where it comes from."""

import pytest

import voile
from voile.mechanisms.spaces.truncated_exponential import truncation_distance

LINE = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())


def test_exponential_on_three_points():
    """By hand: exp(0), exp(−1/2), exp(−1), normalised."""
    law = voile.mechanisms.exponential(LINE, epsilon=1.0).probabilities()
    assert law[0] == pytest.approx([0.50648, 0.30720, 0.18632], abs=5e-6)


def test_exponential_certifies_well_below_its_claim():
    """By hand: ln(0.50648 / 0.27407)."""
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    assert channel.certificate().epsilon == pytest.approx(0.61411, abs=5e-6)


def test_tem_truncation():
    """TEM paper, section 3: 400,000 words, ε = 2, β = 0.001."""
    gamma = truncation_distance(400_000, epsilon=2.0, beta=0.001)
    assert gamma == pytest.approx(19.80597, abs=5e-6)


def test_tight_constraints_on_a_ten_by_ten_grid():
    """libqif: unit grid, Euclidean, ε = 1, uniform prior."""
    points = [[i, j] for i in range(10) for j in range(10)]
    space = voile.Space(points, metric=voile.metrics.euclidean())
    channel = voile.mechanisms.tight_constraints(space, epsilon=1.0)
    assert channel.expected_loss(space.distances()) == pytest.approx(1.5623, abs=5e-5)
    assert channel.certificate().epsilon == pytest.approx(1.0, rel=1e-5)
