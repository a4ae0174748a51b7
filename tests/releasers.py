"""Releasers for tests of jobs, made from a function of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.files.rows import RowProblem
from voile.jobs import Batch, Planned, Replaced
from voile.ledger import Bill, simple_cost

Columns = Mapping[str, Sequence[Any]]


def nothing_wrong(batch: Batch) -> Mapping[int, RowProblem]:
    return {}


@dataclass(frozen=True)
class Simple:
    """Replaces columns by what a function makes of a batch; every row costs the same."""

    columns: Callable[[Batch], Columns]
    problems: Callable[[Batch], Mapping[int, RowProblem]] = nothing_wrong
    cost: float = 1.0
    seen: str = ""
    """Under this name the rows are counted, if it is given."""

    def __call__(self) -> Simple:
        """Made in a worker from a copy of itself."""
        return self

    def plan(self, batch: Batch) -> Planned:
        problems = self.problems(batch)
        readable = np.array([i not in problems for i in range(len(batch))], dtype=np.bool_)
        return Planned(batch, lambda: Bill.alike(simple_cost(self.cost), readable), problems)

    def draw(self, planned: Planned, paid: Any, rng: Any) -> Replaced:
        totals = {self.seen: len(paid)} if self.seen else {}
        return Replaced(self.columns(planned.secrets), totals)
