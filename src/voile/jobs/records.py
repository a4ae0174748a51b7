"""What travels through a job: rows in batches, and rows that could not be released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from voile.core.randomness import Generator, keyed_rng, secure_rng
from voile.errors import VoileError
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

    `part` counts batches from 0. A seeded transform derives its generator from it, so that the
    result does not depend on how many processes work. `key` is drawn for the part by the job that
    hands it out: whoever makes the part, and however often it is tried, draws the same.

    Where a ledger is kept, a transform calls `charge` once with what each row costs, before it
    draws, and draws for those rows alone that come back true; the others are `BeyondBudget`.
    """

    part: int
    rows: Sequence[Row]
    key: int | None = None
    charge: Callable[[Bill], Bools] | None = None
    taken: list[None] = field(default_factory=list, repr=False, compare=False)
    """Holds something once the generator was taken; shared with all that is selected."""

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Sequence[Any]:
        """One column's values; None where a row has no such value."""
        if isinstance(self.rows, ColumnRows):
            return self.rows.columns.get(name) or [None] * len(self.rows)
        return [row.get(name) for row in self.rows]

    def select(self, positions: Sequence[int]) -> Batch:
        """The same part with only the rows at these positions."""
        if isinstance(self.rows, ColumnRows):
            chosen = {n: [v[i] for i in positions] for n, v in self.rows.columns.items()}
            return replace(self, rows=ColumnRows(chosen))
        return replace(self, rows=[self.rows[i] for i in positions])

    def secure_rng(self) -> Generator:
        """A cryptographic generator for this part, the same for every attempt at it.

        If a part is tried twice at once (a node was thought dead and is not), the attempt that
        commits first is kept. Had the two drawn differently, how long a draw took would choose
        between them, and the released law would no longer be the certified one. With one key there
        is nothing to choose from. It is given once: from one key a second generator would draw
        the same again, for other rows.
        """
        if self.key is None:
            return secure_rng()
        if self.taken:
            raise VoileError(
                "a batch gives its generator once, and it was asked for twice; keep it and go on "
                "drawing from it"
            )
        self.taken.append(None)
        return keyed_rng(self.key)


@dataclass(frozen=True)
class Released:
    """What a transform made of a batch: a row or a problem for each row, in order.

    `totals` are numbers about the batch (words, documents, …) that the job adds up.
    """

    rows: Sequence[Row | RowProblem]
    totals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Replaced:
    """The same, by column: new values for some columns, the others as they were.

    Each column has a value for every row of the batch; values of rows in `problems` (by position in
    the batch) are not looked at.
    """

    columns: Mapping[str, Sequence[Any]]
    problems: Mapping[int, RowProblem] = field(default_factory=dict)
    totals: Mapping[str, float] = field(default_factory=dict)


class Transform(Protocol):
    """Turns a batch into its release. One is made in each process."""

    def __call__(self, batch: Batch) -> Released | Replaced:
        """One row or one problem for each row of the batch."""
        ...
