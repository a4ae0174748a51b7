"""A ledger as a whole in another place: a backup, or where it goes on."""

from __future__ import annotations

from voile.errors import BadFile
from voile.ledger.book import Ledger
from voile.ledger.entries import Event, Head
from voile.ledger.people import Key
from voile.ledger.sqlite import SqliteStore
from voile.ledger.store import Store, open_store
from voile.ledger.verification import check_ledger


def copy_whole(source: Store, target: Store) -> Head:
    """All that a store holds, as of one moment, whatever is written meanwhile; its head."""
    with source.reading():
        front = source.front()
        target.create(front, source.entries(), source.pages())
    target.close()
    return front.head


def backup(where: str, out: str, key: Key | None) -> Head:
    """One file that holds the whole ledger, the log of SQLite included; verified before and after.

    A backup is a ledger: put in the place of a lost one it goes on, if it holds all that the key
    has seen.
    """
    _require_whole(where, key, "the ledger")
    head = copy_whole(open_store(where), SqliteStore(out))
    _require_whole(out, key, "the backup", at=head)
    return head


def migrate(where: str, to: str, key: Key) -> Head:
    """The ledger goes on at another address; nothing more is charged at the old one.

    Both are verified. Interrupted, it may be repeated to another address: the old one is closed
    first, so no two of them can be charged for one budget unnoticed.
    """
    _require_whole(where, key, "the ledger")
    with Ledger(where, key) as source:
        target = open_store(to)
        target.require_free()  # before the old one is closed
        source.move(Event.MOVED)
        copy_whole(source.store, target)
    with Ledger(to, key) as arrived:
        arrived.guard.put_here(arrived.store.front())
        arrived.move(Event.ARRIVED)
        head = arrived.head
    _require_whole(to, key, "the new ledger", at=head)
    return head


def _require_whole(where: str, key: Key | None, name: str, at: Head | None = None) -> None:
    with Ledger(where, key) as ledger:
        found = check_ledger(ledger)
    if found.problems or (at is not None and found.head != at):
        raise BadFile(
            f"{name} must verify, and does not ({len(found.problems)} problems); "
            "`voile ledger verify` lists them"
        )
