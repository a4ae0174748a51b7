"""Where files lie: a local disk, or any store that fsspec knows (s3://, gs://, memory://, …).

A job needs few things of a store, and one of them is rare: *create only if absent*. On a local or
network disk a hard link does it; object stores have it as a conditional write, which fsspec offers
as mode "create".
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from voile.errors import CannotWrite, InvalidInput, MissingExtra

BUFFER = 2**20
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


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
        """Make it a folder, unless it is one."""
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
        return LocalFile(Path(text))
    scheme, _, rest = text.partition("://")
    return LocalFile(Path(rest)) if scheme in ("file", "local") else RemoteFile(text)


@dataclass(frozen=True)
class LocalFile:
    """A file on a disk of this machine, or on one that is mounted here."""

    path: Path

    shared = True

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
        """Make it a folder, unless it is one."""
        self.path.mkdir(parents=True, exist_ok=True)

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
        return self.path.open("rb", buffering=BUFFER)

    def write(self, content: bytes) -> None:
        """Write it whole under another name, sync, rename."""
        temporary = self._temporary()
        try:
            temporary.write_bytes(content)
            _sync(temporary)
            temporary.replace(self.path)
        finally:
            temporary.unlink(missing_ok=True)

    def create(self, content: bytes) -> bool:
        """Write it whole under another name, sync, and link: a link never replaces."""
        temporary = self._temporary()
        try:
            temporary.write_bytes(content)
            _sync(temporary)
            try:
                os.link(temporary, self.path)
            except FileExistsError:
                return False
            except OSError as problem:
                if problem.errno not in _NO_LINKS:
                    raise
                raise CannotWrite(
                    f"the disk of {self.path.parent} must know hard links, this one does not "
                    f"({problem}); write to another disk"
                ) from problem
            return True
        finally:
            temporary.unlink(missing_ok=True)

    @contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """A file to write to, on disk when the context ends."""
        with self.path.open("wb", buffering=BUFFER) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def move(self, target: LocalFile, *, overwrite: bool) -> None:
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

    def _temporary(self) -> Path:
        """A name nobody else writes to, whatever machine they are on."""
        return self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}.tmp")


@dataclass(frozen=True)
class RemoteFile:
    """A file in a store that fsspec opens by its URL. It is written whole or not at all."""

    url: str

    def __str__(self) -> str:
        return self.url

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
                f"the store of {self.url} must be able to create a file only if it is absent; "
                "this one cannot: upgrade its fsspec package, or write to a shared disk"
            ) from problem
        return True

    @contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """A file to write to; it appears when the context ends."""
        store, path = self._store()
        with store.open(path, "wb") as file:
            yield file

    def move(self, target: RemoteFile, *, overwrite: bool) -> None:
        """Move within the store."""
        store, path = self._store()
        if not overwrite and target.exists():
            raise FileExistsError(str(target))
        store.mv(path, target._store()[1])

    def remove(self) -> None:
        """Delete it, with all it holds."""
        store, path = self._store()
        store.invalidate_cache()
        if store.exists(path):
            store.rm(path, recursive=True)

    def _store(self) -> tuple[Any, str]:
        """The file system and the path within it; fsspec keeps one of each kind a process."""
        scheme = self.url.partition("://")[0]
        try:
            import fsspec
        except ImportError:
            raise MissingExtra("fsspec", extra="ray") from None
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


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
