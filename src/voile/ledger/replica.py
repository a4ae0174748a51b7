"""What a process knows of the accounts, so that it need not ask for them again.

The entries are the ledger; accounts are their sums up to some entry, written now and then. A
process keeps the totals of the persons it has met and reads, in each transaction, the entries that
others have added since. Writing and reading an account for every person of every part would cost
more than blurring a place does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voile.ledger.amounts import Whole
from voile.ledger.chain import chained, first_to_read
from voile.ledger.entries import COLUMNS, Entry, Event, Head
from voile.ledger.pages import (
    PER_PAGE,
    accounts_of,
    balances,
    merged,
    page_numbers,
    pages_for,
    read,
    written,
)
from voile.ledger.people import Key
from voile.ledger.register import NOBODY, Numbers, Register
from voile.ledger.store import Front, Transaction

FOLD_AFTER, FOLD_EACH = 2**18, 16
"""Charges that gather before the accounts are written: in all, and for each person."""


class Replica:
    """Totals as of an entry, by the register's numbers; right in a transaction, after `follow`."""

    def __init__(self, register: Register) -> None:
        self.register = register
        self._forget(0)

    def _forget(self, through: int) -> None:
        self.number = self.through = through
        self.tail = 0
        self.moved = False
        self._accounts = 0
        self._totals: Whole = np.zeros((COLUMNS, 1024), dtype=np.int64)
        self._used: NDArray[np.bool_] = np.zeros(COLUMNS, dtype=np.bool_)
        # Whose total holds the account as well, and not just what entries have added to it since.
        self._met: NDArray[np.bool_] = np.zeros(1024, dtype=np.bool_)
        self._touched: NDArray[np.bool_] = np.zeros(1024, dtype=np.bool_)

    def follow(self, now: Transaction, key: Key, seen: Head | None) -> None:
        """Take in what others have written since the last time, each entry checked first."""
        if now.front.through != self.through:
            self._forget(now.front.through)
        self._accounts = PER_PAGE * now.front.pages
        new = now.entries(first_to_read(self.number, seen))
        for entry in chained(new, after=self.number, front=now.front, key=key, seen=seen):
            self.take(entry)

    def take(self, entry: Entry) -> None:
        """Add an entry's amounts."""
        sign = -1 if entry.event == Event.REFUNDED else 1
        if entry.event in (Event.MOVED, Event.ARRIVED):  # never folded, so always met
            self.moved = entry.event == Event.MOVED
        numbers = self.register.of_hashes(entry.hashes())
        self._reserve()
        self.add(entry, numbers, sign * entry.table())

    def meet(self, now: Transaction, key: Key, people: Numbers) -> None:
        """Ask for the accounts of those not met before."""
        self._reserve()
        new = people[~self._met[people] & (people != NOBODY)]
        if len(new) and self.through:  # before the accounts were first written there are none
            persons = self.register.hashes(new).tolist()
            numbers = page_numbers(persons, now.front.pages)
            accounts = read(now.pages(numbers), now.front, key, numbers)
            self._add(new, balances(accounts, persons))
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
        self.number = entry.number
        self.tail += len(people)
        self._touched[people] = True

    def _add(self, people: Numbers, amounts: Whole) -> None:
        for column, amount in enumerate(amounts.T):
            if amount.any():  # most releases have no delta
                self._totals[column][people] += amount
                self._used[column] = True

    def long(self) -> bool:
        """Whether so much has gathered that writing the accounts pays.

        All are written together, so there must be as many charges as accounts; a process that
        begins reads all charges since they were last written.
        """
        return self.tail > max(FOLD_AFTER, FOLD_EACH * len(self.register), self._accounts)

    def fold(self, now: Transaction, key: Key, front: Front) -> Front:
        """Write all accounts as of the last entry; the first page that goes with them."""
        touched = np.flatnonzero(self._touched)
        self.meet(now, key, touched)
        newer = accounts_of(self.register.hashes(touched).tolist(), self.totals(touched))
        accounts = merged(read(now.pages(), now.front, key), newer)
        pages = pages_for(len(accounts), front.pages)
        front = replace(front, through=self.number, pages=pages)
        now.write_pages(written(accounts, front, key))
        self.through, self.tail = self.number, 0
        self._accounts = PER_PAGE * pages
        self._touched[:] = False
        return front

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
