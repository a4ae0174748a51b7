"""What a model learns from a release: AUC on clean records of Adult, for every mechanism.

    python benchmarks/label_use.py [--adult adult.data] [--splits 4] [--full-splits 2]

Splits are drawn anew from seed 90,000 on. They are redraws of the same records on which the
number of groups, the shrinkage and CF's settings were chosen (by other seeds): these figures are
not those of untouched data. In each split 500 records are the public file that recipes are made
from, n others are the table: 70 % are released, the rest is the clean test. CF's cells come from
the released records, as in `labels compare`. All settings are those that a user gets (CF's label
share is --label-share .3): recipes by `drafted_recipe`, groups by ε and the number of records,
learners tuned on the reports.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from voile.core.randomness import Generator, seeded_rng
from voile.estimate import ForwardLogistic, MarginalBayes, ReportLaw
from voile.files.rows import OnError
from voile.labels._recipe import drafted_recipe
from voile.labels.columns import matrix_of
from voile.labels.grouping import grouped
from voile.labels.protection import (
    Protection,
    cells_protection,
    noise_protection,
    response_protection,
)
from voile.labels.recipes import Recipe
from voile.labels.reports import drawn_views
from voile.labels.sampling import grouped_codes, sampler_of
from voile.labels.table import Table, table_of

HERE = Path(__file__).parent
EPSILONS = (8.0, 4.0, 2.0, 1.0)
PUBLIC, FIRST_SEED = 500, 90_000
NAMES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip


def adult(path: Path) -> Table:
    rows = [
        (i, [cell.strip() for cell in line.split(",")])
        for i, line in enumerate(path.read_text().splitlines(), 1)
        if line.count(",") == len(NAMES) - 1
    ]
    return table_of(NAMES, rows, label="income", on_error=OnError.MASK)


def auc(truth: np.ndarray, beliefs: np.ndarray) -> float:
    return float(roc_auc_score(truth, beliefs[:, 1]))


class Split:
    """Public records, records to release, and a clean test."""

    def __init__(self, table: Table, records: int, seed: int) -> None:
        self.rng: Generator = seeded_rng(seed)
        order = np.random.default_rng(seed + 1).permutation(len(table))
        public, rest = order[:PUBLIC], order[PUBLIC : PUBLIC + records]
        cut = int(0.7 * len(rest))
        self.public = table.select(public)
        self.train, self.test = table.select(rest[:cut]), table.select(rest[cut:])
        self.classes = table.classes
        self.recipe = self.made("ldp")
        self.labels = self.recipe.label_codes(self.train.labels)
        self.truth = self.recipe.label_codes(self.test.labels)

    def made(self, mechanism: str, epsilon: float | None = None) -> Recipe:
        """A recipe from the public records; cells from the released ones, as in `compare`."""
        table = self.train if mechanism == "cf" else self.public
        return drafted_recipe(
            table, self.rng, mechanism=mechanism, classes=self.classes, epsilon=epsilon
        )

    def matrix(self, recipe: Recipe, table: Table) -> np.ndarray:
        """Features side by side."""
        return matrix_of(recipe.columns, table.columns)[0]

    def as_now(self, recipe: Recipe, protection: Protection) -> float:
        """A logistic regression that takes the release for clean records."""
        values, answers = protection.draw(self.train.columns, self.labels, self.rng)
        if np.bincount(answers, minlength=2).min() < 10:
            return 0.5
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
        model.fit(matrix_of(recipe.columns, values)[0], answers)
        return auc(self.truth, model.predict_proba(self.matrix(recipe, self.test)))

    def forward(self, epsilon: float) -> float:
        """Randomised labels, and a regression that knows it."""
        protection = response_protection(self.recipe, epsilon=epsilon)
        _, answers = protection.draw(self.train.columns, self.labels, self.rng)
        channel = protection.channels[-1]
        model = ForwardLogistic(channel)
        model.fit(self.matrix(self.recipe, self.train), channel.outputs[answers])
        return auc(self.truth, model.predict_proba(self.matrix(self.recipe, self.test)))

    def sampled(self, epsilon: float, *, known: bool) -> float:
        """One random column with the label, and naive Bayes on estimated tables."""
        recipe = self.made("sample")
        if not known:  # what columns hold is public, what they say of the label is not
            blind = tuple(table.sum(axis=1, keepdims=True) for table in recipe.known)
            recipe = replace(recipe, known=blind)
        recipe = grouped(recipe, epsilon=epsilon, records=len(self.train))
        sampler = sampler_of(recipe, epsilon=epsilon)
        reports = sampler.release(self.train.columns, self.labels, self.rng)
        laws = [ReportLaw(c.probabilities(), 2) for c in sampler.law.channels]
        model = MarginalBayes(laws).fit(reports)
        return auc(self.truth, model.predict_proba(grouped_codes(recipe, self.test.columns)))

    def cells(self, epsilon: float, *, aware: bool, share: float | None) -> float:
        """Label DP-CF, and an analyst who knows its law or does not."""
        recipe = self.made("cf", epsilon)
        protection = cells_protection(recipe, epsilon=epsilon, label_share=share)
        if not aware:
            return self.as_now(recipe, protection)
        values, answers = protection.draw(self.train.columns, self.labels, self.rng)
        parts = [c.encode(v) for c, v in zip(recipe.columns, values, strict=True)]
        (view,) = drawn_views(recipe, protection, parts, answers)
        rows = np.stack([np.zeros(len(answers), dtype=np.intp), view.outputs], axis=1)
        model = MarginalBayes([ReportLaw(view.law, 2)]).fit(rows)
        codes = recipe.cells.of(recipe.columns, self.test.columns)[:, None]
        return auc(self.truth, model.predict_proba(codes))


WAYS = {
    "local DP, logistic regression (before)": lambda s, e: s.as_now(
        s.recipe, noise_protection(s.recipe, epsilon=e)
    ),
    "sample, public facts about columns": lambda s, e: s.sampled(e, known=False),
    "sample, public facts about columns and label": lambda s, e: s.sampled(e, known=True),
    "label DP-CF, share .5, logistic regression (before)": lambda s, e: s.cells(
        e, aware=False, share=0.5
    ),
    "label DP-CF, share .3, noise-aware": lambda s, e: s.cells(e, aware=True, share=0.3),
    "RR label, logistic regression (before)": lambda s, e: s.as_now(
        s.recipe, response_protection(s.recipe, epsilon=e)
    ),
    "RR label, forward-corrected": lambda s, e: s.forward(e),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--adult", type=Path, default=HERE.parents[1] / "shared/data/adult/adult.data"
    )
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--full-splits", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "label_use.md")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table = adult(given.adult)
    began = time.process_time()
    sizes = ((4_000, given.splits), (len(table) - PUBLIC, given.full_splits))
    found: dict[tuple[int, str, float], list[float]] = {}
    for records, splits in sizes:
        for number in range(splits):
            split = Split(table, records, FIRST_SEED + 10 * number)
            for name, way in WAYS.items():
                for epsilon in EPSILONS:
                    found.setdefault((records, name, epsilon), []).append(way(split, epsilon))
            print(records, number, f"{time.process_time() - began:.0f} s", flush=True)
    lines = [
        "# What a model learns from a release (Adult, AUC on clean records)",
        "",
        f"`python benchmarks/label_use.py --splits {given.splits} --full-splits "
        f"{given.full_splits}`; {time.process_time() - began:.0f} s of one processor.",
        f"{PUBLIC} public records make the recipe (for CF the released records themselves, as in",
        "`labels compare`); n others are the table, 70 % released, 30 % the",
        f"clean test. n = {sizes[0][0]:,} ({sizes[0][1]} splits) / {sizes[1][0]:,} "
        f"({sizes[1][1]} splits); ± is the standard deviation over splits.",
        "Splits are redraws of the same 32,561 records on which the number of groups, the",
        "shrinkage and CF's settings were chosen, by other seeds: figures are not those of",
        "untouched data.",
        "",
        "| | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |",
        "| --- | " + " | ".join("---" for _ in EPSILONS) + " |",
    ]
    for name in WAYS:
        cells = [
            " / ".join(
                f"{np.mean(found[n, name, e]):.3f} ± {np.std(found[n, name, e], ddof=1):.3f}"
                for n, _ in sizes
            )
            for e in EPSILONS
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
