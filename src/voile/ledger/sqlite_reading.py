"""Opening a ledger's file that may be read and not written.

SQLite wants to write beside a file with a log, even to read it. Where it cannot, what it would find
must be found all the same, the log's entries included: without them the ledger would seem to be an
older one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


def may_write(path: Path) -> bool:
    """Whether the file and the folder it lies in can be written."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def reading_address(path: Path) -> tuple[str, tempfile.TemporaryDirectory[str] | None]:
    """The URI to open a file with that may only be read, and a folder to keep until it is closed.

    While somebody has it open, what they share is there to be read. Without a log the file is all
    there is. With a log that nobody has open, a private copy of both is read.
    """
    log = Path(f"{path}-wal")
    if Path(f"{path}-shm").exists():
        return f"{path.absolute().as_uri()}?mode=ro", None
    if not log.exists() or not log.stat().st_size:
        return f"{path.absolute().as_uri()}?mode=ro&immutable=1", None
    folder = tempfile.TemporaryDirectory(prefix="voile-ledger-")
    for one in (path, log):
        shutil.copyfile(one, Path(folder.name) / one.name)
    return (Path(folder.name) / path.name).as_uri(), folder
