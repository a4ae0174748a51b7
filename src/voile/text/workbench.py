"""Choosing a strength by eye: previews, laws of words and curves, before anything is released.

Nothing here is a release: what is drawn is seeded, shown to the owner, and written nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, require
from voile.files.source import Source, open_source
from voile.leakage.word_curves import WordCurves, reader_curve, strengths, word_curves
from voile.leakage.words import best_guess, kept_chances, kept_share
from voile.mechanisms._word_law import WordLaw
from voile.text.building import build_protector, load_vocabulary
from voile.text.languages import check_language, stopwords_in
from voile.text.laws import KNOWN_WORD_BY_WORD, beta_of
from voile.text.nearest import NearestWords
from voile.text.options import Names, Restoring, Strength, Words
from voile.text.pieces_shown import ShownText, shown_texts
from voile.text.prior_choice import choose_prior, with_expected
from voile.text.reading import texts_at_first
from voile.text.settings import TextSettings, settings_from
from voile.text.topics import TopicUse, topic_use
from voile.text.vocabularies import Vocabulary
from voile.text.watched import watched_words
from voile.text.word_protector import TextProtector

LIKELIEST = 8
"""So many releases of a word are named."""
SHOWN_LETTERS = 1200
"""Of a long text so much is shown."""


@dataclass(frozen=True)
class LawShown:
    """What may be released for one word: the likeliest words with their probabilities."""

    word: str
    level: str
    epsilon: float | None
    kept: float
    likeliest: tuple[tuple[str, float], ...]
    nine_in_ten: int
    """So many words share nine tenths of the probability."""


@dataclass(frozen=True)
class Figures:
    """What an epsilon does, exactly: the share of words kept, and the watched word kept most.

    Stop words that are left in clear count as kept and as named. All of it is about the draws,
    before they are read as a whole.
    """

    epsilon: float
    kept: float
    worst: float | None
    worst_word: str
    named: float | None
    """What the best reader of single words names, if that was asked for."""


@dataclass(frozen=True, eq=False)
class TextBench:
    """Texts, their vocabulary and the settings that are looked at; the strength is still open."""

    settings: TextSettings
    vocabulary: Vocabulary
    texts: tuple[str, ...] = field(repr=False)
    prior: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", lru_cache(maxsize=8)(self._at))

    at: Any = field(init=False, repr=False)
    """The protector at an epsilon."""

    def _at(self, epsilon: float) -> TextProtector:
        """As a release builds it, but for the remap, which takes long at each strength."""
        words = replace(self.settings.words, remap=False)
        return self._built(replace(self.settings, epsilon=epsilon, words=words))

    def remapped(self, epsilon: float) -> TextProtector:
        """With the remap; for a whole vocabulary that takes about a minute, and is kept."""
        return self._built(replace(self.settings, epsilon=epsilon))

    def _built(self, settings: TextSettings) -> TextProtector:
        made = build_protector(settings, self.vocabulary, self.prior)
        if self.prior is None or made.restorer is None:
            return made
        return build_protector(settings, self.vocabulary, with_expected(self.prior, made))

    def preview(
        self, epsilon: float, *, seed: int = 0, first: int = 0, count: int = 6, remap: bool = False
    ) -> tuple[ShownText, ...]:
        """Some texts before and after, by a seed: not a release, and not to be handed on."""
        chosen = [text[:SHOWN_LETTERS] for text in self.texts[first : first + count]]
        protector = self.remapped(epsilon) if remap else self.at(epsilon)
        return shown_texts(protector, chosen, seeded_rng(seed))

    def law(self, word: int, level: int, epsilon: float) -> LawShown:
        """What one word of the vocabulary may come out as."""
        protector, words = self.at(epsilon), self.vocabulary
        require(0 <= word < len(words.written), "the word", "one of the vocabulary", word)
        require(0 <= level < len(protector.laws), "the level", "one of the levels", level)
        law = protector.laws[level]
        if not isinstance(law, WordLaw):
            raise InvalidInput("the law of a word is known for drawn words of the laws by distance")
        proposals, accepts = law.law(word)
        chances = proposals * accepts
        chances = chances / chances.sum()
        order = np.argsort(-chances, kind="stable")
        running = np.cumsum(chances[order])
        return LawShown(
            words.written[word],
            protector.levels[level],
            law.guarantee.epsilon,
            float(chances[word]),
            tuple((words.written[i], float(chances[i])) for i in order[:LIKELIEST]),
            int(np.searchsorted(running, 0.9)) + 1,
        )

    def figures(self, epsilon: float, *, reader: bool = False) -> Figures:
        """The exact figures at one strength, of the level that is told most."""
        words, drawn = self.vocabulary, [law for law in self.at(epsilon).laws if law is not None]
        weakest = max(drawn, key=lambda law: law.guarantee.epsilon)
        assert isinstance(weakest, WordLaw)  # a bench has no other laws
        frequencies, watched = self._drawn_frequencies(), self._watched()
        chances = kept_chances(weakest, watched)
        assert chances is not None
        chances = np.where(np.isin(watched, self._clear()), 1.0, chances)
        worst = int(np.argmax(chances)) if len(watched) else None
        named = None
        if reader:
            named, _ = best_guess(weakest, frequencies, candidates=min(2000, len(words)))
            named = self._with_clear(named)
        return Figures(
            epsilon,
            self._with_clear(kept_share(weakest, frequencies)),
            None if worst is None else float(chances[worst]),
            "" if worst is None else words.written[watched[worst]],
            named,
        )

    # ── curves ─────────────────────────────────────────────────────────────────────────────────

    @property
    def factor(self) -> float:
        """The level that is told most has so many times epsilon."""
        return max((1.0, *(alpha for alpha in self.settings.alphas if alpha is not None)))

    @property
    def nearest(self) -> NearestWords:
        """How far apart nearest words are."""
        return _nearest(self.vocabulary)

    def epsilons(self) -> tuple[float, ...]:
        """Strengths worth looking at for this vocabulary."""
        return strengths(self.nearest.median or 1.0)

    def curves(self) -> WordCurves:
        """Words kept, the watched word that is kept most, meaning lost; at the weakest level.

        A blind draw, too, would leave stop words in clear: meaning lost is that of drawn words.
        """
        words, epsilons, watched = self.vocabulary, self.epsilons(), self._watched()
        found = word_curves(
            words.embedding,
            self._drawn_frequencies(),
            [self.factor * epsilon for epsilon in epsilons],
            watched=watched,
            beta=beta_of(self.settings.mechanism.name),
        )
        most = found.watched
        if np.isin(watched, self._clear()).any():
            most = (1.0,) * len(epsilons)
        kept = tuple(map(self._with_clear, found.kept))
        return replace(found, epsilons=epsilons, kept=kept, watched=most)

    def reader(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Some of the strengths, and what the best reader of single words names at each."""
        words, epsilons = self.vocabulary, self.epsilons()[::2]
        scaled = [self.factor * epsilon for epsilon in epsilons]
        found = reader_curve(
            words.embedding,
            self._drawn_frequencies(),
            scaled,
            beta=beta_of(self.settings.mechanism.name),
            candidates=min(2000, len(words)),
        )
        return epsilons, tuple(map(self._with_clear, found))

    def use(self, data: Any, *, label: str | None = None) -> TopicUse:
        """How often a row's topic is still right, at some of the strengths; see `text.topics`."""
        column = self.settings.column
        return topic_use(self._at, self.epsilons()[::2], data, column, label=label)

    @property
    def in_clear(self) -> str | None:
        """The language whose stop words are left in clear; None where none are."""
        return self.settings.language if self.settings.words.keep_stopwords else None

    @property
    def clear_share(self) -> float:
        """How much of a text is stop words in clear, by the public frequencies."""
        frequencies = self.vocabulary.frequencies()
        return float(frequencies[self._clear()].sum() / frequencies.sum())

    def _with_clear(self, share: float) -> float:
        """A share of the drawn words, as one of all words: a reader knows those in clear."""
        clear = self.clear_share
        return clear + (1 - clear) * share

    def _drawn_frequencies(self) -> Floats:
        frequencies = self.vocabulary.frequencies().copy()
        frequencies[self._clear()] = 0.0
        return frequencies

    def _clear(self) -> Indices:
        """The stop words that are left in clear; under "auto" those of any language."""
        if self.in_clear is None:
            return np.empty(0, dtype=np.intp)
        known = self.vocabulary.positions
        found = sorted(known[word] for word in stopwords_in(self.in_clear) if word in known)
        return np.array(found, dtype=np.intp)

    def _watched(self) -> Indices:
        return watched_words(self.vocabulary, self.settings.watch)


@lru_cache(maxsize=2)
def _nearest(words: Vocabulary) -> NearestWords:
    from voile.text.nearest import nearest_words

    return nearest_words(words.embedding.metric, len(words.embedding))


def open_bench(
    data: Any,
    column: str,
    *,
    mechanism: str = "tem",
    words: Words = Words(),
    names: Names = Names(),
    restoring: Restoring = Restoring(),
    count: int = 200,
) -> TextBench:
    """The first texts of some data, ready to be looked at; curves need a law with a closed form."""
    source: Source = open_source(data)
    source.must_have(column)
    require(mechanism in KNOWN_WORD_BY_WORD, "the mechanism", " or ".join(KNOWN_WORD_BY_WORD),
            mechanism)  # fmt: skip
    texts: Sequence[str] = texts_at_first(source, column, count)
    language = check_language(words.language, texts)
    settings = settings_from(
        column, Strength(epsilon=1.0), mechanism, words, names, language=language
    )
    vocabulary = load_vocabulary(settings, source)
    settings, prior = choose_prior(restoring, settings, vocabulary, source)
    return TextBench(settings, vocabulary, tuple(texts), prior)
