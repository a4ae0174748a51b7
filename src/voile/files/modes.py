"""Who may read what voile writes: never more people than may read what it was made from.

What lies on a disk between the source and the release (parts, notes, kept replies) is for its
owner alone. What is made to be handed on is readable as its source is, less what the umask takes:
a release says more than nothing about a file that was closed to others.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def make_private_folder(path: Path) -> None:
    """Make a folder for its owner alone, unless it is there; its parents as usual."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def open_private(path: Path, mode: str = "w", **how: Any) -> Any:
    """`open`, and what this makes, empties or adds to is for its owner alone from now on."""
    return open(path, mode, opener=_private, **how)


def _private(name: str, flags: int) -> int:
    descriptor = os.open(name, flags, PRIVATE_FILE)
    if flags & (os.O_TRUNC | os.O_APPEND) and os.name != "nt":
        os.fchmod(descriptor, PRIVATE_FILE)  # it may have been there, open to others
    return descriptor


def write_private(path: Path, content: str | bytes) -> None:
    """The whole content of a file that is for its owner alone; what stood there is replaced."""
    with open_private(path, "wb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def add_line(path: Path, line: str) -> None:
    """Add a line to a private file. The break comes first: a line cut off spoils itself alone."""
    make_private_folder(path.parent)
    with open_private(path, "a", encoding="utf-8") as file:
        file.write("\n" + line)


def like_source(path: Path, sources: Iterable[str | os.PathLike[str]]) -> None:
    """Let those read a file who may read all of its sources, and nobody beyond the umask.

    A source that is no local file says nothing of its readers: then the owner alone. A group's
    right counts only if it is the same group.
    """
    if os.name == "nt":
        return
    group = path.stat().st_gid
    mode = 0o666 & ~_umask()
    for source in sources:
        mode &= _readers(source, group)
    os.chmod(path, PRIVATE_FILE | mode)


def _readers(source: str | os.PathLike[str], group: int) -> int:
    """The read bits of a source, of all its files if it is a folder."""
    try:
        found = os.stat(source)
        bits = found.st_mode & 0o044
        if os.path.isdir(source):
            for entry in os.scandir(source):
                bits &= _readers(entry.path, group)
    except (OSError, ValueError):
        return 0
    return bits if found.st_gid == group or bits & 0o004 else bits & 0o004


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


def probe_folder(folder: Path) -> None:
    """Write a file into a folder and delete it: an OSError now, and not after the work."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".voile-"):
        pass
