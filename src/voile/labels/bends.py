"""Features in clear as a linear model reads them: straight, or bent along their own ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Items
from voile.labels.columns import Column, NumberColumn, matrix_of

QUARTERS = np.array([0.0, 0.25, 0.5, 0.75])


class Tuned(Protocol):
    """A learner that says how well it does on reports held out."""

    held_: float

    def fit(self, X: Floats, y: Items) -> Any:
        """Fit to features and released labels."""


Learner = TypeVar("Learner", bound=Tuned)


def side_by_side(
    columns: Sequence[Column], values: Sequence[NDArray[Any]], *, bent: bool
) -> Floats:
    """All features in one table; bent, each number stands there in four more pieces.

    With r(x) the place of x among the column's levels, from 0 to 1 and linear between them, they
    are max(0, r(x) − q) for q = 0, ¼, ½, ¾. A sum of them bends at the quarters, and what few
    records have at an end of the range does not stretch it.
    """
    table = matrix_of(columns, values)[0]
    pieces = [
        np.maximum(_place(column, part)[:, None] - QUARTERS, 0.0)
        for column, part in zip(columns, values, strict=True)
        if isinstance(column, NumberColumn) and len(column.levels) > 2
    ]
    return np.hstack([table, *pieces]) if bent else table


def straight_or_bent(
    made: Callable[[], Learner],
    columns: Sequence[Column],
    values: Sequence[NDArray[Any]],
    answers: Items,
) -> tuple[Learner, bool]:
    """The model of the two that does better on reports held out, and whether it is bent."""
    models = [made().fit(side_by_side(columns, values, bent=b), answers) for b in (False, True)]
    bent = bool(models[1].held_ < models[0].held_)
    return models[bent], bent


def _place(column: NumberColumn, values: NDArray[Any]) -> Floats:
    """Where each value lies among the levels; what is missing in the middle."""
    levels = np.array(column.levels)
    there = np.where(np.isnan(values), levels[len(levels) // 2], values)
    return np.asarray(np.interp(there, levels, np.linspace(0, 1, len(levels))))
