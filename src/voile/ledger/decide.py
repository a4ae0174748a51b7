"""Which rows a batch may release: in order, each person's rows against what the person has left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.ledger.amounts import Bools, Whole
from voile.ledger.filters import Budget

Places = NDArray[np.intp]


def decide(prices: Whole, which: Places, owners: Places, spent: Whole, budget: Budget) -> Bools:
    """Row by row, whether it is inside its owner's budget, given the rows before it.

    `prices` has three amounts for each price, `which` says each row's, `owners` its person, and
    `spent` what each person had spent before. A row that does not fit is left out and a later,
    cheaper one may still fit: what is charged is what is released. The answer depends on these
    numbers alone.

    >>> prices, nobody_yet = np.array([[6, 0, 0], [4, 0, 0]]) * 10**9, np.zeros((1, 3), np.int64)
    >>> decide(prices, np.array([0, 0, 1]), np.zeros(3, dtype=np.intp), nobody_yet, Budget(10.0))
    array([ True, False,  True])
    """
    within = np.ones(len(which), dtype=np.bool_)
    # Doubles decide only what is clear by a wide margin; integers the rest.
    if len(prices) == 1:
        most = np.bincount(owners, minlength=len(spent)) * (float(prices[0, 0]) * (1 + 1e-9))
    else:
        most = np.bincount(owners, prices[which, 0], minlength=len(spent)) * (1 + 1e-9)
    sure = spent[:, 0] + most <= budget.epsilon_limit
    if prices[:, 2].any() or spent[:, 2].any():
        sure[:] = False
    if sure.all():
        return within
    running = {int(p): [int(v) for v in spent[p]] for p in np.flatnonzero(~sure)}
    for row in np.flatnonzero(~sure[owners]):
        have = running[int(owners[row])]
        then = [a + int(b) for a, b in zip(have, prices[which[row]], strict=True)]
        if budget.allows((then[0], then[1], then[2])):
            have[:] = then
        else:
            within[row] = False
    return within


def by_person(prices: Whole, which: Places, owners: Places, within: Bools, people: int) -> Whole:
    """What each person is charged: sums over the rows that are within, and their number."""
    table = np.zeros((4, people), dtype=np.int64).T  # a column lies in one piece
    if not within.all():
        which, owners = which[within], owners[within]
    table[:, 3] = np.bincount(owners, minlength=people)
    for column in range(3):
        if len(prices) == 1:
            table[:, column] = table[:, 3] * prices[0, column]
        elif prices[:, column].any():
            np.add.at(table[:, column], owners, prices[which, column])
    return table
