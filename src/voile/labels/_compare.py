"""Usefulness against leakage, for label DP, Label DP-CF and local DP on one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np

from voile.core.arrays import Floats
from voile.core.pieces_of_work import Over, in_turn
from voile.core.randomness import Generator, seeded_rng
from voile.errors import InvalidInput, require
from voile.jobs.settings import Workers
from voile.labels._audit import HERE, sampled, spread_by
from voile.labels.columns import constant
from voile.labels.compared import ComparedLabels, Crossing, TradePoint
from voile.labels.reading import AS_WRITTEN, Label, Reading, read_labelled
from voile.labels.repeat import Asked, Score, one_repeat
from voile.labels.table import Table
from voile.options import Data, Option, use_case
from voile.progress import tell

LABEL_EPSILONS = (8.0, 4.0, 2.0, 1.0, 0.1)
RECORD_EPSILONS = (8.0, 4.0, 2.0, 1.4, 1.0)
REPEATS = 5


@use_case("labels compare")
def compare(
    data: Annotated[Data, Option("A .csv, .jsonl or .parquet file.", reads="private")],
    *,
    label: Label,
    label_epsilon: Annotated[
        tuple[float, ...], Option("Epsilons for label DP.", "How strong")
    ] = LABEL_EPSILONS,
    record_epsilon: Annotated[
        tuple[float, ...], Option("Epsilons for CF and local DP.", "How strong")
    ] = RECORD_EPSILONS,
    repeats: Annotated[int, Option("Random splits to average over.", "Running")] = REPEATS,
    reading: Reading = AS_WRITTEN,
    records: Annotated[int, Option("Use at most so many records, at random.")] = 4_000,
    seed: Annotated[int, Option("Of splits and noise; nothing is released.", "Running")] = 0,
    workers: Workers = HERE,
) -> ComparedLabels:
    """Usefulness (test AUC) against total leakage for label DP, Label DP-CF and local DP.

    Example: `voile labels compare patients.csv --label diagnosis --report ways.html`
    """
    rng = seeded_rng(seed)
    tell("reading records")
    table = read_labelled(data, label=label, reading=reading)
    table, notes = sampled(table, records, rng)
    found = compare_table(
        table,
        rng=rng,
        label_epsilons=label_epsilon,
        record_epsilons=record_epsilon,
        repeats=repeats,
        over=spread_by(workers, "comparing on splits"),
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
    over: Over = in_turn,
) -> ComparedLabels:
    """Protect a random 70 % of the records each way, train on it, attack it, test on the rest.

    The analyst fits a logistic regression to what was released. The attacker reads the same
    release and has labelled examples of it: beliefs are cross-fitted on (release, true label), so
    a leakage is a real attacker's, and for CF and local DP a theorem caps every attacker. Where
    CF or local DP beats label DP is decided by `crossings`.

    The repeats are computed `over` here or elsewhere. Each has a generator of its own, whose seed
    is drawn from `rng` beforehand, so the figures are the same wherever it was computed.
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
    found = over(one_repeat, seeds, common=asked)
    points = tuple(
        _point(name, epsilon, [one.scores[name, epsilon] for one in found])
        for name, epsilon in found[0].scores
    )
    counts = np.unique(table.labels, return_counts=True)[1]
    return ComparedLabels(
        clean_auc=float(np.mean([one.clean for one in found])),
        guess=float(counts.max() / counts.sum()),
        features_alone=float(np.mean([one.alone for one in found])),
        points=tuple(sorted(points, key=lambda p: (p.mechanism, -p.epsilon))),
        crossings=crossings(points, repeats=repeats),
    )


def _point(name: str, epsilon: float, rows: list[Score]) -> TradePoint:
    leakage, auc = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    caps = [r[2] for r in rows if r[2] is not None]
    return TradePoint(
        mechanism=name,
        epsilon=epsilon,
        leakage=float(leakage.mean()),
        leakage_error=_error(leakage),
        cap=float(np.mean(caps)) if caps else None,
        auc=float(auc.mean()),
        auc_error=_error(auc),
    )


def _error(values: Floats) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def crossings(
    points: Sequence[TradePoint], *, repeats: int, level: float = 0.05
) -> tuple[Crossing, ...]:
    """Where another point beats one of label DP: no more leakage, and surely a higher AUC.

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
        Crossing(point, other)
        for point in others
        for other in base
        if point.leakage <= other.leakage
        and point.auc - other.auc > limit * float(np.hypot(point.auc_error, other.auc_error))
    )
