"""Answers that were given, kept with what was charged for them: asked again, the same is given.

**Why an answer that is repeated was paid for, and paid for once.** A service writes an answer in
the transaction that charges for it, and gives it to nobody before that has ended. A transaction
stands whole or not at all, so at every moment, and after every crash, each answer that stands here
has its charge, and each that was given out stands here. Whoever asks again under the same key
(after a crash, a time-out, in another process) finds it and is charged nothing. Two who ask at once
write under one key: the second transaction fails as a whole, its draws are forgotten unseen, and
its owner finds the first one's answer.

What is kept: the released values (no original), under a keyed hash of the key that the client
chose, with a keyed hash of what was asked, so that a key that comes with another request is told;
and when it expires. It lies in the ledger's own database and is no part of its chain: a backup or a
ledger that moves leaves it behind. When too many are kept nothing more is taken, since an answer
that is forgotten early would be drawn and charged again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from voile.errors import CannotWrite
from voile.ledger.store import Store, Transaction


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


@dataclass(frozen=True)
class Answers:
    """The answers in a ledger's database."""

    store: Store
    most: int = 100_000

    def prepare(self) -> None:
        """Make the table where it is not there yet."""
        with self.store.transaction() as now:
            now.run(
                "CREATE TABLE IF NOT EXISTS voile_answers (key BLOB PRIMARY KEY, "
                "request BLOB NOT NULL, content BLOB NOT NULL, expires BIGINT NOT NULL)"
            )
            now.run("CREATE INDEX IF NOT EXISTS voile_answers_by_time ON voile_answers (expires)")

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
        now.run("DELETE FROM voile_answers WHERE expires <= ?", (int(time.time()),))
        marks = ", ".join("?" * len(new))
        keys = tuple(answer.key for answer in new)
        if now.run(f"SELECT 1 FROM voile_answers WHERE key IN ({marks}) LIMIT 1", keys):
            raise AlreadyAnswered
        ((count,),) = now.run("SELECT count(*) FROM voile_answers")
        if count + len(new) > self.most:
            raise TooManyAnswers(
                f"at most {self.most:,} answers are kept under their keys, and none has expired; "
                "nothing is charged; ask without a key, or later"
            )
        for answer in new:
            now.run(
                "INSERT INTO voile_answers VALUES (?, ?, ?, ?)",
                (answer.key, answer.request, answer.content, answer.expires),
            )
