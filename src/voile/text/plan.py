"""A text that was looked at and not yet drawn for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from voile.text.tokens import Token

KEPT = -1
"""The level of a word that is left as it is."""
STOP_WORDS, UNKNOWN_WORDS = "stop words", "words outside the vocabulary"
"""Why words may stand in clear, beside the tier that they are in."""
SIGNS_AT_WORDS = "signs at words"
"""What else may."""


@dataclass(frozen=True)
class Plan:
    """A text to be put together: gaps and clear words as they are, numbers of words to be drawn.

    `levels` are those of the words in `drawn`; `clear` counts what stands in clear, by why.
    """

    pieces: list[str | int]
    drawn: list[Token]
    levels: list[int]
    clear: Counter[str]

    def leave(self, word: str, why: str) -> None:
        """Leave a word as it is, and count it."""
        self.pieces.append(word)
        self.clear[why] += 1
