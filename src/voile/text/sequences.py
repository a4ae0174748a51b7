"""Texts as sequences of secrets and releases, for attackers who read whole documents."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from voile.attackers.attack import HIDDEN, Observed
from voile.attackers.corpus import Corpus
from voile.core.arrays import Indices
from voile.errors import InvalidInput, require
from voile.personal.patterns import find_identifiers
from voile.text.alignment import Laid, aligned, gaps_of, spellings
from voile.text.tiers import Tiers
from voile.text.tokens import Tokenizer
from voile.text.vocabularies import Vocabulary

SENSITIVE_LEVELS = (0, 1)
"""pii and poii; without tiers every word has level 0."""
_BARS = re.compile(r"[*#_█▇■•]{2,}")
"""What other tools write over a word."""


@dataclass(frozen=True)
class WordSequence(Laid):
    """A document's words as vocabulary positions, its gaps, and the tier of each word."""

    levels: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))


def read_words(
    texts: Sequence[str],
    words: Vocabulary,
    *,
    tiers: Tiers | None = None,
    beside: Sequence[str] | None = None,
) -> list[WordSequence]:
    """The words of each text with their tiers; an identifier counts as its placeholder.

    Of a release, only what is an identifier in the original `beside` it: drawn numbers may look
    like telephones.
    """
    tokenizer = Tokenizer(words)
    originals = texts if beside is None else beside
    plain = [_with_placeholders(*pair) for pair in zip(texts, originals, strict=True)]
    entities = tiers.entities(plain) if tiers is not None else [()] * len(plain)
    found = []
    for text, names in zip(plain, entities, strict=True):
        tokens = [piece for piece in tokenizer.split(text) if not isinstance(piece, str)]
        levels = [
            0 if tiers is None else tiers.level(token.position, token.start, token.end, names)
            for token in tokens
        ]
        found.append(
            WordSequence(
                words=np.array([token.position for token in tokens], dtype=np.intp),
                gaps=gaps_of(text, tokens),
                spellings=spellings(text, tokens, words),
                levels=np.array(levels, dtype=np.intp),
            )
        )
    return found


def _with_placeholders(text: str, original: str) -> str:
    """Identifiers that the original holds, and bars that it does not hold, as words."""
    text = _BARS.sub(lambda bars: bars[0] if bars[0] in original else "[MASK]", text)
    parts, last = [], 0
    for start, end, kind in find_identifiers(text):
        if text[start:end] not in original:
            continue
        parts += [text[last:start], f"[{kind}]"]
        last = end
    return "".join([*parts, text[last:]])


def corpus(
    originals: Sequence[WordSequence],
    releases: Sequence[WordSequence],
    words: Vocabulary,
    *,
    longest: int = 40,
    most_candidates: int = 5000,
    persons: Sequence[str] | None = None,
) -> Corpus:
    """Pair originals with releases, word by word, and number candidates and releases.

    The first `longest` words of each document are used. A document is owned by its person, or where
    no persons are told by all copies of its words.

    Candidates are the sensitive words that occur, the most frequent ones first; a sensitive
    position whose word is not among them does not count.
    """
    require(longest >= 1, "longest", ">= 1", longest)
    if len(originals) != len(releases):
        raise InvalidInput(
            f"original and release must have one row each for one another, got {len(originals)} "
            f"and {len(releases)}; were rows skipped? Protect with --on-error mask instead"
        )
    told = [aligned(a, b, longest=longest) for a, b in zip(originals, releases, strict=True)]
    copies = [original.words[:longest].tobytes() for original in originals]
    owners = numbered(copies if persons is None else (p or n for n, p in enumerate(persons)))
    paired = [
        (original.words[:longest], original.levels[:longest], released, owner)
        for original, released, owner in zip(originals, told, owners, strict=True)
        if released is not None and len(released)
    ]
    unaligned = sum(released is None for released in told)
    if not paired or 2 * unaligned > len(told):
        raise InvalidInput(
            f"in {unaligned} of {len(told)} documents it is unclear which released word stands for "
            "which: the attack compares word by word and cannot be used on this release. Are the "
            "rows in the same order?"
        )
    size = len(words) + 1
    counts = np.zeros(size, dtype=np.intp)
    shown = np.zeros(size, dtype=bool)
    level_of = np.full(size, SENSITIVE_LEVELS[-1] + 1, dtype=np.intp)
    for secrets, levels, released, _ in paired:
        counted = np.isin(levels, SENSITIVE_LEVELS) & (released != HIDDEN)
        np.add.at(counts, secrets[counted], 1)
        np.minimum.at(level_of, secrets[counted], levels[counted])
        shown[released[released != HIDDEN]] = True
    by_count = np.argsort(-counts, kind="stable")[:most_candidates]
    candidates = np.sort(by_count[counts[by_count] > 0])
    if len(candidates) < 2:
        raise InvalidInput(
            f"no sensitive words found: an attack needs at least two different ones, got "
            f"{len(candidates)}; name other tiers or count all words as sensitive"
        )
    seen = np.flatnonzero(shown)
    number, order = _numbered(candidates, size), _numbered(seen, size)
    sequences = []
    for secrets, levels, released, owner in paired:
        counted = np.isin(levels, SENSITIVE_LEVELS) & (released != HIDDEN)
        counted &= number[secrets] >= 0
        seen_as = np.where(released == HIDDEN, HIDDEN, order[released])
        sequences.append(Observed(seen_as, number[secrets], np.flatnonzero(counted), owner))
    return Corpus(
        words.embedding,
        tuple(sequences),
        candidates,
        seen,
        level_of[candidates],
        unaligned=unaligned,
        unpaired=sum(int((released == HIDDEN).sum()) for _, _, released, _ in paired),
        written=words.written,
    )


def numbered(keys: Iterable[Hashable]) -> list[int]:
    """A number for each, the same for equal ones.

    >>> numbered("abca")
    [0, 1, 2, 0]
    """
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _numbered(chosen: Indices, size: int) -> Indices:
    """The place of each vocabulary position among the chosen ones, −1 elsewhere."""
    table = np.full(size, -1, dtype=np.intp)
    table[chosen] = np.arange(len(chosen))
    return table
