"""From a file with a text column to a file that can be handed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import frozen
from voile.core.randomness import Generator, seeded_rng
from voile.errors import require
from voile.files import no_such_column
from voile.jobs import (
    Batch,
    ColumnsInClear,
    Engine,
    JobReport,
    Location,
    Named,
    OnError,
    Planned,
    Replaced,
    RowProblem,
    Source,
    check_output,
    columns_in_clear,
    location,
    open_source,
    run_job,
)
from voile.jobs.ledger_choice import NO_LEDGER, LedgerChoice, charging_for, ledger_facts
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.mechanisms._neighbour_table import Version, checked_versions, take_as_checked
from voile.text import Vocabulary
from voile.text.effects import expected, watched
from voile.text.models_used import models_used
from voile.text.neighbours import fill_neighbours
from voile.text.plan import Plan
from voile.text.promise import counted, promised
from voile.text.released import Refused, ReleasedText
from voile.text.sentences import explanation, headline, in_brief
from voile.text.settings import TextRecipe, build_protector, check_budget
from voile.text.word_protector import TextProtector

DOCUMENT_COLUMN = "document_epsilon"


MOST = 1_000_000
"""No word's epsilon is larger: exponents would overflow, and nothing is protected long before."""


@dataclass(frozen=True)
class MakeTextReleaser:
    """Builds a worker's releaser: a protector over the very vocabulary that was read here.

    The vocabulary travels along (10 MB for 50,000 GloVe words, once to a process or node), so that
    no worker reads, checks or filters it again, and none can find another one installed.
    """

    recipe: TextRecipe
    words: Vocabulary
    clear: ColumnsInClear
    document_column: bool = False
    tables: frozenset[Version] = field(default_factory=checked_versions)

    def __call__(self) -> TextReleaser:
        """One releaser for one process."""
        take_as_checked(self.tables)
        frozen(self.words.embedding.coordinates)  # travelling may have thawed it
        protector = build_protector(self.recipe, self.words)
        return TextReleaser(self.recipe, protector, self.clear, self.document_column)


@dataclass(frozen=True)
class TextReleaser:
    """Releases the text column of a batch; the columns in clear pass as they are."""

    recipe: TextRecipe
    protector: TextProtector
    clear: ColumnsInClear
    document_column: bool

    def plan(self, batch: Batch) -> Planned:
        """What is to be drawn for each text, and what is wrong with texts that are none."""
        plans = self.protector.plan(list(batch.column(self.recipe.column)))
        problems: dict[int, RowProblem] = {
            place: RowProblem(plan.reason)
            for place, plan in enumerate(plans)
            if isinstance(plan, Refused)
        }
        problems |= self.clear.strangers(batch.rows)
        return Planned(plans, lambda: self._bill(plans, problems), problems)

    def _bill(self, plans: Sequence[Plan | Refused], problems: Mapping[int, RowProblem]) -> Bill:
        """The epsilons of all words that would be drawn for each text."""
        return Bill.listed(
            [
                None
                if place in problems or isinstance(plan, Refused)
                else self.protector.spends(plan)
                for place, plan in enumerate(plans)
            ]
        )

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """A text for each row that is paid, and counts of words and lengths."""
        plans = [plan for plan, drawn in zip(planned.secrets, paid, strict=True) if drawn]
        answers = iter(self.protector.draw(plans, rng))
        released = [next(answers) if drawn else None for drawn in paid]
        texts = [answer if isinstance(answer, ReleasedText) else None for answer in released]
        columns: dict[str, list[Any]] = {self.recipe.column: [t and t.text for t in texts]}
        if self.document_column:
            columns[DOCUMENT_COLUMN] = [t and t.epsilon for t in texts]
        return Replaced(columns, counted([t for t in texts if t is not None]))


def protect_file(
    recipe: TextRecipe,
    *,
    out: str | Path | Location,
    engine: Engine | None = None,
    pass_columns: Named = (),
    drop_columns: Sequence[str] = (),
    document_column: bool = False,
    on_error: OnError = OnError.FAIL,
    batch_rows: int = 2000,
    overwrite: bool = False,
    ledger: LedgerChoice = NO_LEDGER,
) -> dict[str, Any]:
    """Release a file's text column and write `<out>` and `<out>.guarantee.json`.

    Every other column must be named: in `pass_columns` (or "all") to be written as it is, in
    `drop_columns` to be left out. With a ledger, a row charges its person the epsilons of all words
    that are drawn for it; its column is no exception.

    Returns what the JSON file holds: what was promised, what lies outside, what the epsilon does.
    """
    check_output(out, overwrite=overwrite)
    recipe, source = checked(recipe)
    recipe = fill_neighbours(recipe, source)
    clear = clear_columns(recipe, source, pass_columns, drop_columns, document_column)
    target = location(out)
    protector = build_protector(recipe)
    warm_up()
    before = describe(recipe, protector, clear)

    def said(report: JobReport) -> dict[str, Any]:
        facts = describe(recipe, protector, clear, report, before)
        return facts | ledger_facts(charging, report)

    charging = charging_for(ledger, protector.guarantee, source.columns, seed=recipe.seed)
    report = run_job(
        source,
        target,
        MakeTextReleaser(recipe, _bare(protector.vocabulary), clear, document_column),
        identity=recipe.identity() | {"vocabulary_sha256": protector.vocabulary.embedding.digest},
        added_columns=(DOCUMENT_COLUMN,) if document_column else (),
        dropped_columns=clear.dropped,
        engine=engine,
        batch_rows=batch_rows,
        on_error=on_error,
        overwrite=overwrite,
        charging=charging,
        seed=recipe.seed,
        guarantee=said,
    )
    return dict(report.guarantee) | {
        "seconds": report.seconds,
        "output": str(target),
        "resumed_parts": report.resumed,
    }


def _bare(words: Vocabulary) -> Vocabulary:
    """The same words without what was worked out from them, which need not travel."""
    return replace(words, embedding=replace(words.embedding))


def checked(recipe: TextRecipe) -> tuple[TextRecipe, Source]:
    """The recipe with its epsilon worked out, and its source; both refused early if wrong."""
    recipe = check_budget(recipe)
    factors = [alpha for alpha in recipe.alphas if alpha is not None]
    largest = recipe.epsilon * max(factors, default=1.0)
    require(largest <= MOST, "a word's epsilon", f"at most {MOST:,}", largest,
            "a larger one protects nothing, give a smaller one")  # fmt: skip
    source = open_source(recipe.source)
    if recipe.column not in source.columns:
        raise no_such_column(recipe.column, source.columns)
    return recipe, source


def clear_columns(
    recipe: TextRecipe,
    source: Source,
    pass_columns: Named,
    drop_columns: Sequence[str],
    document_column: bool,
) -> ColumnsInClear:
    """What happens to the other columns; the total of each document is the release's own."""
    changed = (recipe.column, DOCUMENT_COLUMN) if document_column else (recipe.column,)
    return columns_in_clear(source, changed=changed, passing=pass_columns, dropping=drop_columns)


def warm_up() -> None:
    """Compile the kernels once, so that workers find them compiled."""
    from voile.mechanisms.word_exponential import examples

    examples()[0].release([0], seeded_rng(0))


def describe(
    recipe: TextRecipe,
    protector: TextProtector,
    clear: ColumnsInClear,
    report: JobReport | None = None,
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What is promised, and after a job what was drawn, spent and kept: one value for all to read.

    What the laws do to a word does not change by drawing; it is taken from `before`.
    """
    from voile import __version__

    guarantee, words = protector.guarantee, protector.vocabulary
    nearest = asdict(protector.nearest) if before is None else before["nearest"]
    promise = promised(protector, nearest=nearest, totals=None if report is None else report.totals)
    facts: dict[str, Any] = {
        "voile": __version__,
        "guarantee": guarantee.to_dict(),
        "mechanism": recipe.mechanism,
        "epsilon_per_word": None if recipe.public_length else guarantee.epsilon,
        "public_length": recipe.public_length,
        "unit": guarantee.metric.unit,
        "metric": guarantee.metric.name,
        "granularity": guarantee.granularity,
        "basis": str(guarantee.basis),
        "vocabulary": {
            "name": words.name,
            "words": len(words),
            "sha256": words.embedding.digest,
            "private": words.private,
        },
        **clear.facts(),
        "models": [
            asdict(model)
            for model in models_used(recipe.vocabulary, recipe.pipeline if recipe.alphas else None)
        ],
        "outside": list(guarantee.outside),
        "randomness": "secure" if recipe.seed is None else "seeded: not for release",
        "seed": recipe.seed,
        **promise,
    }
    if report is not None:
        facts |= {"rows": report.rows, "skipped": report.skipped, "masked": report.masked}
    if recipe.document_epsilon is not None:
        facts["document_epsilon"] = recipe.document_epsilon
    if recipe.remap:
        facts["remap"] = _remapped(protector) if before is None else before["remap"]
    _add_effects(facts, recipe, protector, before)
    said = {"headline": headline, "in_brief": in_brief, "explanation": explanation}
    return facts | {name: sentences(facts) for name, sentences in said.items()}


def _add_effects(
    facts: dict[str, Any],
    recipe: TextRecipe,
    protector: TextProtector,
    before: Mapping[str, Any] | None,
) -> None:
    """What the law of each level does to words at large, and to those that are watched."""
    if before is not None:
        for row, known in zip(facts["levels"], before["levels"], strict=True):
            row |= {key: known[key] for key in ("expected", "watched") if key in known}
        return
    if recipe.public_length:  # a law for each length
        return
    found: dict[float, dict[str, Any]] = {}
    for row, law in zip(facts["levels"], protector.laws, strict=True):
        if law is not None:
            if row["epsilon"] not in found:
                found[row["epsilon"]] = {
                    "expected": expected(law, protector.vocabulary),
                    "watched": watched(
                        law,
                        protector.vocabulary,
                        recipe.watch,
                        keep_stopwords=recipe.keep_stopwords,
                        keep_unknown=recipe.unknown == "keep",
                    ),
                }
            row |= found[row["epsilon"]]


def _remapped(protector: TextProtector) -> dict[str, Any]:
    """What a remap did: its prior, and how many words are left to be released."""
    from voile.mechanisms.word_remap import RemappedWords

    laws = [law for law in protector.laws if isinstance(law, RemappedWords)]
    left = [len(np.unique(law.targets)) for law in laws]
    return {"prior": "public word frequencies by rank", "words_left": left}
