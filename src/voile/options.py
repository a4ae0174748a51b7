"""A use case is a function, and its signature is the one place where an option is stated.

Name, type, default and help stand in the signature; the command line is made from it, and so are
the recipe file, the command that a report prints and Python's own help. Options that travel
together are a frozen dataclass that derives from `Options`: the function has one parameter for
all of them, its users give them one by one.

>>> @dataclass(frozen=True)
... class Running(Options):
...     jobs: Annotated[int, Option("Processes; 0 takes all cores.", panel="Running")] = 1
>>> @use_case("text shout")
... def shout(
...     text: Annotated[str, Option("What to shout.")],
...     *,
...     times: Annotated[int, Option("How often.")] = 1,
...     running: Running = Running(),
... ) -> str:
...     return text.upper() * times + f" ({running.jobs})"
>>> shout("a", times=2, jobs=3)
'AA (3)'
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from voile.values import fitted, parts_of

Panel = Literal["What", "How strong", "Words", "Names", "Restoring", "Game", "Models", "Budget",
                "Running", "Output"]  # fmt: skip

Data = Any
"""A path or URL, a pandas, polars or Arrow table, a GeoDataFrame, a Series or a list."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Option:
    """What a parameter is for, and what else the command line must know of it.

    `flag` is its name on the command line where it cannot be Python's. `reads` says that it names
    a file and whose: a report hashes a private one under a key. `shown` lets a word stand in
    reports; numbers, choices and the last part of a file's name always may. `secret` is for what
    may hold a password or name a person: no report shows any of it, no recipe keeps it.
    """

    help: str
    panel: Panel = "What"
    flag: str = ""
    reads: Literal["", "private", "public"] = ""
    writes: bool = False
    shown: bool = False
    environment: str = ""
    secret: bool = False


class Options:
    """The base of options that travel together."""


@dataclass(frozen=True)
class Parameter:
    """One option of a use case, wherever it is kept: its type, default and `Option`."""

    name: str
    type: Any
    default: Any
    option: Option
    group: str | None
    """The function's own parameter that holds it; None if it is one itself."""
    positional: bool = False

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is inspect.Parameter.empty

    def parts(self, value: Any) -> list[Any]:
        """Values that were given together, one by one; data in memory is one, whatever it holds."""
        return list(value) if self.several and isinstance(value, list | tuple) else [value]

    @property
    def several(self) -> bool:
        """Whether it holds several values; a list of records is one value, the data."""
        return any(get_origin(part) in (tuple, list) for part in parts_of(self.type))

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return self.option.flag or "--" + self.name.removesuffix("_").replace("_", "-")

    @property
    def words(self) -> int:
        """How many words it takes on the command line: several files stand side by side."""
        for part in parts_of(self.type):
            if get_origin(part) is tuple and set(get_args(part)) == {Data}:
                return len(get_args(part))
        return 1


_OF_TEXT = Option("Of text files that are not UTF-8, such as cp1252 or latin-1.", shown=True)
ENCODING = Parameter("encoding", str | None, None, _OF_TEXT, group=None)
"""Every use case that reads data has this option; what it reads is opened by it, in `files`."""


class UseCase:
    """A function read as a use case: its name in words, and its options one by one."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function

    @cached_property
    def groups(self) -> dict[str, type[Options]]:
        """The parameters that hold several options, with the class of each."""
        return {name: kind for name, kind in self._hints.items() if _is_group(kind)}

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """All options by name, those of a group in its place."""
        found: dict[str, Parameter] = {}
        for name, given in inspect.signature(self.function).parameters.items():
            if name in self.groups:
                group = self.groups[name]
                hints = get_type_hints(group, include_extras=True)
                base = given.default
                for field in fields(group):  # type: ignore[arg-type]
                    kind, option = _read(hints[field.name], field.name)
                    default = getattr(base, field.name)
                    found[field.name] = Parameter(field.name, kind, default, option, name)
                continue
            kind, option = _read(self._hints[name], name)
            positional = given.kind is not inspect.Parameter.KEYWORD_ONLY
            found[name] = Parameter(name, kind, given.default, option, None, positional)
        if any(p.type is Data and p.option.reads for p in found.values()):
            found[ENCODING.name] = ENCODING
        return found

    def fitted(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options that were given, by themselves or as a group, each held to its type."""
        return {name: self._fitted(name, value) for name, value in given.items()}

    def _fitted(self, name: str, value: Any) -> Any:
        if name in self.parameters:
            return fitted(value, self.parameters[name].type, self.parameters[name].flag)
        if name not in self.groups:
            return value
        own = [p.name for p in self.parameters.values() if p.group == name]
        return replace(value, **{one: self._fitted(one, getattr(value, one)) for one in own})

    def with_environment(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The same, and from the environment what was not given and has a variable there."""
        named = {p.name: p.option.environment for p in self.parameters.values()}
        found = {n: os.environ.get(v) for n, v in named.items() if v and given.get(n) is None}
        return {**given, **{n: value for n, value in found.items() if value}}

    def gathered(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The function's own arguments from options that were given one by one."""
        arguments: dict[str, Any] = {}
        spread: dict[str, dict[str, Any]] = {}
        for name, value in given.items():
            parameter = self.parameters.get(name)
            if parameter is not None and parameter.group is not None:
                spread.setdefault(parameter.group, {})[name] = value
            elif parameter is ENCODING:
                continue  # the room of files asks the call for it
            elif parameter is not None or name in self.groups:
                arguments[name] = value
            else:
                raise TypeError(self._unknown(name))
        own = inspect.signature(self.function).parameters
        for group, values in spread.items():
            arguments[group] = replace(arguments.get(group, own[group].default), **values)
        return arguments

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(name, self.parameters, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"{self.function.__name__}() has no option {name!r}{hint}"

    def signature(self) -> inspect.Signature:
        """The signature that users see: every option by itself."""
        kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        shown = [
            inspect.Parameter(p.name, kinds[p.positional], default=p.default, annotation=p.type)
            for p in self.parameters.values()
        ]
        shown.sort(key=lambda p: (p.kind, p.default is not p.empty))
        return inspect.Signature(shown, return_annotation=self._hints.get("return"))


@dataclass(frozen=True)
class Call:
    """One call of a use case: what was given, and when it began. A report says both."""

    case: UseCase
    given: Mapping[str, Any]
    begun: float
    when: str

    def value(self, name: str) -> Any:
        """An option's value, given or default."""
        return self.given.get(name, self.case.parameters[name].default)

    def in_memory(self) -> bool:
        """Whether private data was given as it lies in memory."""
        return any(
            parameter.option.reads == "private"
            and self.given.get(name) is not None
            and not isinstance(self.given[name], str | Path)
            for name, parameter in self.case.parameters.items()
        )

    def files(self, reads: str) -> list[str | Path]:
        """The files that were read, private or public ones."""
        return [
            value
            for name, parameter in self.case.parameters.items()
            if parameter.option.reads == reads
            for value in parameter.parts(self.given.get(name))
            if isinstance(value, str | Path)
        ]


def use_case(
    name: str,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Let a function be called with every option by its own name; its result knows the call."""

    def decorated(function: Callable[..., Answer]) -> Callable[..., Answer]:
        case = UseCase(name, function)

        @wraps(function)
        def called(*arguments: Any, **given: Any) -> Answer:
            names = [p.name for p in case.parameters.values() if p.positional]
            if len(arguments) > len(names):
                raise TypeError(
                    f"{function.__name__}() takes {len(names)} arguments by position, the rest by "
                    f"name, got {len(arguments)}"
                )
            given = case.fitted({**dict(zip(names, arguments, strict=False)), **given})
            call = Call(case, given, time.monotonic(), time.strftime(_WHEN, time.gmtime()))
            token = _CALL.set(call)
            try:
                answer = function(**case.gathered(case.with_environment(given)))
            finally:
                _CALL.reset(token)
            if hasattr(answer, "noted"):
                answer.noted(call)
            return answer

        called.__signature__ = case.signature()  # type: ignore[attr-defined]
        called.use_case = case  # type: ignore[attr-defined]
        return called

    return decorated


_WHEN = "%Y-%m-%d %H:%M UTC"
_CALL: ContextVar[Call | None] = ContextVar("voile.call", default=None)


def current_call() -> Call | None:
    """The use case that is running, for what is written while it runs."""
    return _CALL.get()


def case_of(function: Callable[..., Any]) -> UseCase:
    """The use case behind a decorated function."""
    found: UseCase = function.use_case  # type: ignore[attr-defined]
    return found


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Options) and is_dataclass(kind)


def _read(hint: Any, name: str) -> tuple[Any, Option]:
    if get_origin(hint) is Annotated:
        kind, *notes = get_args(hint)
        option = next((note for note in notes if isinstance(note, Option)), None)
        if option is not None:
            return kind, option
    raise TypeError(f"the option {name!r} must be annotated with its Option")
