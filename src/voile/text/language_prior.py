"""What public text says of how words follow one another, and what it must not be made from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.files.locations import sha256_of
from voile.files.source import Source, open_source
from voile.progress import tell
from voile.restoring.ngrams import NGrams, fit_ngrams, without_context
from voile.text.plan import Plan
from voile.text.reading import texts_in
from voile.text.reranker import ModelUsed
from voile.text.states import SIGNS, UNTOLD, States
from voile.text.tokens import Case
from voile.text.vocabularies import Vocabulary
from voile.text.word_frequencies import WordFrequencies, word_frequencies
from voile.text.word_protector import TextProtector

HELD_OUT_EVERY, MOST_HELD_OUT = 20, 300
"""Every twentieth public text, up to so many, is kept to see how well the prior reads its kind."""
ENOUGH = 0.7
"""A prior that gains less than this share of what it gains on its own kind of text does not fit."""
_SURE, _FEW = 2.0, 1000
"""So many standard errors must lie between where there are fewer words: they tell little."""
_TO_SIGNS, _TO_PLACEHOLDER = 0.03, 1e-6
"""What the general prior gives to signs: they are known wherever they stand."""
_CASE_STRENGTH = 4.0
"""How many sightings the overall casing is worth beside a word's own."""


@dataclass(frozen=True)
class PriorUsed:
    """Which public text or list was used, as a guarantee file says it."""

    source: str
    file: str | None = None
    sha256: str | None = None
    texts: int = 0
    words: int = 0
    outside_vocabulary: float = 0.0


@dataclass(frozen=True)
class Gain:
    """How much better context foretells draws than frequencies do, in nats a word."""

    mean: float
    spread: float
    texts: int

    @property
    def enough(self) -> float:
        """A prior that gains less than this on other texts does not fit them."""
        return ENOUGH * self.mean

    def error(self, words: int) -> float:
        """What chance may do to the gain on so many words: two standard errors, if they are few."""
        return _SURE * self.spread / math.sqrt(words) if words < _FEW else 0.0


@dataclass(frozen=True, eq=False)
class LanguagePrior:
    """How words follow one another in public text, and how they occur and are written at large.

    `held_out` are public texts that were not counted; `expected` is what context gains on them once
    they went through the laws at hand.
    """

    used: PriorUsed
    ngrams: NGrams
    general: Floats
    case_shares: Floats
    held_out: tuple[str, ...] = field(default=(), repr=False)
    expected: Gain | None = None
    model: ModelUsed | None = None
    """The language model that was asked for, and what it is worth there."""

    @property
    def frequencies(self) -> Floats:
        """How often each word occurs there; nothing for the unknown word, which nobody aims at."""
        found = np.append(self.ngrams.unigram[: len(self.general) - 1], 0.0)
        return np.asarray(found / found.sum())


def frequencies_prior(words: Vocabulary) -> LanguagePrior:
    """The prior where there is no public text: how often words occur, each by itself."""
    found = word_frequencies(words)
    general = _positive(found)
    flat = np.full((len(general), len(Case)), 1.0)
    ngrams = without_context(_with_signs(general))
    return LanguagePrior(PriorUsed(found.source), ngrams, general, flat)


def public_prior(data: Any, column: str | None, words: Vocabulary) -> LanguagePrior:
    """Count a public file: how words follow one another there, and how they are written."""
    source = open_source(data)
    column = public_column(source, column)
    counting = _Counting(source, column, words)
    general = _positive(word_frequencies(words))
    tell("counting the public text")
    try:
        ngrams = fit_ngrams(counting.sequences(), general=_with_signs(general))
    except InvalidInput as problem:
        raise InvalidInput(f"--public {source.name}: {problem}") from None
    require(counting.words > 0, f"--public {source.name}", "of at least one word", "none")
    outside = counting.unknown / counting.words
    if outside > 0.5:
        raise InvalidInput(
            f"--public must be in the vocabulary's language: {100 * outside:.0f} % of the words of "
            f"{source.name} are outside the vocabulary; give other text, or another --vocabulary"
        )
    used = PriorUsed(
        "public text", source.name, _sha256(source), counting.texts, counting.words, outside
    )
    shares = _case_shares(counting.cases)
    return LanguagePrior(used, ngrams, general, shares, tuple(counting.held_out))


def public_column(source: Source, column: str | None) -> str:
    """The column of the public text: the one named, the only one, or `text`."""
    if column is None:
        column = source.columns[0] if len(source.columns) == 1 else "text"
    source.must_have(column, what=f"--public-column of {source.name}")
    return column


class _Counting:
    """Texts as states, counted on the way."""

    def __init__(self, source: Source, column: str, words: Vocabulary) -> None:
        self.source, self.column = source, column
        self.states = States(words)
        self.reader = TextProtector(words, (_NOBODY,))
        self.cases = np.zeros((len(words) + 1, len(Case)))
        self.texts = self.words = self.unknown = 0
        self.held_out: list[str] = []

    def sequences(self) -> Iterator[Indices]:
        edge, unknown = self.states.edge, self.states.vocabulary.unknown
        for number, text in enumerate(texts_in(self.source, self.column)):
            if number % HELD_OUT_EVERY == 7 and len(self.held_out) < MOST_HELD_OUT:
                self.held_out.append(text)
                continue
            (plan,) = self.reader.plan([text])
            assert isinstance(plan, Plan)  # no text is refused for its words
            found = [edge]
            for state, place, case in self.states.walk(plan):
                position = state if place < 0 else plan.drawn[place].position
                found.append(position)
                if place >= 0:
                    self.words += 1
                    self.unknown += position == unknown
                    if case != UNTOLD:
                        self.cases[position, case] += 1
            self.texts += 1
            yield np.array([*found, edge], dtype=np.int64)


class _Nobody:
    """Stands where a law would: public text is planned as private text is, and never drawn."""


_NOBODY: Any = _Nobody()


def _positive(found: WordFrequencies) -> Floats:
    """Frequencies without a zero, the unknown word's included."""
    shares = np.maximum(found.shares, 1e-9)
    return np.asarray(shares / shares.sum())


def _with_signs(general: Floats) -> Floats:
    signs = [*[_TO_SIGNS / (SIGNS - 1)] * (SIGNS - 1), _TO_PLACEHOLDER]
    return np.append(general * (1 - sum(signs)), signs)


def _case_shares(counts: Floats) -> Floats:
    """P(case | word): a word's own sightings, and the overall ones worth four of them."""
    overall = counts.sum(axis=0) + 1.0
    overall = overall / overall.sum()
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray((counts + _CASE_STRENGTH * overall) / (totals + _CASE_STRENGTH))


def _sha256(source: Source) -> str:
    """The hash of a file's bytes; of data in memory, of what it holds."""
    return source.fingerprint() if source.in_memory else sha256_of(source.location)
