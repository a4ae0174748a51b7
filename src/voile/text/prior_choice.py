"""Which public text draws are read with; the private text itself is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from voile.errors import InvalidInput
from voile.files.locations import sha256_of
from voile.files.source import Source, open_source
from voile.progress import say, tell
from voile.text.language_prior import (
    LanguagePrior,
    frequencies_prior,
    public_column,
    public_prior,
)
from voile.text.languages import AUTO, LANGUAGES, detect, title
from voile.text.options import Restoring
from voile.text.public_lengths import same_lengths
from voile.text.public_overlap import overlap
from voile.text.reading import texts_in
from voile.text.settings import TextSettings
from voile.text.vocabularies import Vocabulary
from voile.text.vocabulary_names import VOCABULARIES
from voile.text.word_protector import TextProtector

_DETECTED = 200
"""So many public texts say which language they are in."""


def choose_prior(
    restoring: Restoring, settings: TextSettings, words: Vocabulary, source: Source
) -> tuple[TextSettings, LanguagePrior | None]:
    """The prior that options ask for, and the settings that say so."""
    remap = settings.words.remap
    if restoring.restore is not None and remap:
        raise InvalidInput(
            "--restore must not go with --remap: it does what the remap does, better"
        )
    if restoring.restore is not None and settings.pseudonyms:
        raise InvalidInput(
            "--restore must not go with --pseudonyms: stand-ins are no words to read"
        )
    if restoring.restore is None and not remap:
        if restoring.public is not None:
            raise InvalidInput("--public must go with --restore, or with --remap")
        return settings, None
    if remap and restoring.misfit is not None:
        raise InvalidInput("--misfit must go with --restore: a remap does not ask what fits")
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
    refuse_other_language(restoring, settings)
    refuse_private(restoring.public, restoring.public_column, source, settings.column, words)
    prior = public_prior(restoring.public, restoring.public_column, words)
    return _read_with(settings, restoring, prior), prior


def prior_for_release(
    restoring: Restoring, settings: TextSettings, words: Vocabulary, source: Source
) -> tuple[TextSettings, LanguagePrior]:
    """The same for a release that was received.

    Its originals are not at hand: they are refused as public text by the lengths of texts, in
    their order or in another. Among other texts they cannot be told from public ones.
    """
    settings = replace(settings, restore=restoring.restore, misfit=restoring.fall_back)
    if restoring.public is None:
        return settings, frequencies_prior(words)
    refuse_other_language(restoring, settings)
    told = open_source(restoring.public)
    column = public_column(told, restoring.public_column)
    if same_lengths(texts_in(source, settings.column), texts_in(told, column)):
        raise InvalidInput(_REFUSED.format("its texts have the lengths of the released ones"))
    prior = public_prior(restoring.public, restoring.public_column, words)
    return _read_with(settings, restoring, prior), prior


def _read_with(settings: TextSettings, restoring: Restoring, prior: LanguagePrior) -> TextSettings:
    return replace(
        settings,
        public_sha256=prior.used.sha256,
        public_column=restoring.public_column,
        rerank=restoring.rerank,
    )


def with_expected(prior: LanguagePrior, protector: TextProtector) -> LanguagePrior:
    """The prior with what context and a model gain on held-out public text under these laws."""
    if protector.restorer is None or not prior.held_out:
        return prior
    tell("putting held-out public text through the law")
    restorer = protector.restorer
    return replace(
        prior,
        expected=restorer.gain_on(prior.held_out, protector),
        model=restorer.model_on(prior.held_out, protector),
    )


def refuse_other_language(restoring: Restoring, settings: TextSettings) -> None:
    """Refuse public text most of which is in another language than the words drawn from.

    English lists hold more than half of the words of a French text, so that counting does not tell.
    What a vocabulary of the user's own is in, nobody here knows.
    """
    if settings.vectors not in VOCABULARIES:
        return
    source = open_source(restoring.public)
    texts = texts_in(source, public_column(source, restoring.public_column))
    wanted = tuple(LANGUAGES) if settings.language == AUTO else (settings.language,)
    clear = [code for code in detect(islice(texts, _DETECTED)) if code]
    others = [code for code in clear if code not in wanted]
    if 2 * len(others) > len(clear):
        most = max(sorted(set(others)), key=others.count)
        raise InvalidInput(
            f"--public must be in the vocabulary's language, {' or '.join(map(title, wanted))}; "
            f"{others.count(most)} of the {len(clear)} texts looked at are in {title(most)}"
        )


def refuse_private(
    public: Any, column: str | None, private: Source, private_column: str, words: Vocabulary
) -> None:
    """Refuse public text that is the private text, or holds a good part of it.

    A prior that was counted on the private text would carry it into the release past the law. The
    same file and the same content are found whatever the name; copies with rows left out, shuffled
    or mixed among others by texts that stand in both, also with their words in another order;
    edited, joined and re-cut ones by runs of words. Fewer texts than that are told of.
    """
    told = open_source(public)
    if not told.in_memory and not private.in_memory:
        same = told.location == private.location or sha256_of(told.location) == sha256_of(
            private.location
        )
    else:
        same = public is private or told.fingerprint() == private.fingerprint()
    if same:
        raise InvalidInput(_REFUSED.format("it is the private file"))
    tell("comparing the public text with the private one")
    shared = overlap(
        lambda: texts_in(private, private_column),
        lambda: texts_in(told, public_column(told, column)),
        words,
    )
    if shared.beyond is not None:
        raise InvalidInput(_REFUSED.format(shared.beyond))
    if shared.some:
        say(
            "note: some private texts of four words or more stand in the public text as they are. "
            "If they are not public, leave them out of it: what is learned from them passes the "
            "law by"
        )


_REFUSED = (
    "--public must not be the private text, or made from it ({}): what was learned from it would "
    "pass the law by. Give public text of the same kind"
)
