"""A ledger as a whole elsewhere: a backup, or the place where it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from voile.errors import InvalidInput
from voile.ledger import copies
from voile.ledger._options import KeyFile, Where
from voile.ledger.address import is_server
from voile.ledger.people import read_key
from voile.options import Option, use_case
from voile.report.model import Report
from voile.report.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class Backup(Result):
    """A copy that was verified: its file, and how far it goes."""

    out: str
    entries: int
    head: str

    def _report(self) -> Report:
        return Report(
            title="A backup of a ledger",
            answer=f"Wrote {self.out}: {self.entries:,} entries, verified.",
            notes=(f"Head {self.head}",),
        )


@use_case("ledger backup")
def backup(
    ledger: Where,
    out: Annotated[str, Option("The new file.", writes=True)],
    *,
    ledger_key: KeyFile = None,
) -> Backup:
    """Copy the whole ledger, of one moment, into one new file, and verify the copy.

    Copying `ledger.db` by hand leaves out what SQLite still keeps in `ledger.db-wal`.

    Example: `voile ledger backup ledger.db ledger.backup.db --ledger-key ledger.db.key`
    """
    if is_server(str(out)):
        raise InvalidInput("a backup must be a file; `voile ledger migrate` moves to a server")
    key = None if ledger_key is None else read_key(ledger_key)
    head = copies.backup(str(ledger), str(out), key)
    return Backup(str(out), head.number, str(head))


@dataclass(frozen=True, repr=False, eq=False)
class Moved(Result):
    """A ledger at its new place, verified; the place itself is never repeated."""

    entries: int
    head: str

    def _report(self) -> Report:
        return Report(
            title="A ledger at its new place",
            answer=f"The ledger goes on at its new place: {self.entries:,} entries, verified.",
            notes=(f"Head {self.head}",),
        )


@use_case("ledger migrate")
def migrate(
    ledger: Where,
    to: Annotated[str, Option("Where it goes on: a new file, or an address.", secret=True)],
    *,
    ledger_key: KeyFile = None,
) -> Moved:
    """Let the ledger go on elsewhere (a file or PostgreSQL); the old one is charged no more.

    Example: `voile ledger migrate ledger.db postgresql://voile@db.example/ledgers`
    """
    head = copies.migrate(str(ledger), str(to), read_key(ledger_key))
    return Moved(head.number, str(head))
