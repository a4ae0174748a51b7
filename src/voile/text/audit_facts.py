"""What text audits found, as plain values for programs and reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.text._audit import AttackRun, TextPosterior


def facts_of(found: TextPosterior, *, sensitive: str = "pii,poii") -> dict[str, Any]:
    """The audit as JSON and reports hold it: counts and shares, no word of any document."""
    lead = found.lead
    leakage = lead.audit.leakage
    several = len(found.runs) > 1
    facts = {
        "attacker": ", ".join(dict.fromkeys(run.attacker for run in found.runs)),
        "sensitive": sensitive,
        "documents": found.documents,
        "unaligned": found.unaligned,
        "unpaired_words": found.unpaired,
        "candidates": found.candidates,
        "sensitive_words": found.sensitive_words,
        "triples": leakage.triples,
        "releases": leakage.releases,
        "groups": lead.audit.groups,
        "supremum": leakage.supremum,
        "findings": [
            _finding(found.strongest(k), k, named=several) for k in range(len(leakage.epsilons))
        ],
        "exceedance": exceedance(leakage.sample),
        "reliability": {
            "accuracy": lead.reliability.accuracy,
            "confidence": lead.reliability.confidence,
            "calibration_error": lead.reliability.calibration_error,
            "trustworthy": lead.reliability.trustworthy,
        },
        "learned": _learned(lead),
    }
    return facts | {"runs": _runs(found)} if several else facts


def _learned(run: AttackRun) -> dict[str, Any] | None:
    """What held-out secrets say of the attacker; None if it is exact."""
    learned = run.audit.learned
    if learned is None:
        return None
    return {
        "gain": learned.gain,
        "p_value": learned.p_value,
        "shown": run.audit.is_evidence,
    }


def _finding(run: AttackRun, k: int, *, named: bool) -> dict[str, Any]:
    """The run that found most at an epsilon; named if there were others."""
    audit = run.audit
    finding = audit.findings[k]
    facts = {
        "epsilon": audit.leakage.epsilons[k],
        "delta": finding.claim,
        "share": run.shares[k],
        "lower": finding.lower,
        "upper": finding.upper,
        "verdict": str(finding.verdict),
        "control_share": None if run.control is None else run.control[k],
        "hoeffding_log10_failure": audit.hoeffding_log10[k],
        "groups_to_certify": audit.groups_to_certify[k],
    }
    return facts | {"attacker": run.attacker, "seed": run.seed} if named else facts


def _runs(found: TextPosterior) -> list[dict[str, Any]]:
    """A row for each attacker and epsilon, over all seeds."""
    calibrated = {
        name: sum(run.reliability.trustworthy for run in found.runs if run.attacker == name)
        for name in {run.attacker for run in found.runs}
    }
    return [
        {
            "attacker": at.attacker,
            "epsilon": at.epsilon,
            "seeds": list(at.seeds),
            "mean_share": at.mean,
            "deviation": at.deviation,
            "highest_share": at.highest,
            "control_mean_share": at.control,
            "violated": at.violated,
            "calibrated": calibrated[at.attacker],
        }
        for at in found.attackers()
    ]


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
