"""How much of the private texts stands in public ones: more than chance puts there is no chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from voile.text.tokens import Tokenizer
from voile.text.vocabularies import Vocabulary

SHORTEST = 3
"""Shorter texts are stock phrases: what they share tells little, unless most are shared."""
BAG = 4
"""Texts of so many words or more are also compared whatever the order of their words."""
MOST_SHARED, MOST_SHORT = 0.2, 0.5
"""Larger shares of whole texts, or of long runs, and of short runs or short texts are no chance."""
LONG, SHORT = 8, 3
"""How many words the runs have that are compared."""
_LOOKED_AT = 2000
"""So many private texts, spread over all, are compared by runs of words."""
_COUNTED = 8
"""One in so many public runs, chosen by its content, is counted to see how public text repeats."""

Words = tuple[int, ...]
Texts = Callable[[], Iterable[str]]


class Overlap(NamedTuple):
    """What is shared beyond chance, in words, if something is; and whether anything is at all."""

    beyond: str | None
    some: bool


def overlap(private: Texts, public: Texts, vocabulary: Vocabulary) -> Overlap:
    """What private texts share with public ones.

    Texts are compared as the words that a prior would be counted on. Four things are looked at:
    whole texts, whatever their order; texts of four words or more, whatever the order of their
    words; runs of eight words, also over the ends of public texts; and runs of three that the
    private texts hold once, of which no more may be met than half, or than public texts meet in one
    another where those repeat themselves more than that. A copy that was cut into pieces of four
    words or fewer, and those shuffled, can pass; so can one whose words were shuffled beyond the
    ends of texts.
    """
    words_of = _WordsOf(vocabulary)
    lengths: dict[int, int] = {}
    bags: set[int] = set()
    for text in map(words_of, private()):
        if text:
            lengths[hash(text)] = len(text)
            bags.update(_bag(text))
    step = math.ceil(len(lengths) / _LOOKED_AT) or 1
    looked_at = set(islice(lengths, 0, None, step))
    long: set[int] = set()
    short: Counter[int] = Counter()
    for text in map(words_of, private()):
        if hash(text) in looked_at:
            looked_at.remove(hash(text))
            long.update(_runs(text, LONG))
            short.update(_runs(text, SHORT))
    rare = {run for run, times in short.items() if times == 1}
    seen = _Seen()
    for text in map(words_of, public()):
        seen.add(text, long, rare, bags)
    found = [length for text, length in lengths.items() if text in seen.texts]
    beyond = (
        _whole(found, lengths.values())
        or _in_any_order(len(seen.bags), len(bags))
        or _beyond(len(seen.long), len(long), MOST_SHARED, LONG)
        or _beyond(len(seen.rare), len(rare), max(MOST_SHORT, seen.repeated()), SHORT)
    )
    return Overlap(beyond, any(length >= BAG for length in found))


def _whole(found: Sequence[int], lengths: Collection[int]) -> str | None:
    longer = sum(length >= SHORTEST for length in lengths)
    shared = sum(length >= SHORTEST for length in found)
    if _too_many(shared, longer):
        return f"{shared:,} of {longer:,} private texts of three words or more are in it"
    if len(found) > MOST_SHORT * len(lengths):
        return f"{len(found):,} of {len(lengths):,} private texts are in it"
    return None


def _in_any_order(shared: int, of: int) -> str | None:
    if not _too_many(shared, of):
        return None
    return (
        f"{shared:,} of {of:,} private texts of four words or more are in it, word for word if "
        "not in their order"
    )


def _too_many(shared: int, of: int) -> bool:
    return shared > MOST_SHARED * of and (shared > 1 or shared > MOST_SHORT * of)


def _beyond(met: int, of: int, most: float, words: int) -> str | None:
    """Whether more is met than the share allowed and two standard errors of it."""
    if not of or met < most * of + 2 * math.sqrt(most * (1 - most) * of) or met <= most * of:
        return None
    return f"{100 * met / of:.0f} % of the private runs of {words} words are in it"


class _WordsOf:
    """Texts as the words a prior is counted on; words outside the vocabulary by their spelling."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokenizer, self._unknown = Tokenizer(vocabulary), vocabulary.unknown

    def __call__(self, text: str) -> Words:
        pieces = self._tokenizer.split(text)
        return tuple(
            piece.position
            if piece.position != self._unknown
            else hash(text[piece.start : piece.end].lower())
            for piece in pieces
            if not isinstance(piece, str)
        )


class _Seen:
    """What was met in public texts, each counted once however often it stands there."""

    def __init__(self) -> None:
        self.texts: set[int] = set()
        self.long: set[int] = set()
        self.rare: set[int] = set()
        self.bags: set[int] = set()
        self._counted: Counter[int] = Counter()
        self._before: Words = ()

    def add(self, text: Words, long: set[int], rare: set[int], bags: set[int]) -> None:
        joined = self._before + text
        self.long.update(long.intersection(_runs(joined, LONG)))
        runs = set(_runs(joined[-len(text) - SHORT + 1 :], SHORT))
        self.rare.update(rare & runs)
        self._before = joined[-LONG + 1 :]
        if hash(text) not in self.texts:
            self.texts.add(hash(text))
            self.bags.update(bags.intersection(_bag(text)))
            self._counted.update(run for run in runs if run % _COUNTED == 0)

    def repeated(self) -> float:
        """The share of public runs of three words that stand in another public text too."""
        total = self._counted.total()
        again = sum(times for times in self._counted.values() if times > 1)
        return again / total if total else 0.0


def _runs(words: Words, length: int) -> Iterator[int]:
    return (hash(words[i : i + length]) for i in range(len(words) - length + 1))


def _bag(words: Words) -> Iterator[int]:
    """The words of a text in no order, if they are enough to tell it by."""
    if len(words) >= BAG:
        yield hash(tuple(sorted(words)))
