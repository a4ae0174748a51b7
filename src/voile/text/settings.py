"""What decides a release of text: options as users give them, and all of it in one value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from voile.core.mechanism import Mechanism
from voile.errors import InvalidInput, require, require_epsilon
from voile.files.rows import RowProblem
from voile.files.source import Source
from voile.mechanisms._neighbours import cache_folder
from voile.names import Named
from voile.options import Option, Options
from voile.text.laws import KNOWN_WORD_BY_WORD, LAWS, builder
from voile.text.neighbours import neighbours_for
from voile.text.released import Unknown
from voile.text.signs import Signs
from voile.text.tiers import DEFAULT_PIPELINE, Tiers, tiers
from voile.text.tokens import Tokenizer
from voile.text.vocabularies import Vocabulary
from voile.text.vocabulary_files import DEFAULT_TOP, glove, minilm, read_vocabulary, restricted
from voile.text.watched import WATCHED, read_watched
from voile.text.word_protector import TextProtector

PRIVATE_CORPUS = "private-corpus"
MOST = 1_000_000
"""No word's epsilon is larger: exponents would overflow, and nothing is protected long before."""


# ── options ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Strength(Options):
    """How much a word or a document may give away; one of the first four must be given."""

    epsilon: Annotated[float | None, Option("Privacy parameter for each word.", "How strong")] = (
        None
    )
    keep: Annotated[
        float | None,
        Option("Choose epsilon so that this share of words is kept.", "How strong"),
    ] = None
    max_kept: Annotated[
        float | None,
        Option(
            "Choose epsilon so that no watched word is kept more often than this.", "How strong"
        ),
    ] = None
    document_epsilon: Annotated[
        float | None,
        Option("A budget for each document instead of each word.", "How strong"),
    ] = None
    longest: Annotated[
        int | None, Option("Drop what follows this many words of a document.", "How strong")
    ] = None
    public_length: Annotated[
        bool, Option("Split the budget over each actual length.", "How strong")
    ] = False
    watch: Annotated[
        Path | None,
        Option(
            "A public list, one word a line: show how often the law keeps them.",
            "How strong",
            reads="public",
        ),
    ] = None
    document_column: Annotated[
        bool, Option("Add each document's total epsilon as a column.", "Output")
    ] = False

    def __post_init__(self) -> None:
        given = (self.epsilon, self.keep, self.max_kept, self.document_epsilon)
        if sum(value is not None for value in given) > 1:
            raise InvalidInput(_ONE_OF)


_ONE_OF = "give one of --epsilon, --keep, --max-kept and --document-epsilon"


@dataclass(frozen=True)
class Words(Options):
    """What a word is, and what may stand in its place."""

    vocabulary: Annotated[
        str, Option("glove, minilm, a file of vectors, or private-corpus.", "Names", shown=True)
    ] = "glove"
    top: Annotated[int | None, Option("Use this many most frequent words.", "Names")] = DEFAULT_TOP
    metric: Annotated[
        Literal["euclidean", "angular"], Option("How far apart two words are.", "Names")
    ] = "euclidean"
    unknown: Annotated[
        Literal["perturb", "drop", "fail", "keep"],
        Option("What happens to words outside the vocabulary.", "Names"),
    ] = "perturb"
    keep_stopwords: Annotated[bool, Option("Leave stop words in clear.", "Names")] = False
    identifiers: Annotated[
        bool, Option("Replace e-mails, phones, cards, … by placeholders.", "Names")
    ] = True
    signs: Annotated[
        Literal["drop", "keep"], Option("Signs at words, as in HIV+ and O-.", "Names")
    ] = "drop"
    remap: Annotated[
        bool,
        Option("Replace each drawn word by the likeliest-to-serve one; costs no ε.", "Names"),
    ] = False
    no_cache: Annotated[
        bool,
        Option("Keep nothing on disk of what was worked out for the vocabulary.", "Running"),
    ] = False


@dataclass(frozen=True)
class Names(Options):
    """Names and words close to names, with a strength of their own."""

    tiers: Annotated[
        Literal["pii", "pii,poii"] | None,
        Option("Give names (pii), and words close to names (poii), their own strength.", "Names"),
    ] = None
    alpha: Annotated[
        tuple[str, ...],
        Option(
            "Strengths of pii, poii and the rest, times epsilon; or 'keep'.", "Names", shown=True
        ),
    ] = ("0.3", "0.6", "1")
    pipeline: Annotated[
        str | None,
        Option("Finds names: a spaCy pipeline, or a .txt list; default: small English.", "Names"),
    ] = None  # fmt: skip

    def alphas(self) -> tuple[float | None, ...]:
        """Strengths of pii, poii and the rest; poii follows the rest if it is not asked for."""
        if self.tiers is None:
            return ()
        require(self.tiers in ("pii", "pii,poii"), "--tiers", "pii or pii,poii", self.tiers)
        shown = ",".join(map(str, self.alpha))
        try:
            values = [None if str(a).strip() == "keep" else float(a) for a in self.alpha]
        except ValueError:
            raise InvalidInput(f"--alpha must be numbers or 'keep', got {shown!r}") from None
        require(all(v is None or v > 0 for v in values), "--alpha", "> 0", shown)
        if len(values) == 2 and self.tiers == "pii,poii":
            values.append(1.0)
        if self.tiers == "pii":
            values = [values[0], values[-1] if len(values) > 1 else 1.0]
            values.insert(1, values[-1])
        require(len(values) == 3, "--alpha", "one number for each tier and the rest", shown)
        return tuple(values)


# ── all of it ──────────────────────────────────────────────────────────────────────────────────


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
    words: Words = Words()
    alphas: tuple[float | None, ...] = ()
    pipeline: str = DEFAULT_PIPELINE
    longest: int | None = None
    document_epsilon: float | None = None
    public_length: bool = False
    watch: tuple[str, ...] = ()
    """Public words to look at; they decide nothing about the draws."""
    cache: Literal["none", "read", "fill"] = "read"

    def identity(self) -> dict[str, Any]:
        """What a restart must agree in: all that decides the draws."""
        words = asdict(self.words)
        del words["no_cache"]
        return {
            **words,
            "column": self.column,
            "epsilon": self.epsilon,
            "mechanism": self.mechanism.name,
            "alphas": list(self.alphas),
            "pipeline": self.pipeline,
            "longest": self.longest,
            "document_epsilon": self.document_epsilon,
            "public_length": self.public_length,
        }


def settings_from(
    column: str, strength: Strength, mechanism: Any, words: Words, names: Names, source: Source
) -> TextSettings:
    """The settings that options mean, with the epsilon of a word worked out and checked."""
    given = (strength.epsilon, strength.keep, strength.max_kept, strength.document_epsilon)
    if all(value is None for value in given):
        raise InvalidInput(_ONE_OF)
    settings = TextSettings(
        column,
        1.0 if strength.epsilon is None else strength.epsilon,
        LAWS.find(mechanism),
        words,
        names.alphas(),
        names.pipeline or DEFAULT_PIPELINE,
        strength.longest,
        strength.document_epsilon,
        strength.public_length,
        () if strength.watch is None else read_watched(strength.watch),
        "none" if words.no_cache else "read",
    )
    for name, allowed in _CHOICES.items():
        require(getattr(words, name) in allowed, f"--{name}", " or ".join(allowed),
                getattr(words, name))  # fmt: skip
    settings = check_budget(settings)
    if strength.keep is not None:
        return replace(settings, epsilon=epsilon_keeping(settings, strength.keep, source))
    if strength.max_kept is not None:
        return replace(
            settings, epsilon=epsilon_keeping_watched(settings, strength.max_kept, source)
        )
    return settings


_CHOICES = {
    "unknown": ("perturb", "drop", "fail", "keep"),
    "signs": ("drop", "keep"),
    "metric": ("euclidean", "angular"),
}


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


def epsilon_keeping(settings: TextSettings, share: float, source: Source) -> float:
    """The epsilon at which this share of words is kept, from public frequencies alone."""
    from voile.leakage.words import epsilon_for_kept

    name = settings.mechanism.name
    if name not in KNOWN_WORD_BY_WORD:
        raise InvalidInput(f"--keep must go with {_known()}, got {name}; give --epsilon")
    words = load_vocabulary(settings, source)
    beta = 0.001 if name == "tem" else None
    return epsilon_for_kept(words.embedding, words.frequencies(), share=share, beta=beta)


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
    listed = (*settings.watch, *(word for words in WATCHED.values() for word in words))
    rows = sorted({words.positions[word] for word in listed if word in words.positions})
    beta = 0.001 if name == "tem" else None
    epsilon = epsilon_for_most_kept(
        words.embedding, np.array(rows, dtype=np.intp), most=most, beta=beta
    )
    return epsilon / max((1.0, *(alpha for alpha in settings.alphas if alpha is not None)))


# ── vocabulary and protector ───────────────────────────────────────────────────────────────────


def load_vocabulary(settings: TextSettings, source: Source | None = None) -> Vocabulary:
    """The vocabulary that the settings name: glove, minilm, a file, or the texts' own words."""
    words = settings.words
    if words.vocabulary == PRIVATE_CORPUS:
        if source is None:
            raise InvalidInput("a vocabulary of the private texts needs the texts")
        whole = glove(top=words.top, metric=words.metric)
        return restricted(whole, _occurring(whole, source, settings.column))
    if words.vocabulary == "glove":
        return glove(top=words.top, metric=words.metric)
    if words.vocabulary == "minilm":
        return minilm(top=None if words.top == DEFAULT_TOP else words.top, metric=words.metric)
    return _from_file(words.vocabulary, words.top, words.metric)


@lru_cache(maxsize=1)
def _from_file(path: str, top: int | None, metric: str) -> Vocabulary:
    return read_vocabulary(Path(path), top=top, metric=metric)


def _occurring(whole: Vocabulary, source: Source, column: str) -> set[str]:
    tokenizer = Tokenizer(whole)
    found: set[str] = set()
    for _, row in source.rows():
        text = None if isinstance(row, RowProblem) else row.get(column)
        if isinstance(text, str):
            pieces = tokenizer.split(text)
            found.update(whole.written[p.position] for p in pieces if not isinstance(p, str))
    return found


def build_protector(settings: TextSettings, words: Vocabulary) -> TextProtector:
    """The protector of some settings over their vocabulary, with neighbours as `cache` says."""
    options = settings.words
    plain = TextProtector(
        words,
        (),
        unknown=Unknown(options.unknown),
        keep_stopwords=options.keep_stopwords,
        identifiers=options.identifiers,
        signs=Signs(options.signs),
        longest=settings.longest,
    )
    build = _remapping(settings, words) if options.remap else _builder(settings, words)
    if settings.alphas:
        laws = [None if a is None else build(a * settings.epsilon) for a in settings.alphas]
        if all(law is None for law in laws):
            raise InvalidInput("at least one tier must be perturbed, got none")
        return replace(plain, laws=tuple(laws), tiers=_tiers(words, settings.pipeline))
    if settings.document_epsilon is not None and settings.public_length:
        budget = settings.document_epsilon
        per_length = lru_cache(maxsize=4096)(lambda words: build(share_of(budget, words)))
        return replace(plain, laws=(per_length(1),), law_of_length=per_length)
    return replace(plain, laws=(build(settings.epsilon),))


@lru_cache(maxsize=1)
def _tiers(words: Vocabulary, pipeline: str) -> Tiers:
    """Found once a process: the pipeline reads thousands of words for it."""
    return tiers(words, pipeline=pipeline)


def _builder(settings: TextSettings, words: Vocabulary) -> Callable[[float], Mechanism]:
    """The constructor of the mechanism, sharing one table of neighbours."""
    near = neighbours_for(settings.mechanism, words, settings.cache)
    return builder(settings.mechanism, words.embedding, near)


def _remapping(settings: TextSettings, words: Vocabulary) -> Callable[[float], Mechanism]:
    """The same laws, each followed by the remap for public word frequencies."""
    from voile.mechanisms._word_law import WordLaw
    from voile.mechanisms.word_remap import word_remap

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
    build, frequencies = _builder(settings, words), words.frequencies()
    kept = None if settings.cache == "none" else cache_folder().with_name("remaps")

    def remapped(epsilon: float) -> Mechanism:
        law = build(epsilon)
        assert isinstance(law, WordLaw)
        return word_remap(law, prior=frequencies, cache=kept)

    return remapped
