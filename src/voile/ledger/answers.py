"""Answers that were given, kept with what was charged for them: asked again, the same is given.

**Why an answer that is repeated was paid for, and paid for once.** A service writes an answer in
the transaction that charges for it, and gives it to nobody before that has ended. A transaction
stands whole or not at all, so at every moment, and after every crash, each answer that stands here
has its charge, and each that was given out stands here. Whoever asks again under the same key
(after a crash, a time-out, in another process) finds it and is charged nothing. Two who ask at once
write under one key: the second transaction fails as a whole, its draws are forgotten unseen, and
its owner finds the first one's answer.

What is kept: the released values (no original: what passes in clear is in the request that asks
again), under a keyed hash of the key that the client
chose, with a keyed hash of what was asked, so that a key that comes with another request is told;
and when it expires. It lies in the ledger's own database and is no part of its chain: a backup or a
ledger that moves leaves it behind. When too many are kept, or too much, nothing more is taken,
since an answer that is forgotten early would be drawn and charged again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from voile.errors import CannotWrite
from voile.ledger.store import Store, Transaction

_MEASURE = 10.0
"""Seconds between two measurements of all answers, each of which reads the whole table."""


@dataclass(frozen=True)
class Answer:
    """What was answered, under which key, to what request, and until when it is kept."""

    key: bytes
    request: bytes
    content: bytes
    expires: int


class TooManyAnswers(CannotWrite):
    """No more answers can be kept."""


class AlreadyAnswered(Exception):
    """Somebody else has answered under one of these keys: look it up."""


@dataclass(eq=False)
class Answers:
    """The answers in a ledger's database."""

    store: Store
    most: int = 100_000
    most_bytes: int = 1_000_000_000
    _size: int = field(default=0, init=False)
    _measured: float = field(default=-inf, init=False)

    def prepare(self) -> None:
        """Make the table where it is not there yet, and delete what has expired."""
        with self.store.transaction() as now:
            now.run(
                "CREATE TABLE IF NOT EXISTS voile_answers (key BLOB PRIMARY KEY, "
                "request BLOB NOT NULL, content BLOB NOT NULL, expires BIGINT NOT NULL)"
            )
            now.run("CREATE INDEX IF NOT EXISTS voile_answers_by_time ON voile_answers (expires)")
            self._delete_expired(now)

    def forget(self) -> None:
        """Delete what has expired."""
        statement = "SELECT 1 FROM voile_answers WHERE expires <= ? LIMIT 1"
        if self.store.look(statement, (int(time.time()),)):
            with self.store.transaction() as now:
                self._delete_expired(now)

    def _size_with(self, now: Transaction, new: Sequence[Answer]) -> int:
        """Bytes of all with these; what other processes wrote is measured now and then."""
        more = sum(len(answer.content) for answer in new)
        if self._size + more > self.most_bytes or time.monotonic() > self._measured + _MEASURE:
            ((size,),) = now.run("SELECT coalesce(sum(length(content)), 0) FROM voile_answers")
            self._size, self._measured = int(size), time.monotonic()
        self._size += more
        return self._size

    def _delete_expired(self, now: Transaction) -> None:
        now.run("DELETE FROM voile_answers WHERE expires <= ?", (int(time.time()),))

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Answer]:
        """The answers under these keys that have not expired."""
        if not keys:
            return {}
        marks = ", ".join("?" * len(keys))
        rows = self.store.look(
            f"SELECT key, request, content, expires FROM voile_answers WHERE key IN ({marks}) "
            "AND expires > ?",
            (*keys, int(time.time())),
        )
        return {bytes(key): Answer(bytes(key), bytes(r), bytes(c), e) for key, r, c, e in rows}

    def keep(self, now: Transaction, answers: Iterable[Answer]) -> None:
        """Write answers with the charge that is on its way; those that expired make room."""
        new = list(answers)
        if not new:
            return
        self._delete_expired(now)
        marks = ", ".join("?" * len(new))
        keys = tuple(answer.key for answer in new)
        if now.run(f"SELECT 1 FROM voile_answers WHERE key IN ({marks}) LIMIT 1", keys):
            raise AlreadyAnswered
        ((count,),) = now.run("SELECT count(*) FROM voile_answers")
        if count + len(new) > self.most or self._size_with(now, new) > self.most_bytes:
            raise TooManyAnswers(
                f"at most {self.most:,} answers of {self.most_bytes:,} bytes together are kept "
                "under their keys, and none has expired; "
                "nothing is charged; ask without a key, or later"
            )
        for answer in new:
            now.run(
                "INSERT INTO voile_answers VALUES (?, ?, ?, ?)",
                (answer.key, answer.request, answer.content, answer.expires),
            )
