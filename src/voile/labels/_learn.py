"""A model from a released file, by a learner that knows the noise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats
from voile.errors import InvalidInput
from voile.files.rows import OnError
from voile.files.source import Source, open_source
from voile.labels.bends import side_by_side, straight_or_bent
from voile.labels.bins import middles
from voile.labels.columns import Column, columns_of
from voile.labels.made_by import BESIDE, MadeBy, ReleasedFile
from voile.labels.protection import Protection
from voile.labels.reading import table_from
from voile.labels.recipes import Recipe
from voile.labels.reports import Reports, read_reports, tables_model
from voile.labels.values import MISSING, numbers_of
from voile.options import Data, Option, use_case
from voile.report.model import Report, Table
from voile.report.result import SILENT, Result
from voile.report.words import counted


@dataclass(frozen=True, repr=False, eq=False)
class LearnedLabels(Result):
    """A model of the label, learned from a release; `model` has scikit-learn's methods.

    `predict_proba` takes clean records as any frame or file, `classes` are its columns.
    """

    mechanism: str
    learner: str
    records: int
    classes: tuple[str, ...]
    tuned: float | None
    """The learner's strength, chosen on the reports; none where public records are at hand."""
    bent: bool | None
    """Of features in clear: whether numbers were read by pieces, which reports decide too."""
    public_records: float | None
    """So many public records, as the recipe tells of them, were counted beside the reports."""
    test_records: int | None
    auc: float | None
    recipe_auc: float | None
    """That of the recipe by itself, for somebody without the release; none where it tells nothing.
    """
    accuracy: float | None
    majority: float | None
    error: float | None
    """Of a number: the root of its mean squared error; `spread` is that of always the mean."""
    spread: float | None
    vouched: bool
    """Whether the release's guarantee file says how it was drawn; else its reader does."""
    model: Any = field(metadata=SILENT)
    columns: tuple[Column, ...] = field(metadata=SILENT)
    reports: Reports | None = field(metadata=SILENT)
    edges: tuple[float, ...] = field(metadata=SILENT)
    word: str = field(default="", metadata=SILENT)

    def predict_proba(self, records: Data) -> Floats:
        """P(class | features) for clean records."""
        values = self._values(records)
        if self.reports is not None:
            return np.asarray(self.model.predict_proba(self.reports.codes(values)))
        if self.edges:
            raise InvalidInput("a regression has no classes: use predict")
        return np.asarray(self.model.predict_proba(self._rows(values)))

    def _rows(self, values: tuple[NDArray[Any], ...]) -> Floats:
        """Features in clear as the model reads them."""
        return side_by_side(self.columns, values, bent=bool(self.bent))

    def _values(self, records: Data) -> tuple[NDArray[Any], ...]:
        """Clean records as the model's columns."""
        source = open_source(records)
        absent = [c.name for c in self.columns if c.name not in source.columns]
        if absent:
            raise InvalidInput(
                f"records must have the model's {len(self.columns)} features, "
                f"{len(absent)} are missing"
            )
        rows = [row for _, row in source.rows() if isinstance(row, dict)]
        return tuple(c.read([row.get(c.name) for row in rows]) for c in self.columns)

    def predict(self, records: Data) -> Floats:
        """The number that is expected for clean records, where the label is one."""
        if not self.edges:
            raise InvalidInput("predict must go with a label that is a number; use predict_proba")
        if isinstance(self.reports, Reports):
            bins = self.predict_proba(records)[:, : len(self.edges) - 1]
            return np.asarray(bins / bins.sum(axis=1, keepdims=True) @ middles(self.edges))
        return np.asarray(self.model.predict(self._rows(self._values(records))))

    def _judged_sentence(self) -> str:
        if self.error is not None:
            return (
                f"On {counted(self.test_records or 0, 'clean record')} it is off by "
                f"{self.error:.4g} (root mean square; always their mean: {self.spread or 0:.4g})."
            )
        return (
            "Give --test clean.csv to see how good it is."
            if self.auc is None
            else f"On {counted(self.test_records or 0, 'clean record')} its AUC is {self.auc:.3f} "
            f"and it is right {100 * (self.accuracy or 0):.1f} % of the time (always the commonest "
            f"class: {100 * (self.majority or 0):.1f} %).{self._recipe_sentence()}"
        )

    def _recipe_sentence(self) -> str:
        if self.recipe_auc is None:
            return ""
        return f" The recipe alone, without the release, has an AUC of {self.recipe_auc:.3f}."

    def _weight_row(self) -> tuple[str, str]:
        if self.public_records is None:
            return ("tuned on the reports", f"{self.tuned:g}")
        return ("public records that the recipe tells of", f"{self.public_records:,.0f}")

    def _bent_rows(self) -> tuple[tuple[str, str], ...]:
        if self.bent is None:
            return ()
        return (("numbers", "as they are, and in pieces" if self.bent else "as they are"),)

    def _report(self) -> Report:
        return Report(
            title="A model learned from a release",
            about="Learned from released records",
            answer=f"{self.learner} on {counted(self.records, 'report')} by {self.mechanism}. "
            f"{self._judged_sentence()}",
            guarantee=("It was fitted to the release alone: nothing more is spent by it.",),
            notes=(self.word,),
            tables=(
                Table(
                    "The model",
                    ("what", "value"),
                    (
                        ("learner", self.learner),
                        ("classes", len(self.classes)),
                        ("features", len(self.columns)),
                        self._weight_row(),
                        *self._bent_rows(),
                    ),
                ),
            ),
            terms=("AUC", "mechanism"),
        )


@use_case("labels learn")
def learn(
    released: ReleasedFile,
    *,
    made_by: MadeBy = BESIDE,
    drop: Annotated[
        tuple[str, ...],
        Option("For rr and prior: columns to leave out of the features.", shown=True),
    ] = (),
    test: Annotated[Data, Option("Clean records to judge the model on.", reads="private")] = None,
) -> LearnedLabels:
    """Learn to predict the label from a released file, with its noise taken into account.

    Example: `voile labels learn released.csv --recipe public.json --test clean.csv`

    Where features stand in clear (rr, prior) a logistic regression whose loss passes through the
    label's channel, for a number in bins a linear regression on debiased labels; features that are
    numbers are read as they are, or in pieces as well if that tells reports held out better.
    Otherwise naive Bayes on tables of feature and label that are estimated from the reports, and
    from the public records that the recipe tells of (cf, sample): beside the judgement stands then
    that of the recipe without the release. What is tuned is tuned on the reports themselves. In
    Python the result predicts: `voile.labels.learn(…).predict_proba(frame)`.
    """
    source = open_source(released)
    by = made_by.of(source)
    judge = None if test is None else open_source(test)
    fit = _forward if by.protection.passes_features else _marginal
    made = replace(fit(source, by.recipe, by.protection, drop), vouched=by.vouched, word=by.word)
    return made if judge is None else _judged(made, judge, by.recipe)


def _marginal(
    source: Source, recipe: Recipe, protection: Protection, drop: tuple[str, ...]
) -> LearnedLabels:
    if drop:
        raise InvalidInput("--drop must go with features in clear (rr, prior)")
    reports = read_reports(source, recipe, protection)
    if not reports.views:
        raise InvalidInput("a model needs features, and all were left out of this release")
    model = tables_model(reports.views, len(recipe.classes))
    return _learned("Naive Bayes on estimated tables", reports, model, model.strength_, recipe)


def _forward(
    source: Source, recipe: Recipe, protection: Protection, drop: tuple[str, ...]
) -> LearnedLabels:
    from voile.estimate.debiased_ridge import DebiasedRidge
    from voile.estimate.forward_logistic import ForwardLogistic

    if recipe.edges and MISSING in recipe.classes:
        raise InvalidInput(
            f"a regression needs a number in every record, and {MISSING} is a class of this "
            "release; use `voile labels estimate`, or release by ldp, cf or sample to learn from"
        )
    table = table_from(
        source, label=recipe.label, on_error=OnError.MASK, drop=drop, edges=recipe.edges
    )
    reports = read_reports(source, recipe, protection)
    columns = columns_of(table)
    channel = protection.channels[-1]
    if len(reports.labels if reports.labels is not None else ()) != len(table):
        raise InvalidInput("every released record must have a label, some have none")
    answers = channel.outputs[reports.labels]
    if recipe.edges:
        line, bent = straight_or_bent(
            lambda: DebiasedRidge(channel, middles(recipe.edges)), columns, table.columns, answers
        )
        name = "Linear regression on debiased labels"
        found = _learned(name, reports, line, line.penalty_, recipe)
    else:
        model, bent = straight_or_bent(
            lambda: ForwardLogistic(channel), columns, table.columns, answers
        )
        name = "Forward-corrected logistic regression"
        found = _learned(name, reports, model, model.penalty_, recipe)
    return replace(found, columns=columns, bent=bent, reports=None)


def _learned(
    learner: str, reports: Reports, model: Any, tuned: float | None, recipe: Recipe
) -> LearnedLabels:
    return LearnedLabels(
        mechanism=reports.protection.name,
        learner=learner,
        records=reports.records,
        classes=recipe.classes,
        tuned=tuned,
        bent=None,
        public_records=getattr(model, "public_", None),
        test_records=None,
        auc=None,
        recipe_auc=None,
        accuracy=None,
        majority=None,
        error=None,
        spread=None,
        vouched=False,
        model=model,
        columns=recipe.columns,
        reports=reports,
        edges=recipe.edges,
    )


def _judged(made: LearnedLabels, source: Source, recipe: Recipe) -> LearnedLabels:
    from sklearn.metrics import roc_auc_score

    if recipe.label not in source.columns:
        raise InvalidInput(f"clean records must have the label {recipe.label!r}")
    rows = [row for _, row in source.rows() if isinstance(row, dict)]
    truth = recipe.label_codes([row.get(recipe.label) for row in rows])
    if not rows or (truth < 0).any():
        raise InvalidInput("each clean record must have one of the recipe's classes as its label")
    if recipe.edges:
        numbers = numbers_of([row.get(recipe.label) for row in rows])
        there = np.isfinite(numbers)
        wrong, numbers = (made.predict(rows) - numbers)[there], numbers[there]
        error, spread = float(np.sqrt((wrong**2).mean())), float(numbers.std())
        return replace(made, test_records=len(rows), error=error, spread=spread)
    beliefs = made.predict_proba(rows)
    several = len(set(truth.tolist())) == len(recipe.classes)

    def area(found: Floats) -> float:
        given = found[:, 1] if len(recipe.classes) == 2 else found
        return float(roc_auc_score(truth, given, multi_class="ovr"))

    before = None if made.public_records is None else made.model.without_reports()
    alone = None if before is None else replace(made, model=before).predict_proba(rows)
    return replace(
        made,
        test_records=len(rows),
        auc=area(beliefs) if several else None,
        recipe_auc=area(alone) if several and alone is not None else None,
        accuracy=float((beliefs.argmax(axis=1) == truth).mean()),
        majority=float(np.bincount(truth).max() / len(truth)),
    )
