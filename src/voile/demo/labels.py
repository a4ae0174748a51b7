"""The demo's labels room: what features give away, and a release that caps it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from voile.demo.steps import Event, Found, Plan, seeded
from voile.labels._audit import audit
from voile.labels._compare import compare
from voile.labels._protect import protect
from voile.labels._recipe import recipe
from voile.labels.sample_clinic import write_clinic

RECORDS = 600
EPSILONS = (0.5, 1.0, 2.0, 4.0)
EPSILON = 2.0


def labels_steps(folder: Path, seed: int | None) -> Iterator[Event]:
    """Audit the table, release it, and compare what each way leaks and is good for."""
    clinic = write_clinic(folder / "clinic.csv", count=RECORDS)
    plan = Plan(
        "labels",
        f"Audit: how much of {RECORDS} diagnoses do the other columns give away?",
        "voile labels audit clinic.csv --label diabetic --epsilon 0.5,1,2,4",
    )
    yield plan
    audited = audit(clinic, label="diabetic", epsilon=EPSILONS)
    low = audited.epsilons[0]
    told = audited.features[0].name
    yield Found(
        plan,
        (
            f"Noise on the label with ε = {low.epsilon:g} announces {100 * low.expected:.0f} % "
            f"right guesses; with the features beside it, it is {100 * low.total.value:.0f} %.",
            f"The column {told} carries most of it; no noise on the label takes that away.",
        ),
        {"audit": audited},
    )
    plan = Plan(
        "labels",
        "What may be shown: ranges, names and cells, from public records of another clinic",
        "voile labels recipe other-clinic.csv --label diabetic --out clinic-recipe.json "
        "--overwrite",
    )
    yield plan
    public = write_clinic(folder / "other-clinic.csv", count=RECORDS, seed=2)
    made = recipe(public, label="diabetic", out=folder / "clinic-recipe.json", overwrite=True)
    yield Found(
        plan,
        (
            f"{made.records} public records fix {len(made.features)} features and {made.cells} "
            "cells of them: all that a release will show beside its draws.",
        ),
        {"records": made.records, "cells": made.cells},
    )
    plan = Plan(
        "labels",
        "Protect label and features together",
        f"voile labels protect clinic.csv --label diabetic --epsilon {EPSILON:g} --mechanism cf "
        f"--recipe clinic-recipe.json{seeded(seed)} --overwrite",
    )
    yield plan
    done = protect(
        clinic,
        label="diabetic",
        epsilon=EPSILON,
        mechanism="cf",
        recipe=folder / "clinic-recipe.json",
        seed=seed,
        overwrite=True,
    )
    main = done.guarantee
    yield Found(
        plan,
        (
            f"{done.records} records released ({main.ground()}).",
            *done.explanation[1:3],
        ),
        {
            "rows": done.records,
            "epsilon": EPSILON,
            "certified": main.epsilon,
            "basis": str(main.basis),
            "ground": main.ground(),
            "kept_cells": done.kept_cells,
            "outside": list(main.outside),
        },
    )
    plan = Plan(
        "labels",
        "Compare: a model's use against an attacker's success, three ways",
        "voile labels compare clinic.csv --label diabetic --label-epsilon 2,1 "
        f"--record-epsilon 4,2 --repeats 2 --records {RECORDS}",
    )
    yield plan
    found = compare(
        clinic,
        label="diabetic",
        label_epsilon=(2.0, 1.0),
        record_epsilon=(4.0, 2.0),
        repeats=2,
        records=RECORDS,
    )
    lines = tuple(
        f"{p.mechanism} at ε = {p.epsilon:g}: AUC {p.auc:.2f}, label guessed "
        f"{100 * p.leakage:.0f} %" + ("" if p.cap is None else f", never above {100 * p.cap:.0f} %")
        for p in found.points
    )
    clean = f"Clean records: AUC {found.clean_auc:.2f}, features alone give "
    yield Found(
        plan,
        (
            f"{clean}{100 * found.features_alone:.0f} %. {RECORDS} records are few: errors are "
            f"about {max(p.auc_error for p in found.points):.2f}.",
            *lines,
        ),
        {"compared": found},
    )
