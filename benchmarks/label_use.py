"""What a model learns from a release: AUC on clean records of Adult, for every mechanism.

    python benchmarks/label_use.py [--adult adult.data] [--splits 20] [--full-splits 6]
        [--without-rr | --rr-alone]

Splits are drawn anew from seed 1,310,000 on. They are redraws of the same records on which the
number of groups, the shrinkage and CF's settings were chosen (by other seeds): these figures are
not those of untouched data. In each split 500 records are the public file that recipes are made
from, n others are the table: 70 % are released, the rest is the clean test. All settings are those
that a user gets: recipes by `drafted_recipe`, groups and cells by ε and the number of records.

CF stands there twice: with cells from the released records, as in `labels compare`, and with cells
from the 500 public ones, as in `labels recipe`. *By its law* is an analyst who knows the channel
and not what the recipe says of the label; *learn* is `labels learn`, who knows both; *recipe alone*
reads no release. *Before* is an analyst who takes releases for clean records, and for CF the
channel of the least mean loss, at a label share of one half. `--without-rr` leaves out the rows of
a randomised label beside clear features, which take three quarters of the time; `--rr-alone` runs
these.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from voile.core.randomness import Generator, seeded_rng
from voile.estimate import ForwardLogistic
from voile.files.rows import OnError
from voile.labels._recipe import drafted_recipe
from voile.labels.bends import side_by_side, straight_or_bent
from voile.labels.columns import columns_of, matrix_of
from voile.labels.grouping import grouped
from voile.labels.protection import (
    Protection,
    cells_protection,
    noise_protection,
    response_protection,
    sample_protection,
)
from voile.labels.recipes import Recipe
from voile.labels.reports import Reports, View, drawn_views, sampled_views, tables_model
from voile.labels.table import Table, table_of
from voile.mechanisms.labels import label_cf

HERE = Path(__file__).parent
EPSILONS = (8.0, 4.0, 2.0, 1.0)
PUBLIC, FIRST_SEED = 500, 1_310_000
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

    def made(self, mechanism: str, epsilon: float | None = None, *, own: bool = False) -> Recipe:
        """A recipe from the public records, or from the released ones themselves."""
        table = self.train if own else self.public
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
        """Randomised labels, and a regression that knows it, as `labels learn` fits it."""
        protection = response_protection(self.recipe, epsilon=epsilon)
        _, answers = protection.draw(self.train.columns, self.labels, self.rng)
        channel = protection.channels[-1]
        columns = columns_of(self.train)
        model, bent = straight_or_bent(
            lambda: ForwardLogistic(channel), columns, self.train.columns, channel.outputs[answers]
        )
        rows = side_by_side(columns, self.test.columns, bent=bent)
        return auc(self.truth, model.predict_proba(rows))

    def sampled(self, epsilon: float) -> dict[str, float]:
        """One random column with the label."""
        recipe = grouped(self.made("sample"), epsilon=epsilon, records=len(self.train))
        protection = sample_protection(recipe, epsilon=epsilon)
        assert protection.sampler is not None
        drawn = protection.sampler.release(self.train.columns, self.labels, self.rng)
        views = sampled_views(recipe, protection, *drawn.T)
        return self.learned(Reports(recipe, protection, len(drawn), views, None))

    def blind(self, epsilon: float) -> float:
        """The same where it is public what columns hold, not what they say of the label."""
        recipe = self.made("sample")
        shares = tuple(table.sum(axis=1, keepdims=True) for table in recipe.known)
        recipe = grouped(replace(recipe, known=shares), epsilon=epsilon, records=len(self.train))
        protection = sample_protection(recipe, epsilon=epsilon)
        assert protection.sampler is not None
        drawn = protection.sampler.release(self.train.columns, self.labels, self.rng)
        views = sampled_views(recipe, protection, *drawn.T)
        return self.learned(Reports(recipe, protection, len(drawn), views, None))[BY_LAW]

    def cells(self, epsilon: float, *, own: bool) -> dict[str, float]:
        """Label DP-CF, and analysts who know its law."""
        recipe = self.made("cf", epsilon, own=own)
        protection = cells_protection(recipe, epsilon=epsilon)
        values, answers = protection.draw(self.train.columns, self.labels, self.rng)
        parts = [c.encode(v) for c, v in zip(recipe.columns, values, strict=True)]
        views = drawn_views(recipe, protection, parts, answers)
        return self.learned(Reports(recipe, protection, len(answers), views, answers))

    def cells_before(self, epsilon: float) -> float:
        """Label DP-CF with the channel and the analyst that there were."""
        worst, label_cf.WORST = label_cf.WORST, 0.0
        try:
            recipe = self.made("cf", epsilon, own=True)
            return self.as_now(recipe, cells_protection(recipe, epsilon=epsilon, label_share=0.5))
        finally:
            label_cf.WORST = worst

    def learned(self, reports: Reports) -> dict[str, float]:
        """What the analysts of estimated tables learn, and what the recipe says by itself."""

        def tested(views: list[View] | tuple[View, ...], *, read: bool = True) -> float:
            model = tables_model(views, 2)
            asked = model if read else model.without_reports()
            assert asked is not None
            return auc(self.truth, asked.predict_proba(reports.codes(self.test.columns)))

        found = {BY_LAW: tested([replace(view, known=None) for view in reports.views])}
        if reports.views[0].known is not None:
            found |= {LEARN: tested(reports.views), ALONE: tested(reports.views, read=False)}
        return found


BY_LAW, LEARN, ALONE = "by its law", "learn", "recipe alone"
BEFORE_LOCAL = "local DP, logistic regression (before)"
BEFORE_CF = "label DP-CF, logistic regression (before)"
BEFORE_RR = "RR label, logistic regression (before)"
SAMPLE, CF, CF_PUBLIC = "sample", "label DP-CF", "label DP-CF, cells from 500 public records"
COLUMNS = "sample, public facts about columns"
FORWARD = "RR label, forward-corrected"


def randomised_labels(split: Split, epsilon: float) -> dict[str, float]:
    """The AUC of a randomised label beside clear features."""
    response = response_protection(split.recipe, epsilon=epsilon)
    return {BEFORE_RR: split.as_now(split.recipe, response), FORWARD: split.forward(epsilon)}


def ways(split: Split, epsilon: float, *, rr: bool) -> dict[str, float]:
    """The AUC of every way at one ε."""
    found = {
        BEFORE_LOCAL: split.as_now(split.recipe, noise_protection(split.recipe, epsilon=epsilon)),
        COLUMNS: split.blind(epsilon),
    }
    found |= {f"{SAMPLE}, {who}": one for who, one in split.sampled(epsilon).items()}
    found |= {BEFORE_CF: split.cells_before(epsilon)}
    found |= {f"{CF}, {who}": one for who, one in split.cells(epsilon, own=True).items()}
    found |= {f"{CF_PUBLIC}, {who}": one for who, one in split.cells(epsilon, own=False).items()}
    return found | (randomised_labels(split, epsilon) if rr else {})


GAINS = (
    (COLUMNS, BEFORE_LOCAL),
    (f"{SAMPLE}, {LEARN}", BEFORE_LOCAL),
    (f"{SAMPLE}, {LEARN}", f"{SAMPLE}, {ALONE}"),
    (f"{CF}, {BY_LAW}", BEFORE_CF),
    (f"{CF}, {LEARN}", BEFORE_CF),
    (f"{CF}, {LEARN}", f"{CF}, {ALONE}"),
    (f"{CF_PUBLIC}, {LEARN}", f"{CF_PUBLIC}, {ALONE}"),
    (FORWARD, BEFORE_RR),
)


def shown(values: NDArray[np.float64], *, sign: bool = False) -> str:
    """A mean with its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():{'+' if sign else ''}.3f} ± {error:.3f}"


def table_lines(rows: dict[str, list[str]]) -> list[str]:
    """Rows as Markdown, a column an ε."""
    return [
        "| | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |",
        "| --- | " + " | ".join("---" for _ in EPSILONS) + " |",
        *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()),
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--adult", type=Path, default=HERE.parents[1] / "shared/data/adult/adult.data"
    )
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--full-splits", type=int, default=6)
    parser.add_argument("--without-rr", action="store_true")
    parser.add_argument("--rr-alone", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "label_use.md")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table = adult(given.adult)
    began = time.process_time()
    asked = ((4_000, given.splits), (len(table) - PUBLIC, given.full_splits))
    sizes = [(records, splits) for records, splits in asked if splits]
    found: dict[tuple[int, str, float], list[float]] = {}
    for records, splits in sizes:
        for number in range(splits):
            split = Split(table, records, FIRST_SEED + 10 * number)
            for epsilon in EPSILONS:
                areas_of = (
                    randomised_labels(split, epsilon)
                    if given.rr_alone
                    else ways(split, epsilon, rr=not given.without_rr)
                )
                for name, area in areas_of.items():
                    found.setdefault((records, name, epsilon), []).append(area)
            print(records, number, f"{time.process_time() - began:.0f} s", flush=True)
    names = list(dict.fromkeys(name for _, name, _ in found))
    areas = {key: np.array(values) for key, values in found.items()}
    said = HERE / "label_use_said.md"
    lines = [
        "# What a model learns from a release (Adult, AUC on clean records)",
        "",
        f"`python benchmarks/label_use.py --splits {given.splits} --full-splits "
        f"{given.full_splits}{' --without-rr' if given.without_rr else ''}"
        f"{' --rr-alone' if given.rr_alone else ''}`; "
        f"{time.process_time() - began:.0f} s of one processor.",
        f"{PUBLIC} public records make the recipe; n others are the table, 70 % released, 30 % the",
        f"clean test. n = {' / '.join(f'{n:,} ({splits} splits)' for n, splits in sizes)}; ± is "
        "the standard error of a mean over splits.",
        "Splits are redraws of the same 32,561 records on which the number of groups, the",
        "shrinkage and CF's settings were chosen, by other seeds: figures are not those of",
        "untouched data.",
        "",
        *([said.read_text(encoding="utf-8")] if said.exists() else []),
        *table_lines(
            {
                name: [" / ".join(shown(areas[n, name, e]) for n, _ in sizes) for e in EPSILONS]
                for name in names
            }
        ),
        "",
        "Gains, split by split:",
        "",
        *table_lines(
            {
                f"{better} − {than}": [
                    " / ".join(
                        shown(areas[n, better, e] - areas[n, than, e], sign=True) for n, _ in sizes
                    )
                    for e in EPSILONS
                ]
                for better, than in GAINS
                if better in names
            }
        ),
    ]
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
