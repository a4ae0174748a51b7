"""Whose a file is: what another user may write is not trusted."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from voile.errors import BadFile


def require_own(path: Path, found: os.stat_result | None = None) -> None:
    """Refuse a file or folder that somebody else owns, or that others may write.

    `found` is what the system says of an opened file, so that nobody can put another in its place
    between the question and the reading. The system's administrator counts as oneself.
    """
    if os.name == "nt":
        return
    known = os.stat(path) if found is None else found
    mode = stat.S_IMODE(known.st_mode)
    if known.st_uid not in (os.geteuid(), 0) or mode & 0o022:
        raise BadFile(
            f"{str(path)!r} must belong to you and be writable by nobody else, got owner "
            f"{known.st_uid} and mode {mode:o}: it may hold anything; delete it, or chmod go-w it "
            "if nobody else wrote there"
        )
