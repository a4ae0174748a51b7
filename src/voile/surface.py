"""Everything that voile does, by name: a command, and the function of the same name.

The command line, recipe files and the JSON Schema read this table; nothing is imported before it
is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, get_type_hints

from voile.errors import InvalidInput

ROOMS: dict[str, dict[str, str]] = {
    "": {
        "explain": "voile.meaning:explain",
        "mechanisms": "voile.catalogue:mechanisms",
        "run": "voile.runs:run",
        "check": "voile.runs:check",
        "demo": "voile.demo._demo:demo",
        "serve": "voile.service._serve:serve",
        "studio": "voile.studio._studio:studio",
        "reproduce": "voile.reproducing._reproduce:reproduce",
    },
    "text": {
        "protect": "voile.text._protect:protect",
        "restore": "voile.text._restore:restore",
        "reveal": "voile.text._reveal:reveal",
        "estimate": "voile.text._estimate:estimate",
        "utility": "voile.text._utility:utility",
        "membership": "voile.text._membership:membership",
        "audit": "voile.text._audit:audit",
        "tune": "voile.text._tune:tune",
        "compare": "voile.text._compare:compare",
        "calibrate": "voile.text._calibrate:calibrate",
    },
    "places": {
        "design": "voile.places._design:design",
        "protect": "voile.places._protect:protect",
        "audit": "voile.places._audit:audit",
        "show": "voile.places._show:show",
        "follow": "voile.places._follow:follow",
        "estimate": "voile.places._estimate:estimate",
        "export": "voile.places._export:export",
        "utility": "voile.places._utility:utility",
    },
    "labels": {
        "audit": "voile.labels._audit:audit",
        "recipe": "voile.labels._recipe:recipe",
        "protect": "voile.labels._protect:protect",
        "estimate": "voile.labels._estimate:estimate",
        "learn": "voile.labels._learn:learn",
        "compare": "voile.labels._compare:compare",
    },
    "ledger": {
        "init": "voile.ledger._init:init",
        "show": "voile.ledger._show:show",
        "export": "voile.ledger._export:export",
        "verify": "voile.ledger._verify:verify",
        "backup": "voile.ledger._keep:backup",
        "migrate": "voile.ledger._keep:migrate",
        "abandon": "voile.jobs._abandon:abandon",
    },
}
"""The use cases by room and name, in the order of the help; "" holds those of no one room."""

ABOUT = {
    "text": "Release text word by word, and measure utility and leakage.",
    "places": "Blur places with mechanisms solved for a map, certified on it.",
    "labels": "Labelled records: what the features give away, and how to share.",
    "ledger": "A budget for each person: who has spent how much, by keyed hash.",
}
"""What each room is for, in the order of the help."""


def names() -> list[str]:
    """All use cases by their names in words: "text protect"."""
    return [f"{room} {name}".strip() for room, homes in ROOMS.items() for name in homes]


def use_case_named(name: str) -> Callable[..., Any]:
    """The function behind a name such as "text protect"."""
    room, _, own = name.rpartition(" ")
    home = ROOMS.get(room, {}).get(own)
    if home is None:
        raise InvalidInput(f"the command must be one of {', '.join(names())}; got {name!r}")
    found: Callable[..., Any] = resolve_name(home)
    return found


def schema(command: str | None = None) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what commands print with --json, or of one command.

    Made from the types of the results: there is no other description of them.

    >>> schema("text audit")["$ref"]
    '#/$defs/text-audit'
    """
    from voile.report.schema import Schemas

    chosen = names() if command is None else [command]
    made = Schemas()
    for name in chosen:
        function = use_case_named(name)
        made.add(name.replace(" ", "-"), get_type_hints(function.__wrapped__)["return"])  # type: ignore[attr-defined]
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": made.definitions,
    }
    return found if command is None else found | {"$ref": f"#/$defs/{command.replace(' ', '-')}"}
