"""A file's lines, many at a time, none so long that it fills the memory.

A file of a few megabytes can hold a line of many gigabytes: zipped, or by a missing line end. So a
record has a limit, and what is beyond it is refused before it is read whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from voile.errors import BadFile, InvalidInput
from voile.files.disk import BUFFER

LONGEST_RECORD = 2**24
VARIABLE = "VOILE_LONGEST_RECORD"
"""Names an environment variable that holds another limit, in bytes."""
LARGEST_TAKE = 2**28
"""Bytes after which a take ends with its line, however few lines it holds."""


def longest_record() -> int:
    """The bytes that one record may have: 16 MiB, or what the environment says."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return LONGEST_RECORD
    number = int(given) if given.isascii() and given.isdigit() and len(given) <= 12 else 0
    if number < BUFFER:
        raise InvalidInput(f"{VARIABLE} must be a number of bytes, at least {BUFFER:,}")
    return number


def check_record(size: int, limit: int, name: str, line: int) -> None:
    """Refuse a record of more than `limit` bytes."""
    if size > limit:
        raise BadFile(
            f"{name}: the record on line {line} must have at most {limit:,} bytes, it has more; "
            f"is a quotation mark or a line end missing? {VARIABLE} sets another limit"
        )


class Lines:
    """Lines with their ends, in order, read in blocks of a megabyte and counted there.

    Iterated over it gives one line after the other.
    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name, self._limit = file, name, longest_record()
        self._block, self._at = b"", 0
        self._ends, self._passed = _ends(b""), 0
        self._line, self._length = 1, 0

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self.take(1), b"")

    def take(self, size: int) -> bytes:
        """The next `size` lines as one; fewer where the file ends or they are very long."""
        chunks: list[bytes] = []
        total = 0
        while size:
            if self._at == len(self._block):
                self._block, self._at = self._file.read(BUFFER), 0
                self._ends, self._passed = _ends(self._block), 0
                if not self._block:
                    break
            chunk, found = self._chunk(size)
            chunks.append(chunk)
            total, size = total + len(chunk), size - found
            if total >= LARGEST_TAKE:
                size = min(size, int(self._length > 0))
        return b"".join(chunks)

    def _chunk(self, size: int) -> tuple[bytes, int]:
        """What this block has of so many lines, and how many of their ends."""
        begin, passed = self._at, self._passed
        found = min(size, len(self._ends) - passed)
        full = found == size
        self._at = int(self._ends[passed + size - 1]) if full else len(self._block)
        self._passed += found
        first = int(self._ends[passed]) if found else self._at
        check_record(self._length + first - begin, self._limit, self._name, self._line)
        self._line += found
        last = int(self._ends[passed + found - 1]) if found else begin
        self._length = self._at - last + (0 if found else self._length)
        return self._block[begin : self._at], found


def _ends(block: bytes) -> NDArray[np.intp]:
    """Where the lines of a block end."""
    return np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")) + 1
