"""Whether a ledger is what was written into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from voile.errors import BadFile, VoileError
from voile.ledger.amounts import Whole
from voile.ledger.book import Ledger
from voile.ledger.chain import is_genuine
from voile.ledger.entries import NO_PART, START, Entry, Event, Head
from voile.ledger.pages import hashes_of, read
from voile.ledger.people import HASH_BYTES
from voile.ledger.store import Front
from voile.ledger.terms import Terms

_MOST = 20
"""Problems that are listed; one is enough to know."""


@dataclass(frozen=True)
class Verification:
    """What was found; no problems means that chain, seals, accounts and head agree."""

    entries: int
    people: int
    head: Head
    sealed: bool
    problems: tuple[str, ...]
    seen: Head | None = None
    """The head last seen with the key, which was looked for as well."""


class _Replay:
    """The state that the entries lead to, and what is wrong on the way."""

    def __init__(self) -> None:
        self.number, self.digest = 0, START
        self.balances: dict[bytes, Whole] = {}
        self.jobs: dict[str, dict[bytes, Whole]] = {}
        self.parts: set[tuple[str, int]] = set()
        self.ended: set[str] = set()
        self.terms = ""
        self.identity = ""
        self.moved = False

    def step(self, entry: Entry) -> Iterator[str]:
        where = f"entry {entry.number}"
        if entry.number != self.number + 1:
            yield f"{where} follows entry {self.number}: entries are missing"
        if entry.previous != self.digest:
            yield f"{where} does not continue the entry before it"
        if entry.computed() != entry.digest:
            yield f"{where} was changed: its hash is another"
        self.number, self.digest = entry.number, entry.digest
        if not _whole(entry):
            yield f"{where} is damaged: persons and amounts do not match"
            return
        if entry.event == Event.OPENED:
            self.identity = str(entry.known().get("identity"))
        elif entry.event == Event.TERMS:
            if self.parts:
                yield f"{where} sets another kind or budget after the first charge"
            self.terms = entry.facts
        elif entry.event == Event.CHARGED:
            yield from self._charged(entry, where)
        elif entry.event == Event.REFUNDED:
            yield from self._refunded(entry, where)
        elif entry.event == Event.FINISHED:
            if entry.job in self.ended:
                yield f"{where} ends a job a second time"
            self.ended.add(entry.job)
        elif entry.event in (Event.MOVED, Event.ARRIVED):
            if entry.event == Event.ARRIVED and not self.moved:
                yield f"{where} says that the ledger arrived, and it never left"
            self.moved = entry.event == Event.MOVED
        else:
            yield f"{where} is of an unknown sort"

    def _charged(self, entry: Entry, where: str) -> Iterator[str]:
        if (entry.job, entry.part) in self.parts or entry.part == NO_PART:
            yield f"{where} charges a part a second time"
        if entry.job in self.ended:
            yield f"{where} charges for a job that was given up"
        self.parts.add((entry.job, entry.part))
        table = entry.table()
        if int(table[:, 3].sum()) > int(entry.decisions().sum()):
            yield f"{where} charges more rows than it allows"
        terms = Terms.read(self.terms) if self.terms else None
        if terms is None:
            yield f"{where} charges before a budget was set"
        job = self.jobs.setdefault(entry.job, {})
        nothing = np.zeros(4, dtype=np.int64)
        for person, amounts in zip(entry.hashes(), table, strict=True):
            total = self.balances.get(person, nothing) + amounts
            self.balances[person] = total
            job[person] = job.get(person, nothing) + amounts
            if terms and not terms.budget.allows((int(total[0]), int(total[1]), int(total[2]))):
                yield f"{where} charges a person beyond the budget"

    def _refunded(self, entry: Entry, where: str) -> Iterator[str]:
        charged = self.jobs.get(entry.job, {})
        given = dict(zip(entry.hashes(), entry.table(), strict=True))
        same = given.keys() == charged.keys() and all(
            np.array_equal(given[person], charged[person]) for person in given
        )
        if not same or entry.job in self.ended:
            yield f"{where} takes back another amount than was charged"
        self.ended.add(entry.job)
        for person, amounts in given.items():
            self.balances[person] = self.balances.get(person, 0 * amounts) - amounts


def _whole(entry: Entry) -> bool:
    """Whether there are amounts for each person, and no more."""
    try:
        entry.table()
    except ValueError:
        return False
    return len(entry.persons) % HASH_BYTES == 0


def check_ledger(ledger: Ledger, *, head: Head | None = None) -> Verification:
    """Read every entry and recompute everything that follows from them.

    Without a key the chain is checked, with one the seals too: a chain that somebody rewrote from
    some entry on has the wrong ones. A ledger that was replaced by an older copy of itself is found
    with `head`, noted when it was longer, or by what was last seen beside the key. Memory: one row
    for each person.
    """
    store, replay, problems = ledger.store, _Replay(), list[str]()
    heads = [] if head is None else [(head, "noted")]
    if ledger.key is not None and ledger.guard.seen is not None:
        heads.append((ledger.guard.seen, "last seen with this key"))
    unmet = dict(heads)
    with store.reading():
        front = store.front()
        if ledger.key is not None and not front.is_genuine(ledger.key):
            problems.append("the first page is not sealed with this key")
        if front.through == 0 and next(store.pages(), None) is not None:
            problems.append("there are accounts that no entry tells of")
        for entry in store.entries():
            try:
                problems += replay.step(entry)
            except (TypeError, ValueError, AttributeError, KeyError, VoileError):
                problems.append(f"entry {entry.number} is damaged: a field is of another type")
                continue
            if not is_genuine(entry, ledger.key) and entry.computed() == entry.digest:
                problems.append(f"entry {entry.number} is not sealed with this key")
            unmet.pop(entry.head, None)
            if entry.number == front.through:
                problems += _accounts_differ(ledger, front, replay.balances)
        if front.head != Head(replay.number, replay.digest):
            problems.append("the last entry is not the one that the first page names")
        for missing, how in unmet.items():
            cut = "entries were cut off, or " if missing.number > replay.number else ""
            problems.append(f"the head {missing.number} {how} is not in it: {cut}it was rewritten")
        if front.terms != replay.terms or front.identity != replay.identity:
            problems.append(
                "the first page names another budget, kind or identity than the entries"
            )
        if front.through > replay.number:
            problems.append("the accounts hold more than the entries say")
    return Verification(
        entries=replay.number,
        people=len(replay.balances),
        head=Head(replay.number, replay.digest),
        sealed=ledger.key is not None,
        problems=tuple(problems[:_MOST]),
        seen=None if ledger.key is None else ledger.guard.seen,
    )


def _accounts_differ(ledger: Ledger, front: Front, expected: dict[bytes, Whole]) -> Iterator[str]:
    """The pages hold the sums of the entries up to here, and nothing else."""
    try:
        accounts = read(ledger.store.pages(), front, ledger.key)
    except BadFile as problem:
        yield str(problem).split(": ", 1)[1].split("; ", 1)[0]
        return
    found = dict(zip(hashes_of(accounts), accounts["amounts"], strict=True))
    wrong = len(found.keys() ^ expected.keys()) + sum(
        not np.array_equal(found[person], expected[person])
        for person in found.keys() & expected.keys()
    )
    if wrong or len(found) < len(accounts):
        yield f"{wrong} accounts differ from the sum of their entries"
