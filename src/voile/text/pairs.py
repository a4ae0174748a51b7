"""Texts and their releases, and how much of them an attacker is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from voile.errors import InvalidInput
from voile.files.source import open_source
from voile.jobs.guarantee_file import fields_of, guarantee_beside, guarantee_record, is_release_of
from voile.options import Data, Option, Options
from voile.text.languages import check_language
from voile.text.reading import texts_of
from voile.text.released_file import was_read
from voile.text.vocabularies import Vocabulary
from voile.text.vocabulary_names import find_vocabulary, vocabulary_for

LOOKED_AT = 200
"""So many texts say which language they are in."""


@dataclass(frozen=True)
class Sizes(Options):
    """How much of the texts an attacker is given, and how many words it chooses between."""

    documents: Annotated[int, Option("Use at most this many documents.")] = 5000
    candidates: Annotated[int, Option("At most this many sensitive words.")] = 2000
    words: Annotated[int, Option("Words of each document that are read.")] = 40


@dataclass(frozen=True)
class Reading(Sizes):
    """The same, and which words are known, where no release says so."""

    top: Annotated[int, Option("Know this many most frequent words of the vocabulary.")] = 50_000
    language: Annotated[
        Literal["en", "de", "fr", "es"] | None,
        Option("What the texts are in; default: English, if they are.", "Words"),
    ] = None
    vocabulary: Annotated[
        str | None,
        Option(
            "Whose words are known: a name or a file of vectors; default: by language.",
            "Words",
            shown=True,
        ),
    ] = None

    def known(self, texts: Sequence[str]) -> tuple[Vocabulary, str]:
        """The words that are known, and the language; texts in another one are refused."""
        language = check_language(self.language, texts[:LOOKED_AT])
        name = self.vocabulary or vocabulary_for(language)
        words = find_vocabulary(name, language=language, top=self.top, metric="euclidean")
        return words, language


def text_pairs(original: Data, released: Data, column: str) -> tuple[list[str], list[str]]:
    """The texts of two sources, row by row; refused if the rows cannot belong together.

    >>> text_pairs(["a", "b"], ["x", "y"], "text")
    (['a', 'b'], ['x', 'y'])
    """
    before, after = texts_of(original, column), texts_of(released, column)
    if len(before) != len(after):
        raise InvalidInput(
            f"original and release must have as many rows, got {len(before)} and {len(after)}; "
            "were rows skipped? compare files with the same rows"
        )
    return before, after


@dataclass(frozen=True)
class _Drawn:
    consistent: Any
    remap: Any
    restored: Any


def made_of_draws(released: Data) -> str | None:
    """What was made of the draws before they were handed on, as their guarantee file says it.

    None where nothing was, or no file says so. A release whose rows share draws is refused: an
    audit learns on some documents and counts on others, as if those had been drawn apart. Draws
    that a document shares with itself alone are no matter: its bound is one over documents.
    """
    beside = guarantee_beside(open_source(released))
    record = {} if beside is None else guarantee_record(beside)
    if not is_release_of("text", record):
        return None
    nothing = dict.fromkeys(("consistent", "remap", "restored"))
    told = fields_of(_Drawn, nothing | dict(record))
    if told.consistent in ("person", "file"):
        raise InvalidInput(
            f"a release with --consistent {told.consistent} must not be audited so: its rows share "
            "draws, so an attacker who knows some rows reads their words in the others, and no "
            "bound over rows holds; audit a release with --consistent document, or without"
        )
    if was_read(told.restored):
        return "restored"
    return None if told.remap is None else "remapped"
