"""The ledger: charge persons for what is about to be released about them, once and durably."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.errors import BadFile, CannotWrite, InvalidInput, require
from voile.ledger.amounts import Bill, Bools, Whole
from voile.ledger.decide import by_person, decide
from voile.ledger.entries import NOWHERE, Entry, Event, Head, after
from voile.ledger.filters import Budget
from voile.ledger.kinds import Kind
from voile.ledger.people import Key, Roster
from voile.ledger.store import Front, Store, Transaction, open_store
from voile.ledger.terms import Terms


@dataclass(frozen=True)
class Receipt:
    """Which rows may be released, and whether this was decided in an earlier run."""

    within: Bools
    replayed: bool


class Ledger:
    r"""Who has spent how much, by keyed hash.

    `charge` returns only after the charge is on disk, so what is released afterwards was paid for,
    whatever crashes in between. A part of a job is charged once: asked again, the ledger repeats
    its first answer. All processes that use a ledger wait for each other.

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
        store.create(Front(identity, key.check, first.head, ""), first)
        store.close()
        ledger = cls(where, key)
        if budget is not None:
            ledger._set(Terms(None, budget))
        return ledger

    # ── terms ──────────────────────────────────────────────────────────────────────────────

    def terms(self) -> Terms | None:
        """Kind and budget, once they are set."""
        text = self.store.front().terms
        return Terms.read(text) if text else None

    def agree(self, kind: Kind, budget: Budget | None) -> Terms:
        """Kind and budget: set by the first release, and the same from then on.

        Epsilons of two kinds cannot be added up, so a ledger is of one kind. Without a budget the
        one that was set (by `init`, say) holds. As long as nothing is charged both may be changed.
        """
        with self.store.transaction() as now:
            before = Terms.read(now.front.terms) if now.front.terms else None
            chosen = _chosen(before, budget)
            if before is not None and before.kind == kind and before.budget == chosen:
                return before
            if before is not None and not now.untouched():
                _refuse(before, kind, chosen)
            return self._write(now, Terms(kind, chosen))

    def _set(self, terms: Terms) -> None:
        with self.store.transaction() as now:
            self._write(now, terms)

    def _write(self, now: Transaction, terms: Terms) -> Terms:
        entry = after(now.front.head, Event.TERMS, facts=terms.text()).sealed(self._key)
        now.write(entry, [], np.zeros((0, 4), dtype=np.int64), terms.text())
        return terms

    # ── charging ───────────────────────────────────────────────────────────────────────────

    def charge(self, job: str, part: int, persons: Sequence[Any] | Roster, bill: Bill) -> Receipt:
        """Charge each row's person, in order, as far as budgets reach; a nobody's row is refused.

        A row that the bill says is not released is let through uncharged.
        Cost: one transaction a part, one write for each distinct person in it.
        """
        require(bool(job) and part >= 0, "job and part", "a name and a number >= 0", part)
        require(len(persons) == len(bill), "a bill", f"{len(persons)} rows", len(bill))
        roster = persons if isinstance(persons, Roster) else Roster.of(persons)
        asked = (roster.which >= 0) & (bill.which >= 0)
        hashes, owners = self._owners(roster.names, roster.which[asked])
        text = self.store.front().terms
        terms = Terms.read(text) if text else None
        if terms is None or terms.kind is None:
            raise InvalidInput("the ledger has no kind and budget yet; agree on them first")
        prices = [terms.budget.price(cost) for cost in bill.prices]
        rows = np.array(prices, dtype=np.int64).reshape(-1, 3)[bill.which[asked]]
        request = _digest(hashes, owners, np.array(prices, dtype=np.int64), bill)
        with self.store.transaction() as now:
            if now.refunded(job):
                raise CannotWrite("this job was given up and its charges taken back; start anew")
            found = now.entry(job, part)
            if found is not None:
                if found.request != request:
                    raise BadFile(
                        f"part {part} was charged for other rows than it holds now; "
                        "delete the job's folder and start anew"
                    )
                return Receipt(found.decisions(), replayed=True)
            spent = now.balances(hashes)
            inside = decide(rows, owners, spent[:, :3], terms.budget)
            table = by_person(rows, owners, inside, len(hashes))
            within = roster.which >= 0
            within[asked] = inside
            paid = np.flatnonzero(table[:, 3])
            some = [hashes[i] for i in paid]
            entry = after(
                now.front.head,
                Event.CHARGED,
                job=job,
                part=part,
                rows=len(persons),
                within=np.packbits(within).tobytes(),
                request=request,
                persons=b"".join(some),
                amounts=table[paid].astype("<i8").tobytes(),
            ).sealed(self._key)
            now.write(entry, some, spent[paid] + table[paid], text)
            return Receipt(within, replayed=False)

    def refund(self, job: str) -> int:
        """Take back what a job was charged; the number of parts.

        Only for a job whose parts were all deleted unread: nothing about the persons was released,
        so nothing was spent. The job can charge nothing more.
        """
        with self.store.transaction() as now:
            charged = [e for e in now.entries_of(job) if e.event == Event.CHARGED]
            if not charged or now.refunded(job):
                return 0
            sums = _added(charged)
            persons = sorted(sums)
            table = np.array([sums[p] for p in persons], dtype=np.int64).reshape(-1, 4)
            entry = after(
                now.front.head,
                Event.REFUNDED,
                job=job,
                persons=b"".join(persons),
                amounts=table.astype("<i8").tobytes(),
            ).sealed(self._key)
            now.write(entry, persons, now.balances(persons) - table, now.front.terms)
            return len(charged)

    # ── reading ────────────────────────────────────────────────────────────────────────────

    def spent(self, person: str) -> int:
        """The sum of a person's epsilons, in units."""
        return self.account(person)[0]

    def account(self, person: str) -> tuple[int, int, int, int]:
        """A person's epsilon, moment, delta and number of rows."""
        return self.store.balance(self._key.person(person)) or (0, 0, 0, 0)

    @property
    def head(self) -> Head:
        """The last entry."""
        return self.store.front().head

    def close(self) -> None:
        """Let go of the database; it is opened again when it is needed."""
        self.store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @property
    def _key(self) -> Key:
        if self.key is None:
            raise InvalidInput("the ledger's key is needed for this: give --ledger-key FILE")
        return self.key

    def _owners(
        self, names: Sequence[str], which: NDArray[np.intp]
    ) -> tuple[list[bytes], NDArray[np.intp]]:
        """The persons by keyed hash, sorted, and which of them each row belongs to."""
        hashes = self._key.persons(names)
        distinct = sorted(set(hashes))
        rank = {value: i for i, value in enumerate(distinct)}
        moved = np.array([rank[value] for value in hashes], dtype=np.intp)
        return distinct, moved[which] if len(moved) else which


def _chosen(before: Terms | None, budget: Budget | None) -> Budget:
    """The budget that is meant; one without a delta keeps the delta that was set."""
    if before is None:
        if budget is None:
            raise InvalidInput("the first release into a ledger must set its --budget")
        return budget
    if budget is None:
        return before.budget
    return budget if budget.delta else replace(before.budget, epsilon=budget.epsilon)


def _refuse(before: Terms, kind: Kind, budget: Budget) -> None:
    if before.kind is not None and before.kind != kind:
        raise InvalidInput(
            f"the ledger is of another metric: it counts {before.kind}, this release spends {kind} "
            f"(they differ in {before.kind.differs_in(kind)}); keep a ledger for each"
        )
    raise InvalidInput(
        f"the ledger's budget must stay what it is, {before.budget}; got {budget}; leave out "
        "--budget, or begin a new ledger"
    )


def _digest(hashes: Sequence[bytes], owners: NDArray[np.intp], prices: Whole, bill: Bill) -> bytes:
    """What was asked for: resuming with other rows under the same part would be seen."""
    content = hashlib.sha256(b"".join(hashes))
    for numbers in (owners, prices, bill.which):
        content.update(numbers.astype("<i8").tobytes())
    return content.digest()


def _added(entries: Sequence[Entry]) -> dict[bytes, Whole]:
    sums: dict[bytes, Whole] = {}
    for entry in entries:
        for person, amounts in zip(entry.hashes(), entry.table(), strict=True):
            sums[person] = sums[person] + amounts if person in sums else amounts
    return sums
