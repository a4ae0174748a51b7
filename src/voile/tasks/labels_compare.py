"""Usefulness against leakage, for label DP, Label DP-CF and local DP on one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.label_classifier import cross_fit, fit_classifier
from voile.audit.label_counts import attack_success
from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.domains.labels.cells import learn_cells
from voile.domains.labels.columns import constant, matrix_of
from voile.domains.labels.protection import (
    Columns,
    Protection,
    cells_protection,
    noise_protection,
    response_protection,
)
from voile.domains.labels.recipe import Recipe, draft_recipe
from voile.domains.labels.table import OnError, Table, read_table
from voile.errors import InvalidInput, MissingExtra, require
from voile.leakage.labels import label_only_utility
from voile.tasks.labels_audit import sampled

LABEL_EPSILONS = (8.0, 4.0, 2.0, 1.0, 0.1)
RECORD_EPSILONS = (8.0, 4.0, 2.0, 1.4, 1.0)
ANALYST = "logistic regression"


@dataclass(frozen=True)
class TradePoint:
    """One mechanism at one epsilon: means over the repeats, with their standard errors.

    `leakage` is an attacker's accuracy on the label from the whole release; `cap` is what no
    attacker exceeds (None: nothing bounds it); `auc` is that of a model trained on the release
    and tested on clean records.
    """

    mechanism: str
    epsilon: float
    leakage: float
    leakage_error: float
    cap: float | None
    auc: float
    auc_error: float


@dataclass(frozen=True)
class Comparison:
    """All points, what clean records give, and where another mechanism beats label DP."""

    points: tuple[TradePoint, ...]
    clean_auc: float
    guess: float
    features_alone: float
    crossings: tuple[tuple[TradePoint, TradePoint], ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """All figures, for another program."""
        return {
            "clean_auc": self.clean_auc,
            "guess": self.guess,
            "features_alone": self.features_alone,
            "points": [vars(point) for point in self.points],
            "crossings": [
                {"better": vars(better), "than": vars(worse)} for better, worse in self.crossings
            ],
            "notes": list(self.notes),
        }


def labels_compare(
    data: str | Path,
    *,
    label: str,
    rng: Generator,
    label_epsilons: Sequence[float] = LABEL_EPSILONS,
    record_epsilons: Sequence[float] = RECORD_EPSILONS,
    repeats: int = 5,
    header: bool = True,
    on_error: OnError = "fail",
    drop: tuple[str, ...] = (),
    most_records: int = 10_000,
) -> Comparison:
    """Read a table and compare: see `compare_table`."""
    table = read_table(data, label=label, header=header, on_error=on_error, drop=drop)
    table, notes = sampled(table, most_records, rng)
    found = compare_table(
        table,
        rng=rng,
        label_epsilons=label_epsilons,
        record_epsilons=record_epsilons,
        repeats=repeats,
    )
    return replace(found, notes=notes)


def compare_table(
    table: Table,
    *,
    rng: Generator,
    label_epsilons: Sequence[float] = LABEL_EPSILONS,
    record_epsilons: Sequence[float] = RECORD_EPSILONS,
    repeats: int = 5,
    cells: int | None = None,
    label_share: float = 0.5,
) -> Comparison:
    """Protect a random 70 % of the records each way, train on it, attack it, test on the rest.

    The analyst fits a logistic regression to what was released. The attacker reads the same
    release and has labelled examples of it: beliefs are cross-fitted on (release, true label), so
    a leakage is a real attacker's, and for CF and local DP a theorem caps every attacker. Where
    CF or local DP beats label DP is decided by `crossings`.
    """
    require(repeats >= 2, "repeats", ">= 2, so that there is an error to state", repeats)
    keep = tuple(i for i, values in enumerate(table.columns) if not constant(values))
    if not keep:
        raise InvalidInput("at least one feature must vary, all are constant")
    table = replace(
        table,
        names=tuple(table.names[i] for i in keep),
        columns=tuple(table.columns[i] for i in keep),
    )
    seen: dict[tuple[str, float], list[tuple[float, float, float | None]]] = {}
    clean, alone = [], []
    for _ in range(repeats):
        order = rng.permutation(len(table))
        cut = int(0.7 * len(table))
        train, test = table.select(order[:cut]), table.select(order[cut:])
        world = _World(train, test, rng, cells=cells)
        clean.append(world.usefulness(world.values, world.labels))
        alone.append(float((world.beliefs.argmax(axis=1) == world.labels).mean()))
        for epsilon in label_epsilons:
            protection = response_protection(world.recipe, epsilon=epsilon)
            score = (
                float(attack_success(world.beliefs, world.labels, epsilon=epsilon).mean()),
                world.usefulness(*protection.draw(world.values, world.labels, rng)),
                None,
            )
            seen.setdefault((protection.name, epsilon), []).append(score)
        for epsilon in record_epsilons:
            for protection in (
                cells_protection(world.recipe, epsilon=epsilon, label_share=label_share),
                noise_protection(world.recipe, epsilon=epsilon),
            ):
                seen.setdefault((protection.name, epsilon), []).append(
                    world.judged(protection, epsilon)
                )
    points = tuple(_point(name, epsilon, rows) for (name, epsilon), rows in seen.items())
    counts = np.unique(table.labels, return_counts=True)[1]
    return Comparison(
        points=tuple(sorted(points, key=lambda p: (p.mechanism, -p.epsilon))),
        clean_auc=float(np.mean(clean)),
        guess=float(counts.max() / counts.sum()),
        features_alone=float(np.mean(alone)),
        crossings=crossings(points, repeats=repeats),
        notes=(),
    )


class _World:
    """One split of the records: what the analyst and the attacker work with."""

    def __init__(self, train: Table, test: Table, rng: Generator, *, cells: int | None) -> None:
        recipe = draft_recipe(train, levels=16)
        self.values: Columns = train.columns
        self.labels = recipe.label_codes(train)
        self.classes = len(recipe.classes)
        found = learn_cells(
            recipe.columns, train.columns, train.lines, self.labels,
            classes=self.classes, rng=rng, cells=cells,
        )  # fmt: skip
        self.recipe: Recipe = replace(recipe, cells=found)
        self.rng = rng
        self.prior = np.bincount(self.labels, minlength=self.classes) / len(self.labels)
        self.test = self._matrix(_clamped(test, recipe))
        self.truth = recipe.label_codes(test)
        self.beliefs = cross_fit(
            self._matrix(self.values), self.labels, classes=self.classes, rng=rng, folds=3
        ).posteriors

    def _matrix(self, values: Columns) -> Floats:
        return matrix_of(self.recipe.columns, values)[0]

    def usefulness(self, values: Columns, labels: Indices) -> float:
        """Test AUC of a model trained on a release (one against the rest for several classes)."""
        if np.bincount(labels, minlength=self.classes).min() < 10:
            return 0.5
        model = fit_classifier(
            self._matrix(values), labels, classes=self.classes, rng=self.rng, only=ANALYST
        )
        return _auc(self.truth, model.posteriors(self.test))

    def judged(self, protection: Protection, epsilon: float) -> tuple[float, float, float | None]:
        """Leakage, AUC and the cap of one release of features and label."""
        values, answers = protection.draw(self.values, self.labels, self.rng)
        release = np.hstack([self._matrix(values), np.eye(self.classes)[answers]])
        attack = cross_fit(release, self.labels, classes=self.classes, rng=self.rng, folds=3)
        success = float((attack.posteriors.argmax(axis=1) == self.labels).mean())
        # Reading the answer alone, with its known law, is an attack too.
        own = protection.label.epsilon if protection.label else 0.0
        simple = label_only_utility(self.prior, epsilon=own)
        cap = label_only_utility(self.prior, epsilon=epsilon)
        return max(success, simple), self.usefulness(values, answers), cap


def _clamped(table: Table, recipe: Recipe) -> Columns:
    """Test features as the recipe's coding can hold them (rare categories become other)."""
    values = []
    for column, given in zip(recipe.columns, table.columns, strict=True):
        if given.dtype.kind != "f":
            known = np.isin(given, np.array(column.decode(np.arange(_size(column)))))
            fallback = column.decode(np.array([_size(column) - 1]))[0]
            given = np.where(known, given, fallback)
        values.append(given)
    return tuple(values)


def _size(column: Any) -> int:
    return len(column.levels) if hasattr(column, "levels") else len(column.categories)


def _auc(truth: Indices, beliefs: Floats) -> float:
    try:
        from sklearn.metrics import roc_auc_score
    except ImportError as problem:
        raise MissingExtra("scikit-learn", extra="labels") from problem
    if beliefs.shape[1] == 2:
        return float(roc_auc_score(truth, beliefs[:, 1]))
    return float(roc_auc_score(truth, beliefs, multi_class="ovr"))


def _point(name: str, epsilon: float, rows: list[tuple[float, float, float | None]]) -> TradePoint:
    leakage, auc = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    caps = [r[2] for r in rows if r[2] is not None]
    return TradePoint(
        name, epsilon, float(leakage.mean()), _error(leakage),
        float(np.mean(caps)) if caps else None, float(auc.mean()), _error(auc),
    )  # fmt: skip


def _error(values: Floats) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def crossings(
    points: Sequence[TradePoint], *, repeats: int, level: float = 0.05
) -> tuple[tuple[TradePoint, TradePoint], ...]:
    """Pairs (better, label-DP point): no more leakage on average, and surely a higher AUC.

    Surely: by Welch's t at `level` shared over all pairs that are compared, since with few
    repeats and many pairs two standard errors are often exceeded by chance.
    """
    from scipy.stats import t

    base = [p for p in points if p.mechanism == "label DP"]
    others = [p for p in points if p.mechanism != "label DP"]
    if not base or not others:
        return ()
    limit = float(t.isf(level / (len(base) * len(others)), 2 * (repeats - 1)))
    return tuple(
        (point, other)
        for point in others
        for other in base
        if point.leakage <= other.leakage
        and point.auc - other.auc > limit * float(np.hypot(point.auc_error, other.auc_error))
    )
