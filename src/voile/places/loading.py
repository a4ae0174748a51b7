"""Designs from files, certified anew."""

from __future__ import annotations

from pathlib import Path

from voile.errors import BadFile
from voile.places.designs import PlacesDesign
from voile.storage import load


def load_design(path: str | Path, *, content: bytes | None = None) -> PlacesDesign:
    """The design in a file, or in a file's bytes."""
    found = load(path, content=content)
    if not isinstance(found, PlacesDesign):
        raise BadFile(
            f"{path} must hold a design for places, it holds another kind; "
            "make one with `voile places design`"
        )
    return found


def opened_design(mechanism: str | Path | PlacesDesign) -> PlacesDesign:
    """The design itself, or the one in a file."""
    return mechanism if isinstance(mechanism, PlacesDesign) else load_design(mechanism)
