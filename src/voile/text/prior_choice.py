"""Which public text draws are read with; the private text itself is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from voile.errors import InvalidInput
from voile.files.source import Source, open_source
from voile.progress import tell
from voile.text.language_prior import (
    LanguagePrior,
    frequencies_prior,
    public_column,
    public_prior,
    texts_in,
)
from voile.text.options import Restoring
from voile.text.settings import TextSettings
from voile.text.vocabularies import Vocabulary
from voile.text.word_protector import TextProtector

LONG = 8
"""Texts of at least so many words are compared whole, and by runs of so many words."""
MOST_SHARED = 0.2
"""A larger share of private texts that stand in the public file is no chance."""
_LOOKED_AT = 2000
"""So many private texts are compared by runs of words."""


def choose_prior(
    restoring: Restoring, settings: TextSettings, words: Vocabulary, source: Source
) -> tuple[TextSettings, LanguagePrior | None]:
    """The prior that options ask for, and the settings that say so."""
    remap = settings.words.remap
    if restoring.restore is not None and remap:
        raise InvalidInput(
            "--restore must not go with --remap: it does what the remap does, better"
        )
    if restoring.restore is None and not remap:
        if restoring.public is not None:
            raise InvalidInput("--public must go with --restore, or with --remap")
        return settings, None
    if restoring.restore is not None and settings.words.consistent not in (None, "document"):
        raise InvalidInput(
            "--restore must go with --consistent document, or without it: words that other rows "
            "share could come out as different ones"
        )
    if words.private:
        raise InvalidInput("--restore must go with a public vocabulary, got private-corpus")
    settings = replace(settings, restore=restoring.restore, misfit=restoring.fall_back)
    if restoring.public is None:
        return settings, frequencies_prior(words)
    refuse_private(restoring.public, restoring.public_column, source, settings.column)
    prior = public_prior(restoring.public, restoring.public_column, words)
    return replace(settings, public_sha256=prior.used.sha256), prior


def prior_for_release(
    restoring: Restoring, settings: TextSettings, words: Vocabulary, source: Source
) -> tuple[TextSettings, LanguagePrior]:
    """The same for a release that was received; its originals as public text are refused."""
    settings = replace(settings, restore=restoring.restore, misfit=restoring.fall_back)
    if restoring.public is None:
        return settings, frequencies_prior(words)
    told = open_source(restoring.public)
    column = public_column(told, restoring.public_column)
    pairs = zip(texts_in(source, settings.column), texts_in(told, column), strict=False)
    lengths = [(len(_words(a)), len(_words(b))) for a, b in islice(pairs, _LOOKED_AT)]
    alike = sum(a == b for a, b in lengths)
    if len({a for a, _ in lengths}) >= 5 and alike > 0.9 * len(lengths):
        raise InvalidInput(_REFUSED.format("its texts have the lengths of the released ones"))
    prior = public_prior(restoring.public, restoring.public_column, words)
    return replace(settings, public_sha256=prior.used.sha256), prior


def with_expected(prior: LanguagePrior, protector: TextProtector) -> LanguagePrior:
    """The prior with what its context gains on held-out public text under these laws."""
    if protector.restorer is None or not prior.held_out:
        return prior
    tell("putting held-out public text through the law")
    return replace(prior, expected=protector.restorer.gain_on(prior.held_out, protector))


def refuse_private(public: Any, column: str | None, private: Source, private_column: str) -> None:
    """Refuse public text that is the private text, or holds a good part of it.

    A prior that was counted on the private text would carry it into the release past the law. The
    same file and the same content are found whatever the name; copies with rows left out, shuffled
    or mixed among others by texts that stand in both, and edited ones by runs of eight words.
    """
    told = open_source(public)
    if not told.in_memory and not private.in_memory:
        same = told.location == private.location or _content(told) == _content(private)
    else:
        same = public is private or told.fingerprint() == private.fingerprint()
    if same:
        raise InvalidInput(_REFUSED.format("it is the private file"))
    tell("comparing the public text with the private one")
    theirs, runs = set(), set()
    for text in texts_in(told, public_column(told, column)):
        words = _words(text)
        if len(words) >= LONG:
            theirs.add(_hash(words))
            runs.update(_runs(words))
    long = shared = 0
    for text in texts_in(private, private_column):
        words = _words(text)
        if len(words) >= LONG:
            long += 1
            shared += _hash(words) in theirs
    if shared >= 2 and shared > MOST_SHARED * long:
        raise InvalidInput(
            _REFUSED.format(f"{shared:,} of {long:,} longer private texts are in it")
        )
    met = looked_at = 0
    for text in islice(texts_in(private, private_column), _LOOKED_AT):
        found = _runs(_words(text))
        looked_at += len(found)
        met += len(found & runs)
    if met >= 20 and met > MOST_SHARED * looked_at:
        share = f"{100 * met / looked_at:.0f} % of the private runs of {LONG} words are in it"
        raise InvalidInput(_REFUSED.format(share))


_REFUSED = (
    "--public must not be the private text, or made from it ({}): what was learned from it would "
    "pass the law by. Give public text of the same kind"
)


def _words(text: str) -> list[str]:
    return [word for word in (part.strip(".,;:!?\"'()") for part in text.lower().split()) if word]


def _hash(words: list[str]) -> int:
    digest = hashlib.blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def _runs(words: list[str]) -> set[int]:
    """Every eighth run of eight words, chosen by its content, so that both sides choose alike."""
    return {found for found in _all_runs(words) if found % 8 == 0}


def _all_runs(words: list[str]) -> Iterator[int]:
    return (_hash(words[i : i + LONG]) for i in range(len(words) - LONG + 1))


def _content(source: Source) -> bytes:
    state = hashlib.sha256()
    with source.location.open() as file:
        while block := file.read(2**20):
            state.update(block)
    return state.digest()
