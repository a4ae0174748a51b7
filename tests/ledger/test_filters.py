"""The filters against exact calculations: randomised response is the worst case, so it decides."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.errors import InvalidInput
from voile.ledger.amounts import NANO
from voile.ledger.filters import Budget


def exact_delta(epsilon: float, releases: int, budget: float) -> float:
    """δ(B) of n-fold randomised response: the optimal composition (Kairouz, Oh, Viswanath)."""
    terms = []
    for right in range(releases + 1):
        loss = (2 * right - releases) * epsilon
        if loss <= budget:
            continue
        log = math.lgamma(releases + 1) - math.lgamma(right + 1) - math.lgamma(releases - right + 1)
        log += right * epsilon - releases * math.log1p(math.exp(epsilon))
        terms.append(math.exp(log) * (1 - math.exp(budget - loss)))
    return math.fsum(terms)


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.1, 0.3, 1.0, 2.0])
@pytest.mark.parametrize(("budget", "delta"), [(1.0, 1e-6), (6.0, 1e-6), (3.0, 1e-3), (10.0, 1e-9)])
def test_what_the_filter_allows_is_private_by_the_exact_composition(epsilon, budget, delta):
    filter_ = Budget(budget, delta=delta)
    releases = filter_.releases(epsilon)
    assert exact_delta(epsilon, releases, budget) <= delta
    plain = Budget(budget).releases(epsilon)
    assert releases >= plain  # never less than the sum


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.1])
def test_many_small_releases_are_worth_the_moments(epsilon):
    """Beyond the sum, beyond Whitehouse et al., and not far from the optimum without adaptivity."""
    budget, delta = 6.0, 1e-6
    allowed = Budget(budget, delta=delta).releases(epsilon)
    root = math.sqrt(2 * math.log(1 / delta) + 2 * budget) - math.sqrt(2 * math.log(1 / delta))
    assert allowed > root**2 / epsilon**2 > 1.5 * Budget(budget).releases(epsilon)
    # No filter can allow more than the optimal composition of releases fixed beforehand.
    assert exact_delta(epsilon, math.ceil(allowed / 0.88), budget) > delta


def worst_delta(filter_: Budget, epsilons: tuple[float, ...], steps: int) -> float:
    """max δ(B) = E[(1 − e^(B−L))₊] over all strategies that adapt to the past, exactly.

    A strategy sees its loss so far and picks the next epsilon as long as the filter says yes; the
    maximum is taken by going backwards over all states.
    """
    prices = {e: filter_.price(((e, 0.0, 1),)) for e in epsilons}

    @cache
    def worst(counts: tuple[int, ...], right: tuple[int, ...]) -> float:
        loss = sum((2 * r - c) * e for c, r, e in zip(counts, right, epsilons, strict=True))
        best = max(0.0, 1 - math.exp(filter_.epsilon - loss))
        if sum(counts) == steps:
            return best
        for i, epsilon in enumerate(epsilons):
            more = tuple(c + (j == i) for j, c in enumerate(counts))
            spent = [
                sum(n * prices[e][column] for n, e in zip(more, epsilons, strict=True))
                for column in range(3)
            ]
            if not filter_.allows((spent[0], spent[1], spent[2])):
                continue
            up = tuple(r + (j == i) for j, r in enumerate(right))
            chance = math.exp(epsilon) / (1 + math.exp(epsilon))
            best = max(best, chance * worst(more, up) + (1 - chance) * worst(more, right))
        return best

    nothing = (0,) * len(epsilons)
    return worst(nothing, nothing)


@pytest.mark.parametrize(
    ("budget", "delta", "epsilons", "steps"),
    [(2.0, 0.05, (0.2, 0.5), 30), (1.0, 0.1, (0.1, 0.4), 40), (1.5, 0.2, (0.3, 0.7), 24)],
)
def test_an_adversary_who_adapts_does_not_beat_the_filter(budget, delta, epsilons, steps):
    """Also where it may switch between the two rules: sum or moments, whichever still says yes."""
    found = worst_delta(Budget(budget, delta=delta), epsilons, steps)
    assert 0.4 * delta < found <= delta  # sound, and not by being useless


def test_a_filter_that_lies_is_seen():
    """The same check on a budget that allows more than it should: the adversary wins."""

    class Generous(Budget):
        def allows(self, spent):
            return super().allows((spent[0] // 3, spent[1] // 3, spent[2]))

    assert worst_delta(Generous(2.0, delta=0.05), (0.2, 0.5), 30) > 0.05


@given(st.floats(0.001, 20), st.floats(1e-12, 0.5), st.floats(0, 50), st.integers(1, 1000))
def test_moments_are_rounded_up(budget, delta, epsilon, releases):
    """Against the same formula in doubles, which is good to a few parts in 10^13."""
    filter_ = Budget(budget, delta=delta)
    rate = filter_.rate
    moment = rate * epsilon + math.log1p(math.exp(-(1 + 2 * rate) * epsilon)) - math.log1p(
        math.exp(-epsilon)
    )  # fmt: skip
    exact = min(releases * moment * NANO, 10.0**18)
    units = filter_.price(((epsilon, 0.0, releases),))[1]
    assert exact * (1 - 1e-12) - 1e-3 <= units <= exact * (1 + 1e-12) + releases * 1e-3 + 1


def test_releases_with_a_delta_need_a_part_set_aside():
    unable = Budget(1.0, delta=1e-6)
    able = Budget(1.0, delta=1e-6, leaks=4e-7)
    one = able.price(((0.1, 1e-7, 1),))
    assert one[2] == 10**11
    assert not unable.allows(one)
    assert able.allows((one[0] * 4, one[1] * 4, one[2] * 4))
    assert not able.allows((one[0] * 5, one[1] * 5, one[2] * 5))  # 4·10⁻⁷ is spent
    assert Fraction(able.delta_limit, 10**18) == Fraction(4, 10**7)  # the decimal that was typed
    with pytest.raises(InvalidInput, match="leaks"):
        Budget(1.0, delta=1e-7, leaks=1e-6)
    with pytest.raises(InvalidInput, match="delta"):
        Budget(1.0, delta=1.0)
