"""The ledger in PostgreSQL, for many machines.

The address is a `postgresql://` URL; another schema (a second ledger in one database) is chosen as
libpq does it, with `?options=-csearch_path%3Dname`. A writer locks the one row of the first page
before it reads anything, so all processes on all machines decide one after the other, and commits
with `synchronous_commit = on`: a charge that has returned survives the server's crash.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from voile.errors import BadFile, CannotWrite, MissingExtra
from voile.ledger.address import server_address
from voile.ledger.entries import Entry
from voile.ledger.store import FORMAT, Front, Page, Rows, Store, Tables, Transaction

_CURSORS = count()  # one may be read while another is


class _Served(Tables):
    prefix, format = "voile_", "format"


class PostgresStore(_Served, Store):
    """A ledger on a server; one connection for each process."""

    def __init__(self, where: str) -> None:
        self._address = server_address(where)
        self._connection: Any = None
        self._process = 0
        self._end: Callable[[], None] | None = None

    def create(self, front: Front, entries: Iterable[Entry], pages: Iterable[Page] = ()) -> None:
        """Make the tables with what they hold; refused if they exist."""
        with self._new_tables(take_back=False) as now:
            now.fill(front, entries, pages)

    def require_free(self) -> None:
        """Refuse where the tables exist or cannot be made: they are made, and taken back."""
        with self._new_tables(take_back=True) as now:
            now.make()

    @contextmanager
    def _new_tables(self, *, take_back: bool) -> Iterator[PostgresTransaction]:
        with self._clear_errors():
            import psycopg

            database = self._open()
            try:
                with database.transaction(force_rollback=take_back):
                    yield PostgresTransaction(database)
            except (psycopg.errors.DuplicateTable, psycopg.errors.UniqueViolation):
                raise CannotWrite("there is a ledger in this database and schema already") from None

    @contextmanager
    def transaction(self) -> Iterator[PostgresTransaction]:
        """The lock on the first page, and one durable commit."""
        with self._clear_errors():
            database = self._open()
            with database.transaction():
                database.execute("SET LOCAL synchronous_commit = on")
                database.execute("SET LOCAL lock_timeout = '120s'")
                now = PostgresTransaction(database)
                now.front = now.first_page("FOR UPDATE")
                yield now

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state for all that is read inside."""
        with self._clear_errors():
            database = self._open()
            with database.transaction():
                database.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield

    def run(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """What a statement finds."""
        with self._clear_errors():
            return _run(self._open(), statement, values)

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Rows a few at a time, however many there are."""
        with self._clear_errors():
            database = self._open()
            with database.transaction(), database.cursor(name=f"voile_{next(_CURSORS)}") as cursor:
                cursor.itersize = 200
                yield from cursor.execute(_spelt(statement), tuple(values))

    def close(self) -> None:
        """Close the connection; a store that nobody has any more closes its own."""
        if self._end is not None:
            self._end()
        self._connection = self._end = None

    def _open(self) -> Any:
        if self._connection is None or self._process != os.getpid() or self._connection.closed:
            import psycopg

            try:
                self._connection = psycopg.connect(
                    self._address.url, autocommit=True, connect_timeout=10
                )
            except UnicodeError:
                raise CannotWrite(
                    "the ledger on PostgreSQL cannot be used: its host has no name that a host "
                    "may have"
                ) from None
            # The lock on the first page is waited for, and what is read after it must be what its
            # last holder wrote. So, whatever the server's default is, each statement sees the
            # state of its own moment; then there is also no failure of serialization to retry.
            self._connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            self._process = os.getpid()
            # Kept alive until then: of a cycle that is thrown away, any part may go first.
            self._end = weakref.finalize(self, _closed, self._connection, self._process)
        return self._connection

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("psycopg", extra="postgres") from None
        try:
            yield
        except psycopg.errors.UndefinedTable:
            raise BadFile(
                "there is no ledger in this database and schema; make one with `voile ledger init`"
            ) from None
        except psycopg.Error as problem:
            # The first line says what is wrong: the server's, or libpq's on a well-formed address.
            first = (str(problem).strip().splitlines() or ["no reason given"])[0]
            reason = self._address.told(first)
            raise CannotWrite(
                f"the ledger on PostgreSQL cannot be used: {reason}; nothing more is released, "
                "what was charged stays charged; mend it and repeat the command to continue"
            ) from None


def _closed(connection: Any, process: int) -> None:
    """Close a connection where it was made: a child of that process shares its socket."""
    if process == os.getpid():
        connection.close()


class PostgresTransaction(_Served, Transaction):
    """What a writer sees and does."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def spelt(self, table: str) -> str:
        """With the format, for which a server's tables have no header."""
        said = f"format INTEGER NOT NULL DEFAULT {FORMAT} CHECK (format = {FORMAT}), "
        return table.format(prefix=self.prefix, format=said).replace(" INTEGER", " BIGINT")

    def run(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """A statement that stands or falls with the others."""
        return _run(self._database, statement, values)

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """What it finds."""
        yield from self.run(statement, values)

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """A statement for each of some rows."""
        with self._database.cursor() as cursor:
            cursor.executemany(_spelt(statement), rows)

    def end_beside(self) -> Callable[[], None]:
        """Nothing goes on beside here: the block's end waits for the server."""
        return lambda: None


def _spelt(statement: str) -> str:
    """A statement in SQLite's words, as this server takes it."""
    return statement.replace("?", "%s").replace(" BLOB", " BYTEA")


def _run(database: Any, statement: str, values: Sequence[Any]) -> Rows:
    done = database.execute(_spelt(statement), tuple(values), binary=True)
    return list(done.fetchall()) if done.description else []
