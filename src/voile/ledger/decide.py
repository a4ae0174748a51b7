"""Which rows a batch may release: in order, each person's rows against what the person has left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.ledger.amounts import Bools, Whole
from voile.ledger.filters import Budget


def decide(rows: Whole, owners: NDArray[np.intp], spent: Whole, budget: Budget) -> Bools:
    """Row by row, whether it is inside its owner's budget, given the rows before it.

    `rows` has three amounts for each row, `owners` its person, `spent` what each person had spent
    before. A row that does not fit is left out and a later, cheaper one may still fit: what is
    charged is what is released. The answer depends on these numbers alone.

    >>> one = np.array([[6, 0, 0], [6, 0, 0], [4, 0, 0]]) * 10**9
    >>> decide(one, np.zeros(3, dtype=np.intp), np.zeros((1, 3), dtype=np.int64), Budget(10.0))
    array([ True, False,  True])
    """
    within = np.ones(len(rows), dtype=np.bool_)
    # Doubles decide only what is clear by a wide margin; integers the rest.
    sums = np.bincount(owners, weights=rows[:, 0], minlength=len(spent)) * (1 + 1e-9)
    sure = spent[:, 0] + sums <= budget.epsilon_limit
    if rows[:, 2].any() or spent[:, 2].any():
        sure[:] = False
    if sure.all():
        return within
    running = {int(p): [int(v) for v in spent[p]] for p in np.flatnonzero(~sure)}
    for row in np.flatnonzero(~sure[owners]):
        have = running[int(owners[row])]
        then = [a + int(b) for a, b in zip(have, rows[row], strict=True)]
        if budget.allows((then[0], then[1], then[2])):
            have[:] = then
        else:
            within[row] = False
    return within


def by_person(rows: Whole, owners: NDArray[np.intp], within: Bools, people: int) -> Whole:
    """What each person is charged: sums over the rows that are within, and their number."""
    table = np.zeros((people, 4), dtype=np.int64)
    table[:, 3] = np.bincount(owners[within], minlength=people)
    for column in range(3):
        if rows[:, column].any():
            np.add.at(table[:, column], owners[within], rows[within, column])
    return table
