"""The demo's labels room: what features give away, and a release that caps it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from voile.demo.steps import Event, Plan, step
from voile.labels._audit import audit
from voile.labels._compare import compare
from voile.labels._protect import protect
from voile.labels._recipe import MadeRecipe, recipe
from voile.labels.audited import AuditedLabels
from voile.labels.compared import ComparedLabels
from voile.labels.released import ProtectedLabels
from voile.labels.sample_clinic import write_clinic

RECORDS = 600
EPSILON = 2.0


def labels_steps(folder: Path, seed: int | None) -> Iterator[Event]:
    """Audit the table, release it, and compare what each way leaks and is good for."""
    clinic = write_clinic(folder / "clinic.csv", count=RECORDS)
    public = write_clinic(folder / "other-clinic.csv", count=RECORDS, seed=2)
    shown = folder / "clinic-recipe.json"
    yield from step(
        Plan(
            "labels",
            f"Audit: how much of {RECORDS} diagnoses do the other columns give away?",
            partial(audit, clinic, label="diabetic", epsilon=(0.5, 1.0, 2.0, 4.0)),
        ),
        _audit_sentences,
    )
    yield from step(
        Plan(
            "labels",
            "What may be shown: ranges, names and cells, from public records of another clinic",
            partial(recipe, public, label="diabetic", out=shown, overwrite=True),
        ),
        _recipe_sentences,
    )
    yield from step(
        Plan(
            "labels",
            "Protect label and features together",
            partial(
                protect,
                clinic,
                label="diabetic",
                epsilon=EPSILON,
                mechanism="cf",
                recipe=shown,
                seed=seed,
                overwrite=True,
            ),
        ),
        _release_sentences,
    )
    yield from step(
        Plan(
            "labels",
            "Compare: a model's use against an attacker's success, three ways",
            partial(
                compare,
                clinic,
                label="diabetic",
                label_epsilon=(2.0, 1.0),
                record_epsilon=(4.0, 2.0),
                repeats=2,
                records=RECORDS,
            ),
        ),
        _compare_sentences,
    )


def _audit_sentences(found: AuditedLabels) -> Iterator[str]:
    low = found.epsilons[0]
    yield (
        f"Noise on the label with ε = {low.epsilon:g} announces {100 * low.expected:.0f} % "
        f"right guesses; with the features beside it, it is {100 * low.total.value:.0f} %."
    )
    told = found.features[0].name
    yield f"The column {told} carries most of it; no noise on the label takes that away."


def _recipe_sentences(made: MadeRecipe) -> Iterator[str]:
    yield (
        f"{made.records} public records fix {len(made.features)} features and {made.cells} "
        "cells of them: all that a release will show beside its draws."
    )


def _release_sentences(done: ProtectedLabels) -> Iterator[str]:
    yield f"{done.records} records released ({done.guarantee.ground()})."
    yield from done.explanation[1:3]


def _compare_sentences(found: ComparedLabels) -> Iterator[str]:
    yield (
        f"Clean records: AUC {found.clean_auc:.2f}, features alone give "
        f"{100 * found.features_alone:.0f} %. {RECORDS} records are few: errors are about "
        f"{max(p.auc_error for p in found.points):.2f}."
    )
    for point in found.points:
        cap = "" if point.cap is None else f", never above {100 * point.cap:.0f} %"
        yield (
            f"{point.mechanism} at ε = {point.epsilon:g}: AUC {point.auc:.2f}, label guessed "
            f"{100 * point.leakage:.0f} %{cap}"
        )
