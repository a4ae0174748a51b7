"""Reports of the label tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.audit.finding import Verdict
from voile.core.guarantee import Guarantee
from voile.core.rounding import at_most, percent_at_most
from voile.labels.charts import belief_chart, feature_chart, label_leakage_chart
from voile.report.charts_common import bar_chart, frontier_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Provenance, Report, Table, worst_verdict
from voile.report.words import (
    COUNTS,
    ONE_ATTACKER,
    OWN_FIGURES,
    TESTED,
    columns_in_clear,
    counted,
    ground,
    sentence,
)


def audit_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """How much of a label ε announces, and how much the features add (`voile labels audit`)."""
    rows = list(facts["epsilons"])
    verdict = worst_verdict([row["verdict"] for row in rows])
    told = max(rows, key=lambda row: row["unexpected"]["value"])
    surprise = told["unexpected"]["value"] > 0
    answer = (
        f"At ε = {told['epsilon']:g} the label is guessed {percent(told['total']['value'])} of the "
        f"time by somebody who sees the features"
        + (
            f", not the {percent(told['expected'])} that ε announces."
            if surprise
            else ", no more often than ε announces."
        )
    )
    extra = told["effective_epsilon_at_least"] - told["epsilon"]
    because = (
        f"Counting on held-out records shows that the features alone move the odds between labels "
        f"at least e^{extra:.2f}-fold for some record (wrong with probability at most "
        f"{told['failure_probability']:g}); read as a bound on the whole release, ε is broken."
        if verdict == Verdict.VIOLATED
        else "Counting on held-out records did not show that the features move the odds beyond ε. "
        "That is not a proof: a better classifier may."
    )
    tested = Table(
        "Epsilon on the label, and on the whole release",
        ("ε of the label", "whole release, at least", "estimated", "answer adds", "verdict"),
        tuple(
            (
                row["epsilon"],
                row["effective_epsilon_at_least"],
                row["effective_epsilon_estimate"],
                row["advantage"]["value"],
                row["verdict"],
            )
            for row in rows
        ),
    )
    features = list(facts["features"])
    return Report(
        title="Audit of a labelled file",
        about=TESTED,
        answer=answer,
        verdict=verdict,
        because=because,
        guarantee=(
            "The claim that was tested: noise on the label at ε, read as a bound on what the whole "
            "release (features as they are, and the noisy label) says of the label.",
            f"The attacker is the best of several classifiers ({facts['classifier']}), judged on "
            f"{counted(int(facts['records']), 'record')} that it had not seen when it guessed.",
        ),
        not_protected=(
            "What the features say of the label: noise on the label does not touch them.",
            ONE_ATTACKER,
            OWN_FIGURES,
        ),
        provenance=provenance,
        notes=tuple(sentence(text) for text in (*facts["notes"], *facts["warnings"])),
        tables=(tested,),
        draw=lambda: (
            label_leakage_chart(rows),
            *((feature_chart(features),) if features else ()),
        ),
        terms=("epsilon", "odds", "expected leakage", "unexpected leakage", "conditional epsilon",
               "label DP", "attacker", "interval"),
    )  # fmt: skip


def learned_sentence() -> str:
    """What a release by a recipe that was learned in private must say first."""
    return (
        "LEARNED FROM THE PRIVATE FILE: the output shows ranges, names of categories and classes, "
        "or typical records that were taken from it, and nothing bounds that."
    )


def shape_sentence(facts: Mapping[str, Any]) -> str:
    """How many different rows a release of typical records can hold, and what varies in them."""
    shape = facts["shape"]
    vary = ", ".join(shape["features_that_vary"]) or "none"
    typical = counted(shape["typical_records"], "typical record")
    apart = "Apart from the columns in clear, the" if facts["passed_in_clear"] else "The"
    return (
        f"{apart} output holds at most {counted(shape['different_rows'], 'different row')} for "
        f"{counted(int(facts['records']), 'record')}: {typical} with each class. "
        f"Features that vary: {vary}; the others are one constant each."
    )


def protect_report(
    facts: Mapping[str, Any], guarantee: Guarantee, *, provenance: Provenance
) -> Report:
    """What was promised for a released labelled file (`voile labels protect`).

    `guarantee` is the strongest that the release has: of the label by the whole release where
    there is one, of the label alone otherwise.
    """
    bounds = facts["epsilon"]
    whole = bounds["conditional"] is not None
    what = "by all that was released" if whole else "by the released label, for known features"
    basis = str(guarantee.basis)
    clear = columns_in_clear(facts["passed_in_clear"], facts["looks_like_identifiers"])
    first = [learned_sentence()] if facts["learned_from_private"] else []
    rows = tuple(
        (name, None if bounds[key] is None else float(bounds[key]))
        for name, key in (
            ("label, to somebody who knows the features", "label"),
            ("label, by the whole release", "conditional"),
            ("the whole record", "local"),
        )
    )
    half = guarantee.best_guess(candidates=2)
    open_ways = (
        ()
        if facts["mechanism"] != "label DP"
        else ("The features: they were released as they are, and may give the label away.",)
    )
    kept = float(facts["kept_cells"])
    charts: list[Chart] = [
        belief_chart(
            epsilon=guarantee.epsilon,
            noun=guarantee.granularity.removeprefix("one "),
            distance=min(1.0, guarantee.metric.largest),
        )
    ]
    if kept < 1:
        charts.append(
            bar_chart(
                [("kept", kept), ("replaced by another cell's", 1 - kept)],
                name="cells",
                title="How often a record keeps its cell of features",
                alt=f"{percent(kept)} of the records keep the cell that their features fall into.",
                axis="share of records",
                columns=("cell", "share"),
                shares=True,
            )
        )
    return Report(
        title="A release of labelled records",
        answer=" ".join(
            [
                *([clear] if clear else []),
                *first,
                f"{counted(int(facts['records']), 'record')} were released by "
                f"{facts['mechanism']}: a half-sure guess of a label becomes at most "
                f"{percent_at_most(half)} sure, {what}.",
            ]
        ),
        verdict=Verdict.OPEN if basis == "claimed" or clear else Verdict.HOLDS,
        because=" ".join(
            [
                *(["What stands in clear may give the label away."] if clear else []),
                f"ε = {at_most(guarantee.epsilon)} is {guarantee.ground()}. {ground(basis)}",
            ]
        ),
        guarantee=tuple(
            line for line in facts["explanation"].splitlines() if not line.startswith("Not covered")
        ),
        not_protected=(
            *((clear,) if clear else ()),
            *open_ways,
            *(sentence(item) for item in facts["not_covered"]),
            "Two records of one person: each spends ε anew.",
            COUNTS,
        ),
        provenance=provenance,
        notes=() if facts["shape"] is None else (shape_sentence(facts),),
        tables=(
            Table("What is bounded (– is not)", ("what", "ε"), rows),
            Table(
                "What was released",
                ("what", "value"),
                (
                    ("records released", int(facts["records"])),
                    ("bad rows skipped", int(facts["skipped"])),
                    ("bad rows masked", int(facts["masked"])),
                ),
            ),
        ),
        draw=lambda: tuple(charts),
        terms=("epsilon", "odds", "label DP", "conditional epsilon", "mechanism", basis, "secure",
               "seeded"),
    )  # fmt: skip


def compare_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """Use against leakage for the ways to share labelled records (`voile labels compare`)."""
    points, crossings = list(facts["points"]), list(facts["crossings"])
    if crossings:
        best = max(crossings, key=lambda pair: pair["better"]["auc"] - pair["than"]["auc"])
        better, than = best["better"], best["than"]
        answer = (
            f"{better['mechanism']} at ε = {better['epsilon']:g} is the better choice than label "
            f"DP at ε = {than['epsilon']:g}: it leaks no more and a model learns more from it "
            f"(AUC {better['auc']:.3f} against {than['auc']:.3f})."
        )
    else:
        answer = (
            "Nowhere does another way surely beat noise on the label alone: none leaks no more and "
            "teaches a model surely more."
        )
    ordered = sorted(points, key=lambda p: (p["mechanism"], p["epsilon"]))
    table = Table(
        "Usefulness against leakage",
        ("mechanism", "ε", "leakage", "± leakage", "no attacker exceeds", "AUC", "± AUC"),
        tuple(
            (p["mechanism"], p["epsilon"], p["leakage"], p["leakage_error"], p["cap"], p["auc"],
             p["auc_error"])
            for p in ordered
        ),
    )  # fmt: skip
    chosen = (crossings and best["better"]) or None
    return Report(
        title="Ways to share labelled records",
        about=TESTED,
        answer=answer,
        verdict=Verdict.OPEN,
        because=(
            "Leakage is what an attacker's accuracy was in these trials. It compares the ways; "
            "only a cap, where there is one, bounds every attacker."
        ),
        guarantee=(
            f"A model trained on clean records reaches an AUC of {facts['clean_auc']:.3f}. An "
            f"attacker guesses the label {percent(facts['guess'])} of the time blindly, and "
            f"{percent(facts['features_alone'])} from clear features alone.",
        ),
        not_protected=(ONE_ATTACKER, OWN_FIGURES),
        provenance=provenance,
        notes=tuple(sentence(text) for text in facts["notes"]),
        draw=lambda: (
            frontier_chart(
                table,
                name="frontier",
                title="Usefulness against leakage",
                alt=(
                    "Left and up is better: how well a model learns (AUC) against how often an "
                    "attacker guesses the label. Epsilons are written at the points; the dashed "
                    f"line is what clean records give, {facts['clean_auc']:.3f}."
                ),
                x="leakage",
                y="AUC",
                group="mechanism",
                beside="ε",
                chosen=None if chosen is None else (chosen["leakage"], chosen["auc"]),
                levels=((float(facts["clean_auc"]), "clean records"),),
                axes=("leakage: attacker's accuracy on the label", "test AUC"),
            ),
        ),
        terms=("epsilon", "label DP", "conditional epsilon", "AUC", "attacker"),
    )
