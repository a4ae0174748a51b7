"""The shape of what commands print with `--json`."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from voile.errors import InvalidInput

SHARED = frozenset(
    {
        "basis", "bounds", "cell", "charged", "estimate", "finding", "guarantee", "interval",
        "model", "place-design", "priced", "round", "shown", "trade-point", "verdict",
    }
)  # fmt: skip
"""Definitions that belong to no one command."""


def schema(command: str | None = None) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of all commands, or of one: "text audit".

    >>> schema("text audit")["$ref"]
    '#/$defs/text-audit'
    """
    text = (files("voile.report") / "schema.json").read_text(encoding="utf-8")
    whole: dict[str, Any] = json.loads(text)
    if command is None:
        return whole
    known = sorted(set(whole["$defs"]) - SHARED)
    name = "-".join(command.split())
    if name not in known:
        listed = ", ".join(entry.replace("-", " ") for entry in known)
        raise InvalidInput(f"the command must be one of {listed}; got {command!r}")
    return whole | {"$ref": f"#/$defs/{name}"}
