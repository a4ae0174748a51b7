"""The last head that was seen of each ledger, kept beside the key: a ledger never goes back.

An older state of a ledger is a valid ledger; nothing inside it can tell. So whoever holds the key
also keeps the number and hash of the last entry, in a small file next to the key that whoever can
write the ledger need not be able to write. It is noted after an entry is on the disk and never
before, so it may lag behind the ledger and never runs ahead of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from voile.errors import BadFile, InvalidInput
from voile.ledger.entries import Head

ENDING = ".seen"


class LastSeen:
    """Heads by the identity of their ledgers; without a key file, for this process alone.

    On a machine that has the key in memory only (a worker of a cluster) nothing is written.
    """

    def __init__(self, key_file: str | None) -> None:
        self._key_file = key_file
        self._heads: dict[str, Head] = {}
        self._noted: dict[str, int] = {}

    @property
    def path(self) -> Path | None:
        """The file beside the key, where there is a key file."""
        if self._key_file is None or not os.path.isfile(self._key_file):
            return None
        return Path(self._key_file + ENDING)

    def of(self, identity: str) -> Head | None:
        """The newest head known: of this process, or of whoever wrote the file."""
        if identity not in self._noted and self.path is not None:
            self._noted[identity] = 0
            written = _read(self.path).get(identity)
            if written is not None:
                self._noted[identity] = written.number
                self.remember(identity, written)
        return self._heads.get(identity)

    def remember(self, identity: str, head: Head) -> None:
        """Know a head in this process; an older one changes nothing."""
        known = self._heads.get(identity)
        if known is None or head.number > known.number:
            self._heads[identity] = head

    def note(self, identity: str, head: Head) -> None:
        """Write a head that is on the disk, unless a newer one is written.

        Not synced: after a power cut the file may be an older one, which only lags. Where it cannot
        be written at all (a key on a read-only disk) the process goes on without.
        """
        self.remember(identity, head)
        path = self.path
        if path is None or head.number <= self._noted.get(identity, 0):
            return
        with suppress(OSError), _locked(path.with_name(path.name.removesuffix(ENDING))):
            heads = _read(path)
            known = heads.get(identity)
            if known is None or head.number > known.number:
                heads[identity] = head
                _write(path, heads)
            self._noted[identity] = max(head.number, known.number if known else 0)


def _read(path: Path) -> dict[str, Head]:
    try:
        lines = path.read_text("ascii").splitlines()
        return {name: Head.read(head) for name, head in (line.split(" ") for line in lines)}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, InvalidInput):
        raise BadFile(
            f"the last-seen heads {str(path)!r} cannot be read or are damaged; bring the file "
            "back, or, if you are sure that no ledger of this key was put back, delete it"
        ) from None


def _write(path: Path, heads: dict[str, Head]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.writelines(f"{name} {head}\n" for name, head in sorted(heads.items()))
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _locked(key_file: Path) -> Iterator[None]:
    """One writer at a time on this machine; the key file itself serves as the lock."""
    descriptor = os.open(key_file, os.O_RDONLY)
    try:
        with suppress(ImportError):  # no such locks on this system
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
