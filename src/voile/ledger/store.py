"""Where a ledger lies: what SQLite and PostgreSQL both offer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from voile.ledger.address import is_server
from voile.ledger.amounts import Whole
from voile.ledger.entries import Entry, Head

FORMAT = 3
"""Other formats are refused: their persons have other hashes, and would get a second account."""


@dataclass(frozen=True)
class Front:
    """The first page: what must be known before an entry is written."""

    identity: str
    check: str
    head: Head
    terms: str
    """Kind and budget as JSON; empty until the first charge or `init` sets them."""

    through: int = 0
    """The accounts are the sums of the entries up to this one."""


class Transaction(Protocol):
    """One writer at a time: what was read stays true until it ends, and all or nothing stands."""

    front: Front

    def entry(self, job: str, part: int) -> Entry | None:
        """The entry of a part, if it was charged."""
        ...

    def untouched(self) -> bool:
        """Whether no job was charged yet."""
        ...

    def entries_of(self, job: str) -> list[Entry]:
        """All entries of a job."""
        ...

    def refunded(self, job: str) -> bool:
        """Whether a job was given up and its charges taken back."""
        ...

    def balances(self, persons: Sequence[bytes]) -> Whole:
        """Four amounts for each person, noughts for one without an account."""
        ...

    def entries_after(self, number: int) -> Iterator[Entry]:
        """The entries that follow, by number."""
        ...

    def write(self, entry: Entry, terms: str) -> None:
        """Append an entry and move the head."""
        ...

    def fold(self, persons: Sequence[bytes], totals: Whole, through: int) -> None:
        """Set these accounts to their totals as of an entry."""
        ...

    def end_beside(self) -> Callable[[], None]:
        """Ask that the commit may go on after the transaction's block is left.

        What is returned waits until all is on the disk, and raises if it is not.
        """
        ...


class Store(Protocol):
    """A ledger's database. Each process opens its own."""

    def create(self, front: Front, first: Entry) -> None:
        """Make the tables; refused if there is a ledger already."""
        ...

    def front(self) -> Front:
        """The first page, read without waiting for writers."""
        ...

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A durable transaction, alone among all processes."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """All that is read inside is one state."""
        ...

    def charged(self, job: str, part: int) -> bool:
        """Whether a part was charged."""
        ...

    def accounts(self) -> Iterator[tuple[bytes, int, int, int, int]]:
        """All accounts as they were last written, by keyed hash."""
        ...

    def accounts_of(self, persons: Sequence[bytes]) -> list[tuple[bytes, int, int, int, int]]:
        """These persons' accounts as they were last written, where there are any."""
        ...

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries after a number, by number."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


def other_format(version: int) -> str:
    """What is wrong with a ledger of another format."""
    return f"was written by {'a newer' if version > FORMAT else 'an older'} voile"


def open_store(where: str) -> Store:
    """The store at a path (SQLite) or a postgresql:// address; anything else is refused."""
    if is_server(where):
        from voile.ledger.postgres import PostgresStore

        return PostgresStore(where)
    from voile.ledger.sqlite import SqliteStore

    return SqliteStore(where)
