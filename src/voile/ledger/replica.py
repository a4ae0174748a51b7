"""What a process knows of the accounts, so that it need not ask for them again.

The entries are the ledger; accounts are their sums up to some entry, written now and then. A
process keeps the totals of the persons it has met and reads, in each transaction, the entries that
others have added since. Writing and reading an account for every person of every part would cost
more than blurring a place does.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from voile.ledger.amounts import Whole
from voile.ledger.entries import COLUMNS, Entry, Event
from voile.ledger.register import NOBODY, Numbers, Register
from voile.ledger.store import Transaction

FOLD_AFTER, FOLD_EACH = 2**18, 16
"""Charges that gather before the accounts are written: in all, and for each person."""


class Replica:
    """Totals as of an entry, by the register's numbers; right in a transaction, after `follow`."""

    def __init__(self, register: Register) -> None:
        self.register = register
        self._forget(0)

    def _forget(self, through: int) -> None:
        self.number = self.through = through
        self.digest = b""
        self.tail = 0
        self._totals: Whole = np.zeros((COLUMNS, 1024), dtype=np.int64)
        self._used: NDArray[np.bool_] = np.zeros(COLUMNS, dtype=np.bool_)
        # Whose total holds the account as well, and not just what entries have added to it since.
        self._met: NDArray[np.bool_] = np.zeros(1024, dtype=np.bool_)
        self._touched: NDArray[np.bool_] = np.zeros(1024, dtype=np.bool_)

    def follow(self, now: Transaction) -> None:
        """Take in what others have written since the last time."""
        head = now.front.head
        other = head.number < self.number or (head.number == self.number and
                                              self.digest not in (b"", head.digest))  # fmt: skip
        if other or now.front.through != self.through:
            self._forget(now.front.through)
        if head.number > self.number:
            for entry in now.entries_after(self.number):
                self.take(entry)

    def take(self, entry: Entry) -> None:
        """Add an entry's amounts."""
        sign = -1 if entry.event == Event.REFUNDED else 1
        numbers = self.register.of_hashes(entry.hashes())
        self._reserve()
        self.add(entry, numbers, sign * entry.table())

    def meet(self, now: Transaction, people: Numbers) -> None:
        """Ask for the accounts of those not met before."""
        self._reserve()
        new = people[~self._met[people] & (people != NOBODY)]
        if len(new) and self.through:  # before the accounts were first written there are none
            self._add(new, now.balances(self.register.hashes(new).tolist()))
        self._met[new] = True

    def totals(self, people: Numbers) -> Whole:
        """The totals of persons that were met."""
        found = np.zeros((COLUMNS, len(people)), dtype=np.int64)
        for column in np.flatnonzero(self._used):
            found[column] = self._totals[column][people]
        return found.T

    def add(self, entry: Entry, people: Numbers, amounts: Whole) -> None:
        """Take in an entry whose persons, each named once, are these."""
        self._add(people, amounts)
        self.number, self.digest = entry.number, entry.digest
        self.tail += len(people)
        self._touched[people] = True

    def _add(self, people: Numbers, amounts: Whole) -> None:
        for column, amount in enumerate(amounts.T):
            if amount.any():  # most releases have no delta
                self._totals[column][people] += amount
                self._used[column] = True

    def long(self) -> bool:
        """Whether so much has gathered that writing the accounts pays.

        Writing one costs as much as some ten charges; a process that begins reads all charges
        since they were last written.
        """
        return self.tail > max(FOLD_AFTER, FOLD_EACH * len(self.register))

    def fold(self, now: Transaction) -> None:
        """Write the accounts of all whom entries have touched since they were last written."""
        touched = np.flatnonzero(self._touched)
        touched = touched[self.register.order(touched)]
        self.meet(now, touched)
        now.fold(self.register.hashes(touched).tolist(), self.totals(touched), self.number)
        self.through, self.tail = self.number, 0
        self._touched[:] = False

    def _reserve(self) -> None:
        more = len(self.register) - len(self._met)
        if more > 0:
            more += len(self._met)
            self._totals = np.pad(self._totals, ((0, 0), (0, more)))
            self._met, self._touched = (
                np.pad(self._met, (0, more)),
                np.pad(self._touched, (0, more)),
            )


def added(entries: Iterable[Entry]) -> dict[bytes, Whole]:
    """What entries add up to, person by person."""
    sums = Replica(Register(None))
    for entry in entries:
        sums.take(entry)
    people = np.arange(1, len(sums.register))
    return dict(zip(sums.register.hashes(people).tolist(), sums.totals(people), strict=True))
