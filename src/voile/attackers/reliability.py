"""Whether an attacker's confidence is worth what it says.

An over-confident attacker reports leakage that is not there: its posterior is further from the
prior than the data warrant. So a learned attacker's beliefs are calibrated on data it was not
trained on, and checked on data it was not calibrated on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.attack import Observed, SequenceAttack
from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require

TOLERANCE = 0.02
"""Confidence may exceed accuracy by this much before it counts as a fault."""


@dataclass(frozen=True)
class Reliability:
    """Confidence against accuracy on held-out secrets.

    `overconfidence` is mean confidence minus accuracy, with its standard error; `bins` has a row
    (mean confidence, accuracy, count) for each tenth of confidence that occurs.
    """

    accuracy: float
    confidence: float
    standard_error: float
    calibration_error: float
    log_loss: float
    count: int
    bins: tuple[tuple[float, float, int], ...]

    @property
    def overconfidence(self) -> float:
        """How much surer the attacker is than right."""
        return self.confidence - self.accuracy

    @property
    def trustworthy(self) -> bool:
        """Not over-confident beyond the tolerance and four standard errors."""
        return self.overconfidence <= TOLERANCE + 4 * self.standard_error

    def __str__(self) -> str:
        verdict = "calibrated" if self.trustworthy else "over-confident: do not trust its leakage"
        return (
            f"right {100 * self.accuracy:.1f} % of the time, {100 * self.confidence:.1f} % sure, "
            f"over {self.count:,} secrets: {verdict}"
        )


def reliability(log_beliefs: Floats, truth: Indices, *, bins: int = 10) -> Reliability:
    """Compare what an attacker believed with what was true, one row a secret.

    >>> import numpy as np
    >>> sure = np.log(np.tile([0.98, 0.02], (1000, 1)))
    >>> half = np.arange(1000) % 2                     # right half of the time
    >>> print(reliability(sure, half))
    right 50.0 % of the time, 98.0 % sure, over 1,000 secrets: over-confident: do not trust its leakage
    """  # noqa: E501
    truth = np.asarray(truth, dtype=np.intp)
    require(len(truth) > 0, "truth", "at least one secret", "none")
    require(len(log_beliefs) == len(truth), "log_beliefs", f"{len(truth)} rows", len(log_beliefs))
    guess = log_beliefs.argmax(axis=1)
    confidence = np.exp(log_beliefs[np.arange(len(truth)), guess])
    right = (guess == truth).astype(float)
    tenth = np.minimum((confidence * bins).astype(int), bins - 1)
    rows = []
    for b in range(bins):
        here = tenth == b
        if here.any():
            rows.append(
                (float(confidence[here].mean()), float(right[here].mean()), int(here.sum()))
            )
    error = sum(count * abs(sure - hit) for sure, hit, count in rows) / len(truth)
    return Reliability(
        accuracy=float(right.mean()),
        confidence=float(confidence.mean()),
        standard_error=float(np.std(confidence - right)) / math.sqrt(len(truth)),
        calibration_error=float(error),
        log_loss=float(-log_beliefs[np.arange(len(truth)), truth].mean()),
        count=len(truth),
        bins=tuple(rows),
    )


def held_out(attack: SequenceAttack, items: Sequence[Observed]) -> Reliability:
    """How an attacker's confidence compares with its accuracy on documents it never saw."""
    beliefs, truths = [], []
    used = [item for item in items if len(item.sensitive)]
    for start in range(0, len(used), 32):
        part = used[start : start + 32]
        tables = attack.log_posteriors(
            [item.releases for item in part], [item.sensitive for item in part]
        )
        for item, table in zip(part, tables, strict=True):
            beliefs.append(table[item.sensitive])
            truths.append(item.secrets[item.sensitive])
    if not used:
        raise InvalidInput("no sensitive words found in the test documents; give more documents")
    return reliability(np.concatenate(beliefs), np.concatenate(truths))


def best_temperature(scores: Floats, truth: Indices) -> float:
    """The τ > 0 for which softmax(scores / τ) has the least log-loss (Guo et al., 2017).

    >>> import numpy as np
    >>> scores = np.tile([8.0, 0.0], (1000, 1))        # 99.97 % sure, right three times in four
    >>> truth = (np.arange(1000) % 4 == 0).astype(int)
    >>> round(8.0 / best_temperature(scores, truth), 3)   # ln 3
    1.099
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    rows = np.arange(len(truth))

    def log_loss(log_temperature: float) -> float:
        scaled = scores / math.exp(log_temperature)
        return float((logsumexp(scaled, axis=1) - scaled[rows, truth]).mean())

    best = minimize_scalar(log_loss, bounds=(-6.0, 6.0), method="bounded")
    return math.exp(float(best.x))
