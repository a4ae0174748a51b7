"""Rows of a ledger's tables in SQLite, as the values they stand for."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from voile.errors import BadFile
from voile.ledger.entries import Entry, Head
from voile.ledger.store import Front, Page

_AT_ONCE = 500
FIELDS = ", ".join(f.name for f in fields(Entry))
MARKS = ", ".join("?" for _ in fields(Entry))
TABLES = """
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


def file_number(path: Path) -> tuple[int, int] | None:
    """What tells a file from another of the same name; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def front_at(database: sqlite3.Connection) -> Front:
    """The first page; what is of another type there is given one that no seal fits."""
    row = database.execute(
        "SELECT identity, key_check, head_number, head_digest, terms, through, pages, seal "
        "FROM front"
    ).fetchone()
    if row is None:
        raise BadFile("the ledger's first page is missing")
    digest, seal = (value if isinstance(value, bytes) else b"" for value in (row[3], row[7]))
    whole = [value if isinstance(value, int) else -1 for value in (row[2], row[5], row[6])]
    return Front(row[0], row[1], Head(whole[0], digest), row[4], whole[1], whole[2], seal)


def front_row(front: Front) -> tuple[object, ...]:
    """The first page as its row."""
    return (front.identity, front.check, front.head.number, front.head.digest, front.terms,
            front.through, front.pages, front.seal)  # fmt: skip


def entry_at(database: sqlite3.Connection, job: str, part: int) -> Entry | None:
    """The entry of a part of a job."""
    statement = f"SELECT {FIELDS} FROM entries WHERE job = ? AND part = ? AND job <> ''"
    row = database.execute(statement, (job, part)).fetchone()
    return None if row is None else Entry(*row)


def pages_at(database: sqlite3.Connection, numbers: Sequence[int] | None) -> Iterator[Page]:
    """Pages of accounts: these, or all."""
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


def entries_at(database: sqlite3.Connection, after: int) -> Iterator[Entry]:
    """The entries after a number, by number."""
    statement = f"SELECT {FIELDS} FROM entries WHERE number > ? ORDER BY number"
    for row in database.execute(statement, (after,)):
        yield Entry(*row)


def older_front_at(database: sqlite3.Connection) -> Front:
    """The first page of format 3, which had no seal and no pages."""
    statement = "SELECT identity, key_check, head_number, head_digest, terms FROM front"
    row = database.execute(statement).fetchone()
    if row is None:
        raise BadFile("the ledger's first page is missing")
    return Front(row[0], row[1], Head(row[2], row[3]), row[4])
