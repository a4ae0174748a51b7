"""Protect a labelled file: draft or read a recipe, then release every record once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Indices
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator, secure_rng, seeded_rng
from voile.domains.labels.cells import learn_cells
from voile.domains.labels.columns import LEVELS, CategoryColumn, NumberColumn
from voile.domains.labels.protection import (
    Protection,
    cells_protection,
    noise_protection,
    prior_protection,
    response_protection,
)
from voile.domains.labels.recipe import Recipe, draft_recipe, load_recipe, recipe_from
from voile.domains.labels.table import ABSENT, MISSING, OnError, read_table
from voile.errors import CannotWrite, InvalidInput
from voile.jobs import (
    Batch,
    BeyondBudget,
    Charging,
    Engine,
    JobReport,
    Location,
    Released,
    RowProblem,
    Source,
    Transform,
    location,
    open_source,
    run_job,
)
from voile.jobs import OnError as RowPolicy
from voile.jobs.disk import LocalFile
from voile.jobs.workspace import writing
from voile.ledger import Bill
from voile.tasks.ledger_charge import LedgerChoice, charging_for, ledger_facts


@dataclass(frozen=True, eq=False)
class ProtectedLabels:
    """Where the release and its recipe stand, what was done, and what it promises."""

    report: JobReport
    recipe_path: Path | str
    protection: Protection
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
    label_share: float = 0.5,
    recipe: str | Path | None = None,
    cells: int | None = None,
    levels: int = LEVELS,
    drop: tuple[str, ...] = (),
    on_error: OnError = "fail",
    seed: int | None = None,
    engine: Engine | None = None,
    overwrite: bool = False,
    ledger: LedgerChoice | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> ProtectedLabels:
    """Release each record of `data` once into `out`, by one of four mechanisms.

    Without `recipe` one is drafted from the file and written beside the output before anything
    is drawn; a restart finds it there and continues. With one, nothing is learned from the file.
    With a ledger, a record charges its person `Protection.adding_up`, and the person column is no
    feature.
    """
    if ledger is not None:
        drop = (*drop, ledger.person)
    target = location(out)
    beside = target.beside(target.name + ".recipe.json")
    drafted = recipe is None and (overwrite or not beside.exists())
    if target.exists() and not overwrite:
        raise CannotWrite(f"{str(target)!r} exists already; choose another name or --overwrite")
    rng = secure_rng() if seed is None else seeded_rng(seed)
    source = open_source(data)
    if drafted:
        table = read_table(_on_disk(source), label=label, on_error=on_error, drop=drop)
        made = draft_recipe(table, levels=levels, label_share=label_share)
        if mechanism == "cf":
            values, codes = made.matched(table), made.label_codes(table)
            found = learn_cells(
                made.columns, values, table.lines, codes,
                classes=len(made.classes), rng=rng, cells=cells,
            )  # fmt: skip
            made = replace(made, cells=found)
    else:
        made = _recipe_at(beside if recipe is None else location(recipe))
        if made.label != label:
            raise InvalidInput(f"the recipe is for the label {made.label!r}, got {label!r}")
    absent = [c.name for c in made.columns if c.name not in source.columns]
    if absent or made.label not in source.columns:
        raise InvalidInput(f"the file must have the recipe's columns, {len(absent) or 1} missing")
    text = made.to_json()
    build = partial(_protection, text, mechanism, epsilon, tuple(prior), label_share)
    protection = build()
    charging = charging_for(ledger, protection.adding_up(), source.columns, seed=seed)
    if recipe is None and drafted:
        with writing(beside):
            beside.write(text.encode("utf-8"))
            beside.readable_like(source.location)
    identity = {
        "job": "labels protect",
        "mechanism": mechanism,
        "epsilon": epsilon,
        "prior": list(prior),
        "label_share": label_share,
        "seed": seed,
        "recipe": hashlib.sha256(text.encode()).hexdigest(),
    }
    where = beside if recipe is None else location(recipe)
    path = where.path if isinstance(where, LocalFile) else str(where)

    def done(report: JobReport) -> ProtectedLabels:
        return ProtectedLabels(report, path, protection, drafted, seed is not None, charging)

    report = run_job(
        source, target, partial(_transform, build, made, seed), identity=identity, engine=engine,
        on_error=RowPolicy(on_error), overwrite=overwrite, charging=charging,
        guarantee=lambda report: facts_of(done(report)), progress=progress,
    )  # fmt: skip
    return done(report)


def facts_of(done: ProtectedLabels) -> dict[str, Any]:
    """What was written and what it promises, as the guarantee file holds it."""
    p = done.protection
    bounds = {"label": p.label, "conditional": p.conditional, "local": p.local}
    return {
        "guarantee": done.main.to_dict(),
        "output": str(done.report.output),
        "recipe": str(done.recipe_path),
        "records": done.report.rows,
        "skipped": done.report.skipped,
        "masked": done.report.masked,
        "mechanism": p.name,
        "epsilon": {name: bound.epsilon if bound else None for name, bound in bounds.items()},
        "basis": str(done.main.basis),
        "explanation": done.main.explain(candidates=2),
        "not_covered": list(done.main.outside),
        "kept_cells": p.kept,
        "stamp": "seeded: not for release" if done.seeded else "",
        **ledger_facts(done.charging, done.report),
    }


def _protection(
    text: str,
    mechanism: str,
    epsilon: float,
    prior: tuple[float, ...],
    label_share: float,
) -> Protection:
    """The protection from plain values, so that a worker process can build its own."""
    recipe = recipe_from(text)
    if mechanism == "prior" and not prior:
        raise InvalidInput(
            f"randomised response with a prior must be given one: {len(recipe.classes)} public "
            f"probabilities, in the order of the classes (sorted); use --prior"
        )
    builders: dict[str, Callable[[], Protection]] = {
        "rr": lambda: response_protection(recipe, epsilon=epsilon),
        "prior": lambda: prior_protection(recipe, epsilon=epsilon, prior=prior),
        "cf": lambda: cells_protection(recipe, epsilon=epsilon, label_share=label_share),
        "ldp": lambda: noise_protection(recipe, epsilon=epsilon),
    }
    if mechanism not in builders:
        raise InvalidInput(f"mechanism must be one of {', '.join(builders)}, got {mechanism!r}")
    return builders[mechanism]()


def _transform(build: Callable[[], Protection], recipe: Recipe, seed: int | None) -> Transform:
    """A transform for one process, with its own protection and its own generator."""
    protection = build()

    def release(batch: Batch) -> Released:
        rng = batch.secure_rng() if seed is None else _seeded(seed, batch.part)
        return _released(batch, protection, recipe, rng)

    return release


def _seeded(seed: int, part: int) -> Generator:
    return np.random.default_rng([seed, part])


def _released(batch: Batch, protection: Protection, recipe: Recipe, rng: Generator) -> Released:
    parsed = [_parsed(row, recipe) for row in batch.rows]
    good = [i for i, values in enumerate(parsed) if not isinstance(values, RowProblem)]
    rows: list[dict[str, Any] | RowProblem] = [
        p if isinstance(p, RowProblem) else {} for p in parsed
    ]
    if batch.charge is not None:
        readable = np.array([not isinstance(p, RowProblem) for p in parsed], dtype=np.bool_)
        bound = protection.adding_up()
        within = batch.charge(Bill.alike(((bound.epsilon, bound.delta, 1),), readable))
        for i in np.flatnonzero(~within).tolist():
            rows[i] = BeyondBudget()
        good = [i for i in good if within[i]]
    if good:
        columns = []
        for j, column in enumerate(recipe.columns):
            values = [parsed[i][0][j] for i in good]  # type: ignore[index]
            kind = np.float64 if isinstance(column, NumberColumn) else np.str_
            columns.append(np.array(values, dtype=kind))
        labels: Indices = np.array([parsed[i][1] for i in good])  # type: ignore[index]
        features, answers = protection.draw(tuple(columns), labels, rng)
        for place, i in enumerate(good):
            row = {c.name: _shown(features[j][place]) for j, c in enumerate(recipe.columns)}
            row[recipe.label] = recipe.classes[int(answers[place])]
            rows[i] = row
    return Released(rows)


def _parsed(row: Any, recipe: Recipe) -> tuple[list[Any], int] | RowProblem:
    """Feature values and the label's code, or what is wrong without saying what it is."""
    answer = str(row.get(recipe.label) or "").strip()
    if answer not in recipe.classes:
        absent = answer.lower() in ABSENT
        what = "is missing" if absent else "is none of the recipe's classes"
        return RowProblem(f"the label {what}")
    values: list[Any] = []
    for column in recipe.columns:
        given = row.get(column.name)
        text = "" if given is None else str(given).strip()
        absent = text.lower() in ABSENT
        if isinstance(column, CategoryColumn):
            text = MISSING if absent else text
            known = text in column.categories or "(other)" in column.categories
            if not known:
                how = "is missing" if absent else "has a category that is not in the recipe"
                return RowProblem(f"the feature {column.name!r} {how}")
            values.append(text)
        else:
            try:
                number = float(text)
            except ValueError:
                number = float("nan")
            if not np.isfinite(number):
                return RowProblem(f"the feature {column.name!r} is not a number")
            values.append(number)
    return values, recipe.classes.index(answer)


def _shown(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _on_disk(source: Source) -> Path:
    """The path of a local file: a recipe is learned from all records at once."""
    if isinstance(source.location, LocalFile):
        return source.location.path
    raise InvalidInput(
        "a recipe is learned from a local CSV file; copy the file, or learn the recipe from a "
        "sample and give it with --recipe"
    )


def _recipe_at(place: Location) -> Recipe:
    if isinstance(place, LocalFile):
        return load_recipe(place.path)
    try:
        with place.open() as file:
            return recipe_from(file.read().decode("utf-8"))
    except OSError as problem:
        raise InvalidInput(f"cannot read {place}: {problem.strerror or problem}") from None
