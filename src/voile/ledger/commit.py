"""The end of a transaction in SQLite, which may go on while something else is done."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from voile.errors import BadFile, CannotWrite


class Commit(Thread):
    """The end of a transaction, most of which is waiting for the disk."""

    def __init__(self, database: sqlite3.Connection, ledger: str) -> None:
        super().__init__(name="ledger commit")
        self._database, self._ledger = database, ledger
        self._problem: BaseException | None = None

    def run(self) -> None:
        """Commit, or take back."""
        try:
            self._database.execute("COMMIT")
        except BaseException as problem:
            self._problem = problem
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")

    def settle(self) -> None:
        """Return once all is on the disk; an error, however often asked, if it is not."""
        self.join()
        if self._problem is not None:
            with clear_errors(self._ledger):
                raise self._problem


@contextmanager
def clear_errors(ledger: str) -> Iterator[None]:
    """SQLite's errors as voile's, which say what to do."""
    try:
        yield
    except sqlite3.OperationalError as problem:
        raise CannotWrite(
            f"the ledger {ledger} cannot be used: {problem}; nothing more is released, "
            "what was charged stays charged; mend it and repeat the command to continue"
        ) from problem
    except sqlite3.DatabaseError as problem:
        raise BadFile(f"the ledger {ledger} is damaged: {problem}") from problem
