"""The ledger in one SQLite file, for one machine.

Write-ahead log with `synchronous = FULL`: a transaction that has ended is on the disk. `BEGIN
IMMEDIATE` takes the one write lock before anything is read, so no two processes decide on the same
balance. The log needs shared memory between its users, so the file must lie on a disk of this
machine and not on a network's; for many machines there is PostgreSQL.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple, fields
from pathlib import Path

from voile.errors import BadFile, CannotWrite
from voile.ledger.commit import Commit, clear_errors
from voile.ledger.entries import Entry, Head
from voile.ledger.store import FORMAT, Front, Page, other_format

WAIT_MILLISECONDS = 120_000
_MARK = 0x766F696C  # "voil", in the file's header: another program's database is told at once
_AT_ONCE = 500
_FIELDS = ", ".join(f.name for f in fields(Entry))
_MARKS = ", ".join("?" for _ in fields(Entry))
_TABLES = """
CREATE TABLE front (
    one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT NOT NULL, key_check TEXT NOT NULL,
    head_number INTEGER NOT NULL, head_digest BLOB NOT NULL, terms TEXT NOT NULL,
    through INTEGER NOT NULL, pages INTEGER NOT NULL, seal BLOB NOT NULL
);
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, event TEXT NOT NULL, time TEXT NOT NULL, job TEXT NOT NULL,
    part INTEGER NOT NULL, rows INTEGER NOT NULL, within BLOB NOT NULL, request BLOB NOT NULL,
    persons BLOB NOT NULL, amounts BLOB NOT NULL, facts TEXT NOT NULL, previous BLOB NOT NULL,
    digest BLOB NOT NULL, seal BLOB NOT NULL
);
CREATE UNIQUE INDEX entries_by_part ON entries (job, part) WHERE job <> '';
CREATE TABLE pages (number INTEGER PRIMARY KEY, content BLOB NOT NULL, seal BLOB NOT NULL);
"""


class SqliteStore:
    """A ledger in a file."""

    def __init__(self, where: str) -> None:
        self.path = Path(where)
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._commit: Commit | None = None
        self._opened: tuple[int, int] | None = None

    def create(self, front: Front, first: Entry) -> None:
        """Make the file, readable by its owner alone; refused if it exists."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise CannotWrite(f"there is a file {str(self.path)!r} already") from None
        except OSError as problem:
            raise CannotWrite(
                f"the ledger {str(self.path)!r} cannot be made: {problem.strerror}"
            ) from problem
        with self._clear_errors():
            database = self._connect()
            database.execute(f"PRAGMA application_id = {_MARK}")
            database.execute(f"PRAGMA user_version = {FORMAT}")
            database.executescript("BEGIN IMMEDIATE;" + _TABLES)
            database.execute(
                "INSERT INTO front VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)", _front_row(front)
            )
            database.execute(f"INSERT INTO entries ({_FIELDS}) VALUES ({_MARKS})", astuple(first))
            database.execute("COMMIT")

    def front(self) -> Front:
        """The first page."""
        with self._clear_errors():
            return _front(self._open())

    @contextmanager
    def transaction(self) -> Iterator[SqliteTransaction]:
        """The write lock, a consistent state, and one durable commit."""
        with self._clear_errors():
            database = self._open()
            database.execute("BEGIN IMMEDIATE")
            beside = False
            try:
                now = SqliteTransaction(database, self.path.name)
                yield now
                if now.commit is None:
                    database.execute("COMMIT")
                else:
                    now.commit.start()
                    self._commit, beside = now.commit, True
            finally:
                if not beside and database.in_transaction:
                    database.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state for all that is read inside."""
        with self._clear_errors():
            database = self._open()
            database.execute("BEGIN")
            try:
                yield
            finally:
                database.execute("ROLLBACK")

    def charged(self, job: str, part: int) -> bool:
        """Whether a part was charged."""
        with self._clear_errors():
            statement = "SELECT 1 FROM entries WHERE job = ? AND part = ? AND job <> ''"
            return self._open().execute(statement, (job, part)).fetchone() is not None

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts: these, or all."""
        with self._clear_errors():
            yield from _pages(self._open(), numbers)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries after a number, by number."""
        with self._clear_errors():
            yield from _entries(self._open(), after)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None and self._process == os.getpid():
            self._committed()
            self._connection.close()
        self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            self._committed()
            if self._same_file():
                return self._connection
            self.close()
        if not self.path.is_file():
            raise BadFile(
                f"there is no ledger {str(self.path)!r}; make one with `voile ledger init`"
            )
        database = self._connect()
        try:
            mark = database.execute("PRAGMA application_id").fetchone()[0]
            version = database.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.OperationalError:  # a disk's fault, not the file's
            self.close()
            raise
        except sqlite3.DatabaseError:
            mark = version = 0
        if mark != _MARK or version != FORMAT:
            self.close()
            reason = "is not a ledger of voile"
            if mark == _MARK:
                reason = other_format(version)
            raise BadFile(f"{str(self.path)!r} {reason}")
        return database

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(
            self.path,
            timeout=WAIT_MILLISECONDS / 1000,
            isolation_level=None,
            check_same_thread=False,  # a commit may go on beside, and is waited for
        )
        # A file that somebody changed by hand may hold anything: to be told, not to trip over.
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        self._connection, self._process = database, os.getpid()
        self._opened = _file_number(self.path)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute("PRAGMA cache_size = -65536")
        except sqlite3.DatabaseError:
            pass  # a file that cannot be written can still be shown; a foreign one is told later
        return database

    def _same_file(self) -> bool:
        """Whether the name still is of the file that was opened.

        A file that was moved away or replaced can still be written through an open connection, and
        what is charged there nobody would ever see.
        """
        return _file_number(self.path) == self._opened

    def _committed(self) -> None:
        """Wait for a commit that goes on beside; how it ended is told to whoever began it."""
        if self._commit is not None:
            self._commit.join()
            self._commit = None

    def _clear_errors(self) -> AbstractContextManager[None]:
        return clear_errors(self.path.name)


class SqliteTransaction:
    """What a writer sees and does."""

    def __init__(self, database: sqlite3.Connection, ledger: str) -> None:
        self._database, self._ledger = database, ledger
        self.front = _front(database)
        self.commit: Commit | None = None

    def end_beside(self) -> Callable[[], None]:
        """Let the commit go on beside what the caller does next."""
        self.commit = Commit(self._database, self._ledger)
        return self.commit.settle

    def entry(self, job: str, part: int) -> Entry | None:
        """The entry of a part."""
        return _entry(self._database, job, part)

    def untouched(self) -> bool:
        """Whether no job was charged yet."""
        statement = "SELECT 1 FROM entries WHERE job <> '' LIMIT 1"
        return self._database.execute(statement).fetchone() is None

    def entries_of(self, job: str) -> list[Entry]:
        """All entries of a job."""
        statement = f"SELECT {_FIELDS} FROM entries WHERE job = ? ORDER BY number"
        return [Entry(*row) for row in self._database.execute(statement, (job,))]

    def refunded(self, job: str) -> bool:
        """Whether a job's charges were taken back."""
        statement = "SELECT 1 FROM entries WHERE job = ? AND part = -1 AND job <> ''"
        return self._database.execute(statement, (job,)).fetchone() is not None

    def count(self) -> int:
        """How many entries there are."""
        return int(self._database.execute("SELECT count(*) FROM entries").fetchone()[0])

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts: these, or all."""
        return _pages(self._database, numbers)

    def entries_after(self, number: int) -> Iterator[Entry]:
        """The entries that follow."""
        return _entries(self._database, number)

    def write(self, entry: Entry) -> None:
        """Append the entry."""
        statement = f"INSERT INTO entries ({_FIELDS}) VALUES ({_MARKS})"
        self._database.execute(statement, astuple(entry))

    def write_pages(self, pages: Iterable[Page]) -> None:
        """Set pages of accounts."""
        self._database.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", pages)

    def move(self, front: Front) -> None:
        """Set the first page."""
        self._database.execute(
            "UPDATE front SET identity = ?, key_check = ?, head_number = ?, head_digest = ?, "
            "terms = ?, through = ?, pages = ?, seal = ?",
            _front_row(front),
        )
        self.front = front


def _file_number(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _front(database: sqlite3.Connection) -> Front:
    row = database.execute(
        "SELECT identity, key_check, head_number, head_digest, terms, through, pages, seal "
        "FROM front"
    ).fetchone()
    if row is None:
        raise BadFile("the ledger's first page is missing")
    digest, seal = (value if isinstance(value, bytes) else b"" for value in (row[3], row[7]))
    whole = [value if isinstance(value, int) else -1 for value in (row[2], row[5], row[6])]
    return Front(row[0], row[1], Head(whole[0], digest), row[4], whole[1], whole[2], seal)


def _front_row(front: Front) -> tuple[object, ...]:
    return (front.identity, front.check, front.head.number, front.head.digest, front.terms,
            front.through, front.pages, front.seal)  # fmt: skip


def _entry(database: sqlite3.Connection, job: str, part: int) -> Entry | None:
    statement = f"SELECT {_FIELDS} FROM entries WHERE job = ? AND part = ? AND job <> ''"
    row = database.execute(statement, (job, part)).fetchone()
    return None if row is None else Entry(*row)


def _pages(database: sqlite3.Connection, numbers: Sequence[int] | None) -> Iterator[Page]:
    if numbers is None:
        for row in database.execute("SELECT number, content, seal FROM pages ORDER BY number"):
            yield row
        return
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        statement = f"SELECT number, content, seal FROM pages WHERE number IN ({marks})"
        for row in database.execute(statement, some):
            yield row


def _entries(database: sqlite3.Connection, after: int) -> Iterator[Entry]:
    statement = f"SELECT {_FIELDS} FROM entries WHERE number > ? ORDER BY number"
    for row in database.execute(statement, (after,)):
        yield Entry(*row)
