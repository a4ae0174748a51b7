"""Files on a disk of this machine, or on one that is mounted here."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from voile.errors import CannotWrite
from voile.files import like_source, make_private_folder, open_private, require_regular

BUFFER = 2**20
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


@dataclass(frozen=True)
class LocalFile:
    """A file on a disk of this machine, or on one that is mounted here."""

    path: Path

    shared = True
    """Another process can find it under the same name."""

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.name

    def beside(self, name: str) -> LocalFile:
        """Another name in the same folder."""
        return LocalFile(self.path.with_name(name))

    def inside(self, name: str) -> LocalFile:
        """A name in this folder."""
        return LocalFile(self.path / name)

    def make_folder(self) -> None:
        """Make it a folder for its owner alone, unless it is one."""
        make_private_folder(self.path)

    def names(self) -> set[str]:
        """What this folder holds; nothing if it is not there."""
        return set(os.listdir(self.path)) if self.path.is_dir() else set()

    def exists(self) -> bool:
        """Whether there is a file of this name."""
        return self.path.exists()

    def facts(self) -> tuple[int, str]:
        """Its size and the time it was written."""
        found = self.path.stat()
        return found.st_size, str(found.st_mtime_ns)

    def open(self) -> IO[bytes]:
        """Its bytes, buffered."""
        require_regular(self.path)
        return self.path.open("rb", buffering=BUFFER)

    def write(self, content: bytes) -> None:
        """Write it whole, on disk when this returns: under another name, sync, rename."""
        with self._elsewhere(content) as temporary:
            temporary.replace(self.path)

    def create(self, content: bytes) -> bool:
        """Write it whole unless it exists; whether this call made it, never both of two calls.

        It is written under another name and linked: a link never replaces. A part is committed so,
        and in no other way.
        """
        made = True
        with self._elsewhere(content) as temporary:
            try:
                os.link(temporary, self.path)
            except FileExistsError:
                made = False
            except OSError as problem:
                if problem.errno not in _NO_LINKS:
                    raise
                raise CannotWrite(
                    f"the disk of {self.path.parent} must know hard links, this one does not "
                    f"({problem}); write to another disk"
                ) from problem
        return made

    @contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """A file to write to, on disk when the context ends."""
        with open_private(self.path, "wb", buffering=BUFFER) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def move(self, target: Any, *, overwrite: bool) -> None:
        """Rename; without `overwrite` by a link, so that nothing is ever replaced."""
        if overwrite:
            self.path.replace(target.path)
        else:
            try:
                os.link(self.path, target.path)
            except FileExistsError:
                if not self.path.samefile(target.path):  # else only the unlinking was left to do
                    raise
            self.path.unlink()
        _sync(target.path.parent)

    def remove(self) -> None:
        """Delete it: a file, or a folder with all it holds."""
        if self.path.is_dir():
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)

    def readable_like(self, source: object) -> None:
        """Let those read it who may read the source; until then its owner alone may."""
        like_source(self.path, [str(source)])

    @contextmanager
    def _elsewhere(self, content: bytes) -> Iterator[Path]:
        """Content on the disk for its owner alone, under a name that nobody else writes to."""
        temporary = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}.tmp")
        try:
            with open_private(temporary, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """See that a folder's names are on disk."""
    if os.name == "nt":  # no such thing there
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
