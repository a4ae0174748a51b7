"""Naive Bayes from reports: tables of (value, class) that were never seen, estimated and shrunk."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import MissingExtra, require
from voile.estimate.known_tables import public_table, table_beside

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
except ImportError as problem:
    raise MissingExtra("scikit-learn", extra="labels") from problem

STRENGTHS = (3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4)
"""Pseudo-reports that speak for «value and class are independent»; which, the reports decide."""
FOLDS = 5


@dataclass(frozen=True, eq=False)
class ReportLaw:
    """The law of one kind of report: K[code·classes + class, output].

    `known` is how many public records had each code (a row) with each class, where that is known.
    """

    table: Floats
    classes: int
    known: Floats | None = None

    @property
    def codes(self) -> int:
        """How many values there are."""
        return len(self.table) // self.classes


class MarginalBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """P(y|x) ∝ P(y)·Π_j P(x_j|y), each table P(x_j, y) estimated from reports of known law.

    A table is the likeliest one under a Dirichlet prior around the product of its own margins, by
    EM: f ← (n·f·K(p̂/fK) + s·prior)/(n + s). So a table of few or noisy reports says little, and
    one of none says nothing. The strength s is one number for all tables, chosen by cross-
    validation on the likelihood of *reports*: no clean record is needed. It is naive: features are
    taken as independent given the class, so probabilities are too sure; their order is what is
    good. Costs strengths·folds·(codes·classes·outputs) for each table and EM step.

    Where public counts are known (for all laws or none), each P(x_j|y) is the likeliest for public
    records and reports together (`table_beside`), so how much a report weighs follows from what its
    law lets through: reports that tell nothing leave what was known, many clear ones outweigh it.
    Nothing is tuned then.

    `fit` takes rows (which law, output), `predict_proba` rows of codes, one a law.
    """

    def __init__(self, laws: Sequence[ReportLaw], *, strengths: Sequence[float] = STRENGTHS):
        self.laws = laws
        self.strengths = strengths

    def fit(self, X: Indices, y: Any = None) -> MarginalBayes:
        """Estimate all tables from reports."""
        rows = self._reports(X)
        order = np.random.default_rng(0).permutation(len(rows))  # folds, whatever the file's order
        part = np.empty(len(rows), dtype=np.intp)
        part[order] = np.arange(len(rows)) % FOLDS
        counts = [
            [np.bincount(rows[(rows[:, 0] == j) & (part == fold), 1], minlength=law.table.shape[1])
             for fold in range(FOLDS)]
            for j, law in enumerate(self.laws)
        ]  # fmt: skip
        whole = [np.sum(folds, axis=0) for folds in counts]
        self.classes_ = np.arange(self.laws[0].classes)
        known = [law.known for law in self.laws if law.known is not None]
        self.public_ = max((float(table.sum()) for table in known), default=None)
        if known:
            return self._beside(known, whole)
        self.prior_ = _class_prior(self.laws, whole)
        apart = [
            _independent(law, seen, self.prior_) for law, seen in zip(self.laws, whole, strict=True)
        ]
        held = [
            sum(_held_out(law, folds, base, strength)
                for law, folds, base in zip(self.laws, counts, apart, strict=True))
            for strength in self.strengths
        ]  # fmt: skip
        strength = float(self.strengths[int(np.argmax(held))])
        self.strength_: float | None = strength
        self.tables_ = [
            _table(law, seen, base, strength).reshape(law.codes, law.classes)
            for law, seen, base in zip(self.laws, whole, apart, strict=True)
        ]
        return self

    def _beside(self, known: list[Floats], counts: list[Indices]) -> MarginalBayes:
        self.strength_ = None
        public = [public_table(table) for table in known]
        self.tables_ = [
            table_beside(law.table, table, seen)
            for law, table, seen in zip(self.laws, public, counts, strict=True)
        ]
        told = [float(seen.sum()) for seen in counts]
        shares = np.average([table.sum(axis=0) for table in self.tables_], axis=0, weights=told)
        self.prior_ = _off_zero(shares)
        return self

    def without_reports(self) -> MarginalBayes | None:
        """What public counts alone teach, classes as frequent as here; none if none are known."""
        if self.public_ is None:
            return None
        found = copy.copy(self)
        found.tables_ = [public_table(law.known) for law in self.laws if law.known is not None]
        return found

    def predict_proba(self, X: Indices) -> Floats:
        """P(y|x) for each row of codes."""
        rows = np.asarray(X)
        good = rows.ndim == 2 and rows.shape[1] == len(self.laws) and rows.dtype.kind in "iu"
        require(good, "records", f"rows of {len(self.laws)} codes", f"shape {rows.shape}")
        sizes = np.array([law.codes for law in self.laws])
        require(bool(((rows >= 0) & (rows < sizes)).all()), "codes", "of their columns", "others")
        logs = np.tile(np.log(self.prior_), (len(rows), 1))
        for j, table in enumerate(self.tables_):
            given = np.maximum(table, 1e-12)
            logs += np.log(given / given.sum(axis=0))[rows[:, j]]
        logs -= logs.max(axis=1, keepdims=True)
        found = np.exp(logs)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def predict(self, X: Indices) -> Indices:
        """The likeliest class of each row of codes."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def _reports(self, X: Indices) -> Indices:
        rows = np.asarray(X)
        good = rows.ndim == 2 and rows.shape[1] == 2 and rows.dtype.kind in "iu" and len(rows) > 0
        require(good, "reports", "rows (law, output) of integers, at least one", rows.shape)
        require(bool(((rows[:, 0] >= 0) & (rows[:, 0] < len(self.laws))).all()),
                "reports", f"of {len(self.laws)} laws", "others")  # fmt: skip
        limits = np.array([law.table.shape[1] for law in self.laws])[rows[:, 0]]
        require(bool(((rows[:, 1] >= 0) & (rows[:, 1] < limits)).all()),
                "reports", "outputs of their laws", "others")  # fmt: skip
        known = [law.known for law in self.laws if law.known is not None]
        require(len(known) in (0, len(self.laws)), "known", "counts for all laws or none", "some")
        for law, counts in zip(self.laws, known, strict=False):
            good = counts.shape == (law.codes, law.classes) and bool((counts >= 0).all())
            good = good and bool(np.isfinite(counts).all())
            require(good, "known", "counts, a row a code and a column a class", counts.shape)
        return rows.astype(np.intp)


def _table(
    law: ReportLaw, seen: Indices, base: Floats, strength: float, steps: int = 150
) -> Floats:
    """The likeliest table under a Dirichlet prior of that strength around `base`."""
    total, found = seen.sum(), base
    if not total:
        return base
    used = seen > 0
    law_seen, number = law.table[:, used], seen[used].astype(np.float64)
    for _ in range(steps):
        moved = found * (law_seen @ (number / (found @ law_seen)))
        moved = (moved + strength * base) / (total + strength)
        done = float(np.abs(moved - found).max()) < 1e-6
        found = moved
        if done:
            break
    return found


def _held_out(law: ReportLaw, folds: list[Indices], base: Floats, strength: float) -> float:
    """The log-likelihood of each fold's reports under a table fitted to the others."""
    whole = np.sum(folds, axis=0)
    score = 0.0
    for fold in folds:
        found = (
            _table(law, whole - fold, base, strength * (FOLDS - 1) / FOLDS, steps=60) @ law.table
        )
        used = fold > 0
        score += float(fold[used] @ np.log(found[used]))
    return score


def _class_prior(laws: Sequence[ReportLaw], counts: list[Indices]) -> Floats:
    """The classes' shares: the likeliest under each law, averaged by its reports."""
    total = np.zeros(laws[0].classes)
    for law, seen in zip(laws, counts, strict=True):
        even = np.full(len(law.table), 1 / len(law.table))
        found = _table(law, seen, even, 1e-3).reshape(law.codes, law.classes)
        total += seen.sum() * found.sum(axis=0)
    return _off_zero(total / total.sum())


def _off_zero(share: Floats) -> Floats:
    """The classes' shares with a fiftieth of them even, so that none is taken for impossible."""
    return np.asarray((1 - 0.02) * share + 0.02 / len(share))


def _independent(law: ReportLaw, seen: Indices, prior: Floats, steps: int = 150) -> Floats:
    """The likeliest table in which value and class are independent, the classes as given."""
    values = np.full(law.codes, 1 / law.codes)
    if not seen.any():
        return np.outer(values, prior).ravel()
    used = seen > 0
    law_seen, number = law.table[:, used], seen[used].astype(np.float64)
    for _ in range(steps):
        joint = np.outer(values, prior).ravel()
        moved = (joint * (law_seen @ (number / (joint @ law_seen)))).reshape(law.codes, -1)
        new = (moved.sum(axis=1) + 0.5) / (number.sum() + 0.5 * law.codes)
        done = float(np.abs(new - values).max()) < 1e-6
        values = new
        if done:
            break
    return np.outer(values, prior).ravel()
