"""The options of a use case as fields of a form, made from its signature like its command."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal

from voile.errors import InvalidInput
from voile.options import Parameter, case_of
from voile.studio.away import NOT_HERE
from voile.surface import names, use_case_named
from voile.values import choices_of, parts_of

Kind = Literal["flag", "choice", "number", "words", "text"]


@dataclass(frozen=True)
class Field:
    """One option: how it is asked for, and what it means."""

    name: str
    label: str
    help: str
    panel: str
    kind: Kind
    choices: tuple[str, ...]
    default: Any
    required: bool
    reads: str


@dataclass(frozen=True)
class Form:
    """What a use case can be told."""

    command: str
    about: str
    fields: tuple[Field, ...]


def form_of(command: str) -> Form:
    """The form of a use case; data and options in the order of its help."""
    if command in NOT_HERE or command not in names():
        raise InvalidInput(f"there is no form for {command!r}")
    function = use_case_named(command)
    about = (function.__doc__ or "").partition("\n")[0]
    return Form(command, about, tuple(map(_field, case_of(function).parameters.values())))


def _field(parameter: Parameter) -> Field:
    parts = tuple(part for part in parts_of(parameter.type) if part is not NoneType)
    default = None if parameter.required else parameter.default
    return Field(
        parameter.name,
        parameter.name.removesuffix("_").replace("_", " "),
        parameter.option.help,
        parameter.option.panel,
        _kind(parameter, parts),
        choices_of(parameter.type),
        default if isinstance(default, bool | int | float | str | tuple | NoneType) else None,
        parameter.required,
        parameter.option.reads,
    )


def _kind(parameter: Parameter, parts: tuple[Any, ...]) -> Kind:
    if parts == (bool,):
        return "flag"
    if choices_of(parameter.type) and len(parts) == 1:
        return "choice"
    if parameter.several:
        return "words"
    return "number" if set(parts) <= {int, float} else "text"
