"""The recipe of a command: refused before the work begins, written once it is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from voile.errors import InvalidInput
from voile.options import Parameter, UseCase, case_of
from voile.recipe import check_place, recipe_text, write_recipe


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
    check_place(
        path, "--save-recipe", _files(case, options), overwrite=bool(options.get("overwrite"))
    )
    told = f", without {_named(hidden)}" if hidden else ""
    told += ": to be given when it is run" if hidden and not lost else ""
    return SavedRecipe(path, case.name, kept, told)


def _files(case: UseCase, options: Mapping[str, Any]) -> Iterator[Path]:
    """Every file that the command was told to read or write."""
    for name, value in options.items():
        option = case.parameters[name].option
        if option.reads or option.writes or option.secret:
            parts = case.parameters[name].parts(value)
            yield from (Path(part) for part in parts if isinstance(part, str | Path))


def _named(parameters: Iterable[Parameter]) -> str:
    return ", ".join(p.name.upper() if p.positional else p.flag for p in parameters)
