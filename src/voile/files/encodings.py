"""Text in UTF-16 or UTF-32, as some programs write it, read as the UTF-8 that all else expects."""

from __future__ import annotations

import codecs
import io
from typing import IO, Any, cast

from voile.errors import BadFile

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins as UTF-16's does, so it is looked for first
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BLOCK = 2**16


def as_utf8(file: IO[bytes], name: str) -> IO[bytes]:
    """The file's text in UTF-8, if a mark at its beginning says that it is in something else."""
    start = cast(Any, file).peek(4)[:4]
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return cast(IO[bytes], io.BufferedReader(_Recoded(file, encoding, name), _BLOCK))
    return file


class _Recoded(io.RawIOBase):
    """A file's text in another encoding, piece by piece."""

    def __init__(self, file: IO[bytes], encoding: str, name: str) -> None:
        self._file, self._encoding, self._name = file, encoding, name
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._waiting, self._line = b"", 1

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as there is text."""
        while not self._waiting:
            block = self._file.read(_BLOCK)
            self._waiting = self._recoded(block)
            if not block:
                break
        found, self._waiting = self._waiting[: len(buffer)], self._waiting[len(buffer) :]
        self._line += found.count(b"\n")
        buffer[: len(found)] = found
        return len(found)

    def _recoded(self, block: bytes) -> bytes:
        try:
            return self._decoder.decode(block, final=not block).encode("utf-8")
        except UnicodeError:
            raise BadFile(
                f"{self._name} must be {self._encoding.upper()}, as its first bytes say, and after "
                f"line {self._line} it is not; convert it to UTF-8"
            ) from None
