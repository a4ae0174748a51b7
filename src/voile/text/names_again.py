"""Names that were found once in a scope, wherever else they stand there.

A pipeline finds Will Smith in one sentence and misses Will in the next. Every part of a name that
was found is taken for one wherever it is written with a capital. Only if it is a word as well does
the place count: at the head of a sentence or line any word has a capital, so *Will you come?* is
left, and in a text that is all in capitals every such word is. Where no word follows (*Will, go!*)
or it alone is in capitals (*WILL you come?*) it is taken for the name there too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from voile.personal.spans import KINDS, Span
from voile.text.name_pools import words_too
from voile.text.standin_forms import key_of
from voile.text.stopwords import STOPWORDS

PART = re.compile(
    r"[^\W_](?:[^\W_]|[\u0300-\u036f])*"
    r"(?:[-'’](?:[^\W\d_][\u0300-\u036f]*){2,})*(?:\s[A-Z]\.)*"
)
"""A part of a name; marks may follow their letters, as in decomposed text."""
TITLES = frozenset("mr mrs ms mx miss dr prof professor sir madam herr frau mme mlle".split())  # noqa: SIM905
"""What stays as it is in front of a name."""
TITLES_OF = {"fr": frozenset({"m", "monsieur", "madame"}), "es": frozenset({"sr", "sra", "srta"})}
"""And in one language alone: elsewhere these are initials and names."""
PARTICLES = frozenset("von van der den de la le del di da dos du el bin zu".split())  # noqa: SIM905
"""What stays as it is inside a name, if it is written small and the name is not."""
_SHORT_FOR = """
    BIC CVC CVV DOB ID IMEI IPV4 IPV6 ISBN ISIN NHS NIE NIF NIN NINO PESEL PIN SIREN SIRET SWIFT TIN
    UID VAT
"""
KIND_WORDS = frozenset(" ".join((*KINDS, _SHORT_FOR)).replace("_", " ").split())
"""What identifiers are called in front of them, in capitals: no organisation is meant."""

_ENDS = frozenset(".!?…\n\r\v\f\x85\u2028\u2029")
_OPENING = frozenset("\"'“”„«»‘’‚‹›([{<>*_#•·—–-")
_ABBREVIATED = re.compile(r"(?<!\w)(?:[^\W\d_]|(\w{2,9}))$")
_A_WORD_FOLLOWS = re.compile(r"[ \t\xa0]+\w")


class Again(NamedTuple):
    """Where names stand that were found elsewhere, and where words are left that may be these."""

    found: list[Span]
    left: list[Span]


def names_again(text: str, spans: Sequence[Span], names: frozenset[str], language: str) -> Again:
    """Where else these names stand, each given by the key of a part.

    >>> names_again("Will you call Will?", [], frozenset({"will"}), "en").found
    [Span(start=14, end=18, kind='PERSON')]
    """
    again = Again([], [])
    shouted = text.isupper()
    for match in PART.finditer(text):
        word = match.group()
        key = key_of("PERSON", word)
        if key not in names or key in PARTICLES or not word[0].isupper() or len(word) < 2:
            continue
        if any(match.start() < end and start < match.end() for start, end, _ in spans):
            continue
        a_word_too = key in STOPWORDS or key in words_too(language)
        left = a_word_too and (shouted or _may_be_a_word(text, match, language))
        (again.left if left else again.found).append(Span(*match.span(), "PERSON"))
    return again


def is_title(word: str, language: str) -> bool:
    """Whether it may stay as it is in front of a name."""
    return word in TITLES or word in TITLES_OF.get(language, frozenset())


def _may_be_a_word(text: str, match: re.Match[str], language: str) -> bool:
    """Whether the capital may be that of a sentence: it stands at a head, and a word follows."""
    if match.group().isupper() or not _A_WORD_FOLLOWS.match(text, match.end()):
        return False
    place = match.start() - 1
    while place >= 0 and text[place] not in _ENDS:
        if not (text[place].isspace() or text[place] in _OPENING):
            return False
        place -= 1
    if place < 0 or text[place] != ".":
        return True
    before = _ABBREVIATED.search(text, max(0, place - 10), place)
    return before is None or not (before[1] is None or is_title(before[1].casefold(), language))
