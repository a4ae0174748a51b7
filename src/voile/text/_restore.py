"""A released text read as a whole by whoever received it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from voile.audit.finding import Verdict
from voile.core.arrays import frozen
from voile.core.randomness import Generator
from voile.errors import InvalidInput
from voile.files.columns_in_clear import ColumnsInClear, columns_in_clear
from voile.files.rows import RowProblem
from voile.files.source import open_source
from voile.jobs import Batch, JobReport, Planned, Replaced
from voile.jobs.release import Columns as ReleasedColumns
from voile.jobs.release import Release, Rows, carry_out, output_for
from voile.jobs.settings import Running
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.options import Data, Option, use_case
from voile.progress import tell
from voile.report.model import Report
from voile.report.words import sentence
from voile.text.building import build_protector, load_vocabulary
from voile.text.consistent import Scope
from voile.text.given import Promised, TextColumn, VectorFile
from voile.text.language_prior import LanguagePrior
from voile.text.options import Restoring
from voile.text.plan import Plan
from voile.text.prior_choice import prior_for_release, with_expected
from voile.text.released import ReleasedText
from voile.text.released_file import draws_of, told_by
from voile.text.restored import Restored, read_totals, restored_sentences, restored_with
from voile.text.settings import TextSettings
from voile.text.vocabularies import Vocabulary
from voile.text.word_protector import TextProtector


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class TextRestoration(Release):
    """A release that was read as a whole by its recipient; the guarantee is the release's own."""

    restored: Restored
    consistent: Scope | None = None
    """Where a word that repeats was drawn once, and is read alike."""

    def _report(self) -> Report:
        done = {True: "were read as a whole", False: "were read word by word",
                None: "stand as they were drawn"}[self.restored.as_a_whole]  # fmt: skip
        rows = "" if self.rows is None else f"{self.rows.released:,} texts {done}. "
        return Report(
            title="A release, read by its recipient",
            answer=f"{rows}What was promised for the release holds unchanged: "
            f"ε = {self.guarantee.epsilon:g} for {self.guarantee.granularity}.",
            verdict=Verdict.OPEN,
            because="What was promised is taken from the guarantee file; nothing here tests it.",
            guarantee=tuple(restored_sentences(self.restored)),
            notes=() if self.output is None else (f"Wrote {self.output.rpartition('/')[2]}.",),
            not_protected=tuple(sentence(item) for item in self.guarantee.outside),
            terms=("epsilon", "release"),
        )


@use_case("text restore")
def restore(
    data: Annotated[Data, Option("The released texts, words as they were drawn.", reads="public")],
    *,
    column: TextColumn = "text",
    guarantee: Promised = None,
    restoring: Restoring = Restoring("reading"),
    vocabulary: VectorFile = None,
    out: Annotated[
        str | None, Option("Output; default FILE.restored.…", "Output", writes=True)
    ] = None,
    no_cache: Annotated[
        bool, Option("Keep nothing on disk of what was worked out.", "Running")
    ] = False,
    running: Running = Running(),
) -> TextRestoration:
    """Read a released file as a whole, as whoever received it can: the same guarantee holds.

    Example: `voile text restore reviews.protected.csv --public reviews-of-others.csv`

    Law, epsilon and vocabulary are taken from the guarantee file. Other columns stay as they are.
    """
    if restoring.restore is None:
        raise InvalidInput("--restore must be reading, training or retrieval")
    source = open_source(data)
    column = source.chosen(column)
    told = told_by(guarantee, source)
    target = output_for(data, out or _restored_name(data), overwrite=running.overwrite)
    settings = told.settings(column, vocabulary, not no_cache)
    tell("loading the vocabulary")
    words = load_vocabulary(settings)
    told.check_vocabulary(words)
    settings, prior = prior_for_release(restoring, settings, words, source)
    protector = build_protector(settings, words, prior)
    prior = with_expected(prior, protector)
    clear = columns_in_clear(source, changed=(column,), passing="all", dropping=())
    before = TextRestoration(
        domain="text",
        mechanism=settings.mechanism.name,
        guarantee=told.guarantee,
        columns=ReleasedColumns.of(clear),
        seed=told.seed,
        restored=restored_with(settings, prior, len(words)),
        consistent=told.consistent,
    )

    def described(report: JobReport) -> TextRestoration:
        read = before.restored.after(report.totals)
        return replace(before, rows=Rows.of(report), restored=read)

    return carry_out(
        source,
        MakeReader(settings, words, prior, told.unknown_in_clear, clear),
        out=target,
        describe=described,
        identity={
            "task": "text restore",
            **settings.identity(),
            "vocabulary_sha256": words.embedding.digest,
        },
        clear=clear,
        running=running,
    )


def _restored_name(data: Any) -> str | None:
    if not isinstance(data, str) and not hasattr(data, "__fspath__"):
        return None
    folder, slash, name = str(data).rpartition("/")
    stem, dot, endings = name.partition(".")
    return f"{folder}{slash}{stem}.restored{dot}{endings.removeprefix('protected.')}"


@dataclass(frozen=True)
class MakeReader:
    """Builds a worker's reader over the very vocabulary and prior that were read here."""

    settings: TextSettings
    words: Vocabulary
    prior: LanguagePrior
    unknown_in_clear: bool
    clear: ColumnsInClear

    def __call__(self) -> ReleaseReader:
        """One reader for one process."""
        frozen(self.words.embedding.coordinates)  # travelling may have thawed it
        protector = build_protector(self.settings, self.words, self.prior)
        return ReleaseReader(self.settings.column, protector, self.unknown_in_clear, self.clear)


@dataclass(frozen=True)
class ReleaseReader:
    """Reads the text column of a batch; nothing is drawn, so nothing is charged."""

    column: str
    protector: TextProtector
    unknown_in_clear: bool
    clear: ColumnsInClear

    def plan(self, batch: Batch) -> Planned:
        """The draws of each text."""
        texts = list(batch.column(self.column))
        problems = {
            place: RowProblem("the text is missing, or is not a string")
            for place, text in enumerate(texts)
            if not isinstance(text, str)
        }
        plans = [
            draws_of(text, self.protector.tokenizer, unknown_in_clear=self.unknown_in_clear)
            for text in texts
            if isinstance(text, str)
        ]
        return Planned(plans, lambda: Bill.listed([]), problems)

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """Each text with what its draws most likely were."""
        plans: Sequence[Plan] = planned.secrets
        drawn = np.array([word.position for plan in plans for word in plan.drawn], dtype=np.intp)
        found = self.protector.put_together(plans, drawn, drawn)
        answers = [answer for answer in found if isinstance(answer, ReleasedText)]
        texts = iter(answers)
        columns = {self.column: [next(texts).text if chosen else None for chosen in paid]}
        return Replaced(columns, read_totals(answers))
