"""What comes out for a text, and what happens to words that no list knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Unknown(StrEnum):
    """What happens to a word outside the vocabulary."""

    PERTURB = "perturb"  # it is the unknown word, a secret like any other
    DROP = "drop"
    FAIL = "fail"
    KEEP = "keep"  # in clear: outside the guarantee


@dataclass(frozen=True)
class Read:
    """What was found in reading a drawn text as a whole.

    How many words were read, the sum of their belief outside the candidates (at most), how much
    better context foretold the draws in nats, and whether the prior fitted.
    """

    words: int
    left_out: float
    gain: float
    fits: bool


@dataclass(frozen=True)
class ReleasedText:
    """A released text, and what was done to its words: drawn and changed by level, or in clear."""

    text: str
    draws: tuple[int, ...]
    """How many draws were made at each level: one a word, or one a distinct word."""
    drawn: tuple[int, ...]
    """How many words of each level were drawn for."""
    changed: tuple[int, ...]
    """How many of them came out as another word."""
    clear: Mapping[str, int]
    """How many words stand in clear, by why."""
    epsilon: float
    """What the text's words spent together, per unit of the metric for each word; rounded up."""
    read: Read | None = None
    """Where the text was read as a whole after it was drawn."""
    stand_ins: Mapping[str, int] = field(default_factory=dict)
    """How many stand-ins there are, by kind."""
    seen: Mapping[str, int] = field(default_factory=dict)
    """What else was met in it, by what it is."""


@dataclass(frozen=True)
class Refused:
    """Why a text was not released; never with its content."""

    reason: str
