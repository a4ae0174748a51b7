"""Packed files: unpacked as they are read, in bounded memory, and packed part by part.

Packed parts after each other are one packed file, in all of these formats. What is packed alike is
the same bytes: no format notes the time.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from voile.errors import BadFile, needs

PACKINGS = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"}
"""How a packed file's name ends, and what the format is called."""
MOST_MEMORY = 2**27
"""Bytes that an unpacker may take; a file may ask for gigabytes in its head."""
_BLOCK = 2**16


class _Damaged(Exception):
    """What was unpacked is not what the format says."""


def packed(content: bytes, packing: str) -> bytes:
    """Bytes in a packing; as they are for none."""
    if packing == "gz":
        return gzip.compress(content, 6, mtime=0)
    if packing == "bz2":
        return bz2.compress(content)
    if packing == "xz":
        return lzma.compress(content)
    if packing == "zst":
        return bytes(_arrow().Codec("zstd").compress(content, asbytes=True))
    return content


@contextmanager
def unpacked(file: IO[bytes], packing: str, name: str) -> Iterator[IO[bytes]]:
    """A packed file's content as it is read; a damaged one is said to be one."""
    if not packing:
        yield file
        return
    try:
        yield _reader(file, packing)
    except (gzip.BadGzipFile, EOFError, zlib.error, _Damaged) as problem:
        # The module's own message may show the first bytes of what is no such file.
        raise BadFile(f"{name} is no {PACKINGS[packing]} file, or a damaged one") from problem


def _reader(file: IO[bytes], packing: str) -> IO[bytes]:
    if packing == "gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if packing == "zst":
        return cast(IO[bytes], io.BufferedReader(_Unzstd(file), _BLOCK))
    makers: dict[str, Callable[[], Any]] = {
        "bz2": bz2.BZ2Decompressor,
        "xz": lambda: lzma.LZMADecompressor(memlimit=MOST_MEMORY),
    }
    return cast(IO[bytes], io.BufferedReader(_Unpacked(file, makers[packing]), _BLOCK))


class _Unpacked(io.RawIOBase):
    """Streams after each other, unpacked no further than is asked for."""

    def __init__(self, file: IO[bytes], make: Callable[[], Any]) -> None:
        self._file, self._make, self._stream = file, make, make()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._next(len(buffer))
        except (lzma.LZMAError, ValueError) as problem:
            raise _Damaged from problem
        buffer[: len(content)] = content
        return len(content)

    def _next(self, size: int) -> bytes:
        while True:
            taken = b""
            if self._stream.eof:
                taken = self._stream.unused_data or self._file.read(_BLOCK)
                if not taken.strip(b"\0"):  # an xz file may be padded
                    return b""
                self._stream = self._make()
            elif self._stream.needs_input:
                taken = self._file.read(_BLOCK)
                if not taken:
                    raise _Damaged
            try:
                found: bytes = self._stream.decompress(taken, size)
            except OSError as problem:  # what bz2 says of a damaged file
                raise _Damaged from problem
            if found:
                return found


class _Unzstd(io.RawIOBase):
    """A zstd file by Arrow, which reads one frame after another in at most 128 MiB."""

    def __init__(self, file: IO[bytes]) -> None:
        arrow = _arrow()
        self._stream = arrow.CompressedInputStream(arrow.PythonFile(file, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content: bytes = self._stream.read(len(buffer))
        except OSError as problem:
            if problem.errno is not None:  # the disk's own
                raise
            raise _Damaged from problem
        buffer[: len(content)] = content
        return len(content)


def _arrow() -> Any:
    with needs("pyarrow", extra="parquet"):
        import pyarrow
    return pyarrow
