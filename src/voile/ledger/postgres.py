"""The ledger in PostgreSQL, for many machines.

The address is a `postgresql://` URL; another schema (a second ledger in one database) is chosen as
libpq does it, with `?options=-csearch_path%3Dname`. A writer locks the one row of the first page
before it reads anything, so all processes on all machines decide one after the other, and commits
with `synchronous_commit = on`: a charge that has returned survives the server's crash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, fields
from itertools import count
from typing import Any

from voile.errors import BadFile, CannotWrite, MissingExtra
from voile.ledger.address import server_address
from voile.ledger.entries import Entry, Head
from voile.ledger.store import FORMAT, Front, Page, other_format

_CURSORS = count()  # one may be read while another is
_FIELDS = ", ".join(f.name for f in fields(Entry))
_MARKS = ", ".join("%s" for _ in fields(Entry))
_INSERT = f"INSERT INTO voile_entries ({_FIELDS}) VALUES ({_MARKS})"
_AFTER = f"SELECT {_FIELDS} FROM voile_entries WHERE number > %s ORDER BY number"
_PAGES = "SELECT number, content, seal FROM voile_pages ORDER BY number"
_SOME_PAGES = "SELECT number, content, seal FROM voile_pages WHERE number = ANY(%s)"
_TABLES = f"""
CREATE TABLE voile_front (
    one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL CHECK (format = {FORMAT}),
    identity TEXT NOT NULL, key_check TEXT NOT NULL, head_number BIGINT NOT NULL,
    head_digest BYTEA NOT NULL, terms TEXT NOT NULL, through BIGINT NOT NULL,
    pages BIGINT NOT NULL, seal BYTEA NOT NULL
);
CREATE TABLE voile_entries (
    number BIGINT PRIMARY KEY, event TEXT NOT NULL, time TEXT NOT NULL, job TEXT NOT NULL,
    part BIGINT NOT NULL, rows BIGINT NOT NULL, within BYTEA NOT NULL, request BYTEA NOT NULL,
    persons BYTEA NOT NULL, amounts BYTEA NOT NULL, facts TEXT NOT NULL, previous BYTEA NOT NULL,
    digest BYTEA NOT NULL, seal BYTEA NOT NULL
);
CREATE UNIQUE INDEX voile_entries_by_part ON voile_entries (job, part) WHERE job <> '';
CREATE TABLE voile_pages (number BIGINT PRIMARY KEY, content BYTEA NOT NULL, seal BYTEA NOT NULL);
"""


class PostgresStore:
    """A ledger on a server; one connection for each process."""

    def __init__(self, where: str) -> None:
        self._address = server_address(where)
        self._connection: Any = None
        self._process = 0

    def create(self, front: Front, entries: Iterable[Entry], pages: Iterable[Page] = ()) -> None:
        """Make the tables with what they hold; refused if they exist."""
        import psycopg

        with self._clear_errors():
            database = self._open()
            try:
                with database.transaction():
                    database.execute(_TABLES)
                    database.execute(
                        "INSERT INTO voile_front VALUES (1, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                        (FORMAT, *_front_row(front)),
                    )
                    with database.cursor() as cursor:
                        cursor.executemany(_INSERT, map(astuple, entries))
                        cursor.executemany("INSERT INTO voile_pages VALUES (%s, %s, %s)", pages)
            except (psycopg.errors.DuplicateTable, psycopg.errors.UniqueViolation):
                raise CannotWrite("there is a ledger in this database and schema already") from None

    def require_free(self) -> None:
        """Refuse where the tables exist or cannot be made: they are made, and taken back."""
        import psycopg

        with self._clear_errors():
            try:
                with self._open().transaction(force_rollback=True):
                    self._open().execute(_TABLES)
            except (psycopg.errors.DuplicateTable, psycopg.errors.UniqueViolation):
                raise CannotWrite("there is a ledger in this database and schema already") from None

    def front(self) -> Front:
        """The first page."""
        with self._clear_errors():
            return _front(self._open(), "")

    @contextmanager
    def transaction(self) -> Iterator[PostgresTransaction]:
        """The lock on the first page, and one durable commit."""
        with self._clear_errors():
            database = self._open()
            with database.transaction():
                database.execute("SET LOCAL synchronous_commit = on")
                database.execute("SET LOCAL lock_timeout = '120s'")
                yield PostgresTransaction(database)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state for all that is read inside."""
        with self._clear_errors():
            database = self._open()
            with database.transaction():
                database.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield

    def charged(self, job: str, part: int) -> bool:
        """Whether a part was charged."""
        with self._clear_errors():
            statement = "SELECT 1 FROM voile_entries WHERE job = %s AND part = %s AND job <> ''"
            return self._open().execute(statement, (job, part)).fetchone() is not None

    def look(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What else a writer put there."""
        with self._clear_errors():
            return _run(self._open(), statement, values)

    def hold_little(self) -> None:
        """The server holds what it holds."""

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts: these, or all."""
        if numbers is None:
            yield from self._streamed(_PAGES)
        else:
            yield from self._streamed(_SOME_PAGES, (list(numbers),))

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries after a number, by number."""
        for row in self._streamed(_AFTER, (after,)):
            yield Entry(*row)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # at the end of the program anything may be gone already
            return

    def _streamed(self, statement: str, values: tuple[Any, ...] = ()) -> Iterator[Any]:
        """Rows a few at a time, however many there are."""
        with self._clear_errors():
            database = self._open()
            with database.transaction(), database.cursor(name=f"voile_{next(_CURSORS)}") as cursor:
                cursor.itersize = 200
                yield from cursor.execute(statement, values)

    def _open(self) -> Any:
        if self._connection is None or self._process != os.getpid() or self._connection.closed:
            try:
                import psycopg
            except ImportError:
                raise MissingExtra("psycopg", extra="postgres") from None
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
        except psycopg.errors.UndefinedColumn:
            raise BadFile(f"the ledger on PostgreSQL {other_format(FORMAT - 1)}") from None
        except psycopg.Error as problem:
            # The first line says what is wrong: the server's, or libpq's on a well-formed address.
            first = (str(problem).strip().splitlines() or ["no reason given"])[0]
            reason = self._address.told(first)
            raise CannotWrite(
                f"the ledger on PostgreSQL cannot be used: {reason}; nothing more is released, "
                "what was charged stays charged; mend it and repeat the command to continue"
            ) from None


class PostgresTransaction:
    """What a writer sees and does."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.front = _front(database, "FOR UPDATE")

    def entry(self, job: str, part: int) -> Entry | None:
        """The entry of a part."""
        statement = f"SELECT {_FIELDS} FROM voile_entries WHERE job = %s AND part = %s"
        row = self._database.execute(statement + " AND job <> ''", (job, part)).fetchone()
        return None if row is None else Entry(*row)

    def untouched(self) -> bool:
        """Whether no job was charged yet."""
        statement = "SELECT 1 FROM voile_entries WHERE job <> '' LIMIT 1"
        return self._database.execute(statement).fetchone() is None

    def entries_of(self, job: str) -> list[Entry]:
        """All entries of a job."""
        statement = f"SELECT {_FIELDS} FROM voile_entries WHERE job = %s ORDER BY number"
        return [Entry(*row) for row in self._database.execute(statement, (job,))]

    def count(self) -> int:
        """How many entries there are."""
        return int(self._database.execute("SELECT count(*) FROM voile_entries").fetchone()[0])

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts: these, or all."""
        if numbers is None:
            yield from self._database.execute(_PAGES, binary=True)
        else:
            yield from self._database.execute(_SOME_PAGES, (list(numbers),), binary=True)

    def entries_after(self, number: int) -> Iterator[Entry]:
        """The entries that follow."""
        for row in self._database.execute(_AFTER, (number,), binary=True):
            yield Entry(*row)

    def write(self, entry: Entry) -> None:
        """Append the entry."""
        self._database.execute(_INSERT, astuple(entry))

    def write_pages(self, pages: Iterable[Page]) -> None:
        """Set pages of accounts."""
        numbers, contents, seals = zip(*pages, strict=True)
        self._database.execute(
            "INSERT INTO voile_pages SELECT * FROM unnest(%s::bigint[], %s::bytea[], %s::bytea[]) "
            "ON CONFLICT (number) DO UPDATE SET content = excluded.content, seal = excluded.seal",
            (list(numbers), list(contents), list(seals)),
        )

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Something else that is to stand or fall with it."""
        return _run(self._database, statement, values)

    def move(self, front: Front) -> None:
        """Set the first page."""
        self._database.execute(
            "UPDATE voile_front SET identity = %s, key_check = %s, head_number = %s, "
            "head_digest = %s, terms = %s, through = %s, pages = %s, seal = %s",
            _front_row(front),
        )
        self.front = front

    def end_beside(self) -> Callable[[], None]:
        """Nothing goes on beside here: the block's end waits for the server."""
        return lambda: None


def _run(database: Any, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """A statement in SQLite's words, as this server takes it."""
    done = database.execute(statement.replace("?", "%s").replace(" BLOB", " BYTEA"), tuple(values))
    return list(done.fetchall()) if done.description else []


def _front(database: Any, lock: str) -> Front:
    statement = (
        "SELECT identity, key_check, head_number, head_digest, terms, through, pages, seal, "
        "format FROM voile_front "
    )
    row = database.execute(statement + lock).fetchone()
    if row is None:
        raise BadFile("the ledger's first page is missing")
    if row[8] != FORMAT:
        raise BadFile(f"the ledger on PostgreSQL {other_format(row[8])}")
    head = Head(row[2], bytes(row[3]))
    return Front(row[0], row[1], head, row[4], row[5], row[6], bytes(row[7]))


def _front_row(front: Front) -> tuple[object, ...]:
    return (front.identity, front.check, front.head.number, front.head.digest, front.terms,
            front.through, front.pages, front.seal)  # fmt: skip
