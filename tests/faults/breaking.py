"""A disk, a store and a database that break at the n-th call, in one of several ways.

All that a job does to the world below one folder goes through one counter: system calls on names
and files there, statements to SQLite and PostgreSQL, calls to an fsspec store. At the n-th call one
of these happens:

- `fails`: it is not done, and an error says so (no space, or an I/O error, in turn);
- `stops short`: a write is half done before the error; other calls as `fails`;
- `late`: it is done, and an error is told all the same, as a network's disk may do;
- `dies before`, `dies after`: the process is gone, before or after the call was done. Death is an
  exception that nothing catches, after which every further call fails in the same way: what a dead
  process leaves undone (temporary files, roll-backs) stays undone. Then all is opened afresh.
"""

from __future__ import annotations

import errno
import io
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

WAYS = ("fails", "stops short", "late", "dies before", "dies after")
_ERRORS = (errno.ENOSPC, errno.EIO)


class Died(BaseException):
    """The process is dead."""


class World:
    """Counts calls below a folder; `at` = 0 breaks nothing."""

    def __init__(self, folder: Path, *, at: int = 0, way: str = "fails") -> None:
        self.folder, self.at, self.way = str(folder), at, way
        self.calls = 0
        self.names: list[str] = []
        self.dead = False

    def mine(self, path: object) -> bool:
        """Whether a path lies in the folder."""
        if isinstance(path, int):
            try:
                path = os.readlink(f"/proc/self/fd/{path}")
            except OSError:
                return False
        try:
            return os.path.abspath(os.fsdecode(path)).startswith(self.folder)  # type: ignore[arg-type]
        except TypeError:
            return False

    def call(
        self,
        name: str,
        do: Callable[[], Any],
        *,
        half: Callable[[], Any] | None = None,
        error: Callable[[int], Exception] = lambda number: OSError(number, os.strerror(number)),
    ) -> Any:
        """Do something, unless it is its turn to break."""
        if self.dead:
            raise Died
        self.calls += 1
        self.names.append(name)
        if self.calls != self.at:
            return do()
        if self.way == "dies before":
            self.dead = True
            raise Died
        if self.way in ("late", "dies after"):
            do()
        elif self.way == "stops short" and half is not None:
            half()
        if self.way == "dies after":
            self.dead = True
            raise Died
        raise error(_ERRORS[self.at % 2])


class _File:
    """A file whose writes are counted."""

    def __init__(self, world: World, file: Any) -> None:
        self._world, self._file = world, file

    def write(self, content: bytes) -> Any:
        return self._world.call(
            "write",
            lambda: self._file.write(content),
            half=lambda: (self._file.write(content[: len(content) // 2]), self._file.flush()),
        )

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class _Sqlite:
    """A connection whose statements are counted; it never syncs, a killed process needs no sync."""

    def __init__(self, world: World, database: sqlite3.Connection) -> None:
        object.__setattr__(self, "_world", world)
        object.__setattr__(self, "_database", database)
        database.execute("PRAGMA synchronous = OFF")

    def _counted(self, name: str, statement: str, values: tuple[Any, ...]) -> Any:
        if statement.startswith("PRAGMA"):
            if "synchronous" in statement:
                return None
            return getattr(self._database, name)(statement, *values)

        def error(number: int) -> Exception:
            full = number == errno.ENOSPC
            return sqlite3.OperationalError(
                "database or disk is full" if full else "disk I/O error"
            )

        return self._world.call(
            f"sqlite {statement.split(None, 1)[0].rstrip(';')}",
            lambda: getattr(self._database, name)(statement, *values),
            error=error,
        )

    def execute(self, statement: str, *values: Any) -> Any:
        if statement == "ROLLBACK" and self._world.dead:
            return None  # the next to open the file does it
        return self._counted("execute", statement, values)

    def executemany(self, statement: str, *values: Any) -> Any:
        return self._counted("executemany", statement, values)

    def executescript(self, statement: str) -> Any:
        return self._counted("executescript", statement, ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._database, name, value)


class _Postgres:
    """The same for a server: statements, and the end of each transaction."""

    def __init__(self, world: World, database: Any) -> None:
        self._world, self._database = world, database

    def _call(self, name: str, do: Callable[[], Any]) -> Any:
        import psycopg

        return self._world.call(name, do, error=lambda n: psycopg.OperationalError("broken"))

    def execute(self, statement: str, *values: Any, **how: Any) -> Any:
        name = f"postgres {statement.split(None, 1)[0]}"
        return self._call(name, lambda: self._database.execute(statement, *values, **how))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        inner = self._database.transaction()
        self._call("postgres BEGIN", inner.__enter__)
        try:
            yield
        except BaseException as problem:
            inner.__exit__(type(problem), problem, None)
            raise
        ended = []

        def commit() -> None:
            ended.append(True)
            inner.__exit__(None, None, None)

        try:
            self._call("postgres COMMIT", commit)
        except BaseException as problem:
            if not ended:
                inner.__exit__(type(problem), problem, None)
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


class _Store:
    """An fsspec store whose calls are counted."""

    def __init__(self, world: World, store: Any) -> None:
        self._world, self._store = world, store

    def pipe_file(self, path: str, content: bytes, **how: Any) -> Any:
        return self._world.call("store pipe", lambda: self._store.pipe_file(path, content, **how))

    def open(self, path: str, mode: str) -> Any:
        file = self._world.call("store open", lambda: self._store.open(path, mode))
        return file if mode == "rb" else _Upload(self._world, file)

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if name not in ("mv", "rm", "ls", "exists", "info", "makedirs"):
            return real
        return lambda *given, **how: self._world.call(f"store {name}", lambda: real(*given, **how))


class _Upload(_File):
    """A file that appears in its store when it is closed, and not if it was given up."""

    def __exit__(self, *problem: object) -> None:
        if problem[0] is None:
            self._world.call("store close", self._file.close)
        else:
            self._file.discard()


@contextmanager
def breaking(world: World) -> Iterator[World]:
    """All calls below the folder go through the counter."""
    from voile.files import disk
    from voile.files.store import RemoteFile
    from voile.ledger import sqlite
    from voile.ledger.postgres import PostgresStore

    connections: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "link", "replace", "unlink", "rmdir", "mkdir", "listdir", "fsync"):
            patch.setattr(os, name, _counted(world, name, getattr(os, name)))
        patch.setattr(io, "open", _counted(world, "io.open", io.open))
        patch.setattr(disk, "open_private", _opened(world, disk.open_private))
        connect = sqlite3.connect

        def sqlite_connect(*given: Any, **how: Any) -> Any:
            made = world.call(
                "sqlite connect",
                lambda: connect(*given, **how),
                error=lambda number: sqlite3.OperationalError("unable to open database file"),
            )
            connections.append(made)
            return _Sqlite(world, made)

        patch.setattr(sqlite.sqlite3, "connect", sqlite_connect)
        postgres_open = PostgresStore._open

        def open_postgres(self: PostgresStore) -> Any:
            known = self._connection
            found = postgres_open(self)
            if found is known or isinstance(found, _Postgres):
                return found
            connections.append(found)
            self._connection = _Postgres(world, found)
            return self._connection

        patch.setattr(PostgresStore, "_open", open_postgres)
        real_store = RemoteFile._store
        patch.setattr(
            RemoteFile,
            "_store",
            lambda self: (lambda store, path: (_Store(world, store), path))(*real_store(self)),
        )
        try:
            yield world
        finally:
            for connection in connections:  # what the system does for the dead
                connection.close()


def _counted(world: World, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(path: Any, *given: Any, **how: Any) -> Any:
        if not world.mine(path):
            return real(path, *given, **how)
        if name == "fsync":  # a killed process needs none: the system has its bytes
            return world.call(name, lambda: None)
        return world.call(name, lambda: real(path, *given, **how))

    return call


def _opened(world: World, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(path: Path, *given: Any, **how: Any) -> Any:
        file = real(path, *given, **how)
        return _File(world, file) if world.mine(path) else file

    return call
