"""Where a ledger lies: its tables, by statements that SQLite and PostgreSQL both take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from voile.errors import BadFile
from voile.ledger.address import is_server
from voile.ledger.entries import Entry, Head
from voile.ledger.people import Key

FORMAT = 4
"""Of the tables."""

FIELDS = ", ".join(f.name for f in fields(Entry))
_FRONT = (
    "identity",
    "key_check",
    "head_number",
    "head_digest",
    "terms",
    "through",
    "pages",
    "seal",
)
_AT_ONCE = 500
"""Pages that are asked for in one statement."""

Page = tuple[int, bytes, bytes]
"""A page of accounts: its number, what stands on it, and its seal."""

Rows = list[tuple[Any, ...]]


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

    def row(self) -> tuple[object, ...]:
        """As its table holds it."""
        return (self.identity, self.check, self.head.number, self.head.digest, self.terms,
                self.through, self.pages, self.seal)  # fmt: skip

    def _content(self) -> bytes:
        """All that the seal covers; terms are last, they alone may hold a line's end."""
        head = f"{self.head.number}:{bytes(self.head.digest).hex()}"
        lines = (self.identity, self.check, head, self.through, self.pages, self.terms)
        return "\n".join(map(str, lines)).encode("utf-8", "surrogatepass")


class Tables(ABC):
    """What stands in a ledger's tables; in statements `?` marks a value."""

    prefix = ""
    """Of the tables' names: a server's schema may hold others."""
    format = str(FORMAT)
    """Where the first page says its format: nowhere, if a file's header says it."""

    @abstractmethod
    def run(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """What a statement finds; one that writes stands or falls with its transaction."""

    @abstractmethod
    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The same row by row, however many there are."""

    def first_page(self, lock: str = "") -> Front:
        """The first page; what is of another type there is given one that no seal fits."""
        columns = ", ".join((*_FRONT, self.format))
        rows = self.run(f"SELECT {columns} FROM {self.prefix}front {lock}")
        if not rows:
            raise BadFile("the ledger's first page is missing")
        *row, version = rows[0]
        if version != FORMAT:
            raise BadFile(f"the ledger {other_format(version)}")
        digest, seal = (value if isinstance(value, bytes) else b"" for value in (row[3], row[7]))
        whole = [value if isinstance(value, int) else -1 for value in (row[2], row[5], row[6])]
        return Front(row[0], row[1], Head(whole[0], digest), row[4], whole[1], whole[2], seal)

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts as they were last written: these, or all."""
        statement = f"SELECT number, content, seal FROM {self.prefix}pages"
        if numbers is None:
            yield from self.stream(f"{statement} ORDER BY number")
            return
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            yield from self.stream(f"{statement} WHERE number IN ({_marks(some)})", some)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries after a number, by number."""
        for row in self.stream(f"{self._select} WHERE number > ? ORDER BY number", (after,)):
            yield Entry(*row)

    @property
    def _select(self) -> str:
        return f"SELECT {FIELDS} FROM {self.prefix}entries"


class Transaction(Tables):
    """One writer at a time: what was read stays true until it ends, and all or nothing stands."""

    front: Front

    @abstractmethod
    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """A statement for each of some rows."""

    @abstractmethod
    def end_beside(self) -> Callable[[], None]:
        """Ask that the commit may go on after the transaction's block is left.

        What is returned waits until all is on the disk, and raises if it is not.
        """

    def make(self) -> None:
        """Make the tables."""
        for table in _TABLES:
            self.run(self.spelt(table))

    def fill(self, front: Front, entries: Iterable[Entry], pages: Iterable[Page]) -> None:
        """Make the tables with what they hold."""
        self.make()
        row = front.row()
        self.run(
            f"INSERT INTO {self.prefix}front (one, {', '.join(_FRONT)}) VALUES (1, {_marks(row)})",
            row,
        )
        self.many(self._insert, map(astuple, entries))
        self.write_pages(pages)

    def spelt(self, table: str) -> str:
        """How a table is made, in the words of this database."""
        return table.format(prefix=self.prefix, format="")

    def entry(self, job: str, part: int) -> Entry | None:
        """The entry of a part, if it was charged."""
        rows = self.run(f"{self._select} WHERE job = ? AND part = ? AND job <> ''", (job, part))
        return Entry(*rows[0]) if rows else None

    def untouched(self) -> bool:
        """Whether no job was charged yet."""
        return not self.run(f"SELECT 1 FROM {self.prefix}entries WHERE job <> '' LIMIT 1")

    def entries_of(self, job: str) -> list[Entry]:
        """All entries of a job."""
        return [
            Entry(*row) for row in self.run(f"{self._select} WHERE job = ? ORDER BY number", (job,))
        ]

    def count(self) -> int:
        """How many entries there are."""
        return int(self.run(f"SELECT count(*) FROM {self.prefix}entries")[0][0])

    def write(self, entry: Entry) -> None:
        """Append an entry."""
        self.run(self._insert, astuple(entry))

    def write_pages(self, pages: Iterable[Page]) -> None:
        """Set pages of accounts."""
        self.many(
            f"INSERT INTO {self.prefix}pages VALUES (?, ?, ?) ON CONFLICT (number) "
            "DO UPDATE SET content = excluded.content, seal = excluded.seal",
            pages,
        )

    def move(self, front: Front) -> None:
        """Set the first page."""
        values = ", ".join(f"{name} = ?" for name in _FRONT)
        self.run(f"UPDATE {self.prefix}front SET {values}", front.row())
        self.front = front

    @property
    def _insert(self) -> str:
        return f"INSERT INTO {self.prefix}entries ({FIELDS}) VALUES ({_marks(fields(Entry))})"


class Store(Tables):
    """A ledger's database. Each process opens its own."""

    @abstractmethod
    def create(self, front: Front, entries: Iterable[Entry], pages: Iterable[Page] = ()) -> None:
        """Make the tables with what they hold; refused if there is a ledger already."""

    @abstractmethod
    def require_free(self) -> None:
        """Refuse, as `create` would, where no ledger can be made; nothing is left behind."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Transaction]:
        """A durable transaction, alone among all processes."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """All that is read inside is one state."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def hold_little(self) -> None:
        """Hold little of it in memory, for a process that stays."""

    def front(self) -> Front:
        """The first page, read without waiting for writers."""
        return self.first_page()

    def charged(self, job: str, part: int) -> bool:
        """Whether a part was charged."""
        found = f"SELECT 1 FROM {self.prefix}entries WHERE job = ? AND part = ? AND job <> ''"
        return bool(self.run(found, (job, part)))


_TABLES = (
    "CREATE TABLE {prefix}front (one INTEGER PRIMARY KEY CHECK (one = 1), {format}"
    "identity TEXT NOT NULL, key_check TEXT NOT NULL, head_number INTEGER NOT NULL, "
    "head_digest BLOB NOT NULL, terms TEXT NOT NULL, through INTEGER NOT NULL, "
    "pages INTEGER NOT NULL, seal BLOB NOT NULL)",
    "CREATE TABLE {prefix}entries (number INTEGER PRIMARY KEY, event TEXT NOT NULL, "
    "time TEXT NOT NULL, job TEXT NOT NULL, part INTEGER NOT NULL, rows INTEGER NOT NULL, "
    "within BLOB NOT NULL, request BLOB NOT NULL, persons BLOB NOT NULL, amounts BLOB NOT NULL, "
    "facts TEXT NOT NULL, previous BLOB NOT NULL, digest BLOB NOT NULL, seal BLOB NOT NULL)",
    "CREATE UNIQUE INDEX {prefix}entries_by_part ON {prefix}entries (job, part) WHERE job <> ''",
    "CREATE TABLE {prefix}pages (number INTEGER PRIMARY KEY, content BLOB NOT NULL, "
    "seal BLOB NOT NULL)",
)


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def other_format(version: int) -> str:
    """What is wrong with a ledger of another format."""
    if version > FORMAT:
        return "was written by a newer voile"
    return "was written by an older voile, and is not read by this one; begin a new ledger"


def open_store(where: str) -> Store:
    """The store at a path (SQLite) or a postgresql:// address; anything else is refused."""
    if is_server(where):
        from voile.ledger.postgres import PostgresStore

        return PostgresStore(where)
    from voile.ledger.sqlite import SqliteStore

    return SqliteStore(where)
