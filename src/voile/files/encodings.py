"""Text in another encoding, read as the UTF-8 that all else expects.

A mark at a file's beginning says UTF-16 or UTF-32. Where `--encoding` names another encoding, it is
that of the files that are not UTF-8: text in UTF-8 is hardly ever anything else, and what voile
writes, always UTF-8, can so be read beside its original. The release of a file in another encoding
is UTF-8 too: words are drawn that the encoding may have no signs for.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from voile.errors import BadFile, InvalidInput
from voile.options import ENCODING, current_call

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins as UTF-16's does, so it is looked for first
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BLOCK = 2**16
_BEYOND_ASCII = "éяα漢か"
"""Signs of which each encoding has some."""
_NO_TEXT = {"raw-unicode-escape"}
"""What writes some of these signs as themselves and others in ASCII."""


def named_encoding() -> str:
    """The encoding that the use case under way was given; "" if none was.

    One whose text looks like ASCII (UTF-7, ISO 2022, EBCDIC in part) cannot be told from UTF-8.
    """
    call = current_call()
    given = str(call.given.get(ENCODING.name) or "") if call else ""
    try:
        looks = _BEYOND_ASCII.encode(given, "ignore") if given else b"\0"
    except (LookupError, ValueError, UnicodeError):
        looks = b"ascii"
    escaped = bool(given) and given.lower().replace("_", "-") in _NO_TEXT
    if escaped or (looks and looks.isascii() and b"\0" not in looks):
        raise InvalidInput(
            "--encoding must be one that Python knows and that UTF-8 can be told from, such as "
            f"cp1252, latin-1, shift_jis or utf-16-le, got {given!r}"
        )
    return codecs.lookup(given).name if given else ""


def encoding_of(file: IO[bytes]) -> str:
    """The encoding of a file's text as the use case under way says; "" if it is UTF-8 or marked."""
    named = named_encoding()
    if not named or _marked(file) or _is_utf8(file):
        return ""
    return named


def as_utf8(file: IO[bytes], name: str, encoding: str = "") -> IO[bytes]:
    """The file's text in UTF-8, from what a mark at its beginning says, or else this encoding."""
    marked = _marked(file)
    if not (marked or encoding):
        return file
    why = "as its first bytes say" if marked else "as --encoding says"
    return cast(IO[bytes], io.BufferedReader(_Recoded(file, marked or encoding, name, why), _BLOCK))


def lines_of(path: str | os.PathLike[str], *, what: str) -> list[str]:
    """The lines of a small text file, such as a list of words, without the space around them."""
    try:
        with Path(path).open("rb") as file:
            encoding = encoding_of(file)
            file.seek(0)
            text = as_utf8(file, Path(path).name, encoding).read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, BadFile) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
        raise InvalidInput(f"{what}, {path}: {why}") from None
    return [line.strip() for line in text.splitlines()]


def _marked(file: IO[bytes]) -> str:
    start = cast(Any, file).peek(4)[:4]
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), "")


def _is_utf8(file: IO[bytes]) -> bool:
    """Whether all of it is; UTF-16 of plain letters is, but for its noughts."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in _blocks(file):
            if b"\0" in block:
                return False
            decoder.decode(block, final=not block)
    except UnicodeDecodeError:
        return False
    return True


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    """A file's bytes, and nothing at its end."""
    while block := file.read(_BLOCK):
        yield block
    yield b""


class _Recoded(io.RawIOBase):
    """A file's text in another encoding, piece by piece."""

    def __init__(self, file: IO[bytes], encoding: str, name: str, why: str) -> None:
        self._file, self._encoding, self._name, self._why = file, encoding, name, why
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
                f"{self._name} must be {self._encoding.upper()}, {self._why}, and after line "
                f"{self._line} it is not; name its own with --encoding, or convert it to UTF-8"
            ) from None
