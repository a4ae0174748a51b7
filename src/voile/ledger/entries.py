"""The entries of a ledger, each chained to the one before.

    hash(n) = SHA-256(hash(n − 1), every field of entry n)

so a changed, removed, inserted or reordered entry breaks the chain at that place. Whoever can write
the ledger can also rewrite the whole chain: against that each hash is sealed with the user's key
(HMAC). An older state of the ledger is a valid one too; that is told by its *head* (number and hash
of the last entry), which every guarantee file repeats.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import numpy as np

from voile.ledger.amounts import Bools, Whole
from voile.ledger.people import HASH_BYTES, Key

DIGEST_BYTES = 32
COLUMNS = 4
"""Of an entry's amounts: epsilon, moment and delta in their units, and rows."""

_WIDTHS = (0, 1, 2, 4, 8)
_PRICED = 9  # in place of a width: epsilons are a price, which follows, times the rows
NO_PART = -1
START = bytes(DIGEST_BYTES)


class Event(StrEnum):
    """What an entry records."""

    OPENED = "opened"
    TERMS = "terms"  # kind and budget, once
    CHARGED = "charged"
    REFUNDED = "refunded"  # a job that failed or was given up, its parts deleted unread
    FINISHED = "finished"  # a job whose output is about to appear: it is never refunded
    MOVED = "moved"  # the ledger goes on elsewhere: nothing more is charged here
    ARRIVED = "arrived"  # where it goes on


@dataclass(frozen=True)
class Head:
    """Number and hash of the last entry: a ledger cut shorter cannot have both.

    >>> Head.read("3:" + "ab" * 32).number
    3
    """

    number: int
    digest: bytes

    @classmethod
    def read(cls, text: str) -> Head:
        """From its text form, number:hash."""
        from voile.errors import require

        number, _, digest = text.partition(":")
        ok = number.isdigit() and len(digest) == 64 and not set(digest) - set("0123456789abcdef")
        require(ok, "a head", "NUMBER:HASH as `voile ledger show` prints it", repr(text))
        return cls(int(number), bytes.fromhex(digest))

    def __str__(self) -> str:
        return f"{self.number}:{self.digest.hex()}"


NOWHERE = Head(0, START)


@dataclass(frozen=True)
class Entry:
    """One entry; blobs as they are stored.

    `persons` holds keyed hashes one after the other, in an order that says nothing of the rows';
    `amounts` four integers for each, as `packed` writes them. `within` has a bit for each row of a
    charged part: whether the budget covered it.
    """

    number: int
    event: str
    time: str
    job: str = ""
    part: int = NO_PART
    rows: int = 0
    within: bytes = b""
    request: bytes = b""
    persons: bytes = b""
    amounts: bytes = b""
    facts: str = ""
    previous: bytes = START
    digest: bytes = b""
    seal: bytes = b""

    def computed(self) -> bytes:
        """The hash that the fields ask for, each preceded by its length: no two entries alike."""
        content = hashlib.sha256(self.previous)
        for value in (
            str(self.number).encode(),
            self.event.encode(),
            self.time.encode(),
            self.job.encode(),
            str(self.part).encode(),
            str(self.rows).encode(),
            self.within,
            self.request,
            self.persons,
            self.amounts,
            self.facts.encode(),
        ):
            content.update(struct.pack("<Q", len(value)))
            content.update(value)
        return content.digest()

    def sealed(self, key: Key) -> Entry:
        """With its hash and seal."""
        digest = self.computed()
        return replace(self, digest=digest, seal=key.seal(digest))

    @property
    def head(self) -> Head:
        """The entry as the last one."""
        return Head(self.number, self.digest)

    def hashes(self) -> list[bytes]:
        """The persons, one keyed hash each."""
        return list(np.frombuffer(self.persons, dtype=f"V{HASH_BYTES}").tolist())

    def table(self) -> Whole:
        """The amounts, a row for each person."""
        return unpacked(self.amounts, len(self.persons) // HASH_BYTES)

    def decisions(self) -> Bools:
        """Row by row, whether the budget covered it."""
        bits = np.unpackbits(np.frombuffer(self.within, dtype=np.uint8), count=self.rows)
        return bits.astype(np.bool_)

    def known(self) -> dict[str, Any]:
        """The facts as a dictionary."""
        return dict(json.loads(self.facts)) if self.facts else {}


def packed(table: Whole) -> bytes:
    """Amounts column by column, each in the fewest bytes that hold it.

    A column of noughts takes none: most releases have no delta, and few rows a person. Epsilons
    that are one price times the rows, as most are, take eight bytes in all.

    >>> packed(np.array([[800_000_000, 0, 0, 1], [1_600_000_000, 0, 0, 2]])).hex()
    '090000010008af2f000000000102'
    >>> packed(np.array([[800_000_000, 0, 0, 1], [1_500_000_000, 0, 0, 2]])).hex()
    '040000010008af2f002f68590102'
    """
    if len(table) and int(table.min()) < 0:
        raise ValueError("amounts must be >= 0")
    largest = table.max(axis=0, initial=0).tolist()
    widths = [
        next(width for width in _WIDTHS if most < 2 ** (8 * width - (width == 8)))
        for most in largest
    ]
    epsilons, rows = table[:, 0], table[:, COLUMNS - 1]
    columns = []
    if largest[0] and rows[0] and (epsilons == (price := epsilons[0] // rows[0]) * rows).all():
        widths[0] = _PRICED
        columns.append(price.astype("<u8").tobytes())
    columns += [
        column.astype(f"<u{width}").tobytes()
        for column, width in zip(table.T, widths, strict=True)
        if width in _WIDTHS[1:]
    ]
    return bytes(widths) + b"".join(columns)


def unpacked(amounts: bytes, count: int) -> Whole:
    """What was packed, a row for each of `count` persons; ValueError if it is something else."""
    table = np.zeros((count, COLUMNS), dtype=np.int64)
    widths, at = amounts[:COLUMNS], COLUMNS
    price = 0
    if widths[:1] == bytes([_PRICED]):
        price, at = int.from_bytes(amounts[at : at + 8], "little"), at + 8
        widths = bytes(1) + widths[1:]
    known = set(widths) <= set(_WIDTHS) and price < 2**63
    if (len(widths) != COLUMNS and count) or not known:
        raise ValueError("amounts are damaged")
    for column, width in enumerate(widths):
        if width:
            values = np.frombuffer(amounts, dtype=f"<u{width}", count=count, offset=at)
            table[:, column] = values.astype(np.int64)
            at += width * count
    if at != len(amounts) and count:
        raise ValueError("amounts are damaged")
    if price:
        table[:, 0] = price * table[:, COLUMNS - 1]
    return table


def after(head: Head, event: Event, **fields: Any) -> Entry:
    """The next entry, not yet sealed."""
    time = datetime.now(UTC).isoformat(timespec="seconds")
    return Entry(head.number + 1, str(event), time, previous=head.digest, **fields)
