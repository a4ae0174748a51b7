"""What text audits found, as plain values for programs and reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.tasks.text_posterior import TextPosterior


def facts_of(found: TextPosterior, *, sensitive: str = "pii,poii") -> dict[str, Any]:
    """The audit as JSON and reports hold it: counts and shares, no word of any document."""
    leakage = found.audit.leakage
    return {
        "attacker": found.attacker,
        "sensitive": sensitive,
        "documents": found.documents,
        "unaligned": found.unaligned,
        "unpaired_words": found.unpaired,
        "candidates": found.candidates,
        "sensitive_words": found.sensitive_words,
        "triples": leakage.triples,
        "releases": leakage.releases,
        "groups": found.audit.groups,
        "supremum": leakage.supremum,
        "findings": [
            {
                "epsilon": epsilon,
                "delta": finding.claim,
                "share": share,
                "lower": finding.lower,
                "upper": finding.upper,
                "verdict": str(finding.verdict),
                "control_share": floor,
                "hoeffding_log10_failure": log10,
                "groups_to_certify": needed,
            }
            for epsilon, finding, share, floor, log10, needed in zip(
                leakage.epsilons,
                found.audit.findings,
                leakage.violation_shares,
                found.control or [None] * len(leakage.epsilons),
                found.audit.hoeffding_log10,
                found.audit.groups_to_certify,
                strict=True,
            )
        ],
        "exceedance": exceedance(leakage.sample),
        "reliability": {
            "accuracy": found.reliability.accuracy,
            "confidence": found.reliability.confidence,
            "calibration_error": found.reliability.calibration_error,
            "trustworthy": found.reliability.trustworthy,
        },
    }


def exceedance(sample: Floats, *, points: int = 80) -> list[dict[str, float]]:
    """The share of a sample above each of some values: from all of it down to a single value.

    >>> exceedance(np.array([0.0, 1.0, 2.0, 3.0]), points=4)[1]
    {'leakage': 1.0, 'share': 0.5}
    """
    values = np.sort(sample[np.isfinite(sample)])
    if not len(values):
        return []
    # evenly in the logarithm of the share, so that the tail is drawn as finely as the body
    above = np.unique(np.geomspace(1, len(values), points).round().astype(int))
    chosen = np.unique(np.append(values[len(values) - above], values[-1]))
    shares = 1 - np.searchsorted(values, chosen, side="right") / len(values)
    return [
        {"leakage": float(x), "share": float(share)}
        for x, share in zip(chosen, shares, strict=True)
    ]
