"""From a text column to one that can be handed on."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from voile.core.randomness import secure_rng, seeded_rng
from voile.errors import require
from voile.files.columns_in_clear import ColumnsInClear, columns_in_clear
from voile.files.source import Source, open_source
from voile.jobs import JobReport
from voile.jobs.ledger_choice import charging_for
from voile.jobs.release import Columns as ReleasedColumns
from voile.jobs.release import Rows, carry_out, output_for
from voile.jobs.settings import Columns, LedgerChoice, OutputFile, Running, Seed
from voile.jobs.standing import Expected
from voile.mechanisms._neighbours import cache_folder, delete_telling_caches
from voile.options import Data, Option, use_case
from voile.progress import tell
from voile.text.building import build_protector, load_vocabulary, with_epsilon
from voile.text.consistent import Scope, as_scope
from voile.text.given import TextColumn
from voile.text.language_prior import LanguagePrior
from voile.text.languages import check_language
from voile.text.mapping import Keeper, keeper
from voile.text.models_used import models_used
from voile.text.neighbours import fill_neighbours
from voile.text.options import Names, Restoring, Strength, Words
from voile.text.prior_choice import choose_prior, with_expected
from voile.text.promise import Tally, left_alone, levels_of
from voile.text.reading import texts_at_first
from voile.text.release import Remapped, TextRelease, VocabularyUsed
from voile.text.released import ReleasedText
from voile.text.releaser import DOCUMENT_COLUMN, MakeTextReleaser
from voile.text.restored import restored_with
from voile.text.seen import Seen
from voile.text.sentences import explanation
from voile.text.settings import TextSettings, settings_from
from voile.text.sharing import MakeSharing, check_person
from voile.text.vocabularies import Vocabulary, no_words
from voile.text.word_protector import TextProtector


@use_case("text protect")
def protect(
    data: Annotated[
        Data,
        Option("CSV, JSONL, Parquet or text; .gz allowed; a path or a URL.", reads="private"),
    ],
    *,
    column: TextColumn = "text",
    columns: Columns = Columns(),
    strength: Strength = Strength(),
    mechanism: Annotated[
        Any,
        Option(
            "The law by which a word is replaced (`voile mechanisms`), or your own as "
            "mine=./mine.py:law, a function (space, *, epsilon) that gives one.",
            shown=True,
        ),
    ] = "tem",
    words: Words = Words(),
    names: Names = Names(),
    restoring: Restoring = Restoring(),
    charge: LedgerChoice = LedgerChoice(),
    out: OutputFile = None,
    running: Running = Running(),
    seed: Seed = None,
    preview: Annotated[int, Option("Show this many rows before and after.", "Output")] = 0,
    dry_run: Annotated[bool, Option("Check everything and release nothing.", "Running")] = False,
) -> TextRelease:
    """Replace every word of a text column by a draw, and say what was guaranteed.

    Example: `voile text protect reviews.csv --column text --epsilon 3 --pass stars --drop user`

    Every column beside the text must be named in --pass or --drop.

    Interrupted? Repeat the same command: it continues and never draws twice for a row.
    """
    require(preview >= 0, "--preview", ">= 0", preview)
    if seed is not None:
        seeded_rng(seed)  # a wrong one is refused before anything is done
    target = output_for(data, out, overwrite=running.overwrite or dry_run)
    source = open_source(data)
    column = source.chosen(column)
    changed = (column, DOCUMENT_COLUMN) if strength.document_column else (column,)
    clear = columns_in_clear(
        source, changed=changed, passing=columns.passing, dropping=columns.drop
    )
    language = check_language(words.language, texts_at_first(source, column))
    counts = not isinstance(source, Expected)  # a service tells nobody of its rows
    settings = settings_from(
        column, strength, mechanism, words, names, language=language, detects=counts
    )
    charged = check_person(as_scope(words.consistent), charge, source.columns)
    settings = with_epsilon(settings, strength, source)
    kept = None if dry_run else keeper(names, output=target, overwrite=running.overwrite)
    tell("loading the vocabulary")
    vocabulary = load_vocabulary(settings, source) if settings.needs_words else no_words()
    deleted = delete_telling_caches(cache_folder())
    if not dry_run and not settings.in_clear:
        settings = fill_neighbours(settings, vocabulary, source)
    settings, prior = choose_prior(restoring, settings, vocabulary, source)
    protector = build_protector(settings, vocabulary, prior)
    if prior is not None:
        prior = with_expected(prior, protector)
        protector = build_protector(settings, vocabulary, prior)
    tell("looking at what the law does")
    before = _promised(settings, protector, clear, seed, prior)
    before = replace(
        before,
        notes=(f"note: {deleted}",) if deleted else (),
        sample=_sample(source, column, protector, preview),
    )
    if dry_run:
        return replace(before, explanation=explanation(before))
    if running.jobs != 1 or isinstance(source, Expected):
        _warm_up()
    scope = protector.consistent
    person = charge.person if scope is Scope.PERSON else None
    make = MakeTextReleaser(
        settings, _bare(vocabulary), clear, strength.document_column, person, prior=prior
    )
    charging = charging_for(charged, protector.guarantee, source.columns, seed=seed)
    if charging is not None:
        charging = replace(charging, beforehand=scope is Scope.PERSON)
    sharing = scope in (Scope.PERSON, Scope.FILE) or names.keep_mapping is not None
    identity = {
        "task": "text protect",
        "seed": seed,
        **settings.identity(),
        "vocabulary_sha256": vocabulary.embedding.digest,
        **({} if person is None else {"person": person}),
    }
    what = "" if kept is None else json.dumps([source.fingerprint(), identity], default=str)
    continued = not source.in_memory
    with nullcontext() if kept is None else kept.forgotten_if_refused(continued=continued):
        return carry_out(
            source,
            MakeSharing(make, protector, person, kept, what) if sharing else make,
            out=target,
            describe=lambda report: _described(before, protector, report, kept),
            identity=identity,
            clear=clear,
            running=running,
            charging=charging,
            seed=seed,
            added_columns=(DOCUMENT_COLUMN,) if strength.document_column else (),
        )


# ── what is said ───────────────────────────────────────────────────────────────────────────────


def _promised(
    settings: TextSettings,
    protector: TextProtector,
    clear: ColumnsInClear,
    seed: int | None,
    prior: LanguagePrior | None,
) -> TextRelease:
    """What is promised before anything is drawn: the laws, and what they do to words."""
    words = protector.vocabulary
    return TextRelease(
        domain="text",
        mechanism=settings.mechanism.name,
        guarantee=protector.guarantee,
        columns=ReleasedColumns.of(clear),
        models=models_used(
            settings.vectors if settings.needs_words else None, settings.pipelines_used
        ),
        seed=seed,
        levels=levels_of(protector, settings),
        nearest=protector.nearest,
        vocabulary=VocabularyUsed(words.name, len(words), words.embedding.digest, words.private),
        clear_by_choice=left_alone(protector),
        document_epsilon=settings.document_epsilon,
        public_length=settings.public_length,
        consistent=protector.consistent,
        pseudonyms=settings.pseudonyms,
        remap=None if prior is None or not settings.words.remap else _remapped(protector, prior),
        restored=None
        if prior is None or settings.restore is None
        else restored_with(settings, prior, len(words)),
        language=settings.language,
    )


def _described(
    before: TextRelease, protector: TextProtector, report: JobReport, kept: Keeper | None
) -> TextRelease:
    """The same after a job: what was drawn, spent and kept. All is drawn: a mapping is whole."""
    if kept is not None:
        kept.finish()
    tally = Tally.of(report.totals)
    levels = tally.levels(before.levels, protector)
    done = replace(
        before,
        levels=levels,
        counts=tally.counts(levels),
        words_per_document=tally.lengths(),
        stand_ins=tally.stand_ins,
        spent=tally.spent(protector),
        rows=Rows.of(report),
        restored=None if before.restored is None else before.restored.after(report.totals),
        seen=Seen.of(report.totals, protector.reading.chosen, protector.finders.names),
    )
    return replace(done, explanation=explanation(done))


def _remapped(protector: TextProtector, prior: LanguagePrior) -> Remapped:
    from voile.mechanisms.spaces.word_remap import RemappedWords

    laws = [law for law in protector.laws if isinstance(law, RemappedWords)]
    left = tuple(len(np.unique(law.targets)) for law in laws)
    used = prior.used
    return Remapped(used.source if used.file is None else f"the words of {used.file}", left)


def _sample(
    source: Source, column: str, protector: TextProtector, count: int
) -> tuple[tuple[str, str], ...]:
    """Texts before and after, drawn apart from the release; their beginnings."""
    if not count:
        return ()
    shown = [text[:400] for text in texts_at_first(source, column, count)]
    drawn = protector.alone.release_texts(shown, secure_rng())
    pairs = zip(shown, drawn, strict=True)
    return tuple((text, new.text) for text, new in pairs if isinstance(new, ReleasedText))


def _bare(words: Vocabulary) -> Vocabulary:
    """The same words without what was worked out from them, which need not travel."""
    return replace(words, embedding=replace(words.embedding))


def _warm_up() -> None:
    """Compile the kernels once, so that workers find them compiled, and a service's requests."""
    from voile.mechanisms.words.word_exponential import examples

    examples()[0].release([0], seeded_rng(0))
