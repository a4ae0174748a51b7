"""Would a model trained on the release tell who was in it? The shadow-model audit on files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.shadow import Outputs, shadow_attack
from voile.audit.membership import Membership, membership
from voile.core.arrays import Items
from voile.errors import MissingExtra, require
from voile.text._utility import read_texts


def text_membership(
    original: str | Path,
    released: str | Path,
    *,
    column: str = "text",
    label: str,
    claim: float = math.inf,
    seed: int = 0,
) -> Membership:
    """Split the rows in four and attack as the TEM paper does (appendix C).

    The target is trained on the released form of the first quarter. The attacker has originals
    of his own, quarters three and four: his shadow is trained on the fourth, and his attack
    learns from its answers on the fourth ("in") and the third ("out"). The test is the target's
    answers on the originals of the first ("in") and the second ("out").
    """
    before, labels = read_texts(Path(original), column, label)
    after, _ = read_texts(Path(released), column, None)
    require(len(before) == len(after), "the release", f"of {len(before)} rows", len(after))
    require(len(before) >= 40, "the file", "at least 40 rows", len(before))
    known = np.array(labels)
    order = np.random.default_rng(seed).permutation(len(before))
    first, second, third, fourth = np.array_split(order, 4)
    for quarter in (first, fourth):
        classes = len(set(known[quarter].tolist()))
        require(classes >= 2, "labels", "of two classes or more in each quarter", classes)

    def ask(model: Any, rows: Items) -> Outputs:
        return Outputs(model.predict_proba([before[i] for i in rows]), known[rows])

    shadow = _trained([before[i] for i in fourth], known[fourth])
    attack = shadow_attack([ask(shadow, fourth)], [ask(shadow, third)], seed=seed)
    target = _trained([after[i] for i in first], known[first])
    return membership(attack, members=ask(target, first), others=ask(target, second), claim=claim)


def membership_facts(found: Membership) -> dict[str, Any]:
    """The audit as JSON and reports hold it."""
    return {
        "epsilon_lower": found.finding.lower,
        "claim": found.finding.claim,
        "verdict": str(found.finding.verdict),
        "failure_probability": found.finding.failure_probability,
        "records": found.finding.samples,
        "auc": found.auc,
        "auc_interval": list(found.auc_interval),
        "accuracy": found.accuracy,
    }


def _trained(texts: Sequence[str], labels: Items) -> Any:
    """Words by TF-IDF and a nearly unregularised logistic regression, which memorises readily."""
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
    except ImportError:
        raise MissingExtra("scikit-learn", extra="text") from None
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, max_features=100_000),
        LogisticRegression(C=100.0, max_iter=2000),
    )
    return model.fit(texts, labels)
