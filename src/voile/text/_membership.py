"""Would a model trained on the release tell who was in it? The shadow-model audit on texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from voile.attackers.shadow import Outputs, shadow_attack
from voile.audit.finding import Verdict
from voile.audit.membership import membership as measured
from voile.core.arrays import Items
from voile.core.rounding import at_least
from voile.errors import needs, require
from voile.options import Data, Option, use_case
from voile.progress import tell
from voile.report.charts_common import bar_chart, interval_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report
from voile.report.result import Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED
from voile.text.given import Original, Released, TextColumn
from voile.text.pairs import text_pairs
from voile.text.reading import values_of


@dataclass(frozen=True, repr=False, eq=False)
class TextMembership(Result):
    """What the attack shows of one record's epsilon, at least; a claim of infinity is none."""

    epsilon_lower: float
    claim: float
    verdict: Verdict
    failure_probability: float
    records: int
    auc: float
    auc_interval: tuple[float, float]
    accuracy: float

    @property
    def lower(self) -> float:
        """The least that epsilon may be, for a model trained on the release."""
        return self.epsilon_lower

    def _report(self) -> Report:
        shown = at_least(self.epsilon_lower)
        low, high = self.auc_interval
        return Report(
            title="Membership audit of released text",
            about=TESTED,
            answer=(
                f"From a model trained on the release, membership of a record is guessed right "
                f"{percent(self.accuracy)} of the time, where 50 % is chance."
            ),
            verdict=self.verdict,
            because=(
                f"The attack shows an epsilon of at least {shown} for one record (wrong with "
                f"probability at most {self.failure_probability:g})"
                + (
                    f", above the {self.claim:g} that is claimed."
                    if self.verdict == Verdict.VIOLATED
                    else ". A small value means “not broken by this attack”, never “safe”."
                )
            ),
            guarantee=(
                "The claim that was tested: a model trained with one record, and one trained "
                "without it, answer alike up to odds of e^ε."
                + (
                    f" Claimed was ε = {self.claim:g}."
                    if math.isfinite(self.claim)
                    else " No epsilon was claimed."
                ),
            ),
            not_protected=(ONE_ATTACKER, OWN_FIGURES),
            notes=(
                f"AUC {self.auc:.3f} (95 % {low:.3f} to {high:.3f}) over {self.records:,} records.",
            ),
            draw=self._charts,
            terms=("epsilon", "membership", "AUC", "attacker", "interval"),
            cards=(
                ("ε of one record, at least", shown),
                ("guessed right", percent(self.accuracy)),
                ("AUC", f"{self.auc:.3f}"),
            ),
        )

    def _charts(self) -> tuple[Chart, ...]:
        low, high = self.auc_interval
        rows = [("shown, at least", self.epsilon_lower)]
        rows += [("claimed", self.claim)] if math.isfinite(self.claim) else []
        return (
            interval_chart(
                [("the attack", self.auc, low, high)],
                name="auc",
                title="How well members are told from others",
                alt=(
                    f"AUC {self.auc:.3f}, 95 % interval {low:.3f} to {high:.3f}; the dashed "
                    "line at 0.5 is guessing."
                ),
                axis="AUC",
                marks={"guessing": 0.5},
                domain=(min(0.4, low), 1.0),
            ),
            bar_chart(
                rows,
                name="membership-epsilon",
                title="What the attack shows of ε",
                alt="; ".join(f"{name}: {value:.3g}" for name, value in rows) + ".",
                axis="ε of one record",
                columns=("what", "ε"),
            ),
        )


@use_case("text membership")
def membership(
    original: Original,
    released: Released,
    *,
    label: Annotated[Data, Option("The column that the attacked model predicts.", shown=True)],
    column: TextColumn = "text",
    claim: Annotated[
        float, Option("The epsilon claimed for one record; infinity if none.", "How strong")
    ] = math.inf,
    seed: Annotated[int, Option("Split and training.", "Running")] = 0,
) -> TextMembership:
    """Attack a model trained on the release: find out which records it was trained on.

    Example: `voile text membership reviews.csv reviews.protected.csv --label label`

    The rows are split in four, as in the TEM paper (appendix C). The target is trained on the
    released form of the first quarter. The attacker has texts of his own, quarters three and four,
    and knows the mechanism: his two shadows are trained as the target is, on the released form of
    one of them each (the paper's on originals, which teaches it to expect a model that is surer of
    its members). His attack learns from the answers of each on the originals of its own quarter
    ("in") and the other ("out"). The test is the target's answers on the originals of the first
    ("in") and the second ("out").
    """
    before, after = text_pairs(original, released, column)
    labels = values_of(original, label, "label", rows=len(before))
    require(len(before) >= 40, "the texts", "at least 40 rows", len(before))
    known = np.array(labels)
    order = np.random.default_rng(seed).permutation(len(before))
    first, second, third, fourth = np.array_split(order, 4)
    for quarter in (first, third, fourth):
        classes = len(set(known[quarter].tolist()))
        require(classes >= 2, "labels", "of two classes or more in each quarter", classes)

    def ask(model: Any, rows: Items) -> Outputs:
        return Outputs(model.predict_proba([before[i] for i in rows]), known[rows])

    def trained(rows: Items, done: int) -> Any:
        tell("training models", done=done, total=3)
        return _trained([after[i] for i in rows], known[rows])

    shadows = (trained(third, 0), trained(fourth, 1))
    attack = shadow_attack(
        [ask(shadow, rows) for shadow, rows in zip(shadows, (third, fourth), strict=True)],
        [ask(shadow, rows) for shadow, rows in zip(shadows, (fourth, third), strict=True)],
        seed=seed,
    )
    target = trained(first, 2)
    found = measured(attack, members=ask(target, first), others=ask(target, second), claim=claim)
    return TextMembership(
        epsilon_lower=found.finding.lower,
        claim=found.finding.claim,
        verdict=found.finding.verdict,
        failure_probability=found.finding.failure_probability,
        records=found.finding.samples,
        auc=found.auc,
        auc_interval=found.auc_interval,
        accuracy=found.accuracy,
    )


def _trained(texts: Sequence[str], labels: Items) -> Any:
    """Words by TF-IDF and a nearly unregularised logistic regression, which memorises readily."""
    with needs("scikit-learn", extra="text"):
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, max_features=100_000),
        LogisticRegression(C=100.0, max_iter=2000),
    )
    return model.fit(texts, labels)
