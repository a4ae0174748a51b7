"""What travels through a job: rows in batches, what is planned for them, what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from voile.core.randomness import Generator
from voile.files.rows import ColumnRows, Row, RowProblem
from voile.ledger.amounts import Bill, Bools


@dataclass(frozen=True)
class BeyondBudget(RowProblem):
    """A row that its person's budget does not cover: nothing may be drawn for it."""

    reason: str = "its person's budget is spent"


@dataclass(frozen=True)
class Telling(RowProblem):
    """A row that may be neither left out nor emptied, since that would tell what it holds.

    The job stops at it, whatever is to be done with bad rows; `reason` says what else to do.
    """


@dataclass(frozen=True)
class Batch:
    """Consecutive readable rows of a source: they become one part, drawn once.

    `part` counts batches from 0.
    """

    part: int
    rows: Sequence[Row]

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Sequence[Any]:
        """One column's values; None where a row has no such value."""
        if isinstance(self.rows, ColumnRows):
            return self.rows.columns.get(name) or [None] * len(self.rows)
        return [row.get(name) for row in self.rows]


@dataclass(frozen=True, eq=False)
class Planned:
    """A batch that was looked at and not yet drawn for.

    `problems` are rows that cannot be released, by position; `bill` says what each of the others
    costs and is asked for only where a ledger is kept; `secrets` is what the releaser draws from.
    """

    secrets: Any
    bill: Callable[[], Bill]
    problems: Mapping[int, RowProblem] = field(default_factory=dict)


@dataclass(frozen=True)
class Replaced:
    """New values for some columns of a batch, the others stay as they were.

    Each column has a value for every row of the batch; values of rows that are not released are not
    looked at. `totals` are numbers about the batch (words, places, …) that the job adds up.
    """

    columns: Mapping[str, Sequence[Any]]
    totals: Mapping[str, float] = field(default_factory=dict)


class Releaser(Protocol):
    """Releases batches in two phases; one is made in each process.

    The job charges between them and says which rows are paid for, so that an unpaid row cannot be
    drawn, and gives the generator with the second: nothing is random before.
    """

    def plan(self, batch: Batch) -> Planned:
        """What is to be drawn, what it costs, and what is wrong with the other rows."""
        ...

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """New values for the rows that are `paid`; there is no problem with any of them."""
        ...
