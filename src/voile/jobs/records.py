"""What travels through a job: rows in batches, and rows that could not be released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from voile.ledger.amounts import Bill, Bools

Row = Mapping[str, Any]
"""One record: column name to value. CSV and text values are strings, as they stand in the file."""


class OnError(StrEnum):
    """What happens to a row that cannot be read or released."""

    FAIL = "fail"  # stop; nothing is written
    SKIP = "skip"  # leave the row out
    MASK = "mask"  # keep the row, with every value empty


@dataclass(frozen=True)
class RowProblem:
    """Why a row cannot be released; `reason` never repeats what the row holds."""

    reason: str


@dataclass(frozen=True)
class BeyondBudget(RowProblem):
    """A row that its person's budget does not cover: nothing may be drawn for it."""

    reason: str = "its person's budget is spent"


@dataclass(frozen=True)
class Batch:
    """Consecutive readable rows of a source: they become one part, drawn once.

    `part` counts batches from 0. A seeded transform derives its generator from it, so that the
    result does not depend on how many processes work. Where a ledger is kept, a transform calls
    `charge` once with what each row costs, before it draws, and draws for those rows alone that
    come back true; the others it answers with `BeyondBudget`.
    """

    part: int
    rows: Sequence[Row]
    charge: Callable[[Bill], Bools] | None = None


@dataclass(frozen=True)
class Released:
    """What a transform made of a batch: a row or a problem for each row, in order.

    `totals` are numbers about the batch (words, documents, …) that the job adds up.
    """

    rows: Sequence[Row | RowProblem]
    totals: Mapping[str, float] = field(default_factory=dict)


class Transform(Protocol):
    """Turns a batch into its release. One is made in each process, with a generator of its own."""

    def __call__(self, batch: Batch) -> Released:
        """One row or one problem for each row of the batch."""
        ...
