"""Protect a labelled file: every record is released once, by a recipe that is public."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from voile.core.guarantee import Guarantee
from voile.core.randomness import secure_rng, seeded_rng
from voile.errors import InvalidInput, VoileError
from voile.files.disk import LocalFile
from voile.jobs import (
    Charging,
    ColumnsInClear,
    Engine,
    JobReport,
    Location,
    Named,
    Source,
    check_output,
    columns_in_clear,
    location,
    open_source,
    run_job,
)
from voile.jobs import OnError as RowPolicy
from voile.jobs.ledger_choice import NO_LEDGER, LedgerChoice, charging_for, ledger_facts
from voile.jobs.workspace import Workspace, writing
from voile.labels.choice import LabelChoice, chosen_recipe
from voile.labels.draw import LabelReleaser, kinds_of
from voile.labels.protection import (
    Protection,
    cells_protection,
    noise_protection,
    prior_protection,
    response_protection,
)
from voile.labels.reading import require_label
from voile.labels.recipe_file import recipe_from, recipe_text
from voile.labels.recipes import Recipe
from voile.labels.table import OnError


@dataclass(frozen=True, eq=False)
class ProtectedLabels:
    """Where the release and its recipe stand, what was done, and what it promises."""

    report: JobReport
    recipe_path: Path | str
    recipe: Recipe
    protection: Protection
    clear: ColumnsInClear
    drafted: bool
    seeded: bool
    charging: Charging | None = None

    @property
    def main(self) -> Guarantee:
        """The strongest bound on a label: by the whole release if there is one."""
        bound = self.protection.conditional or self.protection.label
        if bound is None:
            raise InvalidInput("this protection bounds nothing about the label")
        return bound


def labels_protect(
    data: str | Path | Location,
    out: str | Path | Location,
    *,
    label: str,
    epsilon: float,
    mechanism: str,
    prior: Sequence[float] = (),
    recipe: str | Path | None = None,
    classes: Sequence[str] = (),
    learn_from_private: bool = False,
    label_share: float | None = None,
    cells: int | None = None,
    levels: int | None = None,
    pass_columns: Named = (),
    drop: tuple[str, ...] = (),
    on_error: OnError = "fail",
    seed: int | None = None,
    engine: Engine | None = None,
    overwrite: bool = False,
    ledger: LedgerChoice = NO_LEDGER,
) -> ProtectedLabels:
    """Release each record of `data` once into `out`, by one of four mechanisms.

    What the output shows beside the draws comes from a `recipe`, which must be public (see
    `chosen_recipe`). One that is made here is written beside the output before anything is drawn,
    and a restart of the interrupted job finds it there. Columns that the mechanism does not change
    must be named in `pass_columns` or `drop`. With a ledger, a record charges its person
    `Protection.adding_up`, and the person's column is dropped unless it is passed by name.
    """
    choice = LabelChoice(
        label, mechanism, epsilon, tuple(prior), recipe, tuple(classes), learn_from_private,
        label_share, levels, cells,
    )  # fmt: skip
    target = location(out)
    beside = target.beside(target.name + ".recipe.json")
    workspace = Workspace(target)
    interrupted = workspace.folder.inside("manifest.json").exists()
    check_output(target, overwrite=overwrite)
    source = open_source(data)
    require_label(source, label)
    named = () if pass_columns == "all" else tuple(pass_columns)
    if ledger.ledger is not None and ledger.person and ledger.person not in (*drop, *named):
        drop = (*drop, ledger.person)
    made, drafted = chosen_recipe(
        choice, source, beside=beside, interrupted=interrupted, leave=(*drop, *named),
        on_error=on_error, rng=secure_rng() if seed is None else seeded_rng(seed),
    )  # fmt: skip
    if mechanism == "ldp":
        made = made.without(drop)  # what is not written need not be drawn
    text = recipe_text(made)
    build = partial(_protection, text, choice)
    protection = build()
    clear = _columns(source, made, protection, pass_columns, drop)
    stated = protection.beside([clear.shown[name] for name in clear.passed])
    charging = charging_for(ledger, protection.adding_up(), source.columns, seed=seed)
    if drafted:
        with writing(beside):
            beside.write(text.encode("utf-8"))
            beside.readable_like(source.location)
    where = beside if recipe is None else location(recipe)
    path = where.path if isinstance(where, LocalFile) else str(where)

    def done(report: JobReport) -> ProtectedLabels:
        return ProtectedLabels(
            report, path, made, stated, clear, drafted, seed is not None, charging
        )

    try:
        kinds = kinds_of(source, made)
        report = run_job(
            source, target,
            partial(_releaser, build, made, clear, kinds, on_error == "mask"),
            identity=_identity(choice, text, clear, seed), dropped_columns=clear.dropped,
            engine=engine, on_error=RowPolicy(on_error), overwrite=overwrite, charging=charging,
            seed=seed, guarantee=lambda report: facts_of(done(report)),
        )  # fmt: skip
    except VoileError:
        if recipe is None and not workspace.folder.exists():
            beside.remove()  # nothing of a job that was refused may stay
        raise
    return done(report)


def _identity(
    choice: LabelChoice, text: str, clear: ColumnsInClear, seed: int | None
) -> dict[str, Any]:
    """What a restart must agree in, the recipe by its hash."""
    return {
        "job": "labels protect",
        "label": choice.label,
        "mechanism": choice.mechanism,
        "epsilon": choice.epsilon,
        "prior": list(choice.prior),
        "label_share": choice.label_share,
        "levels": choice.levels,
        "cells": choice.cells,
        "classes": list(choice.classes),
        "learn_from_private": choice.learn_from_private,
        "passed": list(clear.passed),
        "seed": seed,
        "recipe": hashlib.sha256(text.encode()).hexdigest(),
    }


def _columns(
    source: Source, recipe: Recipe, protection: Protection, passing: Named, drop: tuple[str, ...]
) -> ColumnsInClear:
    """What happens to the columns that are not drawn; a column that is may be dropped as well."""
    drawn = [] if protection.passes_features else [c.name for c in recipe.columns]
    absent = [name for name in drawn if name not in source.columns]
    if absent:
        raise InvalidInput(
            f"the file must have the recipe's {len(drawn)} features, {len(absent)} are missing"
        )
    changed = [recipe.label, *(name for name in drawn if name not in drop)]
    return columns_in_clear(source, changed=changed, passing=passing, dropping=drop)


def facts_of(done: ProtectedLabels) -> dict[str, Any]:
    """What was written and what it promises, as the guarantee file holds it."""
    p, classes = done.protection, len(done.recipe.classes)
    bounds = {"label": p.label, "conditional": p.conditional, "local": p.local}
    return {
        "guarantee": done.main.to_dict(),
        "output": str(done.report.output),
        "recipe": str(done.recipe_path),
        "learned_from_private": done.recipe.learned,
        "records": done.report.rows,
        "skipped": done.report.skipped,
        "masked": done.report.masked,
        "mechanism": p.name,
        "epsilon": {name: bound.epsilon if bound else None for name, bound in bounds.items()},
        "basis": str(done.main.basis),
        "explanation": done.main.explain(candidates=classes),
        "not_covered": [*done.main.outside, *_left_out(done.report)],
        "kept_cells": p.kept,
        "shape": _shape(done),
        **done.clear.facts(),
        "stamp": "seeded: not for release" if done.seeded else "",
        **ledger_facts(done.charging, done.report),
    }


def _shape(done: ProtectedLabels) -> dict[str, Any] | None:
    """How many rows of typical records differ in what is drawn and not dropped, and where."""
    cells, columns = done.recipe.cells, done.recipe.columns
    if cells is None or not done.protection.typical:
        return None
    kept = [j for j, column in enumerate(columns) if column.name not in done.clear.dropped]
    different = cells.different(kept)
    return {
        "different_rows": different * len(done.recipe.classes),
        "typical_records": different,
        "features_that_vary": [columns[j].name for j in cells.telling() if j in kept],
    }


def _left_out(report: JobReport) -> list[str]:
    broken = report.skipped + report.masked
    if not broken:
        return []
    return [f"that {broken:,} rows could not be read as records, and are left out or blank"]


def _protection(text: str, choice: LabelChoice) -> Protection:
    """The protection from plain values, so that a worker process can build its own."""
    recipe, epsilon, share = recipe_from(text), choice.epsilon, choice.label_share
    builders: dict[str, Callable[[], Protection]] = {
        "rr": lambda: response_protection(recipe, epsilon=epsilon),
        "prior": lambda: prior_protection(recipe, epsilon=epsilon, prior=choice.prior),
        "cf": lambda: cells_protection(recipe, epsilon=epsilon, label_share=share),
        "ldp": lambda: noise_protection(recipe, epsilon=epsilon, label_share=share),
    }
    return builders[choice.mechanism]()


def _releaser(
    build: Callable[[], Protection],
    recipe: Recipe,
    clear: ColumnsInClear,
    kinds: dict[str, type],
    masking: bool,
) -> LabelReleaser:
    """A releaser for one process, with its own protection."""
    return LabelReleaser(build(), recipe, clear, kinds, masking)
