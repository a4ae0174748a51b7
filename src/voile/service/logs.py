"""The service's log: one JSON object a line, without bodies, tokens or persons."""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
from time import monotonic

LOG = logging.getLogger("voile.service")


class AsJson(logging.Formatter):
    """One JSON object a line: when, how bad, what."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; uvicorn's own messages hold addresses of clients at most."""
        return json.dumps(
            {
                "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
                "level": record.levelname.lower(),
                "message": record.getMessage(),
            }
        )


def log_to_stderr() -> None:
    """Let the service's lines go to the standard error, and of uvicorn's those that warn."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(AsJson())
    LOG.handlers, LOG.propagate = [handler], False
    LOG.setLevel(logging.INFO)
    below = logging.getLogger("uvicorn")
    below.handlers, below.propagate = [handler], False
    below.setLevel(logging.WARNING)
    # another server of this process, a studio for one, may have silenced it
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)


_SECONDS = 60.0
_CAUSES = (
    ("SQLITE_FULL", "is full", "the disk is full"),
    ("SQLITE_BUSY", "is locked", "another process has it locked"),
    ("SQLITE_READONLY", "readonly", "it may be read and not written"),
    ("SQLITE_IOERR", "I/O error", "the disk fails to read or write"),
    ("SQLITE_CANTOPEN", "unable to open", "it cannot be opened"),
)
"""What SQLite calls a fault, what it says of it, and what is said here."""


class LedgerFaults:
    """Why the ledger cannot be written, in the log once a minute at most."""

    def __init__(self) -> None:
        self._last = -_SECONDS
        self._unsaid = 0

    def tell(self, problem: BaseException) -> None:
        """A line that names the kind of fault, not what was written."""
        now = monotonic()
        if now - self._last < _SECONDS:
            self._unsaid += 1
            return
        more = f"; {self._unsaid} more since the last line" if self._unsaid else ""
        LOG.warning("the ledger cannot be written: %s%s", cause_of(problem), more)
        self._last, self._unsaid = now, 0


def cause_of(problem: BaseException) -> str:
    """What kind of fault it is; the type of the error where nothing more is known."""
    below = problem.__cause__ or problem
    if isinstance(below, sqlite3.Error):
        name, said = getattr(below, "sqlite_errorname", ""), str(below)
        for code, sign, told in _CAUSES:
            if name.startswith(code) or sign in said:
                return told
    return type(below).__name__
