"""A text as a reader sees it: signs that do not show left out, other forms of a sign as one.

A number may be held together by spaces that do not break, an address hold a soft hyphen, a name be
written with letters and marks apart, in full width, as entities of HTML or escapes of JSON. To a
reader they are the same; so whatever looks for names and identifiers, or for their stand-ins, reads
the plain text, and what it finds is given back as places in the text itself.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from voile.personal.spans import Span

_MARKS = "\u0300-\u036f"
_PIECE = re.compile(
    r"(?P<coded>&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,31});)"
    r"|(?P<escaped>\\(?:u[\da-fA-F]{4}|[nrt](?![a-z])|/))"
    rf"|(?P<marked>[^\W\d_][{_MARKS}]+)"
    rf"|[\t-\r\x1c-\x25\x27-\x5b\x5d-\x7e]+(?![{_MARKS}])|[\s\S]"
)
_ODD = re.compile(r"[&\\\x00-\x08\x0e-\x1b\x7f]")
_NOT_READ = frozenset({"Cc", "Cs", "Co", "Cn"})
_HYPHENS = frozenset("‐‑‒−﹣－")
_UNSEEN = frozenset("\u034f\u115f\u1160\u20e3\u3164\uffa0") | frozenset(
    map(chr, range(0xFE00, 0xFE10))
)
"""What shows no sign of its own and is no format character: joiners, fillers, variants, keycaps."""


class Plain(NamedTuple):
    """A plain text, and from where to where each of its signs stands in the text itself.

    Both are None where nothing is written otherwise.
    """

    text: str
    starts: list[int] | None
    ends: list[int] | None

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where in the text itself a place of the plain text is that is not empty."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def spans(self, found: Iterable[Span]) -> list[Span]:
        """What was found in the plain text, as places in the text itself."""
        return [Span(*self.place(start, end), kind) for start, end, kind in found]


def plain(text: str) -> Plain:
    """The text as a reader sees it; each of its signs is one or more of the text's.

    >>> plain("A\u00adnn, +44\u00a020 &#55;946").text
    'Ann, +44 20 7946'
    >>> plain("A\u00adnn").spans([Span(0, 3, "PERSON")])
    [Span(start=0, end=4, kind='PERSON')]
    """
    if not _ODD.search(text) and (
        text.isascii() or all(_read_as(sign) == sign for sign in set(text))
    ):
        return Plain(text, None, None)
    signs: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _PIECE.finditer(text):
        start, end = match.span()
        piece = match.group()
        if match.lastgroup is None and piece.isascii() and not _ODD.match(piece):
            signs.append(piece)
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        if match.lastgroup == "marked":
            piece = unicodedata.normalize("NFC", piece)[0]
        elif match.lastgroup is not None:
            piece = _meant(piece)
        if len(piece) > 1:  # an entity of several signs, or of none that is known: as it stands
            signs.append(piece)
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        elif read := _read_as(piece):
            signs.append(read)
            starts.append(start)
            ends.append(end)
    return Plain("".join(signs), starts, ends)


def _meant(coded: str) -> str:
    """The one sign that an entity or escape stands for; itself where that is none to be read."""
    sign = unescape(coded) if coded[0] == "&" else json.loads(f'"{coded}"')
    read = len(sign) == 1 and (unicodedata.category(sign) not in _NOT_READ or sign in "\n\r\t")
    return str(sign) if read else coded


@lru_cache(maxsize=2**14)
def _read_as(sign: str) -> str:
    """The plain form of a sign, or nothing if it does not show; a mark by itself does not."""
    category = unicodedata.category(sign)
    if category == "Cf" or sign in _UNSEEN or "\u0300" <= sign <= "\u036f":
        return ""
    if category == "Cs":
        return "\ufffd"  # half of a sign, which no pipeline can read
    if category == "Cc":
        return sign if sign.isspace() else ""
    if category == "Nd":
        return str(unicodedata.digit(sign))
    if category == "Zs" or sign in _HYPHENS:
        return " " if category == "Zs" else "-"
    if unicodedata.decomposition(sign).startswith(("<super>", "<sub>")):
        return sign  # 10², 1º: no digit or letter of what stands before
    compatible = unicodedata.normalize("NFKC", sign)
    return compatible if len(compatible) == 1 else sign
