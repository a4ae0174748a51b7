"""Where a ledger lies: what SQLite and PostgreSQL both offer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from voile.ledger.address import is_server
from voile.ledger.entries import Entry, Head
from voile.ledger.people import Key

FORMAT = 4
"""Of the tables. An older ledger is brought to this one by `voile ledger migrate`."""

Page = tuple[int, bytes, bytes]
"""A page of accounts: its number, what stands on it, and its seal."""


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

    pages: int = 0
    """How many pages of accounts there are."""

    seal: bytes = b""

    def sealed(self, key: Key) -> Front:
        """With the seal that only the key's holder can write."""
        return replace(self, seal=key.front_seal(self._content()))

    def is_genuine(self, key: Key) -> bool:
        """Whether it is what the key's holder wrote."""
        return key.front_seal(self._content()) == self.seal

    def _content(self) -> bytes:
        """All that the seal covers; terms are last, they alone may hold a line's end."""
        head = f"{self.head.number}:{bytes(self.head.digest).hex()}"
        lines = (self.identity, self.check, head, self.through, self.pages, self.terms)
        return "\n".join(map(str, lines)).encode("utf-8", "surrogatepass")


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

    def entries_after(self, number: int) -> Iterator[Entry]:
        """The entries that follow, by number."""
        ...

    def count(self) -> int:
        """How many entries there are."""
        ...

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts: these, or all."""
        ...

    def write(self, entry: Entry) -> None:
        """Append an entry."""
        ...

    def write_pages(self, pages: Iterable[Page]) -> None:
        """Set pages of accounts."""
        ...

    def move(self, front: Front) -> None:
        """Set the first page."""
        ...

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Something else that is to stand or fall with it; `?` marks a value."""
        ...

    def end_beside(self) -> Callable[[], None]:
        """Ask that the commit may go on after the transaction's block is left.

        What is returned waits until all is on the disk, and raises if it is not.
        """
        ...


class Store(Protocol):
    """A ledger's database. Each process opens its own."""

    def create(self, front: Front, entries: Iterable[Entry], pages: Iterable[Page] = ()) -> None:
        """Make the tables with what they hold; refused if there is a ledger already."""
        ...

    def require_free(self) -> None:
        """Refuse, as `create` would, where no ledger can be made; nothing is left behind."""
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

    def hold_little(self) -> None:
        """Hold little of it in memory, for a process that stays."""
        ...

    def look(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What else a writer put there, as it stands; `?` marks a value."""
        ...

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts as they were last written: these, or all."""
        ...

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries after a number, by number."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


def other_format(version: int) -> str:
    """What is wrong with a ledger of another format."""
    if version > FORMAT:
        return "was written by a newer voile"
    return "was written by an older voile; bring it over with `voile ledger migrate`"


def open_store(where: str) -> Store:
    """The store at a path (SQLite) or a postgresql:// address; anything else is refused."""
    if is_server(where):
        from voile.ledger.postgres import PostgresStore

        return PostgresStore(where)
    from voile.ledger.sqlite import SqliteStore

    return SqliteStore(where)
