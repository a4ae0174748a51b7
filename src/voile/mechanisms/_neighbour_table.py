"""A whole table of neighbours in one file: a function of public vectors, and its owner's alone.

Every row of the vocabulary is in it, so it says nothing about the texts it was used for. It is
written under another name and appears in one move; processes then share it through the system's
page cache. Its header holds a digest of the whole table, checked once a job: against damage.
Against malice stand its owner and mode: whoever else could write it is refused.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from voile.errors import BadFile, CannotWrite
from voile.files import make_private_folder, open_private
from voile.files.ownership import require_own

Index = NDArray[np.int32]
Squared = NDArray[np.int64]
Rows = tuple[Index, Squared]

_HEADER = 4096
_CHUNK = 2**24
"""The digest is one of the digests of 16 MB each, which all cores work on."""

Version = tuple[str, int, int, int, int]
_CHECKED: set[Version] = set()
"""Versions of files whose digest was found right, here or by the process that started this one."""


def checked_versions() -> frozenset[Version]:
    """What this process has checked, to be handed to its workers."""
    return frozenset(_CHECKED)


def take_as_checked(versions: frozenset[Version]) -> None:
    """Believe the process that started this one; a file that changed since is another version."""
    _CHECKED.update(versions)


@dataclass(frozen=True)
class TableFile:
    """Where the table of a vocabulary lies; `about` says which: the digest of all it is made of."""

    folder: Path
    about: str
    rows: int
    kept: int

    @property
    def path(self) -> Path:
        """The file; its name tells vocabularies apart and nothing else."""
        return self.folder / f"{self.about[:32]}-{self.kept}.neighbours"

    @property
    def size(self) -> int:
        """Its length in bytes: four for a position and eight for a squared distance."""
        return _HEADER + 12 * self.rows * self.kept

    def read(self) -> Rows | None:
        """All rows, read-only and shared; None if there is no such file."""
        with cache_told(self.folder):
            if not self.path.exists():
                return None
            require_own(self.folder)
            known = self.path.stat()
            # A change of content, owner or mode is a change of the last of these.
            times = (known.st_mtime_ns, known.st_ctime_ns)
            return _opened(self, (str(self.path), known.st_ino, known.st_size, *times))

    def write(self, blocks: Iterable[Rows]) -> None:
        """Publish the table, from blocks of rows in order; nothing if another process has."""
        with cache_told(self.folder):
            make_private_folder(self.folder)
            require_own(self.folder)
            if stat.S_IMODE(self.folder.stat().st_mode) & 0o077:
                self.folder.chmod(0o700)
            with _one_at_a_time(self.path.with_suffix(".lock")):
                if not self.path.exists():
                    self._publish(blocks)

    def _publish(self, blocks: Iterable[Rows]) -> None:
        for left in self.folder.glob(f".{self.path.name}.*"):  # of a process that was killed
            left.unlink(missing_ok=True)
        part = self.folder / f".{self.path.name}.{os.getpid()}"
        try:
            with open_private(part, "x+b") as file:
                first = 0
                for index, squared in blocks:
                    file.seek(_HEADER + 4 * self.kept * first)
                    file.write(index.astype("<i4").tobytes())
                    file.seek(_HEADER + 4 * self.kept * self.rows + 8 * self.kept * first)
                    file.write(squared.astype("<i8").tobytes())
                    first += len(index)
                file.flush()
                content = self._header(_digest(file))
                file.seek(0)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.path)
        finally:
            part.unlink(missing_ok=True)

    def _header(self, digest: str) -> bytes:
        facts = {"about": self.about, "rows": self.rows, "kept": self.kept, "sha256": digest}
        return ("voile neighbours 2\n" + json.dumps(facts) + "\n").encode().ljust(_HEADER)


@lru_cache(maxsize=4)
def _opened(table: TableFile, version: Version) -> Rows:
    """The rows of one version of a file, checked once."""
    with table.path.open("rb") as file:
        require_own(table.path, os.fstat(file.fileno()))
        whole = os.fstat(file.fileno()).st_size == table.size
        right = version in _CHECKED or file.read(_HEADER) == table._header(_digest(file))
        if not (whole and right):
            raise BadFile(f"the cache {str(table.path)!r} is damaged; delete it")
        _CHECKED.add(version)
        shape = (table.rows, table.kept)
        index: Index = np.memmap(file, "<i4", "r", _HEADER, shape)
        after = _HEADER + 4 * table.rows * table.kept
        squared: Squared = np.memmap(file, "<i8", "r", after, shape)
    return np.asarray(index), np.asarray(squared)


def _digest(file: IO[bytes]) -> str:
    """Of everything after the header, on all cores."""
    size = os.fstat(file.fileno()).st_size

    def part(start: int) -> bytes:
        with open(file.name, "rb") as own:
            own.seek(start)
            return sha256(own.read(min(_CHUNK, size - start))).digest()

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return sha256(b"".join(pool.map(part, range(_HEADER, size, _CHUNK)))).hexdigest()


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Let one process make the table and the others wait for it.

    Where a file system has no locks, two may make it: the same bytes, and one of them stays.
    """
    with open_private(path, "ab") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass
        yield


@contextmanager
def cache_told(folder: Path) -> Iterator[None]:
    """A fault of the disk as one sentence."""
    try:
        yield
    except OSError as problem:
        raise CannotWrite(
            f"the cache {str(folder)!r} cannot be used: {problem.strerror or problem}; set "
            "VOILE_CACHE to a folder that can be written, or keep no cache (--no-cache)"
        ) from problem
