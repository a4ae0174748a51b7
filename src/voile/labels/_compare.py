"""Usefulness against leakage, for every way to share labelled records, on one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from voile.core.arrays import Floats
from voile.core.pieces_of_work import Over, in_turn
from voile.core.randomness import Generator, seeded_rng
from voile.errors import InvalidInput, require
from voile.jobs.settings import Workers
from voile.labels._audit import AS_NAMES, HERE, bins_note, persons_note, sampled, spread_by
from voile.labels._recipe import CELLS_SHARE
from voile.labels.bins import Cut
from voile.labels.columns import constant
from voile.labels.compared import ComparedLabels, Crossing, TradePoint
from voile.labels.reading import AS_WRITTEN, Label, Reading, Records, read_labelled
from voile.labels.repeat import Asked, Repeat, Score, one_repeat
from voile.labels.synthetic import NAME as YARDSTICK
from voile.labels.table import Table
from voile.options import Option, use_case
from voile.progress import tell

LABEL_EPSILONS = (8.0, 4.0, 2.0, 1.0, 0.1)
RECORD_EPSILONS = (8.0, 4.0, 2.0, 1.4, 1.0)
REPEATS = 12
DRAWS = 3
LEVEL = 0.05
NO_MORE = 0.005
"""Half a point more of leakage counts as no more."""


@use_case("labels compare")
def compare(
    data: Records,
    *,
    label: Label,
    label_epsilon: Annotated[
        tuple[float, ...], Option("Epsilons for label DP.", "How strong")
    ] = LABEL_EPSILONS,
    record_epsilon: Annotated[
        tuple[float, ...], Option("Epsilons for the ways that change features.", "How strong")
    ] = RECORD_EPSILONS,
    repeats: Annotated[int, Option("Random splits to average over.", "Running")] = REPEATS,
    draws: Annotated[int, Option("Draws of noise on each split.", "Running")] = DRAWS,
    reading: Reading = AS_WRITTEN,
    cut: Cut = AS_NAMES,
    records: Annotated[
        int | None, Option("Use at most so many records, at random; else all.")
    ] = None,
    seed: Annotated[int, Option("Of splits and noise; nothing is released.", "Running")] = 0,
    workers: Workers = HERE,
) -> ComparedLabels:
    """Usefulness (test AUC) against total leakage for every way to share labelled records.

    Example: `voile labels compare patients.csv --label diagnosis --report ways.html`

    Label DP (rr), Label DP-CF (cf), local DP (ldp) and one sampled column with the label (sample),
    each with the analysts who can read it; and beside them, as a yardstick of another trust model,
    records that a curator makes up from counts with noise (central DP).
    """
    rng = seeded_rng(seed)
    tell("reading records")
    table = read_labelled(data, label=label, reading=reading, edges=cut.at())
    told = (*bins_note(table, cut), *persons_note(table, reading))
    table, notes = sampled(table, records, rng)
    found = compare_table(
        table,
        rng=rng,
        label_epsilons=label_epsilon,
        record_epsilons=record_epsilon,
        repeats=repeats,
        draws=draws,
        over=spread_by(workers, "comparing on splits"),
    )
    return replace(found, notes=(*notes, *told, *found.notes))


def compare_table(
    table: Table,
    *,
    rng: Generator,
    label_epsilons: Sequence[float] = LABEL_EPSILONS,
    record_epsilons: Sequence[float] = RECORD_EPSILONS,
    repeats: int = REPEATS,
    draws: int = DRAWS,
    cells: int | None = None,
    label_share: float = CELLS_SHARE,
    over: Over = in_turn,
) -> ComparedLabels:
    """Protect a random 70 % of the records each way, train on it, attack it, test on the rest.

    The analysts (`analysts.py`) fit models to what was released, on several draws of noise. The
    attacker reads the same release and has labelled examples of it: beliefs are cross-fitted on
    (release, true label), so a leakage is a real attacker's, and where features are drawn too a
    theorem caps every attacker. Where another way beats label DP is decided by `crossings`.

    The repeats are computed `over` here or elsewhere. Each has a generator of its own, whose seed
    is drawn from `rng` beforehand, so the figures are the same wherever it was computed.
    """
    require(repeats >= 2, "repeats", ">= 2, so that there is an error to state", repeats)
    require(draws >= 1, "draws", ">= 1", draws)
    keep = tuple(i for i, values in enumerate(table.columns) if not constant(values))
    if not keep:
        raise InvalidInput("at least one feature must vary, all are constant")
    table = replace(
        table,
        names=tuple(table.names[i] for i in keep),
        columns=tuple(table.columns[i] for i in keep),
    )
    asked = Asked(table, tuple(label_epsilons), tuple(record_epsilons), draws, cells, label_share)
    seeds = rng.integers(2**63, size=repeats).tolist()
    return compared(over(one_repeat, seeds, common=asked), guess=blind(table), draws=draws)


def compared(found: Sequence[Repeat], *, guess: float, draws: int) -> ComparedLabels:
    """What the repeats say together: means with errors, and where label DP is surely beaten."""
    runs = [Run.of(way, [one.scores[way] for one in found]) for way in found[0].scores]
    sure, note = crossings(runs)
    clean = chosen_by_others([one.clean for one in found])[1]
    return ComparedLabels(
        clean_auc=float(clean.mean()),
        guess=guess,
        features_alone=float(np.mean([one.alone for one in found])),
        repeats=len(found),
        draws=draws,
        points=tuple(sorted((r.point for r in runs), key=lambda p: (p.mechanism, -p.epsilon))),
        crossings=sure,
        notes=note,
    )


def blind(table: Table) -> float:
    """How often the commonest label is right."""
    counts = np.unique(table.labels, return_counts=True)[1]
    return float(counts.max() / counts.sum())


@dataclass(frozen=True, eq=False)
class Run:
    """One way at one epsilon over all repeats, split by split, and its means."""

    point: TradePoint
    leakage: Floats
    auc: Floats

    @classmethod
    def of(cls, way: tuple[str, float], scores: Sequence[Score]) -> Run:
        """Means with their standard errors."""
        leakage = np.array([score.leakage for score in scores])
        analyst, auc = chosen_by_others([score.aucs for score in scores])
        caps = [score.cap for score in scores if score.cap is not None]
        recipes = [score.recipe for score in scores if score.recipe is not None]
        point = TradePoint(
            mechanism=way[0],
            epsilon=way[1],
            leakage=float(leakage.mean()),
            leakage_error=_error(leakage),
            cap=float(np.mean(caps)) if caps else None,
            auc=float(auc.mean()),
            auc_error=_error(auc),
            analyst=analyst,
            aucs={n: float(np.mean([s.aucs[n] for s in scores])) for n in scores[0].aucs},
            recipe_auc=float(np.mean(recipes)) if recipes else None,
        )
        return cls(point, leakage, auc)


def chosen_by_others(aucs: Sequence[dict[str, float]]) -> tuple[str, Floats]:
    """Whose AUC counts on each split: the analyst who was best on the *other* splits.

    So nobody is chosen by what is counted. The name is that of the best on all of them.
    """
    names = tuple(aucs[0])
    table = np.array([[one[name] for name in names] for one in aucs])
    others = table.sum(axis=0) - table
    picked = others.argmax(axis=1)
    return names[int(table.sum(axis=0).argmax())], table[np.arange(len(table)), picked]


def _error(values: Floats) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def crossings(
    runs: Sequence[Run], *, level: float = LEVEL
) -> tuple[tuple[Crossing, ...], tuple[str, ...]]:
    """Where another way surely beats label DP: no more leakage, and a higher AUC; and a note.

    Surely: split by split, by Wilcoxon's signed-rank test (exact, one-sided) for both, at `level`
    shared over all pairs that are compared. Given the file, splits and draws of noise are
    independent of each other, so a rerun with another seed disagrees with all of these claims
    together at most with that probability. The curator's records take another trust and are left
    out. n splits can reach 2^−n and no less: with too few of them nothing is sure, and the note
    says so.
    """
    base = [run for run in runs if run.point.mechanism == "label DP"]
    others = [run for run in runs if run.point.mechanism not in ("label DP", YARDSTICK)]
    if not base or not others:
        return (), ()
    repeats, limit = len(base[0].auc), level / (len(base) * len(others))
    needed = math.ceil(math.log2(1 / limit))
    if repeats < needed:
        pairs = len(base) * len(others)
        return (), (
            f"{repeats} repeats are too few to be sure of anything about {pairs} pairs: use "
            f"--repeats {needed} or more",
        )
    sure = tuple(
        Crossing(run.point, other.point)
        for run in others
        for other in base
        if above(run.auc - other.auc) <= limit
        and above(other.leakage + NO_MORE - run.leakage) <= limit
    )
    return sure, ()


def above(differences: Floats) -> float:
    """The chance, were differences even about 0, of ranks that speak so much for above it."""
    from scipy.stats import wilcoxon

    if not differences.any():
        return 1.0
    return float(wilcoxon(differences, alternative="greater").pvalue)
