"""What stand-ins stand for, in a file that opens with the user's key alone.

The key is what a file of the user's holds, or a passphrase in the environment; scrypt makes the key
of AES-256-GCM from it under a salt of the file's own. So the file can be neither read nor changed
without it, and a guessed passphrase costs a fraction of a second and 32 MB a try. Its first line
says what it is; salt and nonce follow, and all three are authenticated with the content.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voile.errors import BadFile, CannotWrite, InvalidInput, MissingExtra, VoileError, needs
from voile.files import open_private, require_regular
from voile.files.regular import require_private

if TYPE_CHECKING:
    from voile.text.options import Names

PASSPHRASE_VARIABLE = "VOILE_MAPPING_PASSPHRASE"
_HEAD = b"voile mapping 1\n"
_SALT, _NONCE = 16, 12
_SCRYPT = {"n": 2**15, "r": 8, "p": 1, "maxmem": 2**26, "dklen": 32}
_SHORTEST = 12
_LARGEST = 2**30


@dataclass(frozen=True)
class Entry:
    """A stand-in, what it stands for, and whose it is: nobody's in particular if it is empty."""

    owner: str = field(repr=False)
    kind: str = field(repr=False)
    written: str = field(repr=False)
    stand_in: str = field(repr=False)


@dataclass(frozen=True)
class StandInMapping:
    """All stand-ins of one release. It is as private as what was released."""

    job: str
    """Tells releases apart, and says nothing about the key of their draws."""
    entries: tuple[Entry, ...] = field(repr=False)

    def sealed(self, key: bytes) -> bytes:
        """The content of a file that opens with this key."""
        rows = [[e.owner, e.kind, e.written, e.stand_in] for e in self.entries]
        content = json.dumps([self.job, rows]).encode()
        salt, nonce = secrets.token_bytes(_SALT), secrets.token_bytes(_NONCE)
        head = _HEAD + salt + nonce
        return head + _cipher(key, salt).encrypt(nonce, content, head)


def read_mapping(path: str | Path, key: bytes) -> StandInMapping:
    """A mapping from its file; an error if the file or the key is another."""
    shown = Path(path).name
    try:
        require_regular(Path(path))
        if os.stat(path).st_size > _LARGEST:
            raise BadFile(f"{shown} is too large for a mapping of stand-ins")
        content = Path(path).read_bytes()
    except OSError as problem:
        raise BadFile(f"{shown} cannot be read: {problem.strerror or problem}") from None
    size = len(_HEAD) + _SALT + _NONCE
    if not content.startswith(_HEAD) or len(content) < size + 16:
        raise BadFile(f"{shown} is no mapping of stand-ins, or was cut off")
    head, salt, nonce = (
        content[:size],
        content[len(_HEAD) : size - _NONCE],
        content[size - _NONCE : size],
    )
    try:
        job, rows = json.loads(_cipher(key, salt).decrypt(nonce, content[size:], head))
        return StandInMapping(str(job), tuple(Entry(*map(str, row)) for row in rows))
    except Exception as problem:  # a wrong tag, or what nobody but the key's holder wrote
        if isinstance(problem, MissingExtra | MemoryError):
            raise
        raise BadFile(
            f"{shown} does not open with this key: it is another mapping's key, or the file was "
            "changed"
        ) from None


@dataclass(frozen=True)
class Keeper:
    """Keeps a job's mapping: beside its place while rows are drawn, in its place once all are.

    So a job that fails leaves the mapping of an earlier release as it was. `beside` has a name of
    the output's own: a restart of the job finds it, another job does not take it for its own.
    """

    path: Path
    key: bytes = field(repr=False)
    output: str | None
    overwrite: bool

    @property
    def beside(self) -> Path:
        """Where the mapping is until the job is done."""
        whose = hashlib.sha256((self.output or "").encode()).hexdigest()[:16]
        return self.path.with_name(f".{self.path.name}.{whose}.part")

    def keep(self, mapping: StandInMapping) -> None:
        """Write a mapping for its owner alone; another release's is not to be replaced.

        A restart of the same job writes the same entries again.
        """
        shown = self.path.name
        kept = self.path.exists() and not self.overwrite
        if kept and read_mapping(self.path, self.key).job != mapping.job:
            raise CannotWrite(
                f"{shown} holds the stand-ins of another release; choose another name"
            )
        with _told(shown):
            self.beside.unlink(missing_ok=True)
            with open_private(self.beside, "xb") as file:
                file.write(mapping.sealed(self.key))
                file.flush()
                os.fsync(file.fileno())

    def finish(self) -> None:
        """Give it its name, just before the output gets its own; a restart may have done it."""
        with _told(self.path.name), suppress(FileNotFoundError):
            self.beside.replace(self.path)

    @contextmanager
    def forgotten_if_refused(self, *, continued: bool) -> Iterator[None]:
        """Delete what was made for a release that is then refused: nobody will need it.

        A job that can be `continued` (after a full disk, an interrupt) keeps it beside.
        """
        try:
            yield
        except BaseException as problem:
            refused = isinstance(problem, VoileError) and not isinstance(problem, CannotWrite)
            if refused or not continued:
                self.beside.unlink(missing_ok=True)
            raise


@contextmanager
def _told(shown: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise CannotWrite(f"{shown} cannot be written: {problem.strerror or problem}") from problem


def keeper(names: Names, *, output: str | None, overwrite: bool) -> Keeper | None:
    """What keeps a mapping where the options say, its key read at once; None if none is kept.

    Nothing but a mapping is ever replaced by one: not the texts, the key or the output.
    """
    if names.keep_mapping is None:
        return None
    path = names.keep_mapping
    key = read_mapping_key(names.mapping_key, make=True)
    if not path.parent.is_dir():
        raise CannotWrite(f"the folder of {path.name} must be there")
    if output is not None and path.resolve() == Path(output).resolve():
        raise CannotWrite(f"{path.name} must not be the output as well; choose another name")
    if path.exists() and not _is_mapping(path):
        raise CannotWrite(f"{path.name} is there and is no mapping of stand-ins; choose another")
    return Keeper(path, key, output, overwrite)


def _is_mapping(path: Path) -> bool:
    require_regular(path)
    with path.open("rb") as file:
        return file.read(len(_HEAD)) == _HEAD


def read_mapping_key(path: str | Path | None, *, make: bool = False) -> bytes:
    """The key: what a file of the user's holds, or the passphrase of the environment.

    With `make` a file that is not there is made, with 32 random bytes in hexadecimal.
    """
    if path is None:
        found = os.environ.get(PASSPHRASE_VARIABLE, "").encode()
        if not found:
            raise InvalidInput(
                "a mapping must have a key: give --mapping-key FILE (made if it is not there), or "
                f"set {PASSPHRASE_VARIABLE}"
            )
        return _long_enough(found)
    place = Path(path)
    try:
        if make and not place.exists():
            with open_private(place, "xb") as file:
                file.write(secrets.token_hex(32).encode() + b"\n")
        require_regular(place)
        require_private(place, "the key of a mapping")
        with place.open("rb") as file:
            return _long_enough(file.read(4096).strip())
    except OSError as problem:
        raise BadFile(
            f"the key {place.name} cannot be read: {problem.strerror or problem}"
        ) from None


def _long_enough(key: bytes) -> bytes:
    if len(key) < _SHORTEST:
        raise InvalidInput(f"a mapping's key must have at least {_SHORTEST} characters, got fewer")
    return key


def _cipher(key: bytes, salt: bytes) -> Any:
    with needs("cryptography", extra="pseudonyms"):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    return AESGCM(hashlib.scrypt(key, salt=salt, **_SCRYPT))


def job_name(key: bytes, what: str) -> str:
    """A name for the release whose draws have this key, from which the key does not follow.

    `what` says what is released and how: draws that a seed repeats have one key in every job.
    """
    told = hashlib.sha256(what.encode()).digest()
    return hashlib.blake2b(told, key=key, person=b"voile job", digest_size=16).hexdigest()


def mapping_of(
    job: str,
    table: Mapping[tuple[str, tuple[str, str]], str],
    written: Mapping[tuple[str, tuple[str, str]], str],
    owners: Mapping[str, str],
) -> StandInMapping:
    """The mapping of an allotment: what each thing was written as first, and whose it is."""
    entries: Sequence[Entry] = [
        Entry(owners.get(scope, ""), same[0], written[scope, same], stand_in)
        for (scope, same), stand_in in table.items()
    ]
    return StandInMapping(job, tuple(entries))
