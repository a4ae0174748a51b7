"""Persons by keyed hash: the ledger knows who is who only with the user's key.

Names and customer numbers are few enough to try them all, so a plain hash hides nothing.
A keyed hash, its key kept elsewhere, does: without the key, entries of one person can be
linked to each other and to nobody.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import re
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.files.regular import require_private
from voile.ledger.address import named

KEY_VARIABLE = "VOILE_LEDGER_KEY"
_HEAD = "voile ledger key 1\n"
HASH_BYTES = 8
"""Of a person's hash. Two persons with one hash would share a budget, which can only refuse too
much; it happens in one of 37 million ledgers of a million persons, in one of 37 of a billion."""


@dataclass(frozen=True)
class Key:
    """32 random bytes of the user's; everything keyed in a ledger comes from them.

    >>> key = Key(bytes(32))
    >>> key.person("42") == key.person(" 42 ") == key.person("42")
    True
    >>> len(key.person("42")), key
    (8, Key())
    """

    secret: bytes = field(repr=False)
    file: str | None = field(default=None, repr=False, compare=False)
    """Where it was read from: the last-seen heads of its ledgers are kept beside."""

    def person(self, name: str) -> bytes:
        """The keyed hash of one person."""
        return self.persons([name])[0]

    def persons(self, names: Iterable[str]) -> list[bytes]:
        """The keyed hashes of many: BLAKE2b with a key, which is a MAC (RFC 7693)."""
        plain = [name.strip() for name in names]
        numbers = [name for name in plain if is_number(name)]
        of_numbers = self.numbered(np.array(list(map(int, numbers)), dtype=np.int64))
        found = dict(zip(numbers, of_numbers, strict=True))
        return [found.get(name) or self._named(name) for name in plain]

    def _named(self, name: str) -> bytes:
        state = self._begun.copy()
        state.update(one_spelling(name).encode("utf-8", "surrogatepass"))
        return state.digest()

    def numbered(self, numbers: NDArray[np.int64]) -> list[bytes]:
        """The keyed hashes of persons that go by a number: one MAC of 64 bytes for each eight.

        Numbers come in ranges as a rule, so most of the eight are somebody's.

        >>> Key(bytes(32)).numbered(np.array([42, 7])) == Key(bytes(32)).persons(["42", "7"])
        True
        """
        eights, which = np.unique(numbers >> 3, return_inverse=True)
        macs = []
        for eight in eights.tolist():
            state = self._begun_numbers.copy()
            state.update(b"%d" % eight)
            macs.append(state.digest())
        table = np.frombuffer(b"".join(macs), dtype=f"V{HASH_BYTES}").reshape(-1, 8)
        return list(table[which, numbers & 7].tolist())

    def seal(self, digest: bytes) -> bytes:
        """What only the key's holder can write under an entry."""
        return hmac.digest(self._sealing, digest, "sha256")

    def front_seal(self, content: bytes) -> bytes:
        """What only the key's holder can write on a first page."""
        return hmac.digest(self._fronts, content, "sha256")

    def page_seal(self, content: bytes) -> bytes:
        """What only the key's holder can write under a page of accounts."""
        state = self._begun_pages.copy()
        state.update(content)
        return state.digest()

    def place(self, address: str) -> str:
        """The keyed hash of a ledger's address."""
        content = address.encode("utf-8", "surrogatepass")
        return hmac.digest(self._part(b"places"), content, "sha256").hex()[:32]

    def answer(self, content: bytes) -> bytes:
        """The keyed hash of what was asked, or of the key under which it was."""
        return hmac.digest(self._answers, content, "sha256")

    @property
    def check(self) -> str:
        """Tells this key from another, and nothing else."""
        return hmac.digest(self._part(b"check"), b"", "sha256").hex()[:32]

    def _part(self, use: bytes) -> bytes:
        """A key for one use: a person's hash can never be an entry's seal."""
        return hmac.digest(self.secret, b"voile ledger " + use, "sha256")

    @cached_property
    def _begun(self) -> hashlib.blake2b:
        """The state after the key, which is the same for all."""
        return hashlib.blake2b(key=self._part(b"person"), digest_size=HASH_BYTES)

    @cached_property
    def _begun_numbers(self) -> hashlib.blake2b:
        return hashlib.blake2b(key=self._part(b"numbered persons"), digest_size=8 * HASH_BYTES)

    @cached_property
    def _begun_pages(self) -> hashlib.blake2b:
        return hashlib.blake2b(key=self._part(b"pages"), digest_size=32)

    @cached_property
    def _sealing(self) -> bytes:
        return self._part(b"seal")

    @cached_property
    def _answers(self) -> bytes:
        return self._part(b"answers")

    @cached_property
    def _fronts(self) -> bytes:
        return self._part(b"fronts")

    def __reduce__(self) -> tuple[type[Key], tuple[bytes, str | None]]:
        return Key, (self.secret, self.file)


def is_number(name: str) -> bool:
    """Whether a name is a number below 10¹⁸, written as `str` writes it.

    >>> [is_number(name) for name in ("42", "0", "042", "", "4.2", "-4", "9" * 19)]
    [True, True, False, False, False, False, False]
    """
    return name.isdecimal() and name.isascii() and len(name) < 19 and str(int(name)) == name


def one_spelling(name: str) -> str:
    """A name as all its spellings are written that look the same: é may be one character or two."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE]\+[0-9]{1,3})?")
_NOBODY = ("", "nan", "NaN")
_EXACT = 2.0**53
"""From here on several whole numbers are one float: which of them was meant is lost."""
LONGEST_NAME = 1000
"""Characters of a person's name: more is not one, and bringing it into normal form takes long."""


def person_name(value: Any) -> str | None:
    """A value of the person column as a name; None if it names nobody.

    One number is one person however a file holds it: 42 in JSON, "42" and "42.0" in CSV, 42.0 in
    Parquet. A column of numbers with a gap in it comes back as floats from many a tool, and the
    same person must not get a second budget for that. So noughts at the end of a fraction do not
    count ("42.50" is 42.5), nor does the exponent that large floats are written with ("1e+05").
    A float of 2⁵³ or more may be any of several numbers and names nobody; write such ones as text.
    Noughts or a plus sign in front are not how numbers are written: "042" is somebody else. Where
    two persons go by one number ("1.1" and "1.10"), they share a budget, which can only refuse too
    much. A name comes in one spelling, whichever of Unicode's it has in the file.

    >>> [person_name(v) for v in (42, 42.0, " 42", "42.0", "", None, float("nan"), "NaN", ["x"])]
    ['42', '42', '42', '42', None, None, None, None, None]
    >>> [person_name(v) for v in ("42.50", 42.5, "42.", "042", "1e+05", "-0.0", "4.2.0")]
    ['42.5', '42.5', '42', '042', '100000', '0', '4.2.0']
    """
    if isinstance(value, str):
        name = value.strip()
        if len(name) > LONGEST_NAME:
            return None
        if not name.isascii() and name.isdecimal():  # full-width digits, say
            name = unicodedata.normalize("NFKC", name)
        if name.isdigit():  # the usual case, quickly; "042" too is a name as it stands
            return name
        return None if name in _NOBODY else _plain_number(one_spelling(name))
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | np.integer):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value) or abs(value) >= _EXACT:
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, Decimal):
        return _plain_number(f"{value:f}", exact=True) if value.is_finite() else None
    return None


def _plain_number(name: str, *, exact: bool = False) -> str | None:
    """A number that was written as a float, as the decimal that it is; other names as they are."""
    if not _NUMBER.fullmatch(name):
        return name
    if not exact and ("+" in name or "." in name) and abs(float(name)) >= _EXACT:
        return None
    if "+" in name:
        return person_name(float(name))
    digits = name.rstrip("0").rstrip(".") if "." in name else name
    return "0" if digits == "-0" else digits


def make_key(path: str | Path) -> Key:
    """A new key in a file that only its owner can read; never over an existing file."""
    path, secret = Path(path), secrets.token_bytes(32)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(_HEAD + secret.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise CannotWrite(
            f"the file {named(path)} exists already; a key is never replaced"
        ) from None
    except OSError as problem:
        raise CannotWrite(
            f"the key {named(path)} cannot be written: {problem.strerror}"
        ) from problem
    return Key(secret, os.path.realpath(path))


def read_key(path: str | Path | None) -> Key:
    """The key in a file, refused if others can read it."""
    if path is None:
        raise InvalidInput(
            f"a ledger needs its key: give --ledger-key FILE or set {KEY_VARIABLE} to the file's "
            "name; `voile ledger init` makes one"
        )
    try:
        require_private(path, "the ledger key")
        text = Path(path).read_text("ascii")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not a text file"
        raise BadFile(f"the ledger key {named(path)} cannot be read: {reason}") from None
    try:
        secret = bytes.fromhex(text.removeprefix(_HEAD).strip()) if text.startswith(_HEAD) else b""
    except ValueError:
        secret = b""
    if len(secret) != 32:
        raise BadFile(f"the file {named(path)} is not a ledger key, or a damaged one")
    return Key(secret, os.path.realpath(path))
