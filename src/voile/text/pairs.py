"""Texts and their releases, and how much of them an attacker is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from voile.errors import InvalidInput
from voile.options import Data, Option, Options
from voile.text.reading import texts_of


@dataclass(frozen=True)
class Sizes(Options):
    """How much of the texts an attacker is given, and how many words it chooses between."""

    documents: Annotated[int, Option("Use at most this many documents.")] = 5000
    candidates: Annotated[int, Option("At most this many sensitive words.")] = 2000
    words: Annotated[int, Option("Words of each document that are read.")] = 40


@dataclass(frozen=True)
class Reading(Sizes):
    """The same, and which words are known, where no release says so."""

    top: Annotated[int, Option("Know this many most frequent words of the vocabulary.")] = 50_000


def text_pairs(original: Data, released: Data, column: str) -> tuple[list[str], list[str]]:
    """The texts of two sources, row by row; refused if the rows cannot belong together.

    >>> text_pairs(["a", "b"], ["x", "y"], "text")
    (['a', 'b'], ['x', 'y'])
    """
    before, after = texts_of(original, column), texts_of(released, column)
    if len(before) != len(after):
        raise InvalidInput(
            f"original and release must have as many rows, got {len(before)} and {len(after)}; "
            "were rows skipped? compare files with the same rows"
        )
    return before, after
