"""How a result was obtained, from the call that led to it: its command, its files, its time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from voile.files.locations import location
from voile.names import called
from voile.report.model import Digest, Provenance
from voile.values import choices_of

if TYPE_CHECKING:
    from voile.options import Call, Parameter


def provenance_of(call: Call | None, *, releases: bool) -> Provenance:
    """What a report says about how it came to be; a page adds the hashes of the files."""
    from voile.version import __version__

    if call is None:
        return Provenance(__version__, "from Python", "not recorded", "", 0.0)
    return Provenance(
        version=__version__,
        command=spelled(call),
        randomness=randomness(call, releases=releases),
        when=call.when,
        seconds=time.monotonic() - call.begun,
        mechanism=_mechanism(call),
    )


def digests_of(call: Call | None, outputs: Sequence[str | Path]) -> tuple[tuple[Digest, ...], str]:
    """The hashes of what was read and written, every file read whole; and the key of private ones.

    Files that were read as private are hashed under a fresh key, which the caller shows to the
    owner and writes nowhere; public ones and released ones without.
    """
    if call is None:
        return (), ""
    key = secrets.token_bytes(32)
    private = call.files("private")
    digests = [Digest(*digest(path, key), keyed=True) for path in private]
    digests += [Digest(*digest(path, None)) for path in (*call.files("public"), *outputs)]
    return tuple(digests), key.hex() if private else ""


def _mechanism(call: Call) -> str:
    """What was used, where the command lets choose: by its name, or its file's last name."""
    parameter = call.case.parameters.get("mechanism")
    value = None if parameter is None else call.value("mechanism")
    return "" if value is None or parameter is None else _shown(parameter, value).replace("…", "")


def randomness(call: Call, *, releases: bool) -> str:
    """How it was drawn, in words."""
    seed = call.value("seed") if "seed" in call.case.parameters else None
    if not releases:
        if seed is None:
            return "nothing was drawn"
        return f"seed {seed} repeats this run; nothing was drawn for release"
    if seed is None:
        return "secure: a cryptographic generator, keyed by the operating system"
    return f"seeded with {seed}: not for release"


def spelled(
    call: Call, *, whole: bool = False, write: Callable[[Parameter, Any], str] | None = None
) -> str:
    """The call as a command, without folders and without words that may be private.

    Numbers, flags and choices are shown, files by their last name, other words as “…” unless their
    option says that they may stand in a report. A `whole` command, of data that is nobody's, shows
    every word; or `write` says how a value is written.
    """
    written = write or partial(_shown, whole=whole)
    words = ["voile", *call.case.name.split()]
    for name, parameter in call.case.parameters.items():
        if name not in call.given or _is_default(parameter, call.given[name]):
            continue
        value = call.given[name]
        parts = [written(parameter, part) for part in parameter.parts(value)]
        if parameter.positional:
            words += parts
        elif isinstance(value, bool):
            words.append(parameter.flag if value else "--no-" + parameter.flag.removeprefix("--"))
        else:
            words += [parameter.flag, ("," if parameter.words == 1 else " ").join(parts)]
    return " ".join(words)


def _is_default(parameter: Parameter, value: Any) -> bool:
    """Whether it need not be said; frames are not to be compared."""
    if isinstance(value, str | Path | bool | int | float | tuple | NoneType):
        return bool(value == parameter.default)
    return value is parameter.default


def _shown(parameter: Parameter, value: Any, whole: bool = False) -> str:
    if parameter.option.secret:
        return "…"
    if isinstance(value, bool | int | float):
        return _digits(value) if isinstance(value, float) else str(value)
    if isinstance(value, Path) or (parameter.option.reads or parameter.option.writes):
        if not isinstance(value, str | Path):
            return f"<{type(value).__name__}>"
        return shlex.quote(str(value).partition("?")[0].rpartition("/")[2])
    chosen = isinstance(value, str) and value in choices_of(parameter.type)
    plain = whole or parameter.option.shown or chosen
    if plain and not isinstance(value, str):
        named = callable(value) and not hasattr(value, "index")  # a Series has a private name
        return f"<{called(value) if named else type(value).__name__}>"
    return shlex.quote(_without_folder(value)) if plain else "…"


def _digits(value: float) -> str:
    """As few digits as give the same number again.

    >>> _digits(2.0), _digits(0.1 + 0.2)
    ('2', '0.30000000000000004')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _without_folder(word: str) -> str:
    """A word as it may stand in a report: "mine=./own/mine.py:f" without where the file lies.

    >>> _without_folder("mine=./own/mine.py:f"), _without_folder("tem")
    ('mine=mine.py:f', 'tem')
    """
    name, equals, place = word.rpartition("=")
    return name + equals + place.rpartition("/")[2]


def digest(path: Path | str, key: bytes | None) -> tuple[str, str]:
    """A file's name and hash, wherever it lies; of a folder, all its files together."""
    state: Any = hashlib.sha256() if key is None else hmac.new(key, digestmod="sha256")
    folder = Path(path).is_dir() if isinstance(path, Path) or "://" not in path else False
    files = sorted(p for p in Path(path).rglob("*") if p.is_file()) if folder else [path]
    for file in files:
        with location(file).open() as stream:
            while block := stream.read(2**20):
                state.update(block)
    return location(path).name, str(state.hexdigest())
