"""Attribution by what most rewriters of words leave in clear: words, case, signs and spacing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.core.arrays import Floats, Indices

_PIECE = re.compile(r"\w+|[^\w\s]", re.UNICODE)
_WORD, _GAP = re.compile(r"\w+"), re.compile(r"\s+")
A_PLACE = 0.125
"""What a sign, gap or capital at another place is worth beside one more of it."""
WORDS, CAPITALISED, CAPITALS = "words", "capitalised", "capitals"


def pieces_of(text: str) -> list[str]:
    """Words and signs, in order."""
    return _PIECE.findall(text)


def case_of(piece: str) -> str:
    """Whether a word is capitalised, in capitals, or neither; "" for a sign."""
    if not (piece[0].isalnum() or piece[0] == "_"):
        return ""
    if len(piece) > 1 and piece.isupper():
        return CAPITALS
    return CAPITALISED if piece[0].isupper() else WORDS


def shape_of(text: str) -> Counter[str]:
    """How many words, how many of them capitalised or in capitals, each sign, each odd gap.

    A single space between words is no odd gap; two, a line break or a tab are. A character that
    nobody sees, of width zero, is a sign like others.

    >>> sorted(shape_of("I'd fly to  OSLO!").items())
    [('  ', 1), ('!', 1), ("'", 1), ('capitalised', 1), ('capitals', 1), ('words', 5)]
    """
    counts: Counter[str] = Counter(gap for gap in _GAP.findall(text) if gap != " ")
    for piece in pieces_of(text):
        case = case_of(piece)
        if not case:
            counts[piece] += 1
            continue
        counts[WORDS] += 1
        if case != WORDS:
            counts[case] += 1
    return counts


def places_of(text: str) -> frozenset[tuple[int, str]]:
    """Where its form is not a small word after a single space: by words from the start, or the end.

    >>> sorted(places_of("so, no"))
    [(-2, ', '), (1, ', ')]
    """
    words = list(_WORD.finditer(text))
    found = []
    last = 0
    for place, match in enumerate(words):
        between, case = text[last : match.start()], case_of(match.group())
        if between != (" " if place else ""):
            found.append((place, between))
        if case != WORDS:
            found.append((place, case))
        last = match.end()
    if last < len(text):
        found.append((len(words), text[last:]))
    from_end = ((place - len(words) - 1, what) for place, what in found)
    return frozenset((*found, *from_end))


@dataclass(frozen=True)
class Form:
    """What is read of a text: how much there is of everything, and where."""

    counts: Counter[str]
    places: frozenset[tuple[int, str]]

    @classmethod
    def of(cls, text: str) -> Form:
        """Of a candidate, or of a release."""
        return cls(shape_of(text), places_of(text))

    def apart(self, other: Form) -> float:
        """Σ|difference of counts|, and a small share for each place that is not in both."""
        mine, theirs = self.counts, other.counts
        counts = sum(abs(mine[k] - theirs[k]) for k in mine.keys() | theirs.keys())
        return counts + A_PLACE * len(self.places ^ other.places)


@dataclass(frozen=True)
class Shape:
    """The candidate whose form differs least: words, case, signs, spacing; no word is read.

    A mechanism that replaces words one by one keeps all of this, whatever its ε. So an audit
    without this attack says nothing about it. Where signs, gaps and capitals stand counts less than
    how many there are: a word more shifts all that follow it.

    >>> import numpy as np
    >>> pool = ["a flight to boston, please", "Play jazz!"]
    >>> Shape().scores(pool, np.array([[0, 1]]), ["one bird of denver, tree"])
    array([[ 0.  , -6.75]])
    """

    name: str = "shape"

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Minus how far the forms of a candidate and the release are apart."""
        check_trials(pool, sets, releases)
        forms = {int(i): Form.of(pool[i]) for i in np.unique(sets)}
        table = np.zeros(sets.shape)
        for row, (members, release) in enumerate(zip(sets.tolist(), releases, strict=True)):
            found = Form.of(release)
            table[row] = [0.0 - found.apart(forms[member]) for member in members]
        return table
