"""What must hold before a ledger is charged: it is what was written, and not an older state."""

from __future__ import annotations

from math import inf
from time import monotonic

from voile.ledger.address import place_of
from voile.ledger.chain import chained, is_genuine, refuse_older
from voile.ledger.entries import Entry, Event, Head
from voile.ledger.pages import changed
from voile.ledger.people import Key
from voile.ledger.seen import LastSeen
from voile.ledger.store import Front, Transaction


class Guard:
    """Checks one ledger for the holder of its key, and remembers how far it was seen."""

    def __init__(self, key: Key, identity: str, where: str) -> None:
        self._key, self._identity = key, identity
        self._seen = LastSeen(key.file)
        self._place = key.place(place_of(where))
        self._counted = False
        self.every = 0.0
        """Seconds between two notes beside the key, for whoever charges many times in one: the note
        may lag behind the ledger by so much."""
        self._noted = -inf

    @property
    def seen(self) -> Head | None:
        """The newest head that is known to the key's holder."""
        return self._seen.of(self._identity)

    def remember(self, head: Head) -> None:
        """Know of a head: from now on the ledger is not behind it."""
        self._seen.remember(self._identity, head)

    def note(self, head: Head) -> None:
        """The same, and write it beside the key: the entry is on the disk."""
        self.remember(head)
        if self.every and monotonic() - self._noted < self.every:
            return
        self._noted = monotonic()
        self._seen.note(self._identity, head)

    def check(self, front: Front) -> None:
        """The first page is sealed, of this ledger, and not behind what was seen."""
        if not front.is_genuine(self._key) or front.identity != self._identity:
            raise changed("its first page is not what was written")
        refuse_older(front, self.seen)

    def enter(self, now: Transaction) -> None:
        """The same of a transaction; once in a process also that no entry is missing.

        And that no other ledger was charged at this address before.
        """
        self.check(now.front)
        if not self._counted and now.count() != now.front.head.number:
            raise changed("entries are missing, or there are too many")
        if not self._counted:
            self._seen.settle(self._place, self._identity, now.front.head)
        self._counted = True

    def put_here(self, front: Front) -> None:
        """The key's holder made this ledger here, or moved it here: it may follow another."""
        self.check(front)
        self._seen.settle(self._place, self._identity, front.head, anew=True)

    def check_again(self, now: Transaction, entry: Entry) -> None:
        """An answer is repeated only if its entry leads to the head, and was not taken back."""
        if not is_genuine(entry, self._key):
            raise changed(f"entry {entry.number} is not what was written")
        later = chained(now.entries(entry.number), after=entry.number, front=now.front,
                        key=self._key, seen=entry.head)  # fmt: skip
        if any(e.event == Event.REFUNDED and e.job == entry.job for e in later):
            raise changed("a job that was given up goes by another name")
