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
since an answer that is forgotten early would be drawn and charged again. Each owner has a room of
its own, so that one cannot fill that of the others: a key begins with its owner's name, eight bytes
of a keyed hash, and all of an owner lie together in the table's own order.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from voile.errors import CannotWrite
from voile.ledger.store import Store, Transaction

_MEASURE = 10.0
"""Seconds between two measurements of what is kept, each of which reads all of an owner's."""
OWNER = 8
"""Bytes of a key that say whose it is."""


@dataclass(frozen=True)
class Answer:
    """What was answered, under which key, to what request, and until when it is kept."""

    key: bytes
    request: bytes
    content: bytes
    expires: int


class TooManyAnswers(CannotWrite):
    """No more answers can be kept: of some owners, or of anybody."""

    def __init__(self, message: str, owners: frozenset[bytes] | None = None) -> None:
        super().__init__(message)
        self.owners = owners

    def of(self, key: bytes) -> bool:
        """Whether an answer under this key is one that cannot be kept."""
        return self.owners is None or key[:OWNER] in self.owners


class AlreadyAnswered(Exception):
    """Somebody else has answered under one of these keys: look it up."""


@dataclass(frozen=True)
class Room:
    """How many answers are kept, and how many bytes of them together."""

    answers: int = 100_000
    size: int = 1_000_000_000

    def told(self) -> str:
        """In words."""
        return f"{self.answers:,} answers of {self.size:,} bytes together"


@dataclass(eq=False)
class Answers:
    """The answers in a ledger's database."""

    store: Store
    room: Room = Room()
    rooms: Mapping[bytes, Room] = field(default_factory=dict)
    """Of each owner, by the beginning of its keys; what has none there has all."""
    _kept: dict[bytes, tuple[float, int, int]] = field(default_factory=dict, init=False)
    """When each was measured, and what is known to be kept since."""

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
        if self.store.run(statement, (int(time.time()),)):
            with self.store.transaction() as now:
                self._delete_expired(now)

    def _fits(self, now: Transaction, owner: bytes, room: Room, new: Sequence[Answer]) -> bool:
        """Whether there is room; what other processes wrote is measured now and then."""
        more = sum(len(answer.content) for answer in new)
        when, count, size = self._kept.get(owner, (0.0, room.answers, 0))
        full = count + len(new) > room.answers or size + more > room.size
        if full or time.monotonic() > when + _MEASURE:
            measure = "SELECT count(*), coalesce(sum(length(content)), 0) FROM voile_answers"
            within = (owner, owner + b"\xff" * 64)
            ((count, size),) = now.run(f"{measure} WHERE key >= ? AND key <= ?", within)
            when, count, size = time.monotonic(), int(count), int(size)
        count, size = count + len(new), size + more
        fits = count <= room.answers and size <= room.size
        if fits:
            self._kept[owner] = (when, count, size)
        return fits

    def _delete_expired(self, now: Transaction) -> None:
        now.run("DELETE FROM voile_answers WHERE expires <= ?", (int(time.time()),))

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Answer]:
        """The answers under these keys that have not expired."""
        if not keys:
            return {}
        marks = ", ".join("?" * len(keys))
        rows = self.store.run(
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
        self._require_room(now, new)
        for answer in new:
            now.run(
                "INSERT INTO voile_answers VALUES (?, ?, ?, ?)",
                (answer.key, answer.request, answer.content, answer.expires),
            )

    def _require_room(self, now: Transaction, new: Sequence[Answer]) -> None:
        owned = defaultdict[bytes, list[Answer]](list)
        for answer in new:
            owned[answer.key[:OWNER]].append(answer)
        why = "are kept under their keys, and none has expired; nothing is charged; ask without a "
        full = {
            owner: room
            for owner, room in self.rooms.items()
            if owner in owned and not self._fits(now, owner, room, owned[owner])
        }
        if full:
            told = " or ".join(sorted({room.told() for room in full.values()}))
            raise TooManyAnswers(f"of one owner at most {told} {why}key, or later", frozenset(full))
        if not self._fits(now, b"", self.room, new):
            raise TooManyAnswers(f"at most {self.room.told()} {why}key, or later")
