"""Where files lie: a local disk, or any store that fsspec knows (s3://, gs://, memory://, …).

A job needs few things of a store, and one of them is rare: *create only if absent*. On a local or
network disk a hard link does it; object stores have it as a conditional write, which fsspec offers
as mode "create".
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Annotated

from voile.errors import InvalidInput
from voile.files.disk import LocalFile
from voile.files.store import RemoteFile
from voile.options import Option

_LONGEST_NAME = 255
"""Characters of a name in a folder, on the disks that there are."""


Location = LocalFile | RemoteFile
"""A file or folder, somewhere."""

Overwrite = Annotated[bool, Option("Replace the output.", "Output")]
"""Of every command that writes a file."""


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
    with place.open() as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
