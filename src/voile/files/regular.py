"""A file that is read must be one that can be read again, a secret one that others cannot."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from voile.errors import BadFile, InvalidInput

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def require_regular(path: Path) -> None:
    """Refuse what is there and no file on a disk: a pipe waits for ever and is read once only."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return  # opening it says what is wrong
    except ValueError:  # a NUL in the name
        raise InvalidInput("a file's name must not hold a NUL character, this one does") from None
    if kind in _KINDS:
        raise InvalidInput(
            f"{path.name} must be a file that can be read twice, it is {_KINDS[kind]}; "
            "write its content to a file first"
        )


def require_private(path: str | os.PathLike[str], what: str) -> None:
    """Refuse a secret that others than its owner may read."""
    if os.name == "posix" and os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadFile(f"{what} must be readable by you alone: chmod 600 {os.fspath(path)}")
