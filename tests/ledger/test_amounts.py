"""Units: nothing is ever undercounted, and a budget pays for what a reader expects."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.errors import InvalidInput
from voile.ledger.amounts import (
    NANO,
    Bill,
    budget_units,
    delta_units,
    epsilon_units,
    shown,
    simple_cost,
    stated,
)

EPSILONS = st.floats(min_value=0, max_value=1e4, allow_nan=False)


@given(st.lists(st.tuples(EPSILONS, st.integers(0, 500)), max_size=30))
def test_what_is_stated_is_never_below_what_was_spent(rows):
    """The sum of charged units, stated as one epsilon, bounds the exact sum of the doubles."""
    charged = sum(epsilon_units(simple_cost(epsilon, n)) for epsilon, n in rows)
    exact = sum((Fraction(epsilon) * n for epsilon, n in rows), Fraction(0))
    assert Fraction(stated(charged)) >= exact
    # and not wastefully: a unit a row, and the slack
    assert Fraction(charged, NANO) <= exact + Fraction(len(rows), NANO)


@pytest.mark.parametrize(
    ("budget", "epsilon", "rows"),
    [(1.0, 0.1, 10), (20.0, 0.8, 25), (0.3, 0.1, 3), (2.1, 0.7, 3), (10.0, 3.0, 3), (1.0, 1e-9, 0)],
)
def test_a_budget_pays_for_as_many_rows_as_its_decimals_say(budget, epsilon, rows):
    cost = epsilon_units(simple_cost(epsilon))
    if rows:
        assert budget_units(budget) // cost == rows
    assert cost > 0


@pytest.mark.parametrize("words", [3, 7, 30, 49, 365])
def test_a_document_whose_budget_was_split_costs_that_budget(words):
    assert epsilon_units(simple_cost(100.0 / words, words)) == 100 * NANO


def test_a_tiny_epsilon_costs_a_unit_and_not_nothing():
    assert epsilon_units(simple_cost(1e-300)) == 1
    assert delta_units(((0.0, 1e-300, 1),)) == 1


@given(st.integers(0, 10**18))
def test_shown_is_exact(units):
    assert Fraction(shown(units)) == Fraction(units, NANO)


@pytest.mark.parametrize("wrong", [math.inf, math.nan, -1.0])
def test_an_epsilon_without_a_bound_is_not_charged(wrong):
    with pytest.raises(InvalidInput, match="finite epsilon"):
        epsilon_units(simple_cost(wrong))


@pytest.mark.parametrize("wrong", [0, -1.0, math.inf, math.nan, 1e10, 1e-10])
def test_budgets_that_cannot_be_kept(wrong):
    with pytest.raises(InvalidInput, match="budget must be"):
        budget_units(wrong)


def test_a_bill_keeps_each_rows_price():
    costs = [simple_cost(1.0), (), None, simple_cost(2.0, 3), simple_cost(1.0)]
    bill = Bill.listed(costs)
    assert [None if i < 0 else bill.prices[i] for i in bill.which] == costs
    same = Bill.alike(simple_cost(0.5), np.array([True, False]))
    assert same.prices[same.which[0]] == simple_cost(0.5)
    assert same.which[1] == -1


def test_an_amount_beyond_the_largest_is_refused_and_not_cut():
    """Cut to 10⁹ it would be inside a budget of 10⁹."""
    assert epsilon_units(simple_cost(1e9)) <= 10**18
    for cost in (simple_cost(1e9 * (1 + 1e-6)), simple_cost(1e300), simple_cost(2e8, 6)):
        with pytest.raises(InvalidInput, match="at most ε = 1e\\+09 can be charged for one row"):
            epsilon_units(cost)
