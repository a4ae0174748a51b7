"""What is said after "at most" is rounded up, in numbers and in sentences."""

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from voile.audit import certificate
from voile.core.guarantee import Guarantee
from voile.core.rounding import (
    at_least,
    at_most,
    exp_upwards,
    odds_at_most,
    percent_at_most,
    product_upwards,
    sum_upwards,
)

numbers = st.floats(allow_nan=False, allow_infinity=False)
bounds = st.floats(0, 1e300)


@given(numbers, st.integers(1, 15))
def test_what_is_shown_is_on_the_safe_side_and_near(value, digits):
    high, low = float(at_most(value, digits=digits)), float(at_least(value, digits=digits))
    assert low <= value <= high
    if 1e-300 < abs(value) < 1e300:
        assert high - low <= 1.01 * abs(value) * 10.0 ** (1 - digits)


@given(st.floats(1, 1e12))
def test_odds_are_never_shown_too_small(factor):
    text = odds_at_most(factor)
    assert text.endswith("×")
    shown = float(text.removesuffix("×").replace(",", ""))
    assert shown >= factor
    assert shown - 1 <= (factor - 1) * 1.1 + 1e-12 or shown <= factor * 1.01


@given(st.floats(0, 1))
def test_shares_are_never_shown_too_small(share):
    text = percent_at_most(share)
    assert Fraction(text.removesuffix(" %")) / 100 >= Fraction(repr(share))


@given(bounds, bounds)
def test_sums_are_rounded_up_and_by_less_than_a_unit(one, other):
    found = sum_upwards(one, other)
    exact = Fraction(one) + Fraction(other)
    assert Fraction(found) >= exact
    assert found == 0 or Fraction(math.nextafter(found, 0)) < exact


@given(st.floats(0, 1e290), st.integers(1, 10**6))
def test_products_are_rounded_up_and_by_less_than_a_unit(value, times):
    found = product_upwards(value, times)
    exact = Fraction(value) * times
    assert Fraction(found) >= exact
    assert found == 0 or Fraction(math.nextafter(found, 0)) < exact


def test_at_the_ends_of_the_doubles():
    assert sum_upwards(1.7e308, 1.7e308) == math.inf
    assert product_upwards(1e308, 100) == math.inf
    assert sum_upwards(math.inf, 1.0) == math.inf
    assert product_upwards(math.inf, 0.0) == 0.0
    assert product_upwards(5e-324, 0.5) == 5e-324
    assert (exp_upwards(0.0), exp_upwards(710.0)) == (1.0, math.inf)
    assert at_most(math.inf) == "inf"
    assert at_most(5e-324) == "5e-324"


def test_composition_never_rounds_down():
    """0.1 + 0.7 and 3 × 0.1 and their like, exactly."""
    label = voile.metrics.discrete()
    for one in (0.1, 0.7, 1 / 3, 1e-17, 2.0**-40, 3.3):
        first = Guarantee(one, label, "one label", delta=1e-7)
        for other in (0.7, 1.0, 1e-9):
            both = first.then(Guarantee(other, label, "one label", delta=0.3))
            assert Fraction(both.epsilon) >= Fraction(one) + Fraction(other)
            assert Fraction(both.delta) >= Fraction(1e-7) + Fraction(0.3)
        for times in (2, 3, 7, 10, 1000):
            assert Fraction(first.repeated(times).epsilon) >= times * Fraction(one)
            assert Fraction(first.repeated(times).delta) >= times * Fraction(1e-7)


@pytest.mark.parametrize("epsilon", [1e-6, 0.001, 0.04, 0.1, 0.8, 1.0, 3.5, 20.0])
@pytest.mark.parametrize("distance", [0.3, 1.0, 2.9])
def test_the_sentence_never_says_less_than_the_bound(epsilon, distance):
    guarantee = Guarantee(epsilon, voile.metrics.euclidean(unit="km"), "one place")
    text = guarantee.explain(distances=[distance], candidates=7)
    exponent, odds = re.search(r"at most e\^(\S+) = (\S+)×", text).groups()
    assert float(exponent) >= epsilon * distance * (1 - 1e-12)
    assert float(odds.replace(",", "")) >= math.exp(epsilon * distance) * (1 - 1e-12)
    guess = float(re.search(r"at most (\S+) % of the time", text).group(1))
    factor = math.exp(epsilon * distance)
    assert guess >= 100 * factor / (factor + 6) * (1 - 1e-12)


def test_a_small_epsilon_does_not_read_as_nothing():
    text = Guarantee(0.04, voile.metrics.euclidean(unit="km"), "one place").explain()
    assert "at most e^0.04 = 1.041×" in text


def test_findings_and_certificates_are_shown_outwards():
    line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean(unit="km"))
    channel = voile.mechanisms.exponential(line, epsilon=1.0)
    found = channel.certificate()
    shown = float(re.search(r"ε = (\S+) per", str(found)).group(1))
    assert shown >= found.epsilon
    finding = certificate(line, channel.weights, claim=1.0)
    low, high = re.search(r"between (\S+) and (\S+) per", str(finding)).groups()
    assert float(low) <= found.lower <= found.epsilon <= float(high)


@pytest.mark.parametrize("spent", [0, 1, 40_000_000, 2_000_000_001, 20 * 10**9, 800 * 10**9])
def test_a_ledgers_sentence_never_says_less_than_was_spent(spent):
    from voile.ledger.filters import Budget
    from voile.ledger.kinds import Kind
    from voile.ledger.terms import Terms

    place = Guarantee(1.0, voile.metrics.euclidean(unit="km"), "one location")
    text = Terms(Kind.of(place), Budget(1000.0)).sentence(spent)
    odds = re.search(r"at most e\^\S+ = (\S+)×", text).group(1)
    exact = math.exp(spent / 10**9) if spent < 700 * 10**9 else math.inf
    assert float(odds.replace(",", "")) >= exact
