"""Usefulness against leakage, for label DP, Label DP-CF and local DP on one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require
from voile.jobs import Engine, spread
from voile.labels._audit import sampled
from voile.labels.columns import constant
from voile.labels.reading import read_labelled
from voile.labels.repeat import Asked, Score, one_repeat
from voile.labels.table import OnError, Table

LABEL_EPSILONS = (8.0, 4.0, 2.0, 1.0, 0.1)
RECORD_EPSILONS = (8.0, 4.0, 2.0, 1.4, 1.0)
REPEATS = 5
MOST_RECORDS = 4_000
"""What is compared unless asked otherwise, the same from Python and on the command line."""


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
    repeats: int = REPEATS,
    header: bool = True,
    on_error: OnError = "fail",
    drop: tuple[str, ...] = (),
    most_records: int = MOST_RECORDS,
    engine: Engine | None = None,
) -> Comparison:
    """Read a table and compare: see `compare_table`."""
    table = read_labelled(data, label=label, header=header, on_error=on_error, drop=drop)
    table, notes = sampled(table, most_records, rng)
    found = compare_table(
        table,
        rng=rng,
        label_epsilons=label_epsilons,
        record_epsilons=record_epsilons,
        repeats=repeats,
        engine=engine,
    )
    return replace(found, notes=notes)


def compare_table(
    table: Table,
    *,
    rng: Generator,
    label_epsilons: Sequence[float] = LABEL_EPSILONS,
    record_epsilons: Sequence[float] = RECORD_EPSILONS,
    repeats: int = REPEATS,
    cells: int | None = None,
    label_share: float = 0.5,
    engine: Engine | None = None,
) -> Comparison:
    """Protect a random 70 % of the records each way, train on it, attack it, test on the rest.

    The analyst fits a logistic regression to what was released. The attacker reads the same
    release and has labelled examples of it: beliefs are cross-fitted on (release, true label), so
    a leakage is a real attacker's, and for CF and local DP a theorem caps every attacker. Where
    CF or local DP beats label DP is decided by `crossings`.

    `engine` spreads the repeats over processes or nodes. Each has a generator of its own, whose
    seed is drawn from `rng` beforehand, so the figures are the same wherever it was computed.
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
    asked = Asked(table, tuple(label_epsilons), tuple(record_epsilons), cells, label_share)
    seeds = rng.integers(2**63, size=repeats).tolist()
    found = spread(one_repeat, seeds, common=asked, engine=engine)
    points = tuple(
        _point(name, epsilon, [one.scores[name, epsilon] for one in found])
        for name, epsilon in found[0].scores
    )
    counts = np.unique(table.labels, return_counts=True)[1]
    return Comparison(
        points=tuple(sorted(points, key=lambda p: (p.mechanism, -p.epsilon))),
        clean_auc=float(np.mean([one.clean for one in found])),
        guess=float(counts.max() / counts.sum()),
        features_alone=float(np.mean([one.alone for one in found])),
        crossings=crossings(points, repeats=repeats),
        notes=(),
    )


def _point(name: str, epsilon: float, rows: list[Score]) -> TradePoint:
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
