"""The ledger in one SQLite file, for one machine.

Write-ahead log with `synchronous = FULL`: a transaction that has ended is on the disk. `BEGIN
IMMEDIATE` takes the one write lock before anything is read, so no two processes decide on the same
balance. The log needs shared memory between its users, so the file must lie on a disk of this
machine and not on a network's; for many machines there is PostgreSQL.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from voile.errors import BadFile, CannotWrite
from voile.ledger.address import is_server, named
from voile.ledger.commit import Commit, clear_errors
from voile.ledger.entries import Entry
from voile.ledger.sqlite_reading import may_write, reading_address
from voile.ledger.sqlite_rows import (
    FIELDS,
    MARKS,
    TABLES,
    entries_at,
    file_number,
    front_at,
    front_row,
    older_front_at,
    pages_at,
)
from voile.ledger.sqlite_transaction import SqliteTransaction
from voile.ledger.store import FORMAT, Front, Page, other_format

WAIT_MILLISECONDS = 120_000
_MUCH, _LITTLE = 65_536, 1_024
"""KiB of the file that are held in memory."""
_MARK = 0x766F696C  # "voil", in the file's header: another program's database is told at once


class SqliteStore:
    """A ledger in a file."""

    def __init__(self, where: str) -> None:
        self.path = Path(where)
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._commit: Commit | None = None
        self._opened: tuple[int, int] | None = None
        self.format = FORMAT
        self._reads_only = False
        self._held = _MUCH
        self._copy: TemporaryDirectory[str] | None = None

    def create(self, front: Front, entries: Iterable[Entry], pages: Iterable[Page] = ()) -> None:
        """Make the file, readable by its owner alone; refused if it exists, whole or not there."""
        self._claim()
        try:
            with self._clear_errors():
                self._fill(self._connect(), front, entries, pages)
        except BaseException:
            self.close()
            for ending in ("", "-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            raise

    def require_free(self) -> None:
        """Refuse where the file exists or cannot be made."""
        self._claim()
        self.path.unlink()

    def _claim(self) -> None:
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise CannotWrite(f"there is a file {named(self.path)} already") from None
        except OSError as problem:
            raise CannotWrite(
                f"the ledger {named(self.path)} cannot be made: {problem.strerror}"
            ) from problem

    def _fill(
        self,
        database: sqlite3.Connection,
        front: Front,
        entries: Iterable[Entry],
        pages: Iterable[Page],
    ) -> None:
        database.execute(f"PRAGMA application_id = {_MARK}")
        database.execute(f"PRAGMA user_version = {FORMAT}")
        database.executescript("BEGIN IMMEDIATE;" + TABLES)
        database.execute("INSERT INTO front VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)", front_row(front))
        statement = f"INSERT INTO entries ({FIELDS}) VALUES ({MARKS})"
        database.executemany(statement, map(astuple, entries))
        database.executemany("INSERT INTO pages VALUES (?, ?, ?)", pages)
        database.execute("COMMIT")

    def front(self) -> Front:
        """The first page."""
        with self._clear_errors():
            return front_at(self._open())

    @classmethod
    def of_older_format(cls, where: str) -> SqliteStore | None:
        """The store at a path if it is of the format before this one, to be brought over."""
        if is_server(where) or not Path(where).is_file():
            return None
        store = cls(where)
        store.format = FORMAT - 1
        try:
            store._open()
        except BadFile:
            return None
        return store

    def older_front(self) -> Front:
        """The first page of the older format."""
        with self._clear_errors():
            return older_front_at(self._open())

    @contextmanager
    def transaction(self) -> Iterator[SqliteTransaction]:
        """The write lock, a consistent state, and one durable commit."""
        with self._clear_errors():
            database = self._open()
            if self._reads_only:
                raise sqlite3.OperationalError("it may be read and not written")
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

    def look(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What else a writer put there."""
        with self._clear_errors():
            return self._open().execute(statement, tuple(values)).fetchall()

    def hold_little(self) -> None:
        """Hold few pages in memory, so that a process that stays does not grow with the ledger."""
        self._held = _LITTLE
        self.close()  # and it is opened so when it is needed

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts: these, or all."""
        with self._clear_errors():
            yield from pages_at(self._open(), numbers)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries after a number, by number."""
        with self._clear_errors():
            yield from entries_at(self._open(), after)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None and self._process == os.getpid():
            self._committed()
            self._connection.close()
            if self._copy is not None:
                self._copy.cleanup()
        self._connection = self._copy = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            self._committed()
            if self._same_file():
                return self._connection
            self.close()
        if not self.path.is_file():
            raise BadFile(
                f"there is no ledger {named(self.path)}; make one with `voile ledger init`"
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
        if mark != _MARK or version != self.format:
            self.close()
            reason = "is not a ledger of voile"
            if mark == _MARK:
                reason = other_format(version)
            raise BadFile(f"the file {named(self.path)} {reason}")
        return database

    def _connect(self) -> sqlite3.Connection:
        self._reads_only = not may_write(self.path)
        where, self._copy = str(self.path), None
        if self._reads_only:
            where, self._copy = reading_address(self.path)
        database = sqlite3.connect(
            where,
            timeout=WAIT_MILLISECONDS / 1000,
            isolation_level=None,
            check_same_thread=False,  # a commit may go on beside, and is waited for
            uri=self._reads_only,
        )
        # A file that somebody changed by hand may hold anything: to be told, not to trip over.
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        self._connection, self._process = database, os.getpid()
        self._opened = file_number(self.path)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute(f"PRAGMA cache_size = -{self._held}")
        except sqlite3.DatabaseError:
            pass  # a file that cannot be written can still be shown; a foreign one is told later
        return database

    def _same_file(self) -> bool:
        """Whether the name still is of the file that was opened.

        A file that was moved away or replaced can still be written through an open connection, and
        what is charged there nobody would ever see.
        """
        return file_number(self.path) == self._opened

    def _committed(self) -> None:
        """Wait for a commit that goes on beside; how it ended is told to whoever began it."""
        if self._commit is not None:
            self._commit.join()
            self._commit = None

    def _clear_errors(self) -> AbstractContextManager[None]:
        return clear_errors(named(self.path.name).strip("'"))
