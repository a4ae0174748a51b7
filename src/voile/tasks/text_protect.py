"""From a file with a text column to a file that can be handed on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import frozen
from voile.core.mechanism import Mechanism
from voile.core.randomness import Generator
from voile.domains.text import Vocabulary
from voile.domains.text.models_used import models_used
from voile.domains.text.protector import TextProtector
from voile.domains.text.released import Refused
from voile.files import no_such_column
from voile.jobs import (
    Batch,
    BeyondBudget,
    ColumnsInClear,
    Engine,
    JobReport,
    Location,
    Named,
    OnError,
    Replaced,
    RowProblem,
    Source,
    columns_in_clear,
    location,
    open_source,
    run_job,
)
from voile.ledger import Bill
from voile.tasks.ledger_charge import LedgerChoice, charging_for, ledger_facts
from voile.tasks.text_recipe import (
    TextRecipe,
    build_protector,
    check_budget,
    quantiles,
)

DOCUMENT_COLUMN = "document_epsilon"
_UNPAID = Refused("its person's budget is spent")


@dataclass(frozen=True)
class MakeTextTransform:
    """Builds a worker's transform: a protector over the very vocabulary that was read here.

    The vocabulary travels along (10 MB for 50,000 GloVe words, once to a process or node), so that
    no worker reads, checks or filters it again, and none can find another one installed.
    """

    recipe: TextRecipe
    words: Vocabulary
    clear: ColumnsInClear
    document_column: bool = False

    def __call__(self) -> TextTransform:
        """One transform for one process."""
        frozen(self.words.embedding.coordinates)  # travelling may have thawed it
        protector = build_protector(self.recipe, self.words)
        return TextTransform(self.recipe, protector, self.clear, self.document_column)


@dataclass(frozen=True)
class TextTransform:
    """Releases the text column of a batch; the columns in clear pass as they are."""

    recipe: TextRecipe
    protector: TextProtector
    clear: ColumnsInClear
    document_column: bool

    def __call__(self, batch: Batch) -> Replaced:
        """A text or a problem for each row, and counts of words and lengths."""
        plans = self.protector.plan(list(batch.column(self.recipe.column)))
        for place, problem in self.clear.strangers(batch.rows).items():
            plans[place] = Refused(problem.reason)
        if batch.charge is not None:
            spends = [None if isinstance(p, Refused) else self.protector.spends(p) for p in plans]
            for place in np.flatnonzero(~batch.charge(Bill.listed(spends))).tolist():
                plans[place] = _UNPAID
        answers = self.protector.draw(plans, self._rng(batch))
        texts: list[str | None] = []
        spent: list[float | None] = []
        problems: dict[int, RowProblem] = {}
        totals: dict[str, float] = {"words": 0, "changed": 0}
        for place, answer in enumerate(answers):
            if isinstance(answer, Refused):
                unpaid = answer is _UNPAID
                problems[place] = BeyondBudget() if unpaid else RowProblem(answer.reason)
                texts.append(None)
                spent.append(None)
                continue
            texts.append(answer.text)
            spent.append(answer.epsilon)
            totals["words"] += answer.words
            totals["changed"] += answer.changed
            key = f"length {answer.words}"
            totals[key] = totals.get(key, 0) + 1
        columns: dict[str, list[Any]] = {self.recipe.column: texts}
        if self.document_column:
            columns[DOCUMENT_COLUMN] = spent
        return Replaced(columns, problems, totals)

    def _rng(self, batch: Batch) -> Generator:
        return batch.secure_rng() if self.recipe.seed is None else self.recipe.rng(batch.part)


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
    ledger: LedgerChoice | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> dict[str, Any]:
    """Release a file's text column and write `<out>` and `<out>.guarantee.json`.

    Every other column must be named: in `pass_columns` (or "all") to be written as it is, in
    `drop_columns` to be left out. With a ledger, a row charges its person the epsilons of all words
    that are drawn for it; its column is no exception.

    Returns what the JSON file holds: what was promised, what lies outside, what the epsilon does.
    """
    recipe, source = checked(recipe)
    clear = clear_columns(recipe, source, pass_columns, drop_columns, document_column)
    target = location(out)
    protector = build_protector(recipe)
    warm_up()
    facts = describe(recipe, protector, clear)

    def said(report: JobReport) -> dict[str, Any]:
        return facts | _counted(report, recipe) | ledger_facts(charging, report)

    charging = charging_for(ledger, protector.guarantee, source.columns, seed=recipe.seed)
    report = run_job(
        source,
        target,
        MakeTextTransform(recipe, _bare(protector.vocabulary), clear, document_column),
        identity=recipe.identity() | {"vocabulary_sha256": protector.vocabulary.embedding.digest},
        added_columns=(DOCUMENT_COLUMN,) if document_column else (),
        dropped_columns=clear.dropped,
        engine=engine,
        batch_rows=batch_rows,
        on_error=on_error,
        overwrite=overwrite,
        charging=charging,
        guarantee=said,
        progress=progress,
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

    examples()[0].release([0], _harmless())


def _harmless() -> Generator:
    from voile.core.randomness import seeded_rng

    return seeded_rng(0)


def describe(recipe: TextRecipe, protector: TextProtector, clear: ColumnsInClear) -> dict[str, Any]:
    """All that is known before a word is drawn: the guarantee and what it does."""
    from voile import __version__

    guarantee = protector.guarantee
    words = protector.vocabulary
    facts: dict[str, Any] = {
        "voile": __version__,
        "guarantee": guarantee.to_dict(),
        "mechanism": recipe.mechanism,
        "epsilon_per_word": recipe.epsilon,
        "unit": guarantee.metric.unit,
        "metric": guarantee.metric.name,
        "granularity": guarantee.granularity,
        "basis": str(guarantee.basis),
        "headline": guarantee.headline(),
        "explanation": guarantee.explain(),
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
        "expected": expected(protector, recipe),
    }
    if recipe.document_epsilon is not None:
        facts["document_epsilon"] = recipe.document_epsilon
        facts["epsilon_per_word"] = None if recipe.public_length else recipe.epsilon
    if recipe.remap:
        facts["remap"] = _remapped(protector)
    if recipe.alphas:
        facts["tiers"] = {
            name: None if alpha is None else alpha * recipe.epsilon
            for name, alpha in zip(("pii", "poii", "rest"), recipe.alphas, strict=True)
        }
    return facts


def _remapped(protector: TextProtector) -> dict[str, Any]:
    """What a remap did: its prior, and how many words are left to be released."""
    from voile.mechanisms.word_remap import RemappedWords

    laws = [law for law in protector.laws if isinstance(law, RemappedWords)]
    left = [len(np.unique(law.targets)) for law in laws]
    return {"prior": "public word frequencies by rank", "words_left": left}


def expected(protector: TextProtector, recipe: TextRecipe) -> dict[str, Any]:
    """What this epsilon does, on public word frequencies: share kept, the best attacker."""
    from voile.leakage.words import best_guess, kept_share
    from voile.mechanisms._word_law import WordLaw

    law = _last_law(protector)
    if law is None or recipe.public_length:
        return {}
    frequencies = protector.vocabulary.frequencies()
    answer: dict[str, Any] = {"kept": kept_share(law, frequencies)}
    if isinstance(law, WordLaw):
        candidates = min(2000, len(protector.vocabulary))
        success, before = best_guess(law, frequencies, candidates=candidates)
        answer |= {"attacker": success, "attacker_without": before, "candidates": candidates}
    return answer


def _last_law(protector: TextProtector) -> Mechanism | None:
    return next((law for law in reversed(protector.laws) if law is not None), None)


def _counted(report: JobReport, recipe: TextRecipe) -> dict[str, Any]:
    lengths = {
        int(key.removeprefix("length ")): int(value)
        for key, value in report.totals.items()
        if key.startswith("length ")
    }
    words = report.totals.get("words", 0)
    middle, most, longest = quantiles(lengths, (0.5, 0.9, 1.0)) if lengths else (0, 0, 0)
    total = {"median": middle, "nine_in_ten": most, "largest": longest}
    fixed = recipe.document_epsilon is not None and recipe.public_length
    return {
        "rows": report.rows,
        "skipped": report.skipped,
        "masked": report.masked,
        "words": int(words),
        "changed": int(report.totals.get("changed", 0)),
        "words_per_document": total,
        "epsilon_per_document": {
            name: recipe.document_epsilon if fixed else value * recipe.epsilon
            for name, value in total.items()
        },
    }


def sentence(facts: Mapping[str, Any]) -> str:
    """One sentence on what was guaranteed."""
    epsilon = facts["epsilon_per_word"]
    if epsilon is None:
        return (
            f"Each document spent ε = {facts['document_epsilon']:g} in all, split evenly over its "
            f"words ({facts['basis']})."
        )
    odds = math.exp(min(epsilon, 700.0))
    return (
        f"Whatever is released for a word, the odds between two words 1 {facts['unit']} apart "
        f"change by at most e^{epsilon:.3g} = {odds:.3g}× ({facts['basis']}, {facts['metric']})."
    )
