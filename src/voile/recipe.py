"""A release as a file that can stand in a repository: its command, its options, its checks."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voile.errors import BadFile, CannotWrite, InvalidInput, writing
from voile.files import probe_folder, write_private
from voile.options import Parameter

FORMAT = 1
ENDING = ".toml"
_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]*@")


@dataclass(frozen=True)
class Recipe:
    """What a recipe file says: a use case by name, its options, and what must hold afterwards."""

    command: str
    options: Mapping[str, Any]
    checks: Mapping[str, Any] = field(default_factory=dict)


_SIGNED = re.compile(r"://[^\s]*\?")


def recipe_text(command: str, options: Mapping[str, Any]) -> str:
    """A command's options as a recipe; paths as they were given, so run it from the same folder.

    A recipe may stand in a repository, so one that would hold a password is refused.
    """
    for name, value in options.items():
        if _PASSWORD.search(str(value)) or _SIGNED.search(str(value)):
            raise InvalidInput(
                f"{name} holds a password or a signed address, which no recipe may; leave it out"
            )
    lines = [f"voile = {FORMAT}", f"command = {_value(command)}", "", "[options]"]
    lines += [f"{name} = {_value(value)}" for name, value in options.items() if value is not None]
    return "\n".join(lines) + "\n"


def write_recipe(path: Path, command: str, options: Mapping[str, Any]) -> None:
    """Write a command's options as a recipe file."""
    text = recipe_text(command, options)
    with writing(path):
        write_private(path, text)


def check_place(path: Path, flag: str, others: Iterable[Path], *, overwrite: bool = False) -> None:
    """Refuse a name that is no recipe's, or where a file would be lost.

    What stands under a name may be data that nobody has twice, or thresholds that somebody wrote
    by hand: nothing is replaced but a recipe without thresholds, and that only if it was said.
    """
    if path.suffix.lower() != ENDING:
        raise InvalidInput(f"{flag} must name a {ENDING} file, got {path.name!r}")
    if path.is_dir():
        raise CannotWrite(f"{flag} must name a file, {path} is a folder")
    if any(path.resolve() == other.resolve() for other in others):
        raise CannotWrite(
            f"{flag} must name a file of its own, and {path.name} is one that this command reads "
            "or writes; name another"
        )
    if path.exists() or path.is_symlink():
        _check_replaced(path, flag, overwrite=overwrite)
    with writing(path):
        probe_folder(path.parent)


def _check_replaced(path: Path, flag: str, *, overwrite: bool) -> None:
    """Refuse to replace what it was not said of, or what no command could write again."""
    if not overwrite:
        raise CannotWrite(f"{path} exists already; name another file for {flag}, or remove it")
    try:
        found = read_recipe(path)
    except BadFile:
        raise CannotWrite(
            f"{flag} replaces recipes only, and {path} is none; name another file"
        ) from None
    if found.checks:
        raise CannotWrite(
            f"{path} has thresholds under [checks], which would be lost; name another file for "
            f"{flag}, and copy them there"
        )


def _value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    if isinstance(value, bool | int | float):
        return repr(value).lower()
    return json.dumps(str(value), ensure_ascii=False)


def read_recipe(path: str | Path) -> Recipe:
    """The recipe in a file, refused if it is none."""
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadFile(f"the recipe must be an existing file, got {str(path)!r}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        place = re.search(r"at line \d+, column \d+|at end of document", str(problem))
        said = f"it is none {place[0]}" if place else type(problem).__name__
        raise BadFile(f"{path} must be a TOML file: {said}") from problem
    if found.get("voile") != FORMAT or not isinstance(found.get("command"), str):
        raise BadFile(f"{path} must begin with voile = {FORMAT} and name a command")
    parts = {name: found.get(name, {}) for name in ("options", "checks")}
    unknown = set(found) - {"voile", "command", *parts}
    if unknown or not all(isinstance(part, dict) for part in parts.values()):
        raise BadFile(f"{path} must have the tables [options] and [checks], and nothing else")
    return Recipe(found["command"], parts["options"], parts["checks"])


def by_parameter(
    options: Mapping[str, Any], known: Iterable[Parameter], recipe: str
) -> dict[str, Any]:
    """Options by the names of Python's parameters, whether a recipe spells them so or as flags.

    `pass` is `pass_` in Python, which has the word for itself; the command line has `--pass`.
    """
    flags = {parameter.flag.removeprefix("--"): parameter.name for parameter in known}
    found = {flags.get(name, name): value for name, value in options.items()}
    if len(found) < len(options):
        twice = next(name for name in options if flags.get(name, name) != name)
        raise BadFile(f"{recipe} must say {twice} once, it says it in two spellings")
    return found
