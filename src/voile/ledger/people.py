"""Persons by keyed hash: the ledger knows who is who only with the user's key.

Names and customer numbers are few enough to try them all, so a plain hash hides nothing.
HMAC-SHA256 under a key that is kept elsewhere does: without the key, entries of one person can be
linked to each other and to nobody.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.errors import BadFile, CannotWrite, InvalidInput

KEY_VARIABLE = "VOILE_LEDGER_KEY"
_HEAD = "voile ledger key 1\n"
_REMEMBERED = 2**17


@dataclass(frozen=True)
class Key:
    """32 random bytes of the user's; everything keyed in a ledger comes from them.

    >>> key = Key(bytes(32))
    >>> key.person("42") == key.person(" 42 ") == key.person("42")
    True
    >>> len(key.person("42")), key
    (32, Key())
    """

    secret: bytes = field(repr=False)
    _known: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)

    def person(self, name: str) -> bytes:
        """The keyed hash of one person."""
        return self.persons([name])[0]

    def persons(self, names: Iterable[str]) -> list[bytes]:
        """The keyed hashes of many; HMAC by its definition, its two keyed states made once."""
        inner, outer = self._states(b"person")
        known = self._known
        if len(known) > _REMEMBERED:
            known.clear()
        hashes: list[bytes] = []
        for name in names:
            found = known.get(name)
            if found is None:
                first, second = inner.copy(), outer.copy()
                plain = name.strip()
                if not plain.isascii():
                    plain = unicodedata.normalize("NFC", plain)
                first.update(plain.encode("utf-8"))
                second.update(first.digest())
                found = known[name] = second.digest()
            hashes.append(found)
        return hashes

    def seal(self, digest: bytes) -> bytes:
        """What only the key's holder can write under an entry."""
        return hmac.digest(self._part(b"seal"), digest, "sha256")

    @property
    def check(self) -> str:
        """Tells this key from another, and nothing else."""
        return hmac.digest(self._part(b"check"), b"", "sha256").hex()[:32]

    def _part(self, use: bytes) -> bytes:
        """A key for one use: a person's hash can never be an entry's seal."""
        return hmac.digest(self.secret, b"voile ledger " + use, "sha256")

    def _states(self, use: bytes) -> tuple[Any, Any]:
        block = self._part(use).ljust(64, b"\0")
        return (
            hashlib.sha256(bytes(byte ^ 0x36 for byte in block)),
            hashlib.sha256(bytes(byte ^ 0x5C for byte in block)),
        )

    def __reduce__(self) -> tuple[type[Key], tuple[bytes]]:
        return Key, (self.secret,)


def person_name(value: Any) -> str | None:
    """A value of the person column as a name; None if it names nobody.

    42, 42.0 and "42" are one person: a column of numbers with a gap in it comes back as floats
    from many a tool, and the same person must not get a second budget for that.

    >>> [person_name(v) for v in (42, 42.0, " 42", "", None, float("nan"), ["x"])]
    ['42', '42', '42', None, None, None, None]
    """
    if isinstance(value, str):
        return value.strip() or None
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    return None


@dataclass(frozen=True, eq=False)
class Roster:
    """Whose rows a batch holds: the distinct names, and for each row which; −1 for nobody's.

    >>> roster = Roster.of(["ann", " bob", "ann", ""])
    >>> roster.names, roster.which.tolist()
    (('ann', 'bob'), [0, 1, 0, -1])
    """

    names: tuple[str, ...]
    which: NDArray[np.intp]

    @classmethod
    def of(cls, values: Sequence[Any]) -> Roster:
        """From a column's values, as `person_name` reads them."""
        try:
            distinct: Iterable[Any] = dict.fromkeys(values)
        except TypeError:  # a list or the like, which names nobody
            values = [person_name(value) for value in values]
            distinct = dict.fromkeys(values)
        places: dict[str, int] = {}
        codes: dict[Any, int] = {}
        for value in distinct:
            name = person_name(value)
            codes[value] = -1 if name is None else places.setdefault(name, len(places))
        # Looking up is all that is done for every single row.
        which = np.fromiter(map(codes.__getitem__, values), dtype=np.intp, count=len(values))
        return cls(tuple(places), which)

    def __len__(self) -> int:
        return len(self.which)


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
        raise CannotWrite(f"{str(path)!r} exists already; a key is never replaced") from None
    except OSError as problem:
        raise CannotWrite(
            f"the key {str(path)!r} cannot be written: {problem.strerror}"
        ) from problem
    return Key(secret)


def read_key(path: str | Path | None) -> Key:
    """The key in a file, refused if others can read it."""
    if path is None:
        raise InvalidInput(
            f"a ledger needs its key: give --ledger-key FILE or set {KEY_VARIABLE} to the file's "
            "name; `voile ledger init` makes one"
        )
    try:
        mode = os.stat(path).st_mode
        text = Path(path).read_text("ascii")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not a text file"
        raise BadFile(f"the ledger key {str(path)!r} cannot be read: {reason}") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadFile(f"the ledger key must be readable by you alone: chmod 600 {path}")
    try:
        secret = bytes.fromhex(text.removeprefix(_HEAD).strip()) if text.startswith(_HEAD) else b""
    except ValueError:
        secret = b""
    if len(secret) != 32:
        raise BadFile(f"{str(path)!r} is not a ledger key, or a damaged one")
    return Key(secret)
