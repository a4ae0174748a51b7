"""How a text job is made: everything that decides a release, in one picklable value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.mechanism import Mechanism
from voile.errors import InvalidInput, require, require_epsilon
from voile.jobs import RowProblem, open_source
from voile.mechanisms._neighbours import cache_folder
from voile.text import Unknown, Vocabulary, glove, minilm, read_vocabulary
from voile.text.laws import KNOWN_WORD_BY_WORD, LAWS, builder
from voile.text.neighbours import neighbours_for
from voile.text.signs import Signs
from voile.text.tiers import DEFAULT_PIPELINE, Tiers, tiers
from voile.text.tokens import Tokenizer
from voile.text.vocabulary_files import DEFAULT_TOP, restricted
from voile.text.word_protector import TextProtector

PRIVATE_CORPUS = "private-corpus"


@dataclass(frozen=True)
class TextRecipe:
    """What a text release depends on; equal recipes draw from equal laws.

    `alphas` are the strengths of the tiers, as factors of epsilon; None leaves a tier alone.
    With `document_epsilon`, a document's words share it: over at most `longest` words, or over
    its own number of words if `public_length`. With `remap`, each drawn word is replaced by the
    one that serves best under public word frequencies.

    `cache` decides no release, only where neighbours come from: "none" leaves nothing on disk,
    "read" takes a table that is there, "fill" makes it, for all words of a public vocabulary.
    """

    source: str
    column: str
    epsilon: float
    mechanism: str = "tem"
    vocabulary: str = "glove"
    top: int | None = DEFAULT_TOP
    metric: str = "euclidean"
    unknown: str = "perturb"
    keep_stopwords: bool = False
    identifiers: bool = True
    signs: str = "drop"
    alphas: tuple[float | None, ...] = ()
    pipeline: str = DEFAULT_PIPELINE
    longest: int | None = None
    document_epsilon: float | None = None
    public_length: bool = False
    remap: bool = False
    seed: int | None = None
    watch: tuple[str, ...] = ()
    """Public words to look at; they decide nothing about the draws."""
    cache: str = "read"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanism", LAWS.find(self.mechanism).name)

    def identity(self) -> dict[str, Any]:
        """The recipe as JSON holds it, without where files lie and what is looked at."""
        facts = asdict(self)
        del facts["source"], facts["watch"], facts["cache"]
        return facts


def load_vocabulary(recipe: TextRecipe) -> Vocabulary:
    """The vocabulary that a recipe names: glove, minilm, a file, or private-corpus."""
    if recipe.vocabulary == PRIVATE_CORPUS:
        return restricted(glove(top=recipe.top, metric=recipe.metric), _occurring(recipe))
    if recipe.vocabulary == "glove":
        return glove(top=recipe.top, metric=recipe.metric)
    if recipe.vocabulary == "minilm":
        top = None if recipe.top == DEFAULT_TOP else recipe.top
        return minilm(top=top, metric=recipe.metric)
    return _from_file(recipe.vocabulary, recipe.top, recipe.metric)


@lru_cache(maxsize=1)
def _from_file(path: str, top: int | None, metric: str) -> Vocabulary:
    return read_vocabulary(Path(path), top=top, metric=metric)


def _occurring(recipe: TextRecipe) -> set[str]:
    whole = glove(top=recipe.top, metric=recipe.metric)
    tokenizer = Tokenizer(whole)
    found: set[str] = set()
    for _, row in open_source(recipe.source).rows():
        text = None if isinstance(row, RowProblem) else row.get(recipe.column)
        if isinstance(text, str):
            found.update(
                whole.written[piece.position]
                for piece in tokenizer.split(text)
                if not isinstance(piece, str)
            )
    return found


def build_protector(recipe: TextRecipe, words: Vocabulary | None = None) -> TextProtector:
    """The protector of a recipe, with neighbours as its `cache` says.

    `words` is the recipe's vocabulary if it is at hand already.
    """
    words = load_vocabulary(recipe) if words is None else words
    plain = TextProtector(
        words,
        (),
        unknown=Unknown(recipe.unknown),
        keep_stopwords=recipe.keep_stopwords,
        identifiers=recipe.identifiers,
        signs=Signs(recipe.signs),
        longest=recipe.longest,
    )
    build = _remapping(recipe, words) if recipe.remap else _builder(recipe, words)
    if recipe.alphas:
        require(len(recipe.alphas) == 3, "alphas", "three, for pii, poii and the rest",
                len(recipe.alphas))  # fmt: skip
        laws = [None if a is None else build(a * recipe.epsilon) for a in recipe.alphas]
        if all(law is None for law in laws):
            raise InvalidInput("at least one tier must be perturbed, got none")
        return replace(plain, laws=tuple(laws), tiers=_tiers(words, recipe.pipeline))
    if recipe.document_epsilon is not None and recipe.public_length:
        budget = recipe.document_epsilon
        per_length = lru_cache(maxsize=4096)(lambda words: build(share_of(budget, words)))
        return replace(plain, laws=(per_length(1),), law_of_length=per_length)
    return replace(plain, laws=(build(recipe.epsilon),))


@lru_cache(maxsize=1)
def _tiers(words: Vocabulary, pipeline: str) -> Tiers:
    """Found once a process: the pipeline reads thousands of words for it."""
    return tiers(words, pipeline=pipeline)


def _builder(recipe: TextRecipe, words: Vocabulary) -> Callable[[float], Mechanism]:
    """The constructor of the recipe's mechanism, sharing one table of neighbours."""
    return builder(recipe.mechanism, words.embedding, neighbours_for(recipe, words))


def _remapping(recipe: TextRecipe, words: Vocabulary) -> Callable[[float], Mechanism]:
    """The same laws, each followed by the remap for public word frequencies."""
    from voile.mechanisms._word_law import WordLaw
    from voile.mechanisms.word_remap import word_remap

    require(recipe.mechanism in KNOWN_WORD_BY_WORD, "--remap",
            "used with one of " + ", ".join(KNOWN_WORD_BY_WORD), recipe.mechanism)  # fmt: skip
    if recipe.public_length:
        raise InvalidInput(
            "--remap must not go with --public-length, which has a law for each length; use "
            "--longest"
        )
    if words.private:
        raise InvalidInput(
            "--remap must go with a public vocabulary: its prior is the vocabulary's own"
        )
    build, frequencies = _builder(recipe, words), words.frequencies()

    def remapped(epsilon: float) -> Mechanism:
        law = build(epsilon)
        assert isinstance(law, WordLaw)
        kept = None if recipe.cache == "none" else cache_folder().with_name("remaps")
        return word_remap(law, prior=frequencies, cache=kept)

    return remapped


def check_budget(recipe: TextRecipe) -> TextRecipe:
    """The recipe with epsilon a word worked out from a document's budget, if one is given."""
    if recipe.document_epsilon is None:
        require_epsilon(recipe.epsilon)
        return recipe
    require_epsilon(recipe.document_epsilon, "the document's epsilon")
    if recipe.public_length == (recipe.longest is not None):
        raise InvalidInput(
            "a document's epsilon must be split over a fixed number of words (--longest N, "
            "decided without looking at the text) or over a length stated as public "
            "(--public-length), one of the two"
        )
    if recipe.public_length and recipe.alphas:
        raise InvalidInput("tiers must go with --longest, and not with --public-length")
    if recipe.longest is not None:
        require(recipe.longest >= 1, "longest", ">= 1", recipe.longest)
        weakest = max((alpha for alpha in recipe.alphas if alpha is not None), default=1.0)
        epsilon = share_of(recipe.document_epsilon, recipe.longest, factor=max(1.0, weakest))
        return replace(recipe, epsilon=epsilon)
    return replace(recipe, epsilon=recipe.document_epsilon)


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


def epsilon_keeping(recipe: TextRecipe, share: float) -> float:
    """The epsilon at which this share of words is kept, from public frequencies alone."""
    from voile.leakage.words import epsilon_for_kept

    if recipe.mechanism not in KNOWN_WORD_BY_WORD:
        raise InvalidInput(
            f"--keep must go with tem, word-exponential or santext, got {recipe.mechanism}; "
            "give --epsilon"
        )
    words = load_vocabulary(recipe)
    beta = 0.001 if recipe.mechanism == "tem" else None
    return epsilon_for_kept(words.embedding, words.frequencies(), share=share, beta=beta)


def epsilon_keeping_watched(recipe: TextRecipe, most: float) -> float:
    """The epsilon at which no watched word is kept more often than this, in any level."""
    from voile.leakage.words import epsilon_for_most_kept
    from voile.text.watched import WATCHED

    if recipe.mechanism not in KNOWN_WORD_BY_WORD or recipe.remap:
        raise InvalidInput(
            "--max-kept must go with tem, word-exponential or santext and without --remap, whose "
            "laws are known word by word; give --epsilon"
        )
    if any(alpha is None for alpha in recipe.alphas):
        raise InvalidInput("--max-kept must go without a level in clear: there all words are kept")
    if recipe.keep_stopwords or recipe.unknown == "keep":
        raise InvalidInput(
            "--max-kept must go without --keep-stopwords and --unknown keep: they keep watched "
            "words always; leave them out, or give --epsilon"
        )
    words = load_vocabulary(recipe)
    listed = (*recipe.watch, *(word for words in WATCHED.values() for word in words))
    rows = sorted({words.positions[word] for word in listed if word in words.positions})
    beta = 0.001 if recipe.mechanism == "tem" else None
    epsilon = epsilon_for_most_kept(
        words.embedding, np.array(rows, dtype=np.intp), most=most, beta=beta
    )
    return epsilon / max((1.0, *(alpha for alpha in recipe.alphas if alpha is not None)))
