"""Tables of (value, class) from public counts and from reports of known law, together."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats, Indices

OF_VALUES = 4.0
"""So many records more of each value, of classes as all public ones are: what is said of a value
that few public records have is shrunk to what is said of all, and none is taken for impossible."""
OF_CLASSES = 30.0
"""So many public records at most speak for the classes' shares: public files may hold as many ill
as well. They keep shares from being guessed by reports that tell nothing of them."""


def public_table(known: Floats) -> Floats:
    """Public counts with `OF_VALUES` records more of each value."""
    classes = known.sum(axis=0) + 1
    return np.asarray(known + OF_VALUES * classes / classes.sum())


def table_beside(table: Floats, public: Floats, seen: Indices, steps: int = 5_000) -> Floats:
    """The table f(x, y) of largest likelihood for public counts and reports together, by EM.

    It maximises Σ_o n_o ln (fK)_o + Σ_xy m[x, y] ln P(x|y) + Σ_y w_y ln P(y), f = P(y)·P(x|y), m
    the public counts and w those of their classes, brought down to `OF_CLASSES` together.
    P(y) ← (e_y + w_y)/(n + w), P(x|y) ← (e[x, y] + m[x, y])/(e_y + m_y), e the reports' expected
    counts under f. No step lowers it.

    Where the law passes (x, y) in clear one step is (n[x, y] + m[x, y])/(n_y + m_y); where it
    tells nothing what was public stands.
    """
    given = public / public.sum(axis=0)
    share = public.sum(axis=0) / public.sum()
    classes = share * min(OF_CLASSES, float(public.sum()))
    used = seen > 0
    law, number = table[:, used], seen[used].astype(np.float64)
    for _ in range(steps if len(number) else 0):
        found = (given * share).ravel()
        moved = (found * (law @ (number / (found @ law)))).reshape(given.shape)
        of_class = moved.sum(axis=0)
        new = (moved + public) / (of_class + public.sum(axis=0))
        shares = (of_class + classes) / (number.sum() + classes.sum())
        change = max(float(np.abs(new - given).max()), float(np.abs(shares - share).max()))
        given, share = new, shares
        if change < 1e-8:
            break
    return np.asarray(given * share)
