"""What was chosen, to take away: a command, three lines of Python, and a recipe file.

All three are made from one mapping of options, and the job that is run here is given the same.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from voile.core.randomness import secure_rng
from voile.errors import InvalidInput
from voile.files.rows import OnError
from voile.jobs.standing import Expected
from voile.options import Call, Parameter, UseCase, case_of
from voile.recipe import recipe_text
from voile.report.provenance import spelled
from voile.surface import names, use_case_named

NOT_HERE = ("studio", "serve", "run", "check", "demo")
"""What is not started from a page: other servers, and what runs others."""

BESIDE = (
    *("text protect", "text restore", "text reveal"),
    *("places protect", "labels protect", "labels recipe"),
)
"""What writes beside its input unless it is told where."""


@dataclass(frozen=True)
class Away:
    """One release, said in three ways."""

    command: str
    python: str
    recipe: str
    left_out: tuple[str, ...]
    """Options that no recipe holds: they are given when it is run."""


def chosen(
    command: str, options: Mapping[str, Any], *, passing: Path | None = None
) -> tuple[Any, dict[str, Any]]:
    """A use case, and its options held to their types; what is None is left to its default.

    Nothing is to be written into the folder `passing`, which is deleted in the end.
    """
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
    if passing is not None and not fit.get("dry_run"):
        _require_lasting(case, fit, passing)
    ordered = [p for p in case.parameters.values() if p.name in fit]
    return function, {p.name: fit[p.name] for p in ordered if fit[p.name] != p.default}


def _require_lasting(case: UseCase, given: Mapping[str, Any], passing: Path) -> None:
    """Refuse what would be written, and charged, and then deleted with the studio's own folder."""
    inputs = [p for p in case.parameters.values() if p.positional]
    dropped = any(_inside(passing, part) for p in inputs for part in p.parts(given.get(p.name)))
    if case.name in BESIDE and dropped and given.get("out") is None:
        raise InvalidInput(
            "out must say where to write it: a dropped file has no folder of its own, and what "
            "lies beside it is deleted with the studio"
        )
    outputs = [p for p in case.parameters.values() if p.option.panel == "Output"]
    lost = [p.name for p in outputs if _inside(passing, given.get(p.name))]
    if lost:
        raise InvalidInput(
            f"{lost[0]} must lie elsewhere: this folder is the studio's, and deleted with it"
        )


def _inside(folder: Path, value: Any) -> bool:
    try:
        found = Path(value).resolve() if isinstance(value, str | Path) else None
        return found is not None and found.is_relative_to(folder.resolve())
    except (OSError, ValueError):  # no path at all
        return False


def taken_away(command: str, options: Mapping[str, Any], *, passing: Path | None = None) -> Away:
    """The same release as a command, as Python and as a recipe."""
    function, given = chosen(command, options, passing=passing)
    case = case_of(function)
    if command == "labels protect":
        _require_names(given)
    secret = tuple(n for n in given if case.parameters[n].option.secret)
    return Away(
        spelled(Call(case, given, 0.0, ""), write=_word),
        _python(case, given),
        recipe_text(command, {n: value for n, value in given.items() if n not in secret}),
        secret,
    )


def _require_names(given: Mapping[str, Any]) -> None:
    """Refuse labels as their command would, as far as that is known before a record is read."""
    from voile.labels.bins import Cut
    from voile.labels.choice import LabelChoice, chosen_recipe

    said = {one.name: given[one.name] for one in fields(LabelChoice) if one.name in given}
    choice = LabelChoice(**said).checked(given["epsilon"])
    learned = choice.learn_from_private or choice.learn_epsilon is not None
    elsewhere = isinstance(choice.recipe, str) and "://" in choice.recipe
    if learned or elsewhere or any(one.name in given for one in fields(Cut)):
        return
    chosen_recipe(
        choice, Expected([given["label"]]), label=given["label"], epsilon=given["epsilon"],
        beside=None, kept=None, leave=(), on_error=OnError.FAIL, rng=secure_rng(),
    )  # fmt: skip


def _word(parameter: Parameter, value: Any) -> str:
    """A value for a command, quoted where it could be read otherwise."""
    word = repr(value) if isinstance(value, float) else str(value)
    if parameter.positional:
        return shlex.quote(f"./{word}" if word.startswith("-") else word)  # else it is an option
    plain = word == word.strip() and not set(word) & set(',"\r\n')
    listed = parameter.several and parameter.words == 1 and not plain
    return shlex.quote('"' + word.replace('"', '""') + '"' if listed else word)


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
