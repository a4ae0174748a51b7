"""Designs from files, certified anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

from voile.errors import BadFile
from voile.jobs import location
from voile.places.designs import PlacesDesign
from voile.storage import load, save

LARGEST = 2**31
"""Bytes that a design may unpack to: a region of 150 million numbers takes 1.8 GB."""


def load_design(path: str | Path, *, content: bytes | None = None) -> PlacesDesign:
    """The design in a file, or in a file's bytes."""
    found = load(path, content=content, largest=LARGEST)
    if not isinstance(found, PlacesDesign):
        raise BadFile(
            f"{path} must hold a design for places, it holds another kind; "
            "make one with `voile places design`"
        )
    return found


def opened_design(mechanism: str | Path | PlacesDesign) -> PlacesDesign:
    """The design itself, or the one in a file."""
    return mechanism if isinstance(mechanism, PlacesDesign) else load_design(mechanism)


def design_bytes(mechanism: str | Path | PlacesDesign) -> tuple[str, bytes]:
    """A design's name in messages, and its file's bytes: what travels to workers."""
    if isinstance(mechanism, PlacesDesign):
        with tempfile.TemporaryDirectory() as folder:
            return "the design", save(mechanism, Path(folder) / "design.voile").read_bytes()
    try:
        with location(mechanism).open() as opened:
            return str(mechanism), opened.read()
    except OSError as problem:
        raise BadFile(f"cannot read {mechanism}: {problem.strerror}") from problem
