"""Decisions and sums against the plainest way to compute them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.ledger.amounts import NANO
from voile.ledger.decide import by_person, decide
from voile.ledger.filters import Budget

BUDGETS = st.sampled_from([Budget(10.0), Budget(10.0, delta=0.01), Budget(10.0, 0.01, 0.001)])


@settings(max_examples=400)
@given(
    BUDGETS,
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.sampled_from([0, 1, NANO, 3 * NANO, 4 * NANO, 4 * NANO, 6 * NANO, 10**18]),
            st.sampled_from([0, NANO, 20 * NANO]),
            st.sampled_from([0, 0, 0, 10**14]),
        ),
        min_size=4,
        max_size=25,
    ),
    st.lists(st.integers(0, 5 * NANO), min_size=2, max_size=2),
)  # fmt: skip
@pytest.mark.parametrize("one_price", [False, True])
def test_decide_is_what_a_clerk_with_integers_would_say(one_price, budget, asked, before):
    asked = [(owner, *asked[0][1:]) for owner, *_ in asked] if one_price else asked
    rows = np.array([row[1:] for row in asked], dtype=np.int64).reshape(-1, 3)
    owners = np.array([row[0] for row in asked], dtype=np.intp)
    spent = np.array([[amount, 0, 0] for amount in before], dtype=np.int64)
    prices, which = np.unique(rows, axis=0, return_inverse=True)
    within = decide(prices, which.ravel(), owners, spent, budget)
    have = [[amount, 0, 0] for amount in before]
    expected = []
    for owner, *amounts in asked:
        then = tuple(a + b for a, b in zip(have[owner], amounts, strict=True))
        expected.append(budget.allows(then))
        if expected[-1]:
            have[owner] = list(then)
    assert within.tolist() == expected
    table = by_person(prices, which.ravel(), owners, within, 2)
    for person in range(2):
        mine = [
            row[1:] for row, yes in zip(asked, expected, strict=True) if yes and row[0] == person
        ]
        sums = [sum(column) for column in zip(*mine, strict=True)] if mine else [0, 0, 0]
        assert table[person].tolist() == [*sums, len(mine)]
