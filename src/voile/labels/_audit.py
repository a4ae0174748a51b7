"""Audit a labelled file: how much of each label is announced by epsilon, how much by features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from voile.audit.label_features import FeatureShare, feature_shares
from voile.audit.labels import LabelAudit, audit_labels
from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require
from voile.jobs import Engine, spread
from voile.labels.columns import columns_of, constant, determines, matrix_of
from voile.labels.reading import read_labelled
from voile.labels.table import OnError, Table


@dataclass(frozen=True, eq=False)
class LabelReport:
    """The audit of a file: figures, features, and what was odd about the file."""

    table: Table
    audit: LabelAudit
    features: tuple[FeatureShare, ...]
    notes: tuple[str, ...]

    def worst_lines(self, count: int) -> list[tuple[int, float]]:
        """Line numbers of the records whose labels leak most, with how much."""
        chosen = self.audit.ranked[:count]
        return [(int(self.table.lines[i]), float(self.audit.gains[i])) for i in chosen]

    def as_dict(self, *, worst: int = 20) -> dict[str, Any]:
        """All figures, for another program; no value of a record."""
        return {
            "records": self.audit.records,
            "classes": len(self.audit.prior),
            "classifier": self.audit.classifier,
            "log_loss": dict(self.audit.losses),
            "epsilons": [
                {
                    "epsilon": p.epsilon,
                    "expected": p.expected,
                    "total": vars(p.total),
                    "unexpected": vars(p.unexpected),
                    "features_alone": p.without_release,
                    "advantage": vars(p.advantage),
                    "advantage_bound": p.advantage_bound,
                    "believed": p.believed,
                    "effective_epsilon_estimate": self.audit.effective(p.epsilon),
                    "effective_epsilon_at_least": self.audit.finding(p.epsilon).lower,
                    "verdict": str(self.audit.finding(p.epsilon).verdict),
                    "failure_probability": self.audit.failure_probability,
                }
                for p in self.audit.at
            ],
            "features": [vars(share) for share in self.features],
            "worst_lines": [
                {"line": line, "leakage": gain} for line, gain in self.worst_lines(worst)
            ],
            "warnings": list(self.audit.warnings),
            "notes": list(self.notes),
        }


def labels_audit(
    data: str | Path,
    *,
    label: str,
    epsilons: Sequence[float],
    rng: Generator,
    header: bool = True,
    on_error: OnError = "fail",
    drop: tuple[str, ...] = (),
    most_records: int = 20_000,
    engine: Engine | None = None,
) -> LabelReport:
    """Read, attack, and find which features and records give the label away.

    At most `most_records` records, drawn at random, are used; the notes say if some were not.
    `engine` spreads the folds, and the two refits of each feature, over processes or nodes. What
    is random in a fit is drawn before it is handed out, so the figures do not depend on the engine.
    """
    table = read_labelled(data, label=label, header=header, on_error=on_error, drop=drop)
    notes = _notes(table)
    table, less = sampled(table, most_records, rng)
    matrix, groups, names, labels = prepared(table)
    classes = len(table.classes)
    over = partial(spread, engine=engine)
    audit = audit_labels(matrix, labels, classes=classes, epsilons=epsilons, rng=rng, over=over)
    shares = feature_shares(
        matrix, labels, groups=groups, names=names, classes=classes, rng=rng, over=over
    )
    return LabelReport(table, audit, shares, (*notes, *less))


def sampled(table: Table, most: int, rng: Generator) -> tuple[Table, tuple[str, ...]]:
    """The table, or a random part of it with a note that says so."""
    require(most >= 100, "most_records", ">= 100", most)
    if len(table) <= most:
        return table, ()
    keep = np.sort(rng.choice(len(table), size=most, replace=False))
    note = f"{most:,} of {len(table):,} records, drawn at random, were used"
    return table.select(keep), (note,)


def prepared(table: Table) -> tuple[Floats, tuple[Indices, ...], tuple[str, ...], Indices]:
    """Features that vary as a matrix, their columns and names, and labels as codes."""
    varying = [i for i, values in enumerate(table.columns) if not constant(values)]
    if not varying:
        raise InvalidInput(
            "at least one feature must vary, all are constant: the features give nothing away, "
            "and the label's own epsilon is the whole story"
        )
    columns = columns_of(table)
    matrix, groups = matrix_of([columns[i] for i in varying], [table.columns[i] for i in varying])
    names = tuple(table.names[i] for i in varying)
    labels = np.searchsorted(np.array(table.classes), table.labels)
    return matrix, groups, names, labels.astype(np.intp)


def _notes(table: Table) -> tuple[str, ...]:
    notes = []
    if table.skipped:
        notes.append(f"{table.skipped:,} records with missing or broken values were left out")
    if table.masked:
        notes.append(f"{table.masked:,} records had missing values, taken as values of their own")
    flat = [n for n, v in zip(table.names, table.columns, strict=True) if constant(v)]
    if flat:
        notes.append(f"constant, so of no use to anybody: {', '.join(flat)}")
    for name, values in zip(table.names, table.columns, strict=True):
        if determines(values, table.labels):
            notes.append(
                f"the feature {name!r} determines the label: no noise on the label hides it; drop "
                "the feature or protect the whole record"
            )
        elif values.dtype.kind != "f" and len(np.unique(values)) > 0.5 * len(table):
            notes.append(
                f"the feature {name!r} is nearly unique to each record, like an identifier; "
                "leave it out with --drop"
            )
    return tuple(notes)
