"""How well each class is picked out at few false alarms: what matters for rare secrets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.audit.membership import area_under_curve
from voile.core.arrays import Floats, Indices
from voile.leakage.bounds import Interval, clopper_pearson

FALSE_ALARMS = (0.01, 0.001)


@dataclass(frozen=True)
class ClassLeakage:
    """What the features give away of one class against the others.

    `found_1` and `found_01` are the shares of its records that an attacker picks out at about 1 and
    0.1 false alarms among a hundred others; `alarms_1` and `alarms_01` how many alarms were in fact
    false. `lift` is how many times commoner the class is among those picked out at 1 % than in the
    file. Classes go by their number, in the order of their names.
    """

    number: int
    share: float
    auc: float
    found_1: Interval
    alarms_1: Interval
    found_01: Interval
    alarms_01: Interval
    lift: float


def class_leakage(
    posteriors: Floats, labels: Indices, folds: Indices, *, confidence: float = 0.95
) -> tuple[ClassLeakage, ...]:
    """Every class one against the rest, by beliefs that have not seen the records.

    The score above which an attacker raises an alarm is taken from the others of *other folds*, and
    counted on this one's: nothing is chosen by what it is judged on. Both shares are counts, with
    Clopper–Pearson intervals.
    """
    found = []
    for label in range(posteriors.shape[1]):
        member, score = labels == label, posteriors[:, label]
        counted = [
            _counted(member, alarms(score, member, folds, rate), 1 - confidence)
            for rate in FALSE_ALARMS
        ]
        (found_1, alarms_1), (found_01, alarms_01) = counted
        share = float(member.mean())
        picked = share * found_1.value + (1 - share) * alarms_1.value
        found.append(
            ClassLeakage(
                number=label + 1,
                share=share,
                auc=area(score, member),
                found_1=found_1,
                alarms_1=alarms_1,
                found_01=found_01,
                alarms_01=alarms_01,
                lift=found_1.value / picked if picked else 1.0,
            )
        )
    return tuple(found)


def alarms(
    score: Floats, member: NDArray[np.bool_], folds: Indices, rate: float
) -> NDArray[np.bool_]:
    """Which records score above all but `rate` of the others in other folds.

    The mark is set in the middle of the gap above these, since each fold has a classifier of its
    own: the same value gets a score that differs a little, and would raise alarms for all who
    have it in the fold where it is highest.
    """
    raised = np.zeros(len(score), dtype=np.bool_)
    for fold in np.unique(folds):
        here = folds == fold
        others = np.sort(score[~here & ~member])
        if len(others):
            below = others[len(others) - 1 - int(rate * len(others))]
            above = score[~here & (score > below)].min(initial=np.inf)
            mark = (below + above) / 2 if np.isfinite(above) else below
            raised[here] = score[here] > mark
    return raised


def area(score: Floats, member: NDArray[np.bool_]) -> float:
    """AUC: how often a member's score is above another's, ties counting a half (Mann–Whitney)."""
    if member.all() or not member.any():
        return 0.5
    return area_under_curve(score[member], score[~member])


def mean_area(posteriors: Floats, labels: Indices) -> float:
    """The mean AUC over the classes, each against the rest."""
    classes = range(posteriors.shape[1])
    return float(np.mean([area(posteriors[:, c], labels == c) for c in classes]))


def _counted(
    member: NDArray[np.bool_], raised: NDArray[np.bool_], missed: float
) -> tuple[Interval, Interval]:
    return _share(raised[member], missed), _share(raised[~member], missed)


def _share(hits: NDArray[np.bool_], missed: float) -> Interval:
    count, of = int(hits.sum()), len(hits)
    if not of:
        return Interval(0.0, 0.0, 1.0)
    return Interval(count / of, *clopper_pearson(count, of, failure_probability=missed))
