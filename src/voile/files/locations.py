"""Where files lie: a local disk, or any store that fsspec knows (s3://, gs://, memory://, …).

A job needs few things of a store, and one of them is rare: *create only if absent*. On a local or
network disk a hard link does it; object stores have it as a conditional write, which fsspec offers
as mode "create".
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO, Any, Protocol

from voile.errors import InvalidInput
from voile.files.disk import LocalFile
from voile.files.store import RemoteFile

_LONGEST_NAME = 255
"""Characters of a name in a folder, on the disks that there are."""


class Location(Protocol):
    """A file or folder, somewhere. `create` is the one way in which a part is committed."""

    @property
    def name(self) -> str:
        """The last part of its path."""
        ...

    @property
    def shared(self) -> bool:
        """Whether another process can find it under the same name."""
        ...

    def beside(self, name: str) -> Location:
        """Another name in the same folder."""
        ...

    def inside(self, name: str) -> Location:
        """A name in this folder."""
        ...

    def make_folder(self) -> None:
        """Make it a folder for its owner alone, unless it is one."""
        ...

    def names(self) -> set[str]:
        """What this folder holds; nothing if it is not there."""
        ...

    def exists(self) -> bool:
        """Whether there is a file of this name."""
        ...

    def facts(self) -> tuple[int, str]:
        """Its size, and something that changes when it is written again."""
        ...

    def open(self) -> IO[bytes]:
        """Its bytes, buffered."""
        ...

    def write(self, content: bytes) -> None:
        """Write it whole, on disk when this returns; what stood there is replaced."""
        ...

    def create(self, content: bytes) -> bool:
        """Write it whole unless it exists; whether this call made it. Never both of two calls."""
        ...

    def writing(self) -> Any:
        """A context that gives a file to write to, on disk when it ends."""
        ...

    def move(self, target: Any, *, overwrite: bool) -> None:
        """Give it another name in the same store, at once where the store can."""
        ...

    def readable_like(self, source: object) -> None:
        """Let those read it who may read the source; what is written is its owner's alone."""
        ...

    def remove(self) -> None:
        """Delete it: a file, or a folder with all it holds. Nothing happens if it is absent."""
        ...


def location(path: str | os.PathLike[str] | Location) -> Location:
    """A local file, or one in the store that a URL names.

    >>> location("trips.csv").beside("trips.csv.guarantee.json").name
    'trips.csv.guarantee.json'
    """
    if not isinstance(path, str | os.PathLike):
        return path
    text = os.fspath(path)
    if "://" not in text:
        if "\n" in text or max(map(len, text.split("/"))) > _LONGEST_NAME:
            raise InvalidInput("a string must be a file's name, got a text; put it into a list")
        return LocalFile(Path(text))
    scheme, _, rest = text.partition("://")
    return LocalFile(Path(rest)) if scheme in ("file", "local") else RemoteFile(text)


def sha256_of(place: Location) -> str:
    """The hash of a file's bytes."""
    state = hashlib.sha256()
    with place.open() as stream:
        while block := stream.read(2**20):
            state.update(block)
    return state.hexdigest()
