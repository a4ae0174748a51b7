"""Attribution by what most rewriters of words leave in clear: how many, what signs, which case."""

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
    """How many words, how many of them capitalised or in capitals, and each sign.

    >>> sorted(shape_of("I'd fly to OSLO!").items())
    [('!', 1), ("'", 1), ('capitalised', 1), ('capitals', 1), ('words', 5)]
    """
    counts: Counter[str] = Counter()
    for piece in pieces_of(text):
        case = case_of(piece)
        if not case:
            counts[piece] += 1
            continue
        counts[WORDS] += 1
        if case != WORDS:
            counts[case] += 1
    return counts


@dataclass(frozen=True)
class Shape:
    """The candidate whose shape differs least: −Σ|difference of counts|, no word is read.

    A mechanism that replaces words one by one keeps all of this, whatever its ε. So an audit
    without this attack says nothing about it.

    >>> import numpy as np
    >>> pool = ["a flight to boston, please", "Play jazz!"]
    >>> Shape().scores(pool, np.array([[0, 1]]), ["one bird of denver, tree"])
    array([[ 0., -6.]])
    """

    name: str = "shape"

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Minus the number of counts by which a candidate and the release differ."""
        check_trials(pool, sets, releases)
        shapes = {int(i): shape_of(pool[i]) for i in np.unique(sets)}
        table = np.zeros(sets.shape)
        for row, (members, release) in enumerate(zip(sets.tolist(), releases, strict=True)):
            found = shape_of(release)
            for column, member in enumerate(members):
                keys = found.keys() | shapes[member].keys()
                table[row, column] = 0.0 - sum(abs(found[k] - shapes[member][k]) for k in keys)
        return table
