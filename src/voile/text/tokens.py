"""Sentences taken apart into words and what stands between them, and put together again."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache, cached_property
from typing import NamedTuple

from voile.text.vocabularies import Vocabulary


class Case(IntEnum):
    """How a word was written; restored on its release."""

    LOWER = 0
    CAPITAL = 1
    UPPER = 2


class Token(NamedTuple):
    """A word in a text: its position in the vocabulary, how it was written, where it stood."""

    position: int
    case: Case
    start: int
    end: int


Piece = str | Token
"""What stands between words, as it is, or a word."""

_SUFFIX = re.compile(r"(.+?)(n't|'(?:s|re|ve|ll|d|m|t))")
_HYPHENS = "-‐‑"
LAYOUT_TAG = r"</?(?:[Bb][Rr]|[Hh][Rr]|[PpBbIiUu]|[Ee][Mm]|[Ll][Ii]|[UuOo][Ll])\s?/?>"
"""HTML's lay-out tags without attributes, such as <br />: spacing in another form."""


@cache
def _pattern() -> re.Pattern[str]:
    """A word is a run of anything but space, punctuation and signs, joined by ' or -.

    Everything not known to be public lay-out is a word: letters of any script with their marks,
    digits, emoji. So nothing slips through because a pattern did not know it.
    """
    between = "".join(
        re.escape(chr(code))
        for code in range(min(sys.maxunicode, 0xFFFF))
        if unicodedata.category(chr(code)) in _BETWEEN
    )
    word = rf"[^{between}]+(?:[{_HYPHENS}'’][^{between}]+)*"
    return re.compile(rf"(?P<tag>{LAYOUT_TAG})|{word}")


_BETWEEN = frozenset(
    ("Zs", "Zl", "Zp", "Cc", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sc", "Sm", "Sk")
)


MOST_FORMS = 2**17
"""A tokenizer forgets all forms when it has seen so many: its memory does not grow with a file."""


@dataclass(frozen=True)
class Tokenizer:
    """Splits and joins text over one vocabulary; remembers forms it has seen."""

    vocabulary: Vocabulary
    _forms: dict[str, tuple[tuple[int, int, int, Case], ...]] = field(
        default_factory=dict, repr=False
    )

    def split(self, text: str) -> list[Piece]:
        """Words and gaps in order; gaps joined with the words' own spelling give the text back.

        A contraction whose parts are in the vocabulary is two words ("do" and "n't"), a hyphened
        word that is not in it is split at its hyphens. Digits count as words. Bare HTML tags for
        lay-out stay with the gaps.

        >>> from voile.text.vocabularies import vocabulary
        >>> words = vocabulary(["do", "n't", "stop"], [[0.0], [1.0], [2.0]])
        >>> Tokenizer(words).split("Don’t stop!")  # doctest: +ELLIPSIS
        [Token(position=0, case=<Case.CAPITAL: 1>, start=0, end=2), Token(position=1, ...]
        """
        pieces: list[Piece] = []
        forms, last = self._forms, 0
        for match in _pattern().finditer(text):
            if match.lastgroup == "tag":
                continue  # stays in the gap
            start, end = match.span()
            surface = match.group()
            parts = forms.get(surface)
            if parts is None:
                parts = tuple(
                    (*part, case_of(surface[part[1] : part[2]])) for part in self._parts(surface, 0)
                )
                if len(surface) <= self._longest_form:
                    if len(forms) >= MOST_FORMS:
                        forms.clear()
                    forms[surface] = parts
            for position, first, after, case in parts:
                if last < start + first:
                    pieces.append(text[last : start + first])
                last = start + after
                pieces.append(Token(position, case, start + first, last))
            if last < end:
                pieces.append(text[last:end])
                last = end
        if last < len(text):
            pieces.append(text[last:])
        return pieces

    def _parts(self, surface: str, offset: int) -> list[tuple[int, int, int]]:
        whole = (offset, offset + len(surface))
        if len(surface) <= self._longest_form:
            found = self._known(surface, offset)
            if found:
                return found
        pieces = list(re.finditer(rf"[^{_HYPHENS}]+", surface))
        if len(pieces) > 1:
            return [
                part
                for piece in pieces
                for part in self._parts(piece.group(), offset + piece.start())
            ]
        return [(self.vocabulary.unknown, *whole)]

    def _known(self, surface: str, offset: int) -> list[tuple[int, int, int]]:
        """A word of the vocabulary, or a contraction of two; nothing otherwise."""
        known, end = self.vocabulary.positions, offset + len(surface)
        plain = unicodedata.normalize("NFC", surface).lower().replace("’", "'")
        if plain in known:
            return [(known[plain], offset, end)]
        shortened = _SUFFIX.fullmatch(plain)
        if shortened and len(plain) == len(surface):
            base, suffix = shortened.groups()
            if suffix in known and base in known:
                middle = offset + len(base)
                return [(known[base], offset, middle), (known[suffix], middle, end)]
        return []

    @cached_property
    def _longest_form(self) -> int:
        """No longer form can be a word of the vocabulary: it is the unknown word, unread.

        A character taken apart has at most four parts, and a contraction adds three. Beyond, a run
        of combining marks would cost its square to normalise.
        """
        return 4 * (max(map(len, self.vocabulary.words), default=0) + 3)


def case_of(written: str) -> Case:
    """How a word is written; nothing at all is lower case."""
    if written.islower() or not written[0].isupper():
        return Case.LOWER
    return Case.UPPER if len(written) > 1 and written.isupper() else Case.CAPITAL


def join(pieces: Sequence[str | tuple[str, Case]]) -> str:
    """Gaps and released words as text: case restored, words that would run together kept apart."""
    parts: list[str] = []
    touching = False
    for piece in pieces:
        if isinstance(piece, str):
            parts.append(piece)
            touching = False
            continue
        word, case = piece
        if touching and not (word[0] == "'" or word == "n't"):
            parts.append(" ")
        if case is Case.CAPITAL:
            word = word[:1].upper() + word[1:]
        elif case is Case.UPPER:
            word = word.upper()
        parts.append(word)
        touching = True
    return "".join(parts)
