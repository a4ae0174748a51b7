"""One transaction of a ledger in SQLite: what a writer sees and does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any

from voile.ledger.commit import Commit
from voile.ledger.entries import Entry
from voile.ledger.sqlite_rows import (
    FIELDS,
    MARKS,
    entries_at,
    entry_at,
    front_at,
    front_row,
    pages_at,
)
from voile.ledger.store import Front, Page


class SqliteTransaction:
    """What a writer sees and does."""

    def __init__(self, database: sqlite3.Connection, ledger: str) -> None:
        self._database, self._ledger = database, ledger
        self.front = front_at(database)
        self.commit: Commit | None = None

    def end_beside(self) -> Callable[[], None]:
        """Let the commit go on beside what the caller does next."""
        self.commit = Commit(self._database, self._ledger)
        return self.commit.settle

    def entry(self, job: str, part: int) -> Entry | None:
        """The entry of a part."""
        return entry_at(self._database, job, part)

    def untouched(self) -> bool:
        """Whether no job was charged yet."""
        statement = "SELECT 1 FROM entries WHERE job <> '' LIMIT 1"
        return self._database.execute(statement).fetchone() is None

    def entries_of(self, job: str) -> list[Entry]:
        """All entries of a job."""
        statement = f"SELECT {FIELDS} FROM entries WHERE job = ? ORDER BY number"
        return [Entry(*row) for row in self._database.execute(statement, (job,))]

    def count(self) -> int:
        """How many entries there are."""
        return int(self._database.execute("SELECT count(*) FROM entries").fetchone()[0])

    def pages(self, numbers: Sequence[int] | None = None) -> Iterator[Page]:
        """Pages of accounts: these, or all."""
        return pages_at(self._database, numbers)

    def entries_after(self, number: int) -> Iterator[Entry]:
        """The entries that follow."""
        return entries_at(self._database, number)

    def write(self, entry: Entry) -> None:
        """Append the entry."""
        statement = f"INSERT INTO entries ({FIELDS}) VALUES ({MARKS})"
        self._database.execute(statement, astuple(entry))

    def write_pages(self, pages: Iterable[Page]) -> None:
        """Set pages of accounts."""
        self._database.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", pages)

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Something else that is to stand or fall with it."""
        return self._database.execute(statement, tuple(values)).fetchall()

    def move(self, front: Front) -> None:
        """Set the first page."""
        self._database.execute(
            "UPDATE front SET identity = ?, key_check = ?, head_number = ?, head_digest = ?, "
            "terms = ?, through = ?, pages = ?, seal = ?",
            front_row(front),
        )
        self.front = front
