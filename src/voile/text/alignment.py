"""Which word of a release stands for which word of the original."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.attack import HIDDEN
from voile.core.arrays import Floats, Indices
from voile.text.tokens import Token
from voile.text.vocabularies import Vocabulary

WORD, GAP, SPACE_ADDED, UNPAIRED = 0.5, 0.25, 0.0625, 1.0
"""What differs and what it costs; binary fractions, so that sums are exact and ties are ties."""
MOST_ODD = 0.2
"""The share of words that may be without a partner, or have other signs before them."""
_MARKS = re.compile(r"[\[\]<>{}*_#]+")
"""Brackets and bars that other tools put around what they masked."""


@dataclass(frozen=True)
class Spelling:
    """Tokens first … stop − 1 of a text that together spell one word of the vocabulary.

    A released "u.s." is read again as two words with a stop between them, a released "'s" as an
    "s" after a sign. `before` and `after` are the gaps around the whole.
    """

    first: int
    stop: int
    word: int
    before: str
    after: str


def gaps_of(text: str, tokens: Sequence[Token]) -> tuple[str, ...]:
    """What stands before each word, and after the last: white space as one space, no marks."""
    edges = [0, *(edge for token in tokens for edge in (token.start, token.end)), len(text)]
    return tuple(_gap(text[start:end]) for start, end in zip(edges[::2], edges[1::2], strict=True))


def _gap(written: str) -> str:
    return re.sub(r"\s+", " ", _MARKS.sub("", written))


def spellings(text: str, tokens: Sequence[Token], words: Vocabulary) -> tuple[Spelling, ...]:
    """All other ways to read up to three neighbouring tokens as one word, signs included."""
    found = []
    edges = [0, *(token.end for token in tokens)]
    nexts = [*(token.start for token in tokens), len(text)]
    for first in range(len(tokens)):
        for stop in range(first + 1, min(first + 4, len(tokens) + 1)):
            start, end = tokens[first].start, tokens[stop - 1].end
            if stop > first + 1 and any(c.isspace() for c in text[start:end]):
                break
            for lead in (0, 1) if text[start - 1 : start] in ("'", "’", ".") else (0,):
                for trail in (0, 1) if text[end : end + 1] == "." else (0,):
                    if stop == first + 1 and not lead and not trail:
                        continue  # the plain reading
                    surface = text[start - lead : end + trail].lower().replace("’", "'")
                    word = words.positions.get(surface)
                    if word is not None:
                        before = _gap(text[edges[first] : start - lead])
                        after = _gap(text[end + trail : nexts[stop]])
                        found.append(Spelling(first, stop, word, before, after))
    return tuple(found)


@dataclass(frozen=True)
class Laid:
    """A text as alignment sees it: words, the gaps around them, other spellings."""

    words: Indices
    gaps: tuple[str, ...]
    spellings: tuple[Spelling, ...] = ()


def aligned(original: Laid, release: Laid, *, longest: int) -> Indices | None:
    """For each of the first `longest` words what was released for it; None if that is unclear.

    The cheapest pairing in order (Needleman and Wunsch, 1970): a word that differs, a gap that
    differs on either side and a word without a partner cost; a space added between words that
    touched hardly does. A release that keeps the lay-out aligns whatever its words became; so
    does one that masks or drops some words. A word without a clear partner is `HIDDEN`. Where
    more than a fifth of the words has no partner or other signs before it, as after a
    paraphrase, the answer is None. Costs words² for a document that is not laid out alike.

    >>> import numpy as np
    >>> before = Laid(np.array([4, 7, 2]), ("", " ", " ", "."))
    >>> aligned(before, Laid(np.array([5, 2]), ("", " ", ".")), longest=9) is None
    True
    >>> aligned(before, Laid(np.array([5, 7, 1]), ("", " ", " ", ".")), longest=9)
    array([5, 7, 1])
    """
    size = min(len(original.words), longest)
    if len(original.gaps) == len(release.gaps) and all(
        a == b or _added(a, b) for a, b in zip(original.gaps, release.gaps, strict=True)
    ):
        return release.words[:size].copy()
    cut = len(original.words) > size
    limit = min(len(release.words), size + size // 2 + 10) if cut else len(release.words)
    if not size or not limit:
        return None
    simple, others = _costs(original, release, size, limit)
    table = _table(simple, others)
    end = int(table[-1].argmin()) if cut else limit
    partners, left = _pairs(table, simple, others, end)
    told = np.full(size, HIDDEN, dtype=np.intp)
    odd = size - len(partners) + len(left)
    ended, eaten = -1, 0  # where the word before ended, and whether it took a stop from the gap
    for row in sorted(partners):
        first, spelling = partners[row]
        told[row] = spelling.word if spelling else release.words[first]
        before = spelling.before if spelling else release.gaps[first]
        gap = before[eaten:] if ended == first else before
        odd += original.gaps[row] != gap and not _added(original.gaps[row], gap)
        ended = spelling.stop if spelling else first + 1
        eaten = len(release.gaps[ended]) - len(spelling.after) if spelling else 0
        # A piece without a partner that touches a word makes that word unclear.
        if (first - 1 in left and " " not in release.gaps[first]) or (
            ended in left and " " not in release.gaps[ended]
        ):
            told[row] = HIDDEN
    return told if odd <= MOST_ODD * size else None


def _added(before: str, after: str) -> bool:
    """Whether the only difference is the space that keeps touching words apart."""
    return before == "" and after == " "


def _costs(
    original: Laid, release: Laid, size: int, limit: int
) -> tuple[Floats, list[tuple[Spelling, Floats]]]:
    """The cost of pairing each word with each plain reading, and with each other spelling."""
    numbers: dict[str, int] = {"": 0, " ": 1}

    def numbered(gaps: Sequence[str]) -> Indices:
        return np.array([numbers.setdefault(gap, len(numbers)) for gap in gaps], dtype=np.intp)

    own, theirs = numbered(original.gaps[: size + 1]), numbered(release.gaps[: limit + 1])

    def gap_cost(mine: Indices, other: Indices) -> Floats:
        cost = np.where(mine[:, None] == other[None], 0.0, GAP)
        cost[(mine[:, None] == 0) & (other[None] == 1)] = SPACE_ADDED
        return cost

    simple = WORD * (original.words[:size, None] != release.words[None, :limit])
    simple = simple + gap_cost(own[:-1], theirs[:-1]) + gap_cost(own[1:], theirs[1:])
    others = []
    for spelling in release.spellings:
        if spelling.stop <= limit:
            around = numbered([spelling.before, spelling.after])
            cost = WORD * (original.words[:size] != spelling.word)
            cost = cost + gap_cost(own[:-1], around[:1])[:, 0] + gap_cost(own[1:], around[1:])[:, 0]
            others.append((spelling, cost))
    return simple, others


def _table(simple: Floats, others: Sequence[tuple[Spelling, Floats]]) -> Floats:
    """Least cost of pairing the first i words with the first j tokens, for all i and j."""
    size, limit = simple.shape
    steps = np.arange(limit + 1) * UNPAIRED
    table = np.empty((size + 1, limit + 1))
    table[0] = steps
    for row in range(size):
        above = table[row]
        best = above + UNPAIRED
        np.minimum(best[1:], above[:-1] + simple[row], out=best[1:])
        for spelling, cost in others:
            best[spelling.stop] = min(best[spelling.stop], above[spelling.first] + cost[row])
        # A token without a partner costs the same wherever it stands: a running minimum.
        table[row + 1] = np.minimum.accumulate(best - steps) + steps
    return table


def _pairs(
    table: Floats, simple: Floats, others: Sequence[tuple[Spelling, Floats]], end: int
) -> tuple[dict[int, tuple[int, Spelling | None]], set[int]]:
    """One cheapest pairing: word → (its first token, other spelling if any); tokens left over."""
    partners: dict[int, tuple[int, Spelling | None]] = {}
    left: set[int] = set()
    row, column = len(table) - 1, end
    while row or column:
        here = table[row, column]
        if row and column and here == table[row - 1, column - 1] + simple[row - 1, column - 1]:
            row, column = row - 1, column - 1
            partners[row] = (column, None)
            continue
        for spelling, cost in others if row else ():
            reached = table[row - 1, spelling.first] + cost[row - 1]
            if spelling.stop == column and here == reached:
                row, column = row - 1, spelling.first
                partners[row] = (column, spelling)
                break
        else:
            if row and here == table[row - 1, column] + UNPAIRED:
                row -= 1
            else:
                column -= 1
                left.add(column)
    return partners, left
