"""Reports of what was measured on texts: use, membership."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.audit.finding import Verdict
from voile.report.charts_common import bar_chart, interval_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Provenance, Report
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED, counted

NO_CLAIM = "Usefulness was measured; no claim about privacy was tested."


def utility_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """What a release of text is still good for (`voile text utility`)."""
    rows: list[tuple[str, float, float, float]] = []
    answer = f"{percent(facts['words_gone'])} of the words are gone"
    for key, name in (
        ("similarity", "similarity of meaning"),
        ("accuracy", "right, trained on release"),
        ("baseline", "right, trained on originals"),
    ):
        if facts[key] is not None:
            value, low, high = (float(facts[key][k]) for k in ("value", "lower", "upper"))
            rows.append((name, value, low, high))
    if facts["accuracy"] is not None:
        answer += (
            f", and a classifier trained on the release is right "
            f"{percent(facts['accuracy']['value'])} of the time, instead of "
            f"{percent(facts['baseline']['value'])}"
        )
    elif facts["similarity"] is not None:
        answer += f"; the meaning is {facts['similarity']['value']:.2f} similar on average"
    charts: tuple[Chart, ...] = (
        bar_chart(
            [("gone", float(facts["words_gone"])), ("still there", 1 - float(facts["words_gone"]))],
            name="words",
            title="What is left of the words",
            alt=f"{percent(facts['words_gone'])} of the originals' words are not in their release.",
            axis="share of words",
            columns=("words", "share"),
            shares=True,
        ),
    )
    if rows:
        charts = (
            interval_chart(
                rows,
                name="use",
                title="What the release is still good for",
                alt="; ".join(f"{n} {v:.3f} ({a:.3f} to {b:.3f})" for n, v, a, b in rows) + ".",
                axis="between 0 and 1, with the 95 % interval",
                marks={},
                domain=(min(0.0, *(row[2] for row in rows)), 1.0),
            ),
            *charts,
        )
    return Report(
        title="Use of released text",
        about=TESTED,
        answer=answer + ".",
        verdict=Verdict.OPEN,
        because=NO_CLAIM,
        guarantee=(
            f"Originals and release were compared over {counted(int(facts['rows']), 'row')}. The "
            "classifier learns from one part of the rows and is tested on originals of the other.",
        ),
        not_protected=(
            "How private the release is, which this does not measure: see its guarantee, and "
            "audit it.",
            OWN_FIGURES,
        ),
        provenance=provenance,
        draw=lambda: charts,
        terms=("release", "interval"),
    )


def membership_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """Whether a model trained on the release tells who was in it (`voile text membership`)."""
    low, high = facts["auc_interval"]
    claim, shown = facts["claim"], float(facts["epsilon_lower"])
    verdict = Verdict(facts["verdict"])
    rows: list[tuple[str, float]] = [("shown, at least", shown)]
    rows += [] if claim is None else [("claimed", float(claim))]
    wrong = facts["failure_probability"]
    return Report(
        title="Membership audit of released text",
        about=TESTED,
        answer=(
            f"From a model trained on the release, membership of a record is guessed right "
            f"{percent(facts['accuracy'])} of the time, where 50 % is chance."
        ),
        verdict=verdict,
        because=(
            f"The attack shows an epsilon of at least {shown:.3g} for one record (wrong with "
            f"probability at most {wrong:g})"
            + (
                f", above the {claim:g} that is claimed."
                if verdict == Verdict.VIOLATED
                else ". A small value means “not broken by this attack”, never “safe”."
            )
        ),
        guarantee=(
            "The claim that was tested: a model trained with one record, and one trained without "
            "it, answer alike up to odds of e^ε."
            + (" No epsilon was claimed." if claim is None else f" Claimed was ε = {claim:g}."),
        ),
        not_protected=(ONE_ATTACKER, OWN_FIGURES),
        provenance=provenance,
        draw=lambda: (
            interval_chart(
                [("the attack", float(facts["auc"]), float(low), float(high))],
                name="auc",
                title="How well members are told from others",
                alt=(
                    f"AUC {facts['auc']:.3f}, 95 % interval {low:.3f} to {high:.3f}; the dashed "
                    "line at 0.5 is guessing."
                ),
                axis="AUC",
                marks={"guessing": 0.5},
                domain=(min(0.4, float(low)), 1.0),
            ),
            bar_chart(
                rows,
                name="membership-epsilon",
                title="What the attack shows of ε",
                alt="; ".join(f"{name}: {value:.3g}" for name, value in rows) + ".",
                axis="ε of one record",
                columns=("what", "ε"),
            ),
        ),
        terms=("epsilon", "membership", "AUC", "attacker", "interval"),
    )
