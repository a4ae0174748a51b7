"""Integers drawn from a Gaussian law: the law, the decisions behind it, and liars."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, draws_needed, p_value
from voile.core import discrete_gaussian as module
from voile.core.discrete_gaussian import discrete_gaussian, discrete_gaussian_beyond
from voile.errors import InvalidInput


def law(sigma: float, reach: int) -> np.ndarray:
    """P(z) for |z| ≤ reach, and all the rest."""
    z = np.arange(-reach, reach + 1)
    heights = np.exp(-(z**2) / (2 * sigma**2)) / (sigma * np.sqrt(2 * np.pi))
    return np.append(heights, 1 - heights.sum())


def counted(drawn: np.ndarray, reach: int) -> np.ndarray:
    inside = np.abs(drawn) <= reach
    return np.append(np.bincount(drawn[inside] + reach, minlength=2 * reach + 1), (~inside).sum())


@pytest.mark.parametrize("eighth", [1, 3])
def test_draws_follow_the_law_and_a_liar_does_not(eighth):
    sigma, reach = 8 * eighth, 24 * eighth
    honest, wrong = law(sigma, reach), law(sigma * 1.1, reach)
    count = max(100_000, draws_needed(honest, wrong))
    drawn = discrete_gaussian(np.full(count, eighth), voile.seeded_rng(eighth))
    assert p_value(counted(drawn, reach), honest) > FALSE_ALARM
    assert p_value(counted(drawn, reach), wrong) < FALSE_ALARM


def test_scales_of_one_call_are_each_their_own():
    eighths = np.tile([1, 2**20], 50_000)
    drawn = discrete_gaussian(eighths, voile.seeded_rng(4))
    for eighth in (1, 2**20):
        share = drawn[eighths == eighth] / (8 * eighth)
        assert abs(share.std() - 1) < 7 / np.sqrt(2 * 50_000)
        assert abs(share.mean()) < 7 / np.sqrt(50_000)


def test_deciding_every_trial_exactly_changes_nothing():
    """Doubles decide where they cannot err: with all of them doubted the draws are the same."""
    eighths = np.array([1, 5, 2**17 + 1, 2**31 + 3] * 500)
    quick = discrete_gaussian(eighths, voile.seeded_rng(7))
    exact = discrete_gaussian(eighths, voile.seeded_rng(7), doubt=2.0)
    assert quick.tolist() == exact.tolist()


def test_a_double_in_place_of_the_exact_decision_is_seen(monkeypatch):
    """If acceptance were off by a hundredth the exact decisions would differ."""
    monkeypatch.setattr(module, "_RATIOS", module._RATIOS * 0.99)
    eighths = np.full(2000, 3)
    quick = discrete_gaussian(eighths, voile.seeded_rng(7))
    exact = discrete_gaussian(eighths, voile.seeded_rng(7), doubt=2.0)
    assert quick.tolist() != exact.tolist()


def test_the_table_proposes_at_least_what_is_accepted():
    """⌈B·e^(−k²/128)⌉ for each k, and past the table ½ a step, which falls more slowly."""
    with localcontext() as context:
        context.prec = 80
        heights = [module.HEIGHT * (Decimal(-k * k) / 128).exp() for k in range(150)]
    assert sum(module.WEIGHTS) + 1 <= 2**62
    assert all(w - 1 <= h < w for w, h in zip(module.WEIGHTS, heights, strict=False))
    past = heights[module._TABLE :]
    assert all(h <= Decimal(2) ** -(j + 1) for j, h in enumerate(past))


class Words:
    """A generator that gives these 64-bit words, then none."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def bits(self, rng, size, *, bits):
        drawn = [self.left.pop(0) for _ in range(size)]
        return np.array(drawn, dtype=np.uint64) >> np.uint64(64 - bits)


@pytest.mark.parametrize("exponent", [Fraction(1, 10**6), Fraction(1, 2), Fraction(40)])
def test_the_comparison_takes_as_many_bits_as_it_needs(monkeypatch, exponent):
    with localcontext() as context:
        context.prec = 100
        exact = (-Decimal(exponent.numerator) / exponent.denominator).exp()
        first = int(exact * 2**64)
        second = int(exact * 2**128) - (first << 64)

    def decided(word, *more):
        words = Words(*more)
        monkeypatch.setattr(module, "uniform_bits", words.bits)
        found = module._below(word, Fraction(1), exponent, None)
        assert not words.left, "no more bits than needed, no fewer"
        return found

    if first > 0:
        assert decided(first - 1)
    assert not decided(first + 1)
    assert not decided(first, second + 1)
    assert decided(first, second - 1)


def test_any_scale_at_all():
    """One by one, in integers of any length: the same law."""
    rng = voile.seeded_rng(11)
    drawn = np.array([discrete_gaussian_beyond(1, rng) for _ in range(8_000)])
    assert p_value(counted(drawn, 20), law(8.0, 20)) > FALSE_ALARM
    huge = [discrete_gaussian_beyond(2**100, rng) for _ in range(50)]
    assert max(map(abs, huge)) > 2**100
    assert any(value % 2 for value in huge), "all bits are drawn"


@pytest.mark.parametrize("eighths", [[0], [-1], [2**32], [1.5]])
def test_scales_outside_are_refused(eighths):
    with pytest.raises(InvalidInput, match="scales must be"):
        discrete_gaussian(np.array(eighths), voile.seeded_rng(0))


def test_nothing_is_drawn_for_nobody():
    assert discrete_gaussian(np.empty(0, dtype=np.int64), voile.seeded_rng(0)).tolist() == []
