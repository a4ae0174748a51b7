"""Charging a ledger for a job's rows, part by part, before they are drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np

from voile.errors import OverBudget, VoileError
from voile.jobs.records import BeyondBudget, Row, RowProblem
from voile.ledger import Bill, Key, Ledger, person_name
from voile.ledger.amounts import Bools


class Stopped(Exception):
    """Another part has failed, and says why: this one need not wait for it any longer."""


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

    where: str
    key: Key
    person: str
    when_spent: WhenSpent = WhenSpent.REFUSE
    job: str = ""

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened once in each process."""
        return _opened(self.where, self.key)

    def identity(self) -> dict[str, str]:
        """What a restart must agree in; the address is left out, it may hold a password."""
        return {
            "ledger": self.ledger.identity,
            "person": self.person,
            "over_budget": str(self.when_spent),
        }

    def part(self, number: int, *, after: int | None, stopped: Callable[[], bool]) -> ChargedPart:
        """The charging of one part."""
        return ChargedPart(self, number, after, stopped)

    def refund(self) -> int:
        """Take back what the job was charged: its parts are gone unread."""
        return self.ledger.refund(self.job)


class ChargedPart:
    """One part on its way: its persons, then its one charge, then what the budget did not cover."""

    def __init__(
        self, charging: Charging, number: int, after: int | None, stopped: Callable[[], bool]
    ) -> None:
        self._charging, self._number, self._after = charging, number, after
        self._stopped = stopped
        self._persons: list[str] = []
        self._within: Bools | None = None

    def named(
        self, records: Sequence[tuple[int, Row | RowProblem]]
    ) -> Sequence[tuple[int, Row | RowProblem]]:
        """The records, with a problem in place of each that names no person."""
        column, persons = self._charging.person, self._persons
        try:  # the usual case, without a step of Python for each row
            names = [row[column] for _, row in records]  # type: ignore[index]
            if all(map(str.strip, names)):
                persons.extend(names)
                return records
        except (KeyError, TypeError):
            pass  # a bad row, a number, or nobody
        answers: list[tuple[int, Row | RowProblem]] = []
        for line, row in records:
            if isinstance(row, RowProblem):
                answers.append((line, row))
                continue
            name = person_name(row.get(column))
            if name is None:
                answers.append((line, RowProblem(f"the column {column!r} names no person")))
            else:
                persons.append(name)
                answers.append((line, row))
        return answers

    def charge(self, bill: Bill) -> Bools:
        """Charge the part, after the one before it: a budget is spent in the file's order.

        If parts were charged as they come, which row is the last that a budget covers would depend
        on how long draws take, and that on secrets.
        """
        if self._within is not None:
            raise VoileError("a part is charged once, and was charged twice")
        charging = self._charging
        self._wait(charging.ledger)
        receipt = charging.ledger.charge(charging.job, self._number, self._persons, bill)
        self._within = receipt.within
        return receipt.within

    def _wait(self, ledger: Ledger) -> None:
        pause = 0.001
        while self._after is not None and not ledger.store.charged(self._charging.job, self._after):
            if self._stopped():
                raise Stopped
            time.sleep(pause)
            pause = min(0.05, 1.5 * pause)

    def check(self, rows: Sequence[Any]) -> None:
        """A transform must have charged, and have drawn for paid rows alone."""
        unpaid = [] if self._within is None else np.flatnonzero(~self._within).tolist()
        kept = all(isinstance(rows[place], BeyondBudget) for place in unpaid)
        if self._within is None or not kept:
            raise VoileError("a transform must charge its batch once and draw for paid rows alone")

    def masks(self, line: int) -> bool:
        """Whether a row beyond its budget stays as an empty one; refused if the job is to stop."""
        policy = self._charging.when_spent
        if policy is WhenSpent.REFUSE:
            raise OverBudget(
                f"line {line}: the budget of its person does not cover this row; nothing is "
                "released and nobody charged; choose --over-budget mask or drop to go on"
            )
        return policy is WhenSpent.MASK
