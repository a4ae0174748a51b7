"""Texts as sequences of secrets and releases, for attackers who read whole documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.attack import HIDDEN, Observed
from voile.core.arrays import Floats, Indices
from voile.domains.text.identifiers import find_identifiers
from voile.domains.text.tiers import Tiers
from voile.domains.text.tokens import Tokenizer
from voile.domains.text.vocabulary import Vocabulary
from voile.errors import InvalidInput, require

SENSITIVE_LEVELS = (0, 1)
"""pii and poii; without tiers every word has level 0."""


@dataclass(frozen=True)
class WordSequence:
    """A document's words as vocabulary positions, the tier of each, and where each stands.

    `chunks` numbers the runs between white space, which a release leaves as they are: they pair
    an original with its release even where a released word is read as two.
    """

    words: Indices
    levels: Indices
    chunks: Indices
    length: int


@dataclass(frozen=True)
class Corpus:
    """Documents ready for an attacker.

    `candidates` and `seen` are vocabulary positions: what a secret may be, and what was
    released somewhere; sequences count in them. `unaligned` documents were left out, because
    original and release are not laid out alike.
    """

    vocabulary: Vocabulary
    sequences: tuple[Observed, ...]
    candidates: Indices
    seen: Indices
    levels: Indices
    unaligned: int

    def candidate_vectors(self) -> Floats:
        """A row of coordinates for each candidate, in the metric's own unit."""
        return self.vocabulary.embedding.points[self.candidates] * self.vocabulary.embedding.step

    def release_vectors(self) -> Floats:
        """A row for each release."""
        return self.vocabulary.embedding.points[self.seen] * self.vocabulary.embedding.step

    def distances(self) -> Floats:
        """Distances between candidates."""
        return self.vocabulary.embedding.metric.pairwise(self.candidates, self.candidates)


def read_words(
    texts: Sequence[str], words: Vocabulary, *, tiers: Tiers | None = None
) -> list[WordSequence]:
    """The words of each text with their tiers; an identifier counts as its placeholder."""
    tokenizer = Tokenizer(words)
    plain = [_with_placeholders(text) for text in texts]
    entities = tiers.entities(plain) if tiers is not None else [()] * len(plain)
    found = []
    for text, names in zip(plain, entities, strict=True):
        tokens = [piece for piece in tokenizer.split(text) if not isinstance(piece, str)]
        starts = [match.start() for match in re.finditer(r"\S+", text)]
        levels = [
            0 if tiers is None else tiers.level(token.position, token.start, token.end, names)
            for token in tokens
        ]
        found.append(
            WordSequence(
                words=np.array([token.position for token in tokens], dtype=np.intp),
                levels=np.array(levels, dtype=np.intp),
                chunks=np.searchsorted(starts, [t.start for t in tokens], side="right") - 1,
                length=len(starts),
            )
        )
    return found


def _with_placeholders(text: str) -> str:
    parts, last = [], 0
    for start, end, kind in find_identifiers(text):
        parts += [text[last:start], f"[{kind}]"]
        last = end
    return "".join([*parts, text[last:]])


def released_words(original: WordSequence, release: WordSequence) -> Indices:
    """For each word of the original what was released for it, `HIDDEN` where that is unclear."""
    size = original.length
    before = np.bincount(original.chunks, minlength=size)
    after = np.bincount(release.chunks, minlength=size)
    first = np.concatenate([[0], np.cumsum(after)[:-1]])
    start = np.concatenate([[0], np.cumsum(before)[:-1]])
    own = original.chunks
    place = first[own] + np.arange(len(own)) - start[own]
    clear = before[own] == after[own]
    chosen = np.full(len(own), HIDDEN, dtype=np.intp)
    chosen[clear] = release.words[place[clear]]
    return chosen


def corpus(
    originals: Sequence[WordSequence],
    releases: Sequence[WordSequence],
    words: Vocabulary,
    *,
    longest: int = 40,
    most_candidates: int = 5000,
) -> Corpus:
    """Pair originals with releases, word by word, and number candidates and releases.

    The first `longest` words of each document are used.

    Candidates are the sensitive words that occur, the most frequent ones first; a sensitive
    position whose word is not among them does not count.
    """
    require(longest >= 1, "longest", ">= 1", longest)
    if len(originals) != len(releases):
        raise InvalidInput(
            f"original and release must have one row each for one another, got {len(originals)} "
            f"and {len(releases)}; were rows skipped? Protect with --on-error mask instead"
        )
    same = [a.length == b.length > 0 for a, b in zip(originals, releases, strict=True)]
    if not any(same):
        raise InvalidInput(
            "no document has as many runs between spaces in the release as in the original: the "
            "attack compares word by word and cannot be used on this release"
        )
    paired = [
        (original.words[:longest], original.levels[:longest],
         released_words(original, release)[:longest])
        for original, release, ok in zip(originals, releases, same, strict=True)
        if ok and len(original.words)
    ]  # fmt: skip
    size = len(words) + 1
    counts = np.zeros(size, dtype=np.intp)
    shown = np.zeros(size, dtype=bool)
    level_of = np.full(size, SENSITIVE_LEVELS[-1] + 1, dtype=np.intp)
    for secrets, levels, released in paired:
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
    for secrets, levels, released in paired:
        counted = np.isin(levels, SENSITIVE_LEVELS) & (released != HIDDEN)
        counted &= number[secrets] >= 0
        told = np.where(released == HIDDEN, HIDDEN, order[released])
        sequences.append(Observed(told, number[secrets], np.flatnonzero(counted)))
    return Corpus(
        words, tuple(sequences), candidates, seen, level_of[candidates], same.count(False)
    )


def _numbered(chosen: Indices, size: int) -> Indices:
    """The place of each vocabulary position among the chosen ones, −1 elsewhere."""
    table = np.full(size, -1, dtype=np.intp)
    table[chosen] = np.arange(len(chosen))
    return table
