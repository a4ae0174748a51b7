"""What was chosen, to take away: a command, three lines of Python, and a recipe file.

All three are made from one mapping of options, and the job that is run here is given the same.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.errors import InvalidInput
from voile.options import Parameter, UseCase, case_of
from voile.recipe import recipe_text
from voile.surface import names, use_case_named

NOT_HERE = ("studio", "serve", "run", "check", "demo")
"""What is not started from a page: other servers, and what runs others."""


@dataclass(frozen=True)
class Away:
    """One release, said in three ways."""

    command: str
    python: str
    recipe: str
    left_out: tuple[str, ...]
    """Options that no recipe holds: they are given when it is run."""


def chosen(command: str, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A use case, and its options held to their types; what is None is left to its default."""
    if command in NOT_HERE or command not in names():
        allowed = ", ".join(name for name in names() if name not in NOT_HERE)
        raise InvalidInput(f"the command must be one of {allowed}; got {command!r}")
    function = use_case_named(command)
    case = case_of(function)
    given = {name: value for name, value in options.items() if value not in (None, "", [])}
    strange = sorted(set(given) - set(case.parameters))
    if strange:
        raise InvalidInput(f"{command} has no option {strange[0]!r}")
    missing = [p.name for p in case.parameters.values() if p.required and p.name not in given]
    if missing:
        raise InvalidInput(f"{command} must be told {missing[0]}")
    fit = case.fitted(given)
    ordered = [p for p in case.parameters.values() if p.name in fit]
    return function, {p.name: fit[p.name] for p in ordered if fit[p.name] != p.default}


def taken_away(command: str, options: Mapping[str, Any]) -> Away:
    """The same release as a command, as Python and as a recipe."""
    function, given = chosen(command, options)
    case = case_of(function)
    secret = tuple(n for n in given if case.parameters[n].option.secret)
    return Away(
        _command(case, given),
        _python(case, given),
        recipe_text(command, {n: value for n, value in given.items() if n not in secret}),
        secret,
    )


def _command(case: UseCase, given: Mapping[str, Any]) -> str:
    words = ["voile", *case.name.split()]
    flags: list[str] = []
    for name, value in given.items():
        parameter = case.parameters[name]
        if parameter.positional:
            words += [shlex.quote(_file(_word(part))) for part in parameter.parts(value)]
        elif isinstance(value, bool):
            flags.append(parameter.flag if value else "--no-" + parameter.flag.removeprefix("--"))
        else:
            flags += [parameter.flag, shlex.quote(_listed(parameter, value))]
    return " ".join([*words, *flags])


def _file(word: str) -> str:
    """A file's name that cannot be taken for an option."""
    return f"./{word}" if word.startswith("-") else word


def _listed(parameter: Parameter, value: Any) -> str:
    """Several values with commas between them, quoted where one holds a comma or a quote."""
    parts = [_word(part) for part in parameter.parts(value)]
    if not parameter.several or parameter.words > 1:
        return " ".join(parts)
    quoted = ['"' + p.replace('"', '""') + '"' if set(p) & set(',"') else p for p in parts]
    return ",".join(quoted)


def _word(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _python(case: UseCase, given: Mapping[str, Any]) -> str:
    arguments = [
        _literal(value) if case.parameters[name].positional else f"{name}={_literal(value)}"
        for name, value in given.items()
    ]
    call = f"voile.{case.name.replace(' ', '.')}({', '.join(arguments)})"
    return f"import voile\nresult = {call}\nprint(result)"


def _literal(value: Any) -> str:
    if isinstance(value, str | Path):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, tuple | list):
        inner = ", ".join(map(_literal, value))
        return f"({inner}{',' if len(value) == 1 else ''})"
    return repr(value)
