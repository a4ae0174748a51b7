"""The last head that was seen of each ledger, kept beside the key: a ledger never goes back.

An older state of a ledger is a valid ledger; nothing inside it can tell. So whoever holds the key
also keeps the number and hash of the last entry, in a small file next to the key that whoever can
write the ledger need not be able to write. It is noted after an entry is on the disk and never
before, so it may lag behind the ledger and never runs ahead of it.

The file also says which ledger lies at which address (a keyed hash of it): another ledger of the
same key is as genuine, and put in the place of a spent one it would be a second budget.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from voile.errors import BadFile, InvalidInput
from voile.ledger.entries import Head

ENDING = ".seen"
_PLACE = "@"


@dataclass
class _Written:
    """What the file holds: a line for each ledger's head, and one for each address."""

    heads: dict[str, Head] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


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
            written = _read(self.path).heads.get(identity)
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

        Synced before it has its name: after a power cut the file may be an older one, which only
        lags, and is never an empty one. Where it cannot
        be written at all (a key on a read-only disk) the process goes on without.
        """
        self.remember(identity, head)
        path = self.path
        if path is None or head.number <= self._noted.get(identity, 0):
            return
        with suppress(OSError), _locked(path.with_name(path.name.removesuffix(ENDING))):
            written = _read(path)
            known = written.heads.get(identity)
            if known is None or head.number > known.number:
                written.heads[identity] = head
                _write(path, written)
            self._noted[identity] = max(head.number, known.number if known else 0)

    def settle(self, place: str, identity: str, head: Head, *, anew: bool = False) -> None:
        """Write which ledger lies at an address; refused if it was another, unless put `anew`."""
        path = self.path
        if path is None:
            return
        written = _read(path)
        if not anew and written.places.get(place, identity) != identity:
            raise BadFile(
                "another ledger lies at this address than the one that was charged here before, "
                "and persons would get a second budget; bring the former back (`voile ledger "
                "migrate` moves one on purpose), or, if you replaced it knowingly, delete the line "
                f"that begins with {_PLACE}{place} in {str(path)!r}"
            )
        if written.places.get(place) == identity:
            return
        with suppress(OSError), _locked(path.with_name(path.name.removesuffix(ENDING))):
            written = _read(path)
            written.places[place] = identity
            written.heads.setdefault(identity, head)
            _write(path, written)


def _read(path: Path) -> _Written:
    try:
        written = _Written()
        for line in path.read_text("ascii").splitlines():
            name, value = line.split(" ")
            if name.startswith(_PLACE):
                written.places[name.removeprefix(_PLACE)] = value
            else:
                written.heads[name] = Head.read(value)
        if not written.heads:
            raise ValueError("it was cut off: a head is written with the first line")
        return written
    except FileNotFoundError:
        return _Written()
    except (OSError, ValueError, InvalidInput):
        raise BadFile(
            f"the last-seen heads {str(path)!r} cannot be read or are damaged; bring the file "
            "back, or, if you are sure that no ledger of this key was put back, delete it"
        ) from None


def _write(path: Path, written: _Written) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            for name, head in sorted(written.heads.items()):
                file.write(f"{name} {head}\n")
            for place, identity in sorted(written.places.items()):
                file.write(f"{_PLACE}{place} {identity}\n")
            file.flush()
            os.fsync(file.fileno())
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
