"""Membership inference: what a shadow-model attack finds about a trained model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voile.attackers.shadow import Outputs, ShadowAttack
from voile.audit.finding import Finding
from voile.core.arrays import Floats
from voile.errors import require
from voile.leakage.bounds import clopper_pearson


@dataclass(frozen=True)
class Membership:
    """The finding, and the two numbers by which the literature compares such attacks."""

    finding: Finding
    auc: float
    auc_interval: tuple[float, float]
    accuracy: float


def membership(
    attack: ShadowAttack,
    *,
    members: Outputs,
    others: Outputs,
    claim: float = math.inf,
    failure_probability: float = 0.01,
) -> Membership:
    """Test an attack on records the target was and was not trained on.

    If training is ε-private for one record, then for any test TPR ≤ e^ε·FPR and
    1 − FPR ≤ e^ε·(1 − TPR). Both ratios are bounded from below with Clopper–Pearson limits at
    the threshold that the attack fixed beforehand, each of four limits at a quarter of the
    failure probability; ε is at least the larger one's logarithm, or 0. This is a lower bound
    found by one attack: a small value means "not broken by this attack", never "safe". The AUC's
    95 % interval is Hanley and McNeil's.

    >>> import numpy as np
    >>> class Oracle:
    ...     threshold = 0.5
    ...     def scores(self, outputs): return outputs.probabilities[:, 0]
    >>> seen = Outputs(np.tile([0.9, 0.1], (1000, 1)), np.zeros(1000))
    >>> unseen = Outputs(np.tile([0.2, 0.8], (1000, 1)), np.zeros(1000))
    >>> found = membership(Oracle(), members=seen, others=unseen, claim=1.0)
    >>> found.auc, str(found.finding.verdict)
    (1.0, 'violated')
    """
    require(0 < failure_probability < 1, "failure_probability", "in (0, 1)", failure_probability)
    inside, outside = attack.scores(members), attack.scores(others)
    hits = int((inside >= attack.threshold).sum())
    alarms = int((outside >= attack.threshold).sum())
    share = failure_probability / 4
    first = _log_ratio(hits, len(inside), alarms, len(outside), share)
    second = _log_ratio(len(outside) - alarms, len(outside), len(inside) - hits, len(inside), share)
    auc = area_under_curve(inside, outside)
    interval = _auc_interval(auc, len(inside), len(outside))
    accuracy = (hits / len(inside) + 1 - alarms / len(outside)) / 2
    finding = Finding(
        question="Membership of one record: epsilon is",
        claim=claim,
        lower=max(0.0, first, second),
        failure_probability=failure_probability,
        samples=len(inside) + len(outside),
        unit="record",
        detail=(
            f"AUC {auc:.3f} (95 % {interval[0]:.3f} to {interval[1]:.3f}), balanced accuracy "
            f"{100 * accuracy:.1f} %; a lower bound by one attack, never a proof of safety"
        ),
    )
    return Membership(finding, auc, interval, accuracy)


def _log_ratio(hits: int, trials: int, alarms: int, controls: int, share: float) -> float:
    """ln(lower limit of hits / upper limit of alarms), one-sided Clopper–Pearson each."""
    if hits == 0:
        return -math.inf
    low, _ = clopper_pearson(hits, trials, failure_probability=2 * share)
    _, high = clopper_pearson(alarms, controls, failure_probability=2 * share)
    return math.log(low / high)


def area_under_curve(inside: Floats, outside: Floats) -> float:
    """Probability that a member scores above a non-member, ties counted half.

    >>> area_under_curve(np.array([1.0, 2.0]), np.array([0.0, 2.0]))
    0.625
    """
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([inside, outside]))
    count = len(inside)
    above = ranks[:count].sum() - count * (count + 1) / 2
    return float(above / (count * len(outside)))


def _auc_interval(auc: float, positives: int, negatives: int) -> tuple[float, float]:
    two_above, one_above = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = (
        auc * (1 - auc)
        + (positives - 1) * (two_above - auc**2)
        + (negatives - 1) * (one_above - auc**2)
    ) / (positives * negatives)
    half = 1.96 * math.sqrt(max(0.0, variance))
    return max(0.0, auc - half), min(1.0, auc + half)
