"""What comes out for a text, and what happens to words that no list knows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unknown(StrEnum):
    """What happens to a word outside the vocabulary."""

    PERTURB = "perturb"  # it is the unknown word, a secret like any other
    DROP = "drop"
    FAIL = "fail"
    KEEP = "keep"  # in clear: outside the guarantee


@dataclass(frozen=True)
class ReleasedText:
    """A released text: its words, how many were drawn for, how many came out changed."""

    text: str
    words: int
    changed: int
    epsilon: float
    """What the text's words spent together, per unit of the metric for each word."""


@dataclass(frozen=True)
class Refused:
    """Why a text was not released; never with its content."""

    reason: str
