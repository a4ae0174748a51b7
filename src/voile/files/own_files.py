"""Files and values of voile's own that are no saved mechanism: what reads and what writes them."""

from __future__ import annotations

import json
import os
from typing import Any

from voile.errors import BadFile

_READERS = {
    "voile label recipe": "voile.labels.recipe_file:load_recipe",
    "voile-release/1": "voile.jobs.guarantee_file:stated_guarantee",
}
"""What a JSON file says under "format" → 'module:function' that reads it."""
_RECIPE = b"voile = "


def reader_of(path: str | os.PathLike[str], *, largest: int) -> str | None:
    """The function that reads a JSON file of voile's own; None for every other file.

    A recipe of a command is refused in a sentence that says what carries it out.
    """
    try:
        with open(path, "rb") as file:
            if not (start := file.read(len(_RECIPE))).startswith((b"{", _RECIPE)):
                return None
            body = json.loads(start + file.read(largest)) if start != _RECIPE else None
    except (OSError, ValueError, RecursionError):
        return None
    if body is None:
        raise BadFile(
            f"{os.fspath(path)} is the recipe of a command, and no mechanism; carry it out with "
            "voile.run, and check what came of it with voile.check"
        )
    return _READERS.get(str(body.get("format"))) if isinstance(body, dict) else None


def written_by(thing: Any) -> str:
    """What to do with a value that is not saved in a file of its own; empty for a stranger."""
    if hasattr(thing, "guarantee_file"):
        return (
            "; a release of a file is written by protect itself (out=), that of data in memory is "
            "its .data, in whatever format you write such data; its .guarantee_file() goes beside "
            "it, as JSON"
        )
    if hasattr(thing, "to_dict"):
        return "; write its .to_dict() as JSON, or give out= to the function that made it"
    return ""
