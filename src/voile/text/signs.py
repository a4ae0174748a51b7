"""Signs at words: the + of HIV+ and the − of O−, which can be the whole secret."""

from __future__ import annotations

import re
import sys
import unicodedata
from enum import StrEnum
from functools import cache

from voile.text.tokens import LAYOUT_TAG

_HYPHENS = "-‐‑‒–—―⁃﹘﹣－"
_CLOSING = ")]}\"'”’»"


class Signs(StrEnum):
    """What happens to a sign at a word."""

    DROP = "drop"
    KEEP = "keep"  # in clear: outside the guarantee


@cache
def _signs() -> tuple[str, str]:
    """Plus and minus in all their forms, and the other signs of mathematics (< = > ~ ↑ …).

    A vertical bar parts the columns of a table, and is punctuation.
    """
    every = [
        chr(code)
        for code in range(min(sys.maxunicode, 0xFFFF) + 1)
        if unicodedata.category(chr(code)) == "Sm"
    ]
    plus = "".join(c for c in every if re.search("PLUS|MINUS", unicodedata.name(c)))
    return plus, "".join(c for c in every if c not in plus + "|") + "^"


@cache
def _any_sign() -> re.Pattern[str]:
    plus, others = _signs()
    return re.compile(f"[{re.escape(plus + others + _HYPHENS)}]")


@cache
def _alone() -> re.Pattern[str]:
    """Signs in brackets of their own, or between spaces, with the space before them."""
    signs = re.escape(_signs()[0] + _HYPHENS)
    bracketed = rf"\s?[(\[{{]\s*[{signs}/]+(?:\s+[{signs}/]+)*\s*[)\]}}]"
    return re.compile(rf"{bracketed}|[^\S\r\n][{signs}]+(?=\s)")


_TAG = re.compile(f"({LAYOUT_TAG})")


def without_signs(gap: str, *, after_word: bool, before_word: bool) -> str:
    """What stands between words, without the signs that belong to one of them.

    Plus and minus go wherever they stand, and so do hyphens and dashes, which are written for a
    minus, unless they join two words without a space. The other signs of mathematics go where they
    touch a word. Brackets around signs alone, and the space before a sign that stands alone, go
    with it. Bare lay-out tags stay, and all other punctuation.

    >>> [without_signs(gap, after_word=True, before_word=True) for gap in ("+ ", "-/", "-", " - ")]
    [' ', '/', '-', ' ']
    """
    if not _any_sign().search(gap):
        return gap
    parts = _TAG.split(gap)
    last = len(parts) - 1
    return "".join(
        part if place % 2 else _bare(part, after_word and place == 0, before_word and place == last)
        for place, part in enumerate(parts)
    )


def _bare(gap: str, after_word: bool, before_word: bool) -> str:
    """The same for a gap without tags."""
    plus, others = _signs()
    gap = _alone().sub("", gap)
    spaces = [place for place, sign in enumerate(gap) if sign.isspace()]
    first, last = (spaces[0], spaces[-1]) if spaces else (len(gap), -1)
    kept = []
    for place, sign in enumerate(gap):
        touching = (after_word and place < first) or (before_word and place > last)
        before = gap[place - 1] if place else ("w" if after_word else " ")
        after = gap[place + 1] if place + 1 < len(gap) else ("w" if before_word else " ")
        if sign in plus or (sign in others and touching):
            continue
        if sign in _HYPHENS:
            joins = (before in _HYPHENS + "w" + _CLOSING) and (after in _HYPHENS + "w")
            whole = joins and not gap.strip(_HYPHENS + _CLOSING)
            if not (whole and after_word and before_word):
                continue
        kept.append(sign)
    return "".join(kept)
