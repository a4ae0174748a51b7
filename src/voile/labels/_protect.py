"""Protect a labelled file: every record is released once, by a recipe that is public."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from voile.core.randomness import secure_rng, seeded_rng
from voile.errors import InvalidInput, VoileError
from voile.files.columns_in_clear import ColumnsInClear, columns_in_clear
from voile.files.locations import Location, location
from voile.files.rows import OnError
from voile.files.source import Source, open_source
from voile.jobs import JobReport
from voile.jobs.ledger_choice import charging_for
from voile.jobs.release import Columns as ColumnsReleased
from voile.jobs.release import Rows, carry_out, output_for
from voile.jobs.settings import Columns, LedgerChoice, Running
from voile.jobs.workspace import Workspace
from voile.labels._recipe import MadeRecipe, write_recipe
from voile.labels.bins import Cut
from voile.labels.choice import LabelChoice, chosen_recipe, recipe_of
from voile.labels.draw import LabelReleaser, kinds_of
from voile.labels.grouping import grouped
from voile.labels.law import Draws, Law
from voile.labels.protection import Protection
from voile.labels.reading import Label, require_label
from voile.labels.recipe_file import recipe_digest, recipe_from, recipe_text
from voile.labels.recipes import Recipe
from voile.labels.released import LabelBounds, ProtectedLabels, Shape
from voile.labels.sampling import COLUMN, REPORT
from voile.options import Data, Option, use_case

BY_CELLS = LabelChoice()
AS_NAMES = Cut()
NONE_NAMED = Columns()
IN_ONE_GO = Running()


@use_case("labels protect")
def protect(
    data: Annotated[
        Data,
        Option(
            "CSV, JSONL, Parquet or text; .gz allowed; a path or a URL (s3://…).", reads="private"
        ),
    ],
    *,
    label: Label,
    epsilon: Annotated[float, Option("The privacy parameter.", "How strong")],
    out: Annotated[
        str | None,
        Option("Output, a path or a URL; default FILE.protected.…", "Output", writes=True),
    ] = None,
    choice: LabelChoice = BY_CELLS,
    cut: Cut = AS_NAMES,
    columns: Columns = NONE_NAMED,
    running: Running = IN_ONE_GO,
    charge: LedgerChoice = LedgerChoice(),
    seed: Annotated[
        int | None, Option("For experiments only: the output must not be released.", "Running")
    ] = None,
) -> ProtectedLabels:
    """Write a protected copy of a labelled file, each record drawn once.

    Example: `voile labels protect patients.csv --label diagnosis --epsilon 2 --recipe public.json`

    Every column that the mechanism leaves as it is must be named in --pass or --drop. What the
    output shows beside the draws comes from a recipe, which must be public. One that is made here
    is written beside the output before anything is drawn, and a restart of the interrupted job
    finds it there. A value that is missing or unknown to the recipe is coded with --on-error mask,
    and stops the job otherwise. With a ledger, a record charges its person the bound that adds up,
    and the person's column is dropped unless it is passed by name.
    """
    choice = choice.checked(epsilon)
    edges = _edges(cut, choice, epsilon)
    source = open_source(data)
    named = output_for(data, out, overwrite=running.overwrite)
    target = None if named is None else location(named)
    require_label(source, label)
    columns = _with_person(columns, charge)
    job = None if target is None else Workspace(target).folder
    beside = None if target is None else target.beside(target.name + ".recipe.json")
    _learning_is_charged(choice, charge, running)
    made, drafted = chosen_recipe(
        choice,
        source,
        label=label,
        epsilon=epsilon,
        beside=beside,
        interrupted=job is not None and job.inside("manifest.json").exists(),
        leave=(*columns.drop, *_named(columns)),
        on_error=running.policy,
        rng=secure_rng() if seed is None else seeded_rng(seed),
        person=charge.person if charge.ledger is not None else None,
        edges=edges,
    )
    given = made
    if choice.mechanism in ("ldp", "sample") and {c.name for c in made.columns} & {*columns.drop}:
        made = made.without(columns.drop)  # what is not written need not be drawn
    if choice.mechanism == "sample" and not made.groups:
        records = _count(source) if choice.records is None else choice.records
        made = grouped(made, epsilon=epsilon, records=records)
    drafted = drafted or made is not given  # the recipe that is used lies beside the release
    law = Law(recipe_text(made), epsilon, choice.mechanism, choice.prior, choice.label_share)
    protection = law.protection()
    clear = _columns(source, made, protection, columns)
    charging = charging_for(charge, protection.adding_up(), source.columns, seed=seed)
    if drafted and beside is not None:
        write_recipe(made, beside, like=source)
    stated = protection.beside([clear.shown[name] for name in clear.passed])
    where = _where(choice.recipe if made is given else None, beside)
    try:
        done = carry_out(
            source,
            partial(_releaser, law, clear, kinds_of(source, made), running.on_error == "mask"),
            out=None if target is None else str(target),
            describe=lambda report: _described(
                report, stated, law.draws(), made, clear, where, seed
            ),
            identity=_identity(label, law, choice, clear, seed) | {"edges": list(edges)},
            clear=clear,
            running=running,
            charging=charging,
            seed=seed,
            added_columns=() if protection.sampler is None else (COLUMN, REPORT),
        )
    except VoileError:
        if drafted and beside is not None and not (job and job.exists()):
            beside.remove()  # nothing of a job that was refused may stay
        raise
    if running.overwrite and beside is not None and beside.exists() and not _is(made, beside):
        beside.remove()  # the recipe of the release that stood here before
    return done


def _described(
    report: JobReport,
    protection: Protection,
    draws: Draws,
    recipe: Recipe,
    clear: ColumnsInClear,
    where: str | None,
    seed: int | None,
) -> ProtectedLabels:
    """What was promised for the finished job."""
    strongest = protection.strongest()
    guarantee = replace(strongest, outside=(*strongest.outside, *_unread(report)))
    return ProtectedLabels(
        domain="labels",
        mechanism=protection.name,
        guarantee=guarantee,
        columns=ColumnsReleased.of(clear),
        rows=Rows.of(report),
        seed=seed,
        explanation=tuple(guarantee.explain(candidates=len(recipe.classes)).splitlines()),
        recipe=where,
        learned_from_private=recipe.learned,
        draws=draws,
        epsilon=LabelBounds.of(protection),
        kept_cells=protection.kept,
        shape=_shape(recipe, clear) if protection.typical else None,
        protection=protection,
        by=recipe,
    )


def _shape(recipe: Recipe, clear: ColumnsInClear) -> Shape | None:
    """How many rows of typical records differ in what is drawn and not dropped, and where."""
    cells, columns = recipe.cells, recipe.columns
    if cells is None:
        return None
    kept = [j for j, column in enumerate(columns) if column.name not in clear.dropped]
    different = cells.different(kept)
    return Shape(
        different_rows=different * len(recipe.classes),
        typical_records=different,
        features_that_vary=tuple(columns[j].name for j in cells.telling() if j in kept),
    )


def _unread(report: JobReport) -> tuple[str, ...]:
    broken = report.skipped + report.masked
    if not broken:
        return ()
    return (f"that {broken:,} rows could not be read as records, and are left out or blank",)


def _releaser(
    law: Law, clear: ColumnsInClear, kinds: dict[str, type], masking: bool
) -> LabelReleaser:
    """A releaser for one process, with its own protection."""
    return LabelReleaser(law.protection(), recipe_from(law.recipe), clear, kinds, masking)


def _identity(
    label: str, law: Law, choice: LabelChoice, clear: ColumnsInClear, seed: int | None
) -> dict[str, Any]:
    """What a restart must agree in, the recipe by its hash."""
    return {
        "job": "labels protect",
        "label": label,
        "mechanism": choice.mechanism,
        "epsilon": law.epsilon,
        "prior": list(choice.prior),
        "label_share": choice.label_share,
        "levels": choice.levels,
        "cells": choice.cells,
        "classes": list(choice.classes),
        "learn_from_private": choice.learn_from_private,
        "learn_epsilon": choice.learn_epsilon,
        "learn_delta": choice.learn_delta,
        "passed": list(clear.passed),
        "seed": seed,
        "recipe": hashlib.sha256(law.recipe.encode()).hexdigest(),
    }


def _where(recipe: Data, beside: Location | None) -> str | None:
    """Where the recipe stands: beside the output unless one is given, which may be in memory."""
    if isinstance(recipe, MadeRecipe):
        return recipe.recipe
    found = beside if recipe is None else recipe
    return None if found is None or isinstance(found, Recipe) else str(found)


def _is(made: Recipe, place: Location) -> bool:
    """Whether the recipe that lies there is the one that was used."""
    try:
        return recipe_digest(recipe_of(str(place))) == recipe_digest(made)
    except VoileError:
        return False


def _learning_is_charged(choice: LabelChoice, charge: LedgerChoice, running: Running) -> None:
    """Refuse a ledger that would not charge everybody who was learned from."""
    if choice.learn_epsilon is None or charge.ledger is None:
        return
    if charge.over_budget != "refuse" or running.policy is not OnError.FAIL:
        raise InvalidInput(
            "--learn-epsilon with a ledger must go with --over-budget refuse and --on-error fail: "
            "a row that is left out or masked is charged to nobody, and was learned from"
        )


def _count(source: Source) -> int:
    """How many rows there are to release."""
    return max(1, sum(1 for _ in source.rows()))


def _edges(cut: Cut, choice: LabelChoice, epsilon: float) -> tuple[float, ...]:
    """The edges of a number's bins, if they go together with what else was said."""
    edges = cut.at(epsilon)
    learns = choice.learn_from_private or choice.learn_epsilon is not None
    if edges and (choice.changes_features or choice.recipe is not None or choice.classes or learns):
        raise InvalidInput(
            "--edges must go with --mechanism rr or prior, and without a recipe, --classes or "
            "learning; for cf, ldp and sample `voile labels recipe` takes them, and the recipe "
            "says them"
        )
    return edges


def _named(columns: Columns) -> tuple[str, ...]:
    return () if columns.pass_ == "all" else tuple(columns.pass_)


def _with_person(columns: Columns, ledger: LedgerChoice) -> Columns:
    """The person's column is dropped unless it was passed by name."""
    person = ledger.person
    if ledger.ledger is None or not person or person in (*columns.drop, *_named(columns)):
        return columns
    return replace(columns, drop=(*columns.drop, person))


def _columns(
    source: Source, recipe: Recipe, protection: Protection, columns: Columns
) -> ColumnsInClear:
    """What happens to the columns that are not drawn; a column that is may be dropped as well."""
    drawn = [] if protection.passes_features else [c.name for c in recipe.columns]
    absent = [name for name in drawn if name not in source.columns]
    if absent:
        raise InvalidInput(
            f"the file must have the recipe's {len(drawn)} features, {len(absent)} are missing"
        )
    if protection.sampler is not None:  # reports stand in place of records
        taken = [name for name in (COLUMN, REPORT) if name in source.columns]
        if taken:
            raise InvalidInput(f"the file must have no column {taken[0]!r}: it is the release's")
        left = (*columns.drop, *(n for n in (recipe.label, *drawn) if n not in columns.drop))
        return columns_in_clear(source, changed=[], passing=columns.passing, dropping=left)
    changed = [recipe.label, *(name for name in drawn if name not in columns.drop)]
    return columns_in_clear(source, changed=changed, passing=columns.passing, dropping=columns.drop)
