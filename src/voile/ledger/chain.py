"""Entries as they are read: each is checked before it is believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from voile.errors import BadFile
from voile.ledger.entries import Entry, Head
from voile.ledger.pages import changed
from voile.ledger.people import Key
from voile.ledger.store import Front


def is_genuine(entry: Entry, key: Key | None) -> bool:
    """Whether an entry's hash is that of its fields and, with the key, its seal is right."""
    try:
        same = entry.computed() == entry.digest
        return same and (key is None or key.seal(entry.digest) == entry.seal)
    except (TypeError, ValueError, AttributeError):  # a field of another type
        return False


def chained(
    entries: Iterable[Entry], *, after: int, front: Front, key: Key | None, seen: Head | None
) -> Iterator[Entry]:
    """The entries after a number and up to the head, checked, and with them that `seen` is kept.

    The hash of the last one is on the sealed first page and each holds the hash of the one before,
    so what is read here is what was written. `entries` must begin after `first_to_read`.
    """
    number = first_to_read(after, seen)
    digest = seen.digest if seen is not None and seen.number == number else None
    for entry in entries:
        if entry.number != number + 1 or (digest is not None and entry.previous != digest):
            raise changed(f"entry {number + 1} is missing, or another stands in its place")
        if not is_genuine(entry, key):
            raise changed(f"entry {entry.number} is not what was written")
        number, digest = entry.number, entry.digest
        if seen is not None and seen.number == number and seen.digest != digest:
            raise forked(number)
        if number > after:
            yield entry
    if number != front.head.number or (digest is not None and digest != front.head.digest):
        raise changed("its last entry is not the one that the first page names")


def first_to_read(after: int, seen: Head | None) -> int:
    """Behind which entry reading begins: what was seen must lead to what is there now."""
    return after if seen is None else min(after, seen.number)


def refuse_older(front: Front, seen: Head | None) -> None:
    """A ledger that ends before what was seen of it is an older copy."""
    if seen is None or front.head.number > seen.number:
        return
    if front.head.number == seen.number:
        if front.head.digest != seen.digest:
            raise forked(seen.number)
        return
    raise BadFile(
        f"the ledger must not go back: it ends at entry {front.head.number}, and this key has seen "
        f"entry {seen.number}; it is an older copy, or was copied without the -wal file beside it; "
        "put the newest copy in its place with its -wal file (`voile ledger backup` writes one "
        "whole file), and if that is lost begin a new ledger"
    )


def forked(number: int) -> BadFile:
    """Two ledgers went on from one state."""
    return BadFile(
        f"the ledger must be the one that this key has seen, and entry {number} is another: a copy "
        "was charged in its place; go on with the one that was seen, or begin a new ledger"
    )
