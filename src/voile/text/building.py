"""The protector that settings of text mean, and the epsilon that a wish for kept words means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import get_ident
from typing import Any

from voile.core.mechanism import Mechanism
from voile.errors import InvalidInput, require
from voile.files.source import Source
from voile.mechanisms._neighbours import cache_folder
from voile.text.consistent import as_scope
from voile.text.language_prior import LanguagePrior, frequencies_prior
from voile.text.laws import KNOWN_WORD_BY_WORD, beta_of, builder
from voile.text.neighbours import neighbours_for
from voile.text.options import Strength
from voile.text.reading import texts_in
from voile.text.released import Unknown
from voile.text.settings import PRIVATE_CORPUS, TextSettings, share_of
from voile.text.signs import Signs
from voile.text.standins import StandIns
from voile.text.tiers import Tiers, load_pipeline, tiers
from voile.text.tokens import Tokenizer
from voile.text.vocabularies import Vocabulary
from voile.text.vocabulary_files import restricted
from voile.text.vocabulary_names import find_vocabulary
from voile.text.watched import watched_words
from voile.text.word_protector import TextProtector


def with_epsilon(settings: TextSettings, strength: Strength, source: Source) -> TextSettings:
    """The settings with the epsilon that keeps as many words as was asked for, if it was."""
    if strength.keep is not None:
        return replace(settings, epsilon=epsilon_keeping(settings, strength.keep, source))
    if strength.max_kept is not None:
        found = epsilon_keeping_watched(settings, strength.max_kept, source)
        return replace(settings, epsilon=found)
    return settings


def epsilon_keeping(settings: TextSettings, share: float, source: Source) -> float:
    """The epsilon at which this share of words is kept, from public frequencies alone."""
    from voile.leakage.words import epsilon_for_kept

    name = settings.mechanism.name
    if name not in KNOWN_WORD_BY_WORD:
        raise InvalidInput(f"--keep must go with {_known()}, got {name}; give --epsilon")
    words = load_vocabulary(settings, source)
    frequencies, beta = words.frequencies(), beta_of(name)
    return epsilon_for_kept(words.embedding, frequencies, share=share, beta=beta)


def _known() -> str:
    return f"{', '.join(KNOWN_WORD_BY_WORD[:-1])} or {KNOWN_WORD_BY_WORD[-1]}"


def epsilon_keeping_watched(settings: TextSettings, most: float, source: Source) -> float:
    """The epsilon at which no watched word is kept more often than this, in any level."""
    from voile.leakage.words import epsilon_for_most_kept

    name, options = settings.mechanism.name, settings.words
    if name not in KNOWN_WORD_BY_WORD or options.remap:
        raise InvalidInput(
            f"--max-kept must go with {_known()} and without --remap, whose laws are known word "
            "by word; give --epsilon"
        )
    if any(alpha is None for alpha in settings.alphas):
        raise InvalidInput("--max-kept must go without a level in clear: there all words are kept")
    if options.keep_stopwords or options.unknown == "keep":
        raise InvalidInput(
            "--max-kept must go without --keep-stopwords and --unknown keep: they keep watched "
            "words always; leave them out, or give --epsilon"
        )
    words = load_vocabulary(settings, source)
    rows = watched_words(words, settings.watch)
    epsilon = epsilon_for_most_kept(words.embedding, rows, most=most, beta=beta_of(name))
    return epsilon / max((1.0, *(alpha for alpha in settings.alphas if alpha is not None)))


def load_vocabulary(settings: TextSettings, source: Source | None = None) -> Vocabulary:
    """The vocabulary that the settings name: a packaged one, a file, or the texts' own words."""
    words = settings.words
    whole = find_vocabulary(
        settings.vectors, language=settings.language, top=words.top, metric=words.metric
    )
    if settings.vocabulary != PRIVATE_CORPUS:
        return whole
    if source is None:
        raise InvalidInput("a vocabulary of the private texts needs the texts")
    return restricted(whole, _occurring(whole, source, settings.column))


def _occurring(whole: Vocabulary, source: Source, column: str) -> set[str]:
    tokenizer = Tokenizer(whole)
    found: set[str] = set()
    for text in texts_in(source, column):
        pieces = tokenizer.split(text)
        found.update(whole.written[p.position] for p in pieces if not isinstance(p, str))
    return found


def build_protector(
    settings: TextSettings, words: Vocabulary, prior: LanguagePrior | None = None
) -> TextProtector:
    """The protector of some settings over their vocabulary, with neighbours as `cache` says.

    `prior` is what draws are remapped by or read with, where that is asked for.
    """
    made = _drawing(settings, words, prior)
    if settings.restore is None:
        return made
    from voile.text.restorer import Restorer, check_laws

    check_laws(made, settings.mechanism.name)
    found = frequencies_prior(words) if prior is None else prior
    kept = None if settings.cache == "none" or words.private else _kept("normalisers")
    restorer = Restorer(
        found, made, use=settings.restore, misfit=settings.misfit, model=settings.rerank, cache=kept
    )
    return replace(made, restorer=restorer)


def _kept(name: str) -> Path:
    """A folder beside that of neighbours, for what follows from the public vocabulary too."""
    return cache_folder().with_name(name)


def _drawing(
    settings: TextSettings, words: Vocabulary, prior: LanguagePrior | None
) -> TextProtector:
    options = settings.words
    plain = TextProtector(
        words,
        (),
        unknown=Unknown(options.unknown),
        keep_stopwords=options.keep_stopwords,
        identifiers=options.identifiers,
        finders=settings.finders.load() if options.identifiers else settings.finders,
        reading=settings.reading,
        signs=Signs(options.signs),
        longest=settings.longest,
        consistent=as_scope(options.consistent),
        stand_ins=_stand_ins(settings.pipeline, settings.language) if settings.pseudonyms else None,
    )
    if settings.in_clear:
        return replace(plain, laws=(None,))
    build = law_builder(settings, words, prior)
    if settings.alphas:
        return replace(
            plain,
            laws=tier_laws(settings, build),
            tiers=_tiers(words, settings.pipeline, settings.pipelines),
        )
    if settings.document_epsilon is not None and settings.public_length:
        budget = settings.document_epsilon
        per_length = lru_cache(maxsize=4096)(lambda words: build(share_of(budget, words)))
        return replace(plain, laws=(per_length(1),), law_of_length=per_length)
    return replace(plain, laws=(build(settings.epsilon),))


def law_builder(
    settings: TextSettings, words: Vocabulary, prior: LanguagePrior | None = None
) -> Callable[[float], Mechanism]:
    """From an epsilon to the law that a release with these settings draws from."""
    return _remapping(settings, words, prior) if settings.words.remap else _builder(settings, words)


def tier_laws(
    settings: TextSettings, build: Callable[[float], Mechanism]
) -> tuple[Mechanism | None, ...]:
    """The law of each tier; None where its words stay in clear."""
    laws = [None if a is None else build(a * settings.epsilon) for a in settings.alphas]
    if all(law is None for law in laws):
        raise InvalidInput("at least one tier must be perturbed, got none")
    return tuple(laws)


def _stand_ins(pipeline: str, language: str) -> StandIns:
    """A pipeline is loaded once a thread; a list of names is read anew, it may be another."""
    if pipeline.endswith(".txt"):
        return StandIns(load_pipeline(pipeline), language)
    return StandIns(_loaded(pipeline, get_ident()), language)


@lru_cache(maxsize=1)
def _loaded(pipeline: str, thread: int) -> Any:
    """It is not made to be used by two threads at once."""
    return load_pipeline(pipeline)


@lru_cache(maxsize=1)
def _tiers(words: Vocabulary, pipeline: str, others: tuple[tuple[str, str], ...]) -> Tiers:
    """Found once a process: the pipelines read thousands of words for it."""
    return tiers(words, pipeline=pipeline, others=dict(others))


def _builder(settings: TextSettings, words: Vocabulary) -> Callable[[float], Mechanism]:
    """The constructor of the mechanism, sharing one table of neighbours."""
    near = neighbours_for(settings.mechanism, words, settings.cache)
    return builder(settings.mechanism, words.embedding, near)


def _remapping(
    settings: TextSettings, words: Vocabulary, prior: LanguagePrior | None
) -> Callable[[float], Mechanism]:
    """The same laws, each followed by the remap for public word frequencies."""
    from voile.mechanisms._word_law import WordLaw
    from voile.mechanisms.spaces.word_remap import word_remap

    name = settings.mechanism.name
    must = "used with one of " + ", ".join(KNOWN_WORD_BY_WORD)
    require(name in KNOWN_WORD_BY_WORD, "--remap", must, name)
    if settings.public_length:
        raise InvalidInput(
            "--remap must not go with --public-length, which has a law for each length; use "
            "--longest"
        )
    if words.private:
        raise InvalidInput(
            "--remap must go with a public vocabulary: its prior is the vocabulary's own"
        )
    build = _builder(settings, words)
    frequencies = (frequencies_prior(words) if prior is None else prior).frequencies
    kept = None if settings.cache == "none" else _kept("remaps")

    def remapped(epsilon: float) -> Mechanism:
        law = build(epsilon)
        assert isinstance(law, WordLaw)
        return word_remap(law, prior=frequencies, cache=kept)

    return remapped
