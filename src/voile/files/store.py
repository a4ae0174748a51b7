"""Files in stores that fsspec opens by URL: s3://, gs://, memory:// and many more."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, cast

from voile.errors import CannotWrite, InvalidInput, needs

BUFFER = 2**20


@dataclass(frozen=True)
class RemoteFile:
    """A file in a store that fsspec opens by its URL. It is written whole or not at all."""

    url: str = field(repr=False)

    def __str__(self) -> str:
        """The URL as it may be shown: without a login, and without what follows a question mark."""
        scheme, _, rest = self.url.partition("?")[0].partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.url.rstrip("/").rpartition("/")[2]

    @property
    def shared(self) -> bool:
        """Whether another process can find it; memory:// is this process's alone."""
        return not self.url.startswith("memory:")

    def beside(self, name: str) -> RemoteFile:
        """Another name in the same folder."""
        return RemoteFile(f"{self.url.rpartition('/')[0]}/{name}")

    def inside(self, name: str) -> RemoteFile:
        """A name in this folder."""
        return RemoteFile(f"{self.url}/{name}")

    def make_folder(self) -> None:
        """Make it a folder; most stores need none."""
        store, path = self._store()
        store.makedirs(path, exist_ok=True)

    def names(self) -> set[str]:
        """What this folder holds; nothing if it is not there."""
        store, path = self._store()
        try:
            found = store.ls(path, detail=False, refresh=True)
        except FileNotFoundError:
            return set()
        return {entry.rstrip("/").rpartition("/")[2] for entry in found}

    def exists(self) -> bool:
        """Whether there is a file of this name."""
        store, path = self._store()
        store.invalidate_cache()
        return bool(store.exists(path))

    def facts(self) -> tuple[int, str]:
        """Its size and the store's tag or time."""
        store, path = self._store()
        found = store.info(path)
        keys = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
        return int(found["size"]), str(next((found[k] for k in keys if found.get(k)), ""))

    def open(self) -> IO[bytes]:
        """Its bytes, buffered."""
        store, path = self._store()
        return cast(IO[bytes], io.BufferedReader(store.open(path, "rb"), BUFFER))

    def write(self, content: bytes) -> None:
        """Write it whole."""
        store, path = self._store()
        store.pipe_file(path, content)

    def create(self, content: bytes) -> bool:
        """A conditional write: the store itself refuses the second."""
        store, path = self._store()
        try:
            store.pipe_file(path, content, mode="create")
        except FileExistsError:
            return False
        except (TypeError, ValueError, NotImplementedError) as problem:
            raise CannotWrite(
                f"the store of {self} must be able to create a file only if it is absent; "
                "this one cannot: upgrade its fsspec package, or write to a shared disk"
            ) from problem
        return True

    @contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """A file to write to; it appears when the context ends."""
        store, path = self._store()
        with store.open(path, "wb") as file:
            yield file

    def move(self, target: Any, *, overwrite: bool) -> None:
        """Move within the store."""
        store, path = self._store()
        if not overwrite and target.exists():
            raise FileExistsError(str(target))
        store.mv(path, target._store()[1])

    def readable_like(self, source: object) -> None:
        """Nothing: who may read in a store is the store's business."""

    def remove(self) -> None:
        """Delete it, with all it holds."""
        store, path = self._store()
        store.invalidate_cache()
        if store.exists(path):
            store.rm(path, recursive=True)

    def _store(self) -> tuple[Any, str]:
        """The file system and the path within it; fsspec keeps one of each kind a process."""
        scheme = self.url.partition("://")[0]
        with needs("fsspec", extra="ray"):
            import fsspec
        try:
            store, path = fsspec.core.url_to_fs(self.url)
        except ImportError as problem:
            raise InvalidInput(
                f"{scheme}:// needs a package that is not installed: {problem}"
            ) from problem
        except ValueError as problem:
            raise InvalidInput(
                f"a path must be a file name or a URL that fsspec knows, got {scheme}://…"
            ) from problem
        return store, path
