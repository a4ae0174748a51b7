"""Many requests released together: one plan, one charge, one disk's sync, and each its own answer.

**What was answered was paid for.** The rows of all requests that wait are one part of a job that
the worker charges. The draws are made inside the transaction, after the ledger has said which rows
are within their budgets, and answers under idempotency keys are written in it too. Nothing leaves
this module before the transaction has ended on the disk:

- killed before the end: the disk has neither charge nor answer, nobody saw a draw, asking again
  begins anew;
- killed after it: the charge stands. Under a key the answer stands beside it, and asking again
  finds it; without a key what was charged and not read is lost, as with any answer that the
  network loses;
- the disk refuses: the transaction is taken back whole, no row is charged and none released.

So answered ⊆ charged always, and with keys charged = answered or there to be asked for. How long a
draw takes decides nothing: a draw that was thrown away was seen by nobody, and whether it was does
not depend on what was drawn.

Rows of several requests are drawn by one generator of this process, independently: which of them
were drawn together tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from time import time
from typing import Any

import numpy as np

from voile.core.randomness import Generator, secure_rng
from voile.errors import VoileError
from voile.files.rows import RowProblem
from voile.jobs import Batch, BeyondBudget, Planned, Replaced
from voile.ledger import Ledger, person_name
from voile.ledger.amounts import Bools
from voile.ledger.answers import OWNER, AlreadyAnswered, Answer, Answers, Room, TooManyAnswers
from voile.ledger.ends import answering_job
from voile.ledger.store import Transaction
from voile.service.asking import Answered, Asked, again, as_json, failure, told_of, with_passed
from voile.service.config import Config, Token
from voile.service.counting import Shared
from voile.service.domains import Domain
from voile.service.logs import LOG, LedgerFaults

_STRANGER: Mapping[str, Any] = {"\x00": None}
"""Stands for what is no record: a row with a field that nobody named."""
_ROUNDS = 100
_RETRY_SECONDS = 5.0
"""After which to ask again whether the ledger can be written."""
_NOTE_SECONDS = 1.0
"""Between two notes beside the ledger's key: each is a second sync of the disk."""


class Releasing:
    """Releases groups of requests of one domain, one group after the other."""

    def __init__(self, domain: Domain, config: Config, shared: Shared) -> None:
        self.domain, self._shared = domain, shared
        self._seconds = config.server.answer_seconds
        standing = domain.standing
        self._releaser = standing.make_releaser()
        self._clear, self._known = standing.clear, standing.clear.shown.keys()
        self._rng: Generator | None = None
        self._faults = LedgerFaults()
        self._job, self._parts = answering_job(), count()
        self._charging = standing.charging
        self.answers: Answers | None = None
        self.ledger: Ledger | None = None
        if self._charging is not None:
            self.ledger = self._charging.own_ledger()
            self.ledger.store.hold_little()
            rooms = {self._owner(t): Room(t.answers, t.answer_bytes) for t in config.tokens}
            all_of_them = Room(config.server.answers, config.server.answer_bytes)
            self.answers = Answers(self.ledger.store, all_of_them, rooms)
            self.answers.prepare()
            self.ledger.guard.every = _NOTE_SECONDS

    def close(self) -> None:
        """Note that this process charges nothing more, and close its ledger."""
        if self.ledger is None:
            return
        if next(self._parts):
            self.ledger.finish(self._job)
            self.ledger.guard.every = 0.0
            self.ledger.guard.note(self.ledger.head)
        self.ledger.close()

    def forget(self) -> None:
        """Delete the answers that have expired; if that fails, the next time may do."""
        if self.answers is not None:
            try:
                self.answers.forget()
            except VoileError:
                LOG.warning("answers that have expired cannot be deleted now")

    def keyed(self, content: bytes) -> bytes:
        """A keyed hash under the ledger's key."""
        assert self._charging is not None  # without a ledger no key is taken
        return self._charging.key.answer(content)

    def named(self, token: Token, key: bytes) -> bytes:
        """What an answer is kept under: whose it is, and a hash of the key that they chose."""
        content = (b"key", token.name.encode(), self.domain.name.encode(), key)
        return self._owner(token) + self.keyed(b"\0".join(content))

    def _owner(self, token: Token) -> bytes:
        return self.keyed(b"owner\0" + token.name.encode())[:OWNER]

    def release(self, asked: Sequence[Asked]) -> list[Answered]:
        """An answer for each; those that cannot be released together are released apart."""
        left, done = dict(enumerate(asked)), dict[int, Answered]()
        for _ in range(_ROUNDS):
            try:
                done |= self._repeated(left)
                left = {place: one for place, one in left.items() if place not in done}
                done |= self._new(_first_of_each_key(left))
            except AlreadyAnswered:
                continue
            except TooManyAnswers as problem:
                full = failure(503, "answers", str(problem))
                keyed = ((place, one.key) for place, one in left.items() if one.key is not None)
                done |= {place: full for place, key in keyed if problem.of(key)}
            except VoileError as problem:
                self._shared.commit(failed=True)
                self._faults.tell(problem)
                message = "the ledger cannot be written; nothing was released"
                full = failure(503, "ledger", message, retry=_RETRY_SECONDS)
                done |= dict.fromkeys(left, full)
            left = {place: one for place, one in left.items() if place not in done}
            if not left:
                break
        busy = failure(503, "busy", "too many ask under these keys; ask again")
        return [done.get(place, busy) for place in range(len(asked))]

    def _repeated(self, asked: Mapping[int, Asked]) -> dict[int, Answered]:
        """The answers that were given before, under the same keys to the same requests."""
        keyed = {place: one.key for place, one in asked.items() if one.key is not None}
        if not keyed or self.answers is None:
            return {}
        found = self.answers.find(list(set(keyed.values())))
        return {
            place: again(asked[place], found[key], self._clear.passed)
            for place, key in keyed.items()
            if key in found
        }

    def _new(self, asked: Mapping[int, Asked]) -> dict[int, Answered]:
        """Plan, charge, draw."""
        if not asked:
            return {}
        rows = [
            record if isinstance(record, dict) else _STRANGER
            for one in asked.values()
            for record in one.records
        ]
        try:
            planned = self._releaser.plan(Batch(0, rows))
        except VoileError as problem:
            if len(asked) == 1:
                return dict.fromkeys(asked, failure(422, "bad-records", str(problem)))
            return self._refused(asked)
        group = _Group(asked, rows, planned)
        if self._charging is None or len(planned.problems) == len(rows):
            return self._drawn(group, np.ones(len(rows), dtype=np.bool_))
        return self._charged(group)

    def _refused(self, asked: Mapping[int, Asked]) -> dict[int, Answered]:
        """Those requests that cannot be planned even by themselves; the rest is for another round.

        Where each can be planned alone and not all together, they are released one by one.
        """
        done: dict[int, Answered] = {}
        for place, one in asked.items():
            try:
                self._releaser.plan(
                    Batch(0, [r if isinstance(r, dict) else _STRANGER for r in one.records])
                )
            except VoileError as problem:
                done[place] = failure(422, "bad-records", str(problem))
        if done:
            return done
        for place, one in asked.items():
            done |= self._new({place: one})
        return done

    def _charged(self, group: _Group) -> dict[int, Answered]:
        """Charge, draw and keep in one transaction, and return once it is on the disk."""
        assert self._charging is not None
        assert self.ledger is not None
        assert self.answers is not None
        answers, expires = self.answers, int(time()) + self._seconds
        done: dict[int, Answered] = {}

        def also(now: Transaction, within: Bools) -> None:
            done.update(self._drawn(group, within))
            new = (
                Answer(one.key, one.request, done[place].kept, expires)
                for place, one in group.asked.items()
                if one.key is not None and done[place].status == 200
            )
            answers.keep(now, new)

        persons = [row.get(self._charging.person) for row in group.rows]
        bill = group.planned.bill()
        self.ledger.charge(self._job, next(self._parts), persons, bill, also=also)
        self._shared.commit()
        return done

    def _drawn(self, group: _Group, within: Bools) -> dict[int, Answered]:
        """Draw for the rows that are paid for, and write each request's answer."""
        paid = within.copy()
        paid[list(group.planned.problems)] = False
        replaced = Replaced({})
        if paid.any():
            if self._rng is None:
                self._rng = secure_rng()  # made where it draws: it refuses in any other process
            replaced = self._releaser.draw(group.planned, paid, self._rng)
        columns = {n: v for n, v in replaced.columns.items() if n not in self._clear.dropped}
        done, at = {}, 0
        for place, one in group.asked.items():
            made = [
                {name: values[row] for name, values in columns.items()}
                if paid[row]
                else self._problem(group, row, bool(within[row]))
                for row in range(at, at + len(one.records))
            ]
            at += len(made)
            done[place] = self._answer(one, made)
        return done

    def _problem(self, group: _Group, row: int, within: bool) -> RowProblem:
        found = group.planned.problems.get(row)
        record = group.rows[row]
        if record is _STRANGER:
            return RowProblem("a record must be an object")
        if record.keys() - self._known:
            return RowProblem("it has a field that the service does not take")
        if found is not None:
            return RowProblem(found.reason.partition(";")[0])
        assert self._charging is not None
        assert not within
        if person_name(record.get(self._charging.person)) is None:
            return RowProblem(f"the field {self._charging.person!r} names no person")
        return BeyondBudget()

    def _answer(self, one: Asked, made: Sequence[dict[str, Any] | RowProblem]) -> Answered:
        """The answer to a request; what was drawn for it and what passes in clear."""
        told = [told_of(item) if isinstance(item, RowProblem) else item for item in made]
        if one.alone:
            (item,) = made
            if isinstance(item, RowProblem):
                status = 403 if isinstance(item, BeyondBudget) else 422
                return Answered(status, as_json(told[0]))
            return self._whole(200, one, {"release": item})
        status = 200 if any(not isinstance(item, RowProblem) for item in made) else 422
        if status == 422 and any(isinstance(item, BeyondBudget) for item in made):
            status = 403
        return self._whole(status, one, {"releases": told})

    def _whole(self, status: int, one: Asked, drawn: Mapping[str, Any]) -> Answered:
        kept = as_json({"guarantee": self.domain.guarantee, **drawn})
        return Answered(status, with_passed(kept, one.records, self._clear.passed), kept=kept)


@dataclass(frozen=True, eq=False)
class _Group:
    """Requests that are released together, their rows one after the other, and the plan."""

    asked: Mapping[int, Asked]
    rows: Sequence[Mapping[str, Any]]
    planned: Planned


def _first_of_each_key(asked: Mapping[int, Asked]) -> dict[int, Asked]:
    """Of several requests under one key the first; the others will find its answer."""
    keys: set[bytes] = set()
    chosen = {}
    for place, one in asked.items():
        if one.key is None or one.key not in keys:
            chosen[place] = one
        if one.key is not None:
            keys.add(one.key)
    return chosen
