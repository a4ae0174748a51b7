"""What decides a release of text, in one value that travels to workers."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from voile.errors import InvalidInput, require, require_epsilon
from voile.names import Named
from voile.packaged import content_sha256
from voile.text.finders import DEFAULT, FINDERS, Finders
from voile.text.languages import AUTO, LANGUAGES, pipeline_of
from voile.text.laws import LAWS
from voile.text.options import ONE_OF, Misfit, Names, Strength, Use, Words
from voile.text.reading_language import Reading
from voile.text.tiers import DEFAULT_PIPELINE, identified
from voile.text.vocabulary_names import VOCABULARIES, vocabulary_for
from voile.text.watched import read_watched

PRIVATE_CORPUS = "private-corpus"
MOST = 1_000_000
"""No word's epsilon is larger: exponents would overflow, and nothing is protected long before."""


@dataclass(frozen=True)
class TextSettings:
    """What a text release depends on; equal settings draw from equal laws. It travels to workers.

    `alphas` are the strengths of the tiers, as factors of epsilon; None leaves a tier alone.
    With `document_epsilon`, a document's words share it: over at most `longest` words, or over
    its own number of words if `public_length`.

    `cache` decides no release, only where neighbours come from: "none" leaves nothing on disk,
    "read" takes a table that is there, "fill" makes it, for all words of a public vocabulary.
    """

    column: str
    epsilon: float
    mechanism: Named = field(default_factory=lambda: LAWS.find("tem"))
    words: Words = field(default_factory=Words)
    alphas: tuple[float | None, ...] = ()
    pipeline: str = DEFAULT_PIPELINE
    longest: int | None = None
    document_epsilon: float | None = None
    public_length: bool = False
    watch: tuple[str, ...] = ()
    """Public words to look at; they decide nothing about the draws."""
    cache: Literal["none", "read", "fill"] = "read"
    restore: Use | None = None
    misfit: Misfit = "frequencies"
    rerank: str | None = None
    """The language model that weighs the likeliest readings again, by its name."""
    public_sha256: str | None = None
    """Of the public text that draws are read with, or remapped by."""
    public_column: str | None = None
    pseudonyms: bool = False
    in_clear: bool = False
    """Whether all words beside those that have stand-ins are left as they are."""
    language: str = "en"
    detects: bool = False
    """Whether rows are told apart by language, and counted."""
    pipelines: tuple[tuple[str, str], ...] = ()
    """What finds names in rows of other languages, where each row is read in its own."""
    find: tuple[Named, ...] = DEFAULT

    @property
    def vocabulary(self) -> str:
        """The vocabulary by its name or file: what was asked for, or the language's own."""
        return self.words.vocabulary or vocabulary_for(self.language)

    @property
    def vectors(self) -> str:
        """The vocabulary that the words are taken from, also where they are cut to the texts."""
        whole = vocabulary_for(self.language)
        return whole if self.vocabulary == PRIVATE_CORPUS else self.vocabulary

    @property
    def needs_words(self) -> bool:
        """Whether it matters which words a vocabulary holds; not where all stay as they are."""
        told = self.words.vocabulary is not None or self.words.keep_stopwords
        return not self.in_clear or told or self.words.unknown != "perturb"

    @property
    def finds_names(self) -> bool:
        """Whether something needs to know what is a name."""
        named = {one.name for one in self.find} & {"names", "presidio"}
        return bool(self.alphas or self.pseudonyms or (named and self.words.identifiers))

    @property
    def pipelines_used(self) -> tuple[str, ...]:
        """What finds names, if anything is to."""
        if not self.finds_names:
            return ()
        return tuple(dict.fromkeys((self.pipeline, *dict(self.pipelines).values())))

    @property
    def finders(self) -> Finders:
        """What looks for personal data."""
        return Finders(self.find, self.language, self.pipeline)

    @property
    def reading(self) -> Reading:
        """How rows are read."""
        named = tuple(dict.fromkeys((*dict(self.pipelines), "en")))
        return Reading(self.language, detects=self.detects, named=named)

    def identity(self) -> dict[str, Any]:
        """What a restart must agree in: all that decides the draws; of files what they hold."""
        words = asdict(self.words)
        del words["no_cache"]
        public = self.vocabulary == PRIVATE_CORPUS or self.vocabulary in VOCABULARIES
        used = self.pipelines_used
        return {
            **words,
            "vocabulary": self.vocabulary if public else "a file",
            "language": self.language,
            "find": [one.name for one in self.find],
            "pipelines": [[code, identified(own)] for code, own in self.pipelines if used],
            "column": self.column,
            "epsilon": self.epsilon,
            "mechanism": self.mechanism.name,
            "alphas": list(self.alphas),
            "pipeline": identified(self.pipeline) if used else None,
            "longest": self.longest,
            "document_epsilon": self.document_epsilon,
            "public_length": self.public_length,
            "restore": self.restore,
            "misfit": self.misfit,
            "rerank": self.rerank,
            "public_sha256": self.public_sha256,
            "public_column": self.public_column,
            "read_sha256": self._read(),
            "pseudonyms": self.pseudonyms,
            "in_clear": self.in_clear,
        }

    def _read(self) -> list[str]:
        """The content of a user's own code."""
        code = [one.home.rpartition(":")[0] for one in (*self.find, self.mechanism) if one.own]
        return [content_sha256(Path(name)) for name in code if name.endswith(".py")]


def settings_from(
    column: str, strength: Strength, mechanism: Any, words: Words, names: Names,
    *, language: str = "en", detects: bool = True,
) -> TextSettings:  # fmt: skip
    """The settings that options mean, with the epsilon of a word worked out and checked."""
    given = (strength.epsilon, strength.keep, strength.max_kept, strength.document_epsilon)
    in_clear = all(value is None for value in given)
    if in_clear and not names.pseudonyms:
        raise InvalidInput(ONE_OF)
    settings = TextSettings(
        column,
        1.0 if strength.epsilon is None else strength.epsilon,
        LAWS.find(mechanism),
        words,
        names.alphas(),
        DEFAULT_PIPELINE,
        strength.longest,
        strength.document_epsilon,
        strength.public_length,
        () if strength.watch is None else read_watched(strength.watch),
        "none" if words.no_cache else "read",
        pseudonyms=names.pseudonyms,
        in_clear=in_clear,
        language=language,
        detects=detects,
        find=FINDERS.find_all(words.find),
    )
    settings = _with_pipelines(settings, names.pipeline)
    if words.consistent is not None:
        if words.consistent != "document" and strength.public_length:
            raise InvalidInput(
                "--public-length must go with --consistent document: a draw that documents share "
                "cannot have a law for each document's length; use --longest"
            )
        if words.consistent == "person" and names.pseudonyms and strength.longest is not None:
            raise InvalidInput(
                "--longest must not go with --pseudonyms and --consistent person: which words are "
                "the first ones would hang on names in a person's other rows; leave one of them out"
            )
    if names.pseudonyms and words.remap:
        raise InvalidInput("--remap must not go with --pseudonyms: stand-ins are no words to read")
    return check_budget(settings)


def _with_pipelines(settings: TextSettings, given: str | None) -> TextSettings:
    """The settings with what finds names; refused where nothing can find them."""
    language = settings.language
    if not settings.finds_names:
        return settings
    if language != AUTO:
        return replace(settings, pipeline=pipeline_of(language, given))
    if not settings.alphas or settings.pseudonyms:
        raise InvalidInput(
            "--find names, --find presidio and --pseudonyms must go with one language, not with "
            "auto; give --language, or --tiers pii"
        )
    if given is not None:
        every = tuple((code, given) for code in LANGUAGES)
        return replace(settings, pipeline=given, pipelines=every)
    own = [(code, one.pipeline) for code, one in LANGUAGES.items() if one.pipeline is not None]
    there = tuple((code, p.module) for code, p in own if p.location() is not None)
    return replace(settings, pipelines=there)


def check_budget(settings: TextSettings) -> TextSettings:
    """The settings with epsilon a word worked out from a document's budget, if one is given."""
    if settings.document_epsilon is not None:
        settings = _shared_budget(settings, settings.document_epsilon)
    require_epsilon(settings.epsilon)
    factors = [alpha for alpha in settings.alphas if alpha is not None]
    largest = settings.epsilon * max(factors, default=1.0)
    advice = "a larger one protects nothing, give a smaller one"
    require(largest <= MOST, "a word's epsilon", f"at most {MOST:,}", largest, advice)
    return settings


def _shared_budget(settings: TextSettings, budget: float) -> TextSettings:
    require_epsilon(budget, "the document's epsilon")
    if settings.public_length == (settings.longest is not None):
        raise InvalidInput(
            "a document's epsilon must be split over a fixed number of words (--longest N, "
            "decided without looking at the text) or over a length stated as public "
            "(--public-length), one of the two"
        )
    if settings.public_length and settings.alphas:
        raise InvalidInput("tiers must go with --longest, and not with --public-length")
    if settings.longest is None:
        return replace(settings, epsilon=budget)
    require(settings.longest >= 1, "longest", ">= 1", settings.longest)
    weakest = max((alpha for alpha in settings.alphas if alpha is not None), default=1.0)
    epsilon = share_of(budget, settings.longest, factor=max(1.0, weakest))
    return replace(settings, epsilon=epsilon)


def share_of(budget: float, words: int, *, factor: float = 1.0) -> float:
    """The largest epsilon that a document's words may have, none above `factor` times it.

    words · (factor · ε) ≤ budget in whole numbers, not up to rounding: a budget that is stated
    holds.

    >>> share_of(10.0, 10, factor=5.0), 3 * Fraction(share_of(10.0, 3)) <= 10
    (0.2, True)
    """
    epsilon = budget / (words * factor)
    while words * Fraction(factor * epsilon) > Fraction(budget):
        epsilon = math.nextafter(epsilon, 0.0)
    return epsilon
