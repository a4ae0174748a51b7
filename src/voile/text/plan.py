"""A text that was looked at and not yet drawn for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from voile.text.tokens import Token

KEPT = -1
"""The level of a word that is left as it is."""
STOP_WORDS, UNKNOWN_WORDS = "stop words", "words outside the vocabulary"
"""Why words may stand in clear, beside the tier that they are in."""
NAME_WORDS = "titles and small words of names"
SIGNS_AT_WORDS = "signs at words"
"""What else may."""

_WORD = re.compile(r"(?<![\w'’])[^\W\d_]+")


@dataclass(frozen=True)
class Thing:
    """A name or identifier in a text: its kind, its form, and what it is to be known again by."""

    kind: str
    form: str
    key: str = field(repr=False)
    written: str = field(repr=False)

    @property
    def same(self) -> tuple[str, str]:
        """Equal for what is the same thing, however it is written."""
        return self.kind, self.key


@dataclass(frozen=True)
class Plan:
    """A text to be put together: gaps and clear words as they are, numbers of words to be drawn.

    `levels` are those of the words in `drawn`, `distinct` its words, each of a level once; `clear`
    counts what stands in clear, by why.
    """

    pieces: list[str | int | Thing]
    drawn: list[Token]
    levels: list[int]
    clear: Counter[str]
    distinct: set[tuple[int, int]] = field(default_factory=set)
    stand_ins: Counter[str] = field(default_factory=Counter)
    """How many stand-ins there are, by kind."""
    seen: Counter[str] = field(default_factory=Counter)
    """What else was met: `found KIND`, `language xx`, `unknown` words."""

    def draw(self, token: Token, level: int) -> None:
        """Draw for a word here."""
        self.pieces.append(len(self.drawn))
        self.drawn.append(token)
        self.levels.append(level)
        self.distinct.add((level, token.position))

    def name(self, pieces: Iterable[str | Thing]) -> None:
        """Put in what was found, and count the words of it that have no stand-in: Dr, von."""
        for piece in pieces:
            self.pieces.append(piece)
            if isinstance(piece, str):
                self.clear[NAME_WORDS] += len(_WORD.findall(piece))

    def settled(self) -> list[str | int]:
        """The pieces, when no thing is left that has no stand-in yet."""
        pieces = [piece for piece in self.pieces if not isinstance(piece, Thing)]
        assert len(pieces) == len(self.pieces)  # else a thing would be left out unseen
        return pieces

    def leave(self, word: str, why: str) -> None:
        """Leave a word as it is, and count it."""
        self.pieces.append(word)
        self.clear[why] += 1
