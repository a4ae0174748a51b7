"""The recipe of a command: refused before the work begins, written once it is done.

What stands under its name may be data that nobody has twice, or thresholds that somebody wrote by
hand: nothing is replaced but a recipe without thresholds, and that only with --overwrite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.files import probe_folder
from voile.options import Parameter, UseCase, case_of
from voile.recipe import read_recipe, recipe_text, write_recipe

ENDING = ".toml"


@dataclass(frozen=True)
class SavedRecipe:
    """The options that may stand in a repository, and what is said of those that may not."""

    path: Path
    command: str
    options: Mapping[str, Any]
    told: str

    def write(self) -> None:
        """Write it, and say which options were left out."""
        write_recipe(self.path, self.command, self.options)
        typer.echo(f"Wrote {self.path}{self.told}", err=True)


def saved_recipe(path: Path, case: UseCase, options: Mapping[str, Any]) -> SavedRecipe:
    """What is to be written of a command, if it may be written there."""
    from voile.surface import use_case_named

    hidden = [case.parameters[name] for name in options if case.parameters[name].option.secret]
    later = case_of(use_case_named("run")).parameters
    lost = [p for p in hidden if p.name not in later and not p.option.environment]
    if any(p.required for p in lost):
        raise InvalidInput(f"no recipe may hold {_named(lost)}: {case.name} cannot be one")
    left_out = {p.name for p in hidden}
    kept = {name: value for name, value in options.items() if name not in left_out}
    recipe_text(case.name, kept)  # refuses a password
    _check_place(path, case, options)
    told = f", without {_named(hidden)}" if hidden else ""
    told += ": to be given when it is run" if hidden and not lost else ""
    return SavedRecipe(path, case.name, kept, told)


def _check_place(path: Path, case: UseCase, options: Mapping[str, Any]) -> None:
    """Refuse a name that is no recipe's, or where a file must not be lost."""
    if path.suffix.lower() != ENDING:
        raise InvalidInput(f"--save-recipe must name a {ENDING} file, got {path.name!r}")
    if path.is_dir():
        raise CannotWrite(f"--save-recipe must name a file, {path} is a folder")
    if any(path.resolve() == other.resolve() for other in _files(case, options)):
        raise CannotWrite(
            f"--save-recipe must name a file of its own, and {path.name} is one that {case.name} "
            "reads or writes; name another"
        )
    if path.exists() or path.is_symlink():
        _check_replaced(path, overwrite=bool(options.get("overwrite")))
    try:
        probe_folder(path.parent)
    except OSError as problem:
        raise CannotWrite(f"cannot write {path}: {problem.strerror or problem}") from problem


def _check_replaced(path: Path, *, overwrite: bool) -> None:
    """Refuse to replace what --overwrite was not said of, or what no command could write again."""
    if not overwrite:
        raise CannotWrite(
            f"{path} exists already; name another file for --save-recipe, or remove it"
        )
    try:
        found = read_recipe(path)
    except BadFile:
        raise CannotWrite(
            f"--save-recipe replaces recipes only, and {path} is none; name another file"
        ) from None
    if found.checks:
        raise CannotWrite(
            f"{path} has thresholds under [checks], which would be lost; name another file for "
            "--save-recipe, and copy them there"
        )


def _files(case: UseCase, options: Mapping[str, Any]) -> Iterator[Path]:
    """Every file that the command was told to read or write."""
    for name, value in options.items():
        option = case.parameters[name].option
        if option.reads or option.writes or option.secret:
            parts = case.parameters[name].parts(value)
            yield from (Path(part) for part in parts if isinstance(part, str | Path))


def _named(parameters: Iterable[Parameter]) -> str:
    return ", ".join(p.name.upper() if p.positional else p.flag for p in parameters)
