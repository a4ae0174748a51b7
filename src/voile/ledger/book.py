"""The ledger: charge persons for what is about to be released about them, once and durably."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from voile.errors import BadFile, CannotWrite, InvalidInput, VoileError, require
from voile.ledger.amounts import Bill, Bools
from voile.ledger.decide import by_person, decide
from voile.ledger.ends import finish_entry, given_up, refund_entry
from voile.ledger.entries import NO_PART, NOWHERE, Entry, Event, Head, after, packed
from voile.ledger.filters import Budget
from voile.ledger.guard import Guard
from voile.ledger.kinds import Kind
from voile.ledger.people import Key
from voile.ledger.reading import Accounts
from voile.ledger.receipt import Receipt, on_disk, request_digest
from voile.ledger.register import LARGEST, NOBODY, Register
from voile.ledger.replica import Replica
from voile.ledger.store import Front, Store, Transaction, open_store
from voile.ledger.terms import Terms, chosen_budget, refuse_change


class Ledger(Accounts):
    r"""Who has spent how much, by keyed hash.

    `charge` returns once the charge is on disk (or leaves a receipt to wait by), so what is then
    released was paid for, whatever crashes in between. A part of a job is charged once: asked
    again, the ledger repeats its first answer. All processes wait for each other.

    >>> import tempfile
    >>> from voile.ledger import Bill, Budget, Key, Kind, Ledger, simple_cost
    >>> ledger = Ledger.create(tempfile.mkdtemp() + "/ledger.db", Key(bytes(32)))
    >>> _ = ledger.agree(Kind("one location", "euclidean", "km"), Budget(1.0))
    >>> bill = Bill.listed([simple_cost(0.4)] * 4)
    >>> ledger.charge("job", 0, ["ann", "bob", "ann", "ann"], bill).within.tolist()
    [True, True, True, False]
    >>> ledger.charge("job", 0, ["ann", "bob", "ann", "ann"], bill).replayed
    True
    >>> ledger.spent("ann"), ledger.spent("bob"), ledger.spent("eve")
    (800000000, 400000000, 0)
    """

    def __init__(self, where: str, key: Key | None) -> None:
        self.where = where
        self.key = key
        self.store: Store = open_store(where)
        self._forget()
        self._changed = False  # by a transaction that is not known to have ended well
        self._settle: Callable[[], None] | None = None  # waits for it, once it is ending
        front = self.store.front()
        self.identity = front.identity
        if key is not None and key.check != front.check:
            self.store.close()
            raise InvalidInput(
                "the key must be the one that this ledger was made with, it is another; "
                "persons would get a second account"
            )

    @classmethod
    def create(cls, where: str, key: Key, *, budget: Budget | None = None) -> Ledger:
        """A new, empty ledger; the budget may also be set by the first release."""
        identity = secrets.token_hex(8)
        first = after(NOWHERE, Event.OPENED, facts=f'{{"identity": "{identity}"}}').sealed(key)
        store = open_store(where)
        store.create(Front(identity, key.check, first.head, "").sealed(key), [first])
        store.close()
        ledger = cls(where, key)
        ledger.guard.put_here(ledger.store.front())
        if budget is not None:
            with ledger.store.transaction() as now:
                ledger._follow(now)
                ledger._set(now, Terms(None, budget))
        ledger._front()
        return ledger

    # ── terms ──────────────────────────────────────────────────────────────────────────────

    def terms(self) -> Terms | None:
        """Kind and budget, once they are set."""
        text = self._front().terms
        return Terms.read(text) if text else None

    def agree(self, kind: Kind, budget: Budget | None) -> Terms:
        """Kind and budget: set by the first release, and the same from then on.

        Epsilons of two kinds cannot be added up, so a ledger is of one kind. Without a budget the
        one that was set (by `init`, say) holds. As long as nothing is charged both may be changed.
        """
        with self.store.transaction() as now:
            self._follow(now)
            before = Terms.read(now.front.terms) if now.front.terms else None
            chosen = chosen_budget(before, budget)
            if before is not None and before.kind == kind and before.budget == chosen:
                return before
            if before is not None and not now.untouched():
                refuse_change(before, kind, chosen)
            self._set(now, Terms(kind, chosen))
        return Terms(kind, chosen)

    def _set(self, now: Transaction, terms: Terms) -> None:
        self._write(now, after(now.front.head, Event.TERMS, facts=terms.text()), terms.text())

    # ── charging ───────────────────────────────────────────────────────────────────────────

    def charge(
        self, job: str, part: int, persons: Sequence[Any], bill: Bill, *, wait: bool = True,
        also: Callable[[Transaction, Bools], None] | None = None,
    ) -> Receipt:  # fmt: skip
        """Charge each row's person, in order, as far as budgets reach; a nobody's row is refused.

        A row that the bill says is not released is let through uncharged. Without `wait` the disk
        may still be writing, and nothing may be released before the receipt's `settle` returns.
        `also` is told which rows are within and may write what is to stand or fall with the charge.
        Cost: one transaction and one entry a part; an account is written when many entries have
        gathered, or by `fold`.
        """
        require(bool(job) and part >= 0, "job and part", "a name and a number >= 0", part)
        require(len(persons) == len(bill), "a bill", f"{len(persons)} rows", len(bill))
        if len(self._register) > LARGEST:
            self._forget()
        numbers = self._register.numbers(persons)
        named = numbers != NOBODY
        asked = named & (bill.which >= 0)
        some = slice(None) if asked.all() else asked  # all rows, as a rule: nothing to pick
        which = bill.which[some]
        people, owners = self._register.grouped(numbers[some])
        with self.store.transaction() as now:
            self._follow(now)
            terms = Terms.read(now.front.terms) if now.front.terms else None
            if terms is None or terms.kind is None:
                raise InvalidInput("the ledger has no kind and budget yet; agree on them first")
            prices = np.array([terms.budget.price(c) for c in bill.prices], np.int64).reshape(-1, 3)
            request = request_digest(self._register.hashes(numbers), prices, bill)
            ended = now.entry(job, NO_PART)
            if ended is not None and ended.event == Event.REFUNDED:
                raise given_up()
            found = now.entry(job, part)
            if found is not None:
                if found.request != request:
                    raise BadFile(
                        f"part {part} was charged for other rows than it holds now; "
                        "delete the job's folder and start anew"
                    )
                self.guard.check_again(now, found)
                return Receipt(found.decisions(), named, replayed=True, settle=on_disk)
            if ended is not None:
                raise CannotWrite("this job was finished; nothing more is charged for it")
            self._known.meet(now, self._key, people)
            inside = decide(prices, which, owners, self._known.totals(people)[:, :3], terms.budget)
            table = by_person(prices, which, owners, inside, len(people))
            within = named.copy()
            within[some] = inside
            charged = table[:, 3] > 0
            if not charged.all():
                people, table = people[charged], table[charged]
            entry = after(
                now.front.head,
                Event.CHARGED,
                job=job,
                part=part,
                rows=len(numbers),
                within=np.packbits(within).tobytes(),
                request=request,
                persons=self._register.hashes(people).tobytes(),
                amounts=packed(table),
            )
            self._changed = True
            entry = self._write(now, entry, now.front.terms)
            self._known.add(entry, people, table)
            if also is not None:
                also(now, within)
            if self._known.long():
                now.move(self._known.fold(now, self._key, now.front).sealed(self._key))
            on_its_way = on_disk if wait else now.end_beside()

        def settle() -> None:
            on_its_way()
            self.guard.note(entry.head)

        self._settle = settle
        if wait:
            settle()
        return Receipt(within, named, replayed=False, settle=settle)

    def charged(self, job: str, part: int) -> bool:
        """Whether a part was charged, by whatever process."""
        return self.store.charged(job, part)

    def refund(self, job: str) -> int:
        """Take back what a job was charged; the number of parts.

        Only for a job whose parts were all deleted unread: nothing about the persons was released,
        so nothing was spent. The job can charge nothing more.
        """
        with self.store.transaction() as now:
            self._follow(now)
            entry, parts = refund_entry(now, job, self._key)
            if entry is not None:
                self._write(now, entry, now.front.terms)
        return parts

    def finish(self, job: str) -> None:
        """Note that a job's output is about to appear: from now on it cannot be refunded.

        Written before the output has its name, so that a job without this entry has released
        nothing. Said again it changes nothing.
        """
        with self.store.transaction() as now:
            self._follow(now)
            entry = finish_entry(now, job)
            if entry is not None:
                self._write(now, entry, now.front.terms)

    def move(self, event: Event) -> None:
        """Note that the ledger goes on elsewhere, or here."""
        with self.store.transaction() as now:
            self._follow(now, wherever=True)
            if event == Event.ARRIVED or not self._known.moved:
                self._write(now, after(now.front.head, event), now.front.terms)
        self._front()

    def fold(self) -> None:
        """Write the accounts up to the last entry, so that others need not read so many entries."""
        with self.store.transaction() as now:
            self._follow(now)
            self._changed = True
            now.move(self._known.fold(now, self._key, now.front).sealed(self._key))
        self._settle = on_disk

    def _write(self, now: Transaction, entry: Entry, terms: str) -> Entry:
        """Append an entry and move the sealed first page to it."""
        sealed = entry.sealed(self._key)
        now.write(sealed)
        now.move(replace(now.front, head=sealed.head, terms=terms).sealed(self._key))
        return sealed

    def _follow(self, now: Transaction, *, wherever: bool = False) -> None:
        """Check what this transaction stands on and bring what is known up to date.

        What is known begins anew after a transaction that did not end well.
        """
        if self._settle is not None:
            with suppress(VoileError):  # told to the receipt's owner
                self._settle()
                self._changed = False
            self._settle = None
        if self._changed:
            self._known, self._changed = Replica(self._register), False
        self.guard.enter(now)
        self._known.follow(now, self._key, self.guard.seen)
        self.guard.remember(now.front.head)
        if self._known.moved and not wherever:
            raise CannotWrite(
                "this ledger was moved with `voile ledger migrate`; charge it where it is now"
            )

    def _forget(self) -> None:
        """Know nobody, and no total."""
        self._register = Register(self.key)
        self._known = Replica(self._register)

    def _front(self) -> Front:
        """The first page, with the key checked; what it names is on the disk."""
        front = self.store.front()
        if self.key is not None:
            self.guard.check(front)
            self.guard.note(front.head)
        return front

    @property
    def head(self) -> Head:
        """The last entry."""
        return self._front().head

    def close(self) -> None:
        """Let go of the database; it is opened again when it is needed."""
        self.store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @cached_property
    def guard(self) -> Guard:
        """Checks this ledger before it is charged."""
        return Guard(self._key, self.identity, self.where)
