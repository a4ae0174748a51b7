"""Integer weights of the exponential mechanism: the ratio is exact, the draws follow them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2

from voile.core.falling_weights import below, choose, end, falling_weights, noise, unlikely
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput


@pytest.mark.parametrize("step", [1e-3, 0.05, 1.0, 7.0])
def test_no_weight_falls_faster_than_the_step_allows(step):
    weights = falling_weights(step)
    # e^step from below as a fraction: its series, cut off
    least = sum(Fraction(step) ** k / math.factorial(k) for k in range(60))
    assert all(high <= least * low for high, low in pairwise(weights))
    tightest = max(Fraction(a, b) for a, b in pairwise(weights))
    assert float(tightest) == pytest.approx(math.exp(step), rel=1e-6)  # and nothing is wasted
    assert weights[-1] > 0


def test_a_change_of_one_moves_a_choice_by_two_steps_at_most():
    """All distances move by at most 1: exactly, for the integers that are sampled."""
    rng = seeded_rng(1)
    weights = falling_weights(0.3)
    most = sum(Fraction(0.3) ** k / math.factorial(k) for k in range(60)) ** 2
    for _ in range(50):
        here = rng.integers(120, size=30)
        there = np.maximum(0, here + rng.integers(-1, 2, size=30))
        laws = []
        for distances in (here, there):
            parts = [weights[min(d, len(weights) - 1)] for d in distances.tolist()]
            laws.append([Fraction(part, sum(parts)) for part in parts])
        for a, b in zip(*laws, strict=True):
            assert a <= most * b
            assert b <= most * a


def test_choices_and_noise_follow_their_weights():
    rng, weights = seeded_rng(2), falling_weights(0.7)
    distances = np.array([3, 0, 1, 1, 2])
    chances = np.array([weights[d] for d in distances], dtype=float)
    drawn = np.bincount([choose(distances, weights, rng) for _ in range(4000)], minlength=5)
    expected = 4000 * chances / chances.sum()
    assert ((drawn - expected) ** 2 / expected).sum() < chi2.isf(1e-9, 4)
    seen = Counter(noise(4000, weights, rng))
    total = 2 * sum(weights) - weights[0]
    wanted = {z: 4000 * weights[abs(z)] / total for z in range(-4, 5)}
    assert sum((seen[z] - w) ** 2 / w for z, w in wanted.items()) < chi2.isf(1e-9, 9)


def test_the_threshold_is_the_smallest_that_keeps_the_chance():
    weights = falling_weights(0.5)
    total = 2 * sum(weights) - weights[0]
    least = unlikely(1e-6, weights)
    assert least is not None
    assert Fraction(sum(weights[least:]), total) <= Fraction(1e-6)
    assert Fraction(sum(weights[least - 1 :]), total) > Fraction(1e-6)
    assert unlikely(1e-30, weights) is None
    assert 0 < end(weights) < 1e-18


def test_numbers_below_a_bound_are_even():
    rng = seeded_rng(3)
    drawn = np.bincount([below(5, rng) for _ in range(5000)], minlength=5)
    assert ((drawn - 1000) ** 2 / 1000).sum() < chi2.isf(1e-9, 4)
    assert 0 <= below(2**200 + 1, rng) <= 2**200


def test_a_step_that_is_too_small_is_refused():
    with pytest.raises(InvalidInput, match="give more epsilon"):
        falling_weights(1e-9)
