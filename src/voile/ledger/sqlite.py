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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from voile.errors import BadFile, CannotWrite
from voile.ledger.address import named
from voile.ledger.commit import Commit, clear_errors
from voile.ledger.entries import Entry
from voile.ledger.sqlite_reading import may_write, reading_address
from voile.ledger.store import FORMAT, Front, Page, Rows, Store, Transaction, other_format

WAIT_MILLISECONDS = 120_000
_MUCH, _LITTLE = 65_536, 1_024
"""KiB of the file that are held in memory."""
_MARK = 0x766F696C  # "voil", in the file's header: another program's database is told at once


class SqliteStore(Store):
    """A ledger in a file."""

    def __init__(self, where: str) -> None:
        self.path = Path(where)
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._commit: Commit | None = None
        self._opened: tuple[int, int] | None = None
        self._reads_only = False
        self._held = _MUCH
        self._copy: TemporaryDirectory[str] | None = None

    def create(self, front: Front, entries: Iterable[Entry], pages: Iterable[Page] = ()) -> None:
        """Make the file, readable by its owner alone; refused if it exists, whole or not there."""
        self._claim()
        try:
            with self._clear_errors():
                database = self._connect()
                database.execute(f"PRAGMA application_id = {_MARK}")
                database.execute(f"PRAGMA user_version = {FORMAT}")
                database.execute("BEGIN IMMEDIATE")
                SqliteTransaction(database, self.path.name).fill(front, entries, pages)
                database.execute("COMMIT")
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
                now.front = now.first_page()
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

    def run(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """What a statement finds."""
        return list(self.stream(statement, values))

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Row by row."""
        with self._clear_errors():
            yield from self._open().execute(statement, tuple(values))

    def hold_little(self) -> None:
        """Hold few pages in memory, so that a process that stays does not grow with the ledger."""
        self._held = _LITTLE
        self.close()  # and it is opened so when it is needed

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
        if mark != _MARK or version != FORMAT:
            self.close()
            reason = other_format(version) if mark == _MARK else "is not a ledger of voile"
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
        self._opened = _file_number(self.path)
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
        return _file_number(self.path) == self._opened

    def _committed(self) -> None:
        """Wait for a commit that goes on beside; how it ended is told to whoever began it."""
        if self._commit is not None:
            self._commit.join()
            self._commit = None

    def _clear_errors(self) -> AbstractContextManager[None]:
        return clear_errors(named(self.path.name).strip("'"))


class SqliteTransaction(Transaction):
    """What a writer sees and does."""

    def __init__(self, database: sqlite3.Connection, ledger: str) -> None:
        self._database, self._ledger = database, ledger
        self.commit: Commit | None = None

    def run(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """A statement that stands or falls with the others."""
        return self._database.execute(statement, tuple(values)).fetchall()

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """What it finds, row by row."""
        return self._database.execute(statement, tuple(values))

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """A statement for each of some rows."""
        self._database.executemany(statement, rows)

    def end_beside(self) -> Callable[[], None]:
        """Let the commit go on beside what the caller does next."""
        self.commit = Commit(self._database, self._ledger)
        return self.commit.settle


def _file_number(path: Path) -> tuple[int, int] | None:
    """What tells a file from another of the same name; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
