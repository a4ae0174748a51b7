"""What Label DP-CF can teach on Adult: the cells, the noise, and what the recipe tells by itself.

    python benchmarks/label_cells.py [--adult adult.data] [--splits 12] [--full-splits 6]

Fresh splits (seeds from 1,710,000 on) as in `label_use.py`: 70 % of n records are released, the
rest is the clean test, label share .3, cells by ε and n from the released records themselves, as in
`labels compare`. Two kinds of cells: a tree on the columns alone (as before), and one that may cut
on a scorecard as well (the default). For each: *no noise*, an analyst who is told the true cell and
label of every released record; *sparing*, one who knows the law of a release whose cells are
changed least on average and however much one of them; *by its law*, the same for the release as it
is; *learn*, `labels learn`, which also reads what the recipe says; *recipe alone*, somebody who
ranks cells by that and reads no release. Beside them, whatever ε: a logistic regression on the
clean records from which cells are grown (half of the released ones), and on the 500 clean ones that
are public in `label_use.py`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from label_use import PUBLIC, Split, adult, auc
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from voile.core.randomness import seeded_rng
from voile.labels import cells as making
from voile.labels.protection import Protection, cells_protection
from voile.labels.recipes import Recipe
from voile.labels.reports import View, drawn_views, tables_model
from voile.labels.table import Table
from voile.mechanisms.labels import label_cf

HERE = Path(__file__).parent
EPSILONS = (8.0, 4.0, 2.0, 1.0)
FIRST_SEED = 1_710_000
KINDS = ("tree", "tree and scorecard")


def clean_model(split: Split, table: Table) -> float:
    """What a logistic regression learns from clean records."""
    labels = split.recipe.label_codes(table.labels)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
    model.fit(split.matrix(split.recipe, table), labels)
    return auc(split.truth, model.predict_proba(split.matrix(split.recipe, split.test)))


def of_cells(split: Split, ratio: np.ndarray, tests: np.ndarray) -> float:
    """The AUC of an analyst who ranks cells so."""
    return auc(split.truth, np.stack([-ratio[tests], ratio[tests]], axis=1))


def drawn(split: Split, recipe: Recipe, protection: Protection) -> View:
    """A release as a view of cell and label."""
    values, answers = protection.draw(split.train.columns, split.labels, split.rng)
    parts = [c.encode(v) for c, v in zip(recipe.columns, values, strict=True)]
    (view,) = drawn_views(recipe, protection, parts, answers)
    return view


def ways(split: Split, epsilon: float, kind: str, seed: int) -> dict[str, float]:
    """One kind of cells at one ε."""
    drafted = split.made("ldp")
    points = making.learn_points
    if kind == "tree":
        making.learn_points = lambda *_, **__: ()  # type: ignore[assignment]
    try:
        found = making.learn_cells(
            drafted.columns, split.train.columns, split.labels, classes=2, rng=seeded_rng(seed),
            epsilon=epsilon,
        )  # fmt: skip
    finally:
        making.learn_points = points
    recipe = replace(drafted, cells=found)
    protection = cells_protection(recipe, epsilon=epsilon, label_share=0.3)
    true = found.of(recipe.columns, split.train.columns)
    tests = found.of(recipe.columns, split.test.columns)
    seen = np.ones((len(found), 2))
    np.add.at(seen, (true, split.labels), 1)
    worst, label_cf.WORST = label_cf.WORST, 0.0
    try:
        sparing = cells_protection(recipe, epsilon=epsilon, label_share=0.3)
    finally:
        label_cf.WORST = worst
    view, before = drawn(split, recipe, protection), drawn(split, recipe, sparing)

    def learned(one: View, *, read: bool = True) -> float:
        model = tables_model([one], 2)
        asked = model if read else model.without_reports()
        assert asked is not None
        return auc(split.truth, asked.predict_proba(tests[:, None]))

    return {
        "cells": float(len(found)),
        "kept": protection.kept,
        "no noise": of_cells(split, np.log(seen[:, 1] / seen[:, 0]), tests),
        "sparing": learned(replace(before, known=None)),
        "by its law": learned(replace(view, known=None)),
        "learn": learned(view),
        "recipe alone": learned(view, read=False),
    }


def shown(values: list[float], *, plain: bool = False) -> str:
    """A mean with its standard error."""
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean:.2f}" if plain else f"{mean:.3f} ± {error:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--adult", type=Path, default=HERE.parents[1] / "shared/data/adult/adult.data"
    )
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--full-splits", type=int, default=6)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "label_cells.md")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    began, table = time.process_time(), adult(asked.adult)
    names = ("cells", "kept", "no noise", "sparing", "by its law", "learn", "recipe alone")
    rows, models = [], []
    for records, splits in ((4_000, asked.splits), (len(table) - PUBLIC, asked.full_splits)):
        found: dict[tuple[float, str], list[dict[str, float]]] = {}
        clean: dict[str, list[float]] = {"half": [], "public": []}
        for number in range(splits):
            seed = FIRST_SEED + 10 * number
            split = Split(table, records, seed)
            half = seeded_rng(seed).permutation(len(split.train))[: len(split.train) // 2]
            clean["half"].append(clean_model(split, split.train.select(half)))
            clean["public"].append(clean_model(split, split.public))
            for epsilon in EPSILONS:
                for kind in KINDS:
                    one = ways(split, epsilon, kind, seed)
                    found.setdefault((epsilon, kind), []).append(one)
        models.append(
            f"| {records:,} | {splits} | {shown(clean['half'])} | {shown(clean['public'])} |"
        )
        for (epsilon, kind), each in found.items():
            cells = [shown([one[n] for one in each], plain=n in ("cells", "kept")) for n in names]
            rows.append(f"| {records:,} | {epsilon:g} | {kind} | " + " | ".join(cells) + " |")
    lines = [
        "# What Label DP-CF can teach (Adult, AUC on clean records)", "",
        f"`python benchmarks/label_cells.py --splits {asked.splits} --full-splits "
        f"{asked.full_splits}`; {time.process_time() - began:.0f} s of one processor. Means over",
        "fresh splits ± standard error; *kept* is how often a record keeps its cell.", "",
        "| n | ε | cut by | " + " | ".join(names) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in names) + " |",
        *rows, "",
        "Without any release, a logistic regression on clean records:", "",
        "| n | splits | on the half that cells are grown from | on 500 public ones |",
        "| --- | --- | --- | --- |",
        *models, "",
    ]  # fmt: skip
    said = HERE / "label_cells_said.md"
    lines += [said.read_text(encoding="utf-8")] if said.exists() else []
    asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
