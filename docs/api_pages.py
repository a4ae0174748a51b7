"""The pages of the API reference: one a room, a heading a module, all read off the package.

A use case comes with a table of its options, made from the signature that its command is made from.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from inspect import Parameter as Own
from pathlib import Path
from typing import Any, get_args, get_origin

import voile
from voile.options import Panel
from voile.surface import ROOMS as USE_CASES

LAYERS = {
    "core": "The ideas everything else is built from",
    "metrics": "Distances between secrets",
    "mechanisms": "Mechanisms, one a file",
    "optimise": "Mechanisms that are solved for",
    "rewriting": "Neural text rewriters",
    "leakage": "What an attacker learns",
    "restoring": "Reading releases as a whole",
    "attackers": "Attackers",
    "audit": "Audits and their findings",
    "estimate": "What released data says about a population",
    "adapt": "Turning the knobs against an attacker",
    "personal": "Finding what is personal",
    "files": "The one reader and writer of files",
    "ledger": "A budget for each person",
    "jobs": "Releasing whole files",
    "service": "Protection at request time",
    "report": "Results, and what shows them",
    "reproducing": "The papers, run again",
}
"""Rooms that are listed whole, every public module under a heading of its own."""

DOMAINS = {
    "text": "Messages, reviews, notes",
    "places": "Points, trips, maps",
    "labels": "Tables with a secret column",
}
"""Rooms that are listed by what a user calls."""

ALONE = {
    "errors": "Every error on purpose",
    "storage": "Saving and loading",
    "options": "Use cases and their options",
    "progress": "How far long work is",
    "recipe": "A release as a file",
    "names": "One table of names a family",
}
"""Modules that stand above all rooms; one that is not there yet is left out."""

Lines = list[str]


def write_api_pages(folder: Path) -> None:
    """Write the pages anew where they changed, and remove those of rooms that are gone."""
    pages = {
        "voile": _front_page(),
        **{room: _domain_page(room, title) for room, title in DOMAINS.items()},
        **{room: _layer_page(room, title) for room, title in LAYERS.items()},
    }
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        if old.stem not in pages:
            old.unlink()
    for name, lines in pages.items():
        page, text = folder / f"{name}.md", "\n".join(lines) + "\n"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def _layer_page(room: str, title: str) -> Lines:
    lines = [f"# voile.{room}", "", f"*{title}.*", "", *_use_cases(room)]
    for name in _modules(f"voile.{room}"):
        lines += [f"## {name.removeprefix(f'voile.{room}.')}", "", *_rst(f"automodule:: {name}")]
    return lines


def _domain_page(room: str, title: str) -> Lines:
    lines = [f"# voile.{room}", "", f"*{title}.*", ""]
    lines += _use_cases(room)
    package = import_module(f"voile.{room}")
    others = [
        name
        for name in getattr(package, "__all__", ())
        if not hasattr(getattr(package, name), "use_case")
    ]
    if others:
        lines += ["## In Python only", ""]
        for name in others:
            lines += _auto(f"voile.{room}.{name}", getattr(package, name))
    samples = [name for name in _modules(f"voile.{room}") if ".sample_" in name]
    lines += ["## Made-up data to try things on", ""]
    for name in samples:
        lines += [f"### {name.rpartition('.')[2]}", "", *_rst(f"automodule:: {name}")]
    return lines


def _front_page() -> Lines:
    lines = ["# voile", "", "*What stands above all rooms.*", "", *_use_cases("")]
    for name, title in ALONE.items():
        if (Path(voile.__file__).parent / f"{name}.py").exists():
            lines += [f"## {title}", "", f"`voile.{name}`", ""]
            lines += _rst(f"automodule:: voile.{name}", "show-inheritance:")
    return lines


def _use_cases(room: str) -> Lines:
    """Each use case of a room: what it does, its options, what it returns."""
    lines: Lines = []
    for name, home in USE_CASES.get(room, {}).items():
        module, _, attribute = home.partition(":")
        function = getattr(import_module(module), attribute, None)
        case = getattr(function, "use_case", None)
        if case is None:
            continue
        public = ".".join(["voile", *([room] if room else []), name])
        where = public if _exported(public, function) else f"{module}.{attribute}"
        command = " ".join(["voile", *([room] if room else []), name])
        lines += [f"## {name}", "", f"`{public}(…)` in Python, `{command}` in a shell.", ""]
        lines += _rst(f"autofunction:: {where}({_short(case)})")
        lines += _options(case)
        lines += _results(case.signature().return_annotation)
    return lines


def _results(returned: Any) -> Lines:
    """The classes that a use case returns, one or several."""
    found = [kind for kind in get_args(returned) or (returned,) if isinstance(kind, type)]
    lines = ["**What it returns**", ""] if found else []
    for kind in found:
        lines += _rst(
            f"autoclass:: {kind.__module__}.{kind.__qualname__}",
            "members:",
            "exclude-members: noted, releases",
            "no-index:",
        )
    return lines


def _short(case: Any) -> str:
    """The signature without what has a default: a table holds that."""
    first = [p.name for p in case.parameters.values() if p.positional]
    needed = [p.name for p in case.parameters.values() if not p.positional and p.required]
    return ", ".join([*first, "*", *needed, "**options"])


def _options(case: Any) -> Lines:
    """A table for each panel of the help: the option here and in a shell, its default, its help."""
    lines: Lines = []
    panels: dict[str, list[Any]] = {panel: [] for panel in get_args(Panel)}
    for parameter in case.parameters.values():
        panels[parameter.option.panel].append(parameter)
    for panel, parameters in panels.items():
        if not parameters:
            continue
        lines += [f"**{panel}**", ""]
        lines += ["| option | values | default | |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {_shown(p)} | {_values(p.type)} | {_default(p)} | {_cell(p.option.help)} |"
            for p in parameters
        ]
        lines += [""]
    return lines


def _shown(parameter: Any) -> str:
    """The option's name, and its flag where that is not its name with hyphens."""
    usual = "--" + parameter.name.replace("_", "-")
    other = "" if parameter.positional or parameter.flag == usual else f" (`{parameter.flag}`)"
    return f"`{parameter.name}`{other}"


def _values(kind: Any) -> str:
    """A type in words."""
    inner = get_args(kind)
    if str(get_origin(kind)) == "typing.Literal":
        return " ".join(f"`{value}`" for value in inner)
    if get_origin(kind) is tuple:
        return f"several {_values(inner[0])}s".replace("datas", "")
    if inner:
        return " or ".join(_values(one) for one in inner if one is not type(None))
    words = {"str": "text", "int": "whole number", "float": "number", "bool": "yes or no"}
    words |= {"Path": "path", "Any": "data"}
    name = getattr(kind, "__name__", str(kind))
    return words.get(name, name)


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is Own.empty:
        return "required"
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "`" + ", ".join(map(str, value)) + "`"
    return f"`{value}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _exported(public: str, function: Any) -> bool:
    package, _, name = public.rpartition(".")
    return getattr(import_module(package), name, None) is function


def _modules(package: str) -> Iterator[str]:
    """All public modules below a package, by name."""
    folder = Path(voile.__file__).parent.joinpath(*package.split(".")[1:])
    found = pkgutil.walk_packages([str(folder)], prefix=f"{package}.")
    yield from sorted(m.name for m in found if not m.ispkg and "._" not in m.name)


def _auto(name: str, thing: Any) -> Lines:
    kind = "autoclass" if isinstance(thing, type) else "autofunction"
    return _rst(f"{kind}:: {name}")


def _rst(directive: str, *options: str) -> Lines:
    return ["```{eval-rst}", f".. {directive}", *(f"   :{option}" for option in options), "```", ""]
