"""A command made from a use case: its options are the signature's, its help the docstring's."""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from voile.options import Panel, Parameter, UseCase, case_of
from voile.values import parts_of

OUTPUT = {
    "report": (Path | None, "--report", "Write a report: one HTML file, opens offline."),
    "charts": (Path | None, "--charts", "Write each chart as PNG and SVG into this folder."),
    "save_recipe": (Path | None, "--save-recipe", "Write these options as a recipe file."),
    "as_json": (bool, "--json", "Print JSON for another program."),
}
"""What every command can do with its result."""
RUNS_RECIPES = ("run", "check")
"""They are given a recipe, and have none to save."""


def command(use_case: Callable[..., Any]) -> Callable[..., None]:
    """A function that Typer takes for a command: it calls the use case and shows its result."""
    case = case_of(use_case)
    offered = [name for name in OUTPUT if name != "save_recipe" or case.name not in RUNS_RECIPES]

    def run(**given: Any) -> None:
        from voile.cli.showing import finish, heard, prepared

        output = {name: given.pop(name) for name in offered}
        options = {name: value for name, value in _read(case, given) if value is not UNSET}
        wanted = prepared(case, options, **output)
        with heard(quiet=output["as_json"]):
            result = use_case(**options)
        finish(result, wanted)

    shown = [*(_parameter(p) for p in case.parameters.values()), *_output(offered)]
    shown.sort(key=_place)
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in shown}
    run.__doc__ = (use_case.__doc__ or "").partition(">>>")[0].rstrip()
    run.__name__ = use_case.__name__
    return run


def _place(parameter: inspect.Parameter) -> int:
    """Arguments first, then panel by panel."""
    panel = get_args(parameter.annotation)[1].rich_help_panel
    return get_args(Panel).index(panel) if panel else -1


UNSET = inspect.Parameter.empty


def _parameter(parameter: Parameter) -> inspect.Parameter:
    option = parameter.option
    kind, more = _typed(parameter)
    more |= {"help": option.help, "rich_help_panel": option.panel}
    default = UNSET if parameter.required else _spelled(parameter)
    if parameter.positional:
        more.pop("rich_help_panel")
        info = typer.Argument(**more)
    else:
        if option.environment:
            more |= {"envvar": option.environment, "show_envvar": True}
        info = typer.Option(*_flags(parameter), **more)
    return inspect.Parameter(
        parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default,
        annotation=Annotated[kind, info],
    )  # fmt: skip


def _flags(parameter: Parameter) -> tuple[str, ...]:
    flag = parameter.flag
    if _bare(parameter.type) is not bool:
        return (flag,)
    return (f"{flag}/--no-{flag.removeprefix('--')}",) if parameter.default else (flag,)


def _bare(kind: Any) -> Any:
    """The type without None."""
    rest = [part for part in parts_of(kind) if part is not NoneType]
    return rest[0] if len(rest) == 1 else kind


def _typed(parameter: Parameter) -> tuple[Any, dict[str, Any]]:
    """The type that Typer reads from the command line, and what its option needs for it."""
    kind = _bare(parameter.type)
    optional = parameter.default is None or kind is not parameter.type
    if get_origin(kind) is Literal:
        return _or_none(
            Enum(parameter.name, [(v, v) for v in get_args(kind)], type=str), optional
        ), {}
    if kind in (int, float, bool, Path):
        return _or_none(kind, optional), {}
    if get_origin(kind) is list:
        return _or_none(kind, True), {}
    if parameter.words > 1:
        side_by_side: Any = tuple.__class_getitem__((str,) * parameter.words)
        return _or_none(side_by_side, optional), {}
    if _is_list(kind):
        return list[str] | None, {"metavar": "A,B,…"}
    return _or_none(str, optional), {}


def _or_none(kind: Any, optional: bool) -> Any:
    return kind | None if optional else kind


def _is_list(kind: Any) -> bool:
    """Several values, written with commas between them, unless they have a spelling as text."""
    parts = parts_of(kind)
    return str not in parts and any(get_origin(part) is tuple for part in parts)


def _spelled(parameter: Parameter) -> Any:
    """The default as the help shows it."""
    value = parameter.default
    if not isinstance(value, tuple):
        return [value] if _is_list(_bare(parameter.type)) and value is not None else value
    words = [f"{part:g}" if isinstance(part, float) else str(part) for part in value]
    return [",".join(words)] if words else None


def _read(case: UseCase, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The options as the use case takes them; what was not given is left to its default."""
    for name, value in given.items():
        parameter = case.parameters[name]
        if value in (None, []) or (not parameter.required and value == _spelled(parameter)):
            yield name, UNSET
        elif isinstance(value, Enum):
            yield name, value.value
        elif isinstance(value, list) and _is_list(_bare(parameter.type)):
            yield name, listed(",".join(value), _bare(parameter.type), parameter.flag)
        else:
            yield name, value


def listed(text: str, kind: Any, flag: str) -> Any:
    """Values between commas, quoted where they hold one; a single one where the type allows that.

    >>> listed("0.5,1", tuple[float, ...], "--epsilon")
    (0.5, 1.0)
    >>> listed("0.5", float | tuple[float, ...], "--epsilon")
    0.5
    >>> listed('stars,"city, country"', tuple[str, ...], "--pass")
    ('stars', 'city, country')
    >>> listed('stars , " city"', tuple[str, ...], "--pass")
    ('stars', ' city')
    """
    from voile.errors import InvalidInput

    parts = parts_of(kind)
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    if text.strip() in words:
        return text.strip()
    several = next(part for part in parts if get_origin(part) is tuple)
    inner, *rest = get_args(several)
    try:
        bare = _AROUND_COMMAS.sub(lambda hit: hit[1] or ",", text.strip())
        found = next(csv.reader([bare]), [])
        values = tuple(_one(word, inner) for word in found)
    except (csv.Error, ValueError):
        raise InvalidInput(f"{flag} must be {_NAMES.get(inner, 'names')} between commas") from None
    if len(values) == 1 and inner in parts:
        return values[0]
    fixed = rest and rest != [Ellipsis]
    if fixed and len(values) != len(rest) + 1:
        raise InvalidInput(f"{flag} must be {len(rest) + 1} {_NAMES[inner]} between commas")
    return values


_AROUND_COMMAS = re.compile(r'("(?:[^"]|"")*")|\s*,\s*')
"""A quoted name, whose spaces are its own; or a comma with the spaces around it."""


def _one(word: str, kind: Any) -> Any:
    return float(word) if kind is float else int(word) if kind is int else word


_NAMES = {float: "numbers", int: "whole numbers", str: "names", Path: "files"}


def _output(offered: Iterable[str]) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if kind is bool else None,
            annotation=Annotated[kind, typer.Option(flag, help=text, rich_help_panel="Output")],
        )
        for name in offered
        for kind, flag, text in (OUTPUT[name],)
    ]
