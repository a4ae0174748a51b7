"""Charging a ledger for a job's rows, part by part, before they are drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np

from voile.errors import OverBudget
from voile.files.rows import RowProblem
from voile.jobs.records import BeyondBudget
from voile.ledger import Bill, Head, Key, Ledger, Receipt

PATIENCE = 30.0
"""Seconds that a part waits for the one before it. Then it gives its place to others: on a cluster
the part before may have died with its node and be queueing for this very place."""


class NotYet(Exception):
    """The part before was not charged in time, or has failed: make this part later, if at all."""


class WhenSpent(StrEnum):
    """What happens to a row that its person's budget does not cover."""

    REFUSE = "refuse"  # stop; nothing is written and nobody charged
    MASK = "mask"  # keep the row, with every value empty
    DROP = "drop"  # leave the row out


@lru_cache(maxsize=4)
def _opened(where: str, key: Key) -> Ledger:
    """One connection a process."""
    return Ledger(where, key)


@dataclass(frozen=True)
class Charging:
    """Which ledger, which column names the person, what happens when a budget is spent.

    It travels to worker processes with the key in it, and is never written anywhere.
    """

    where: str = field(repr=False)  # it may hold a password
    key: Key
    person: str
    when_spent: WhenSpent = WhenSpent.REFUSE
    seen: Head | None = None
    """How far the ledger was seen where the key lies: on a machine without it that is known too."""
    beforehand: bool = False
    """Whether persons are charged for the whole job before its first part is drawn."""

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened once in each process."""
        return self._from_here(_opened(self.where, self.key))

    def own_ledger(self) -> Ledger:
        """The same over a connection of its own, for a thread beside others."""
        return self._from_here(Ledger(self.where, self.key))

    def _from_here(self, ledger: Ledger) -> Ledger:
        if self.seen is not None:
            ledger.guard.remember(self.seen)
        return ledger

    def identity(self) -> dict[str, str]:
        """What a restart must agree in; the address is left out, it may hold a password."""
        return {
            "ledger": self.ledger.identity,
            "person": self.person,
            "over_budget": str(self.when_spent),
        }

    def keeps(self, where: str) -> bool:
        """Whether a row beyond its budget stays as an empty one; an error if the job must stop."""
        if self.when_spent is WhenSpent.REFUSE:
            raise OverBudget(
                f"{where}: the budget of its person does not cover this row; nothing is "
                "released and nobody charged; choose --over-budget mask or drop to go on"
            )
        return self.when_spent is WhenSpent.MASK


class PartCharge:
    """One part's one charge, and what it did not cover."""

    def __init__(
        self,
        charging: Charging,
        persons: Sequence[Any],
        *,
        job: str,
        part: int,
        after: int | None,
        stopped: Callable[[], bool],
    ) -> None:
        self._charging, self._job, self._part = charging, job, part
        self._after, self._stopped = after, stopped
        self._persons = persons
        self._receipt: Receipt | None = None

    def pay(self, bill: Bill) -> None:
        """Charge the part, after the one before it: a budget is spent in the file's order.

        If parts were charged as they come, which row is the last that a budget covers would depend
        on how long draws take, and that on secrets. A row that names nobody is charged to nobody
        and not to be drawn.
        """
        ledger = self._charging.ledger
        self._wait(ledger)
        self._receipt = ledger.charge(self._job, self._part, self._persons, bill, wait=False)

    def settle(self) -> None:
        """Return once the charge is on disk: until then what was drawn must not leave the memory.

        Drawing and the disk's writing go on side by side.
        """
        if self._receipt is not None:
            self._receipt.settle()

    def _wait(self, ledger: Ledger) -> None:
        began, pause = time.monotonic(), 0.001
        while self._after is not None and not ledger.charged(self._job, self._after):
            if time.monotonic() - began > PATIENCE or (pause > 0.04 and self._stopped()):
                raise NotYet
            time.sleep(pause)
            pause = min(0.05, 1.5 * pause)

    def problems(self, found: Mapping[int, RowProblem]) -> dict[int, RowProblem]:
        """A plan's problems, with rows beyond their budget and rows that name nobody."""
        assert self._receipt is not None  # paid
        unpaid = np.flatnonzero(~self._receipt.within).tolist()
        nobody = RowProblem(f"the column {self._charging.person!r} names no person")
        beyond = {p: BeyondBudget() if self._receipt.named[p] else nobody for p in unpaid}
        return {**beyond, **found}
