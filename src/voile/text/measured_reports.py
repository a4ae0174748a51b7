"""Reports of what was measured on texts: use, membership, distinguishability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.audit.finding import Verdict
from voile.report.charts_common import bar_chart, interval_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Provenance, Report, Table, or_infinity, worst_verdict
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED, counted
from voile.text.comparison_charts import calibration_chart, use_chart

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


def calibrate_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """What attacks show of a black box that rewrites texts (`voile text calibrate`)."""
    attacks, claim = list(facts["attacks"]), facts["claim"]
    best = max(attacks, key=lambda a: (a["lower"], or_infinity(a["middle"])))
    verdict = worst_verdict([a["verdict"] for a in attacks])
    ceiling = max(a["ceiling"] for a in attacks)
    marks = ({} if claim is None else {"claim": float(claim)}) | {"ceiling": float(ceiling)}
    right = best["successes"] / best["trials"]
    return Report(
        title="Distinguishability audit",
        about=TESTED,
        answer=(
            f"The {best['attack']} attack names the source of a release {percent(right)} of the "
            f"time: an epsilon of at least {best['lower']:.2f} for one text"
            + ("." if claim is None else f", where {claim:g} is claimed.")
        ),
        verdict=verdict,
        because=(
            f"Even the cautious end, {best['lower']:.3f}, is above the claim of {claim:g}."
            if verdict == Verdict.VIOLATED
            else str(facts["caution"])
        ),
        guarantee=(
            f"The game: {counted(int(facts['trials']), 'trial')}, in each of which an attack sees "
            "one release and says which of a few texts it came from.",
        ),
        not_protected=(ONE_ATTACKER, OWN_FIGURES),
        provenance=provenance,
        draw=lambda: (
            interval_chart(
                [
                    (a["attack"], or_infinity(a["middle"]),
                     float(a["lower"]),
                     or_infinity(a["upper"]))
                    for a in attacks
                ],
                name="attacks",
                title="What each attack shows",
                alt=(
                    "Each attack's epsilon for one text with its interval. The mechanism's own is "
                    f"at least its left end. No attack can show more than the "
                    f"ceiling, {ceiling:.2f}."
                ),
                axis="ε of one text",
                marks=marks,
                columns=("attack", "ε_emp", "at least", "this attack at most"),
            ),
        ),
        terms=("empirical epsilon", "ceiling", "attacker", "interval"),
    )  # fmt: skip


def compare_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """Mechanisms and epsilons side by side on the user's texts (`voile text compare`)."""
    cells = list(facts["cells"])
    calm = min(cells, key=_worst)
    answer = facts["answer"]
    told = (
        f"Take {answer}."
        if facts["chosen"]
        else f"{str(answer)[:1].upper()}{str(answer)[1:]}."
        if answer
        else (
            f"{calm['mechanism']} at ε = {calm['epsilon']:g} is the hardest to attack here: no "
            f"attack shows an epsilon above {_number(_worst(calm))} for one text."
        )
    )
    use = "f1" if any(cell["f1"] is not None for cell in cells) else "similarity"
    useful = any(cell[use] is not None for cell in cells)
    table = Table(
        "All mechanisms and epsilons",
        ("mechanism", "ε", "counted for", "basis", "ε_emp at least", "F1", "similarity", "rows/s"),
        tuple(
            (
                cell["mechanism"], cell["epsilon"], cell["granularity"], cell["basis"],
                max(s["lower"] for s in cell["shown"]), cell["f1"], cell["similarity"],
                cell["rows_per_second"],
            )
            for cell in cells
        ),
    )  # fmt: skip
    charts = [calibration_chart(cells)]
    if useful:
        charts.append(use_chart(cells, use=use, chosen=facts["chosen"]))
    charts.append(calibration_chart(cells, x="text_epsilon", name="converted"))
    return Report(
        title="Rewriters compared",
        about=TESTED,
        answer=told,
        verdict=Verdict.OPEN,
        because=str(facts["caution"]),
        guarantee=(
            f"The game: {counted(int(facts['trials']), 'trial')} for each row, with "
            f"{facts['candidates']} candidates; all intervals hold together with probability "
            f"{1 - facts['failure_probability']:g}. Nominal epsilons count what each mechanism "
            "counts (a word, a token, a text), empirical ones always one text.",
        ),
        not_protected=(ONE_ATTACKER, OWN_FIGURES),
        provenance=provenance,
        tables=(table,),
        draw=lambda: tuple(charts),
        terms=("epsilon", "empirical epsilon", "ceiling", "attacker", "interval", "F1"),
    )


def _worst(cell: Mapping[str, Any]) -> float:
    return max(or_infinity(s["upper"]) for s in cell["shown"])


def _number(value: float) -> str:
    return "∞" if value == float("inf") else f"{value:.2f}"
