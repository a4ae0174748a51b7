"""What a process knows of the accounts, so that it need not ask for them again.

The entries are the ledger; accounts are their sums up to some entry, written now and then. A
process keeps the totals of the persons it has met and reads, in each transaction, the entries that
others have added since. Writing and reading an account for every person of every part would cost
more than blurring a place does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.ledger.amounts import Whole
from voile.ledger.entries import COLUMNS, Entry, Event
from voile.ledger.store import Transaction

LARGEST = 2**20
"""Persons that are remembered; then all are forgotten and asked for anew."""


class Replica:
    """Totals as of an entry; right only inside a transaction, after `follow`."""

    def __init__(self) -> None:
        self._forget(0)

    def _forget(self, through: int) -> None:
        self.number = self.through = through
        self.digest = b""
        self.tail = 0
        self.hashes: list[bytes] = []
        self._places: dict[bytes, int] = {}
        self._totals: Whole = np.zeros((1024, COLUMNS), dtype=np.int64)
        # Sums, after the accounts were written, of persons this process has not met.
        self._strangers: dict[bytes, Whole] = {}
        self._touched: set[bytes] = set()

    def follow(self, now: Transaction) -> None:
        """Take in what others have written since the last time."""
        head = now.front.head
        other = head.number < self.number or (head.number == self.number and
                                              self.digest not in (b"", head.digest))  # fmt: skip
        if other or now.front.through != self.through or len(self.hashes) > LARGEST:
            self._forget(now.front.through)
        if head.number > self.number:
            for entry in now.entries_after(self.number):
                self.take(entry)

    def take(self, entry: Entry) -> None:
        """Add an entry's amounts."""
        self.number, self.digest = entry.number, entry.digest
        if not entry.persons:
            return
        sign = -1 if entry.event == Event.REFUNDED else 1
        for person, amounts in zip(entry.hashes(), entry.table(), strict=True):
            place = self._places.get(person)
            if place is not None:
                self._totals[place] += sign * amounts
            elif person in self._strangers:
                self._strangers[person] += sign * amounts
            else:
                self._strangers[person] = sign * amounts
            self._touched.add(person)
        self.tail += len(entry.persons) // 32

    def meet(self, now: Transaction, persons: Sequence[bytes]) -> NDArray[np.intp]:
        """Where each person's total stands; those not met before are asked for."""
        places = self._places
        new = [p for p in dict.fromkeys(persons) if p not in places]
        if new:
            # Before the accounts were first written there are none to ask for.
            base = now.balances(new) if self.through else np.zeros((len(new), 4), dtype=np.int64)
            start = len(self.hashes)
            self._reserve(start + len(new))
            self._totals[start : start + len(new)] = base
            for place, person in enumerate(new, start):
                places[person] = place
                stranger = self._strangers.pop(person, None)
                if stranger is not None:
                    self._totals[place] += stranger
            self.hashes += new
        return np.fromiter(map(places.__getitem__, persons), dtype=np.intp, count=len(persons))

    def totals(self, places: NDArray[np.intp]) -> Whole:
        """The totals at these places."""
        return self._totals[places]

    def add(self, entry: Entry, places: NDArray[np.intp], amounts: Whole) -> None:
        """Take in an entry that this process wrote itself, whose persons it has met."""
        self._totals[places] += amounts
        self.number, self.digest = entry.number, entry.digest
        self.tail += len(places)
        self._touched.update(map(self.hashes.__getitem__, places.tolist()))

    def fold(self, now: Transaction) -> None:
        """Write the accounts of all whom entries have touched since they were last written."""
        touched = sorted(self._touched)
        places = self.meet(now, touched)
        now.fold(touched, self._totals[places], self.number)
        self.through, self.tail = self.number, 0
        self._touched.clear()

    def _reserve(self, size: int) -> None:
        if size > len(self._totals):
            wider = np.zeros((max(size, 2 * len(self._totals)), COLUMNS), dtype=np.int64)
            wider[: len(self._totals)] = self._totals
            self._totals = wider
