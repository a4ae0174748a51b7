"""Reports of audits and adaptations of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.audit.finding import Verdict
from voile.report.charts_common import frontier_chart
from voile.report.drawing import percent
from voile.report.model import Provenance, Report, Table, worst_verdict
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED
from voile.text.charts import exceedance_chart, rounds_chart

_SECRETS = {"pii,poii": "names and words close to names", "all": "all words"}


def audit_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """What a reader of whole documents learns about single words (`voile text audit`)."""
    findings = list(facts["findings"])
    verdict = worst_verdict([f["verdict"] for f in findings])
    broken = [f for f in findings if f["verdict"] == "violated"]
    told = max(broken, key=lambda f: f["epsilon"]) if broken else findings[-1]
    delta = told["delta"]
    compared = "more than" if told["share"] > delta else "within"
    answer = (
        f"An attacker who reads whole documents moves the odds between two words by more than "
        f"ε = {told['epsilon']:g} in {percent(told['share'])} of cases, {compared} the "
        f"{percent(delta)} allowed."
    )
    trust = facts["reliability"]
    because = (
        f"Even the cautious end of the interval, {percent(told['lower'])}, is above the "
        f"{percent(delta)} allowed."
        if broken
        else "The attacker was not shown to learn anything from the releases (held-out secrets, "
        "right releases against shuffled ones): the leakage it claims is its own error, and "
        "nothing is shown either way."
        if (facts["learned"] or {}).get("shown") is False
        else "Nothing was found against the claim. That is not a proof: sampling with "
        f"{'some attackers' if facts.get('runs') else 'one attacker'} can break a claim, never "
        "confirm it."
    )
    sure = (
        "is as sure as it is right"
        if trust["trustworthy"]
        else "is surer than it is right, so its leakage must not be trusted"
    )
    tested = Table(
        "The claims that were tested",
        ("leakage over ε =", "share of triples", "at least", "at most", "allowed (δ)", "verdict"),
        tuple(
            (f["epsilon"], f["share"], f["lower"], f["upper"], f["delta"], f["verdict"])
            for f in findings
        ),
    )
    basis = Table(
        "What it rests on",
        ("what", "value"),
        (
            ("documents", int(facts["documents"])),
            ("documents left out (words not in their places)", int(facts["unaligned"])),
            ("candidate words", int(facts["candidates"])),
            ("sensitive words", int(facts["sensitive_words"])),
            ("triples measured", int(facts["triples"])),
            ("largest leakage seen", float(facts["supremum"])),
            ("attacker right", float(trust["accuracy"])),
            ("attacker sure", float(trust["confidence"])),
        ),
    )
    runs = list(facts.get("runs", ()))
    if runs:
        count = len(runs[0]["seeds"])
        who = (
            f"The attackers, networks ({facts['attacker']}), were each trained on "
            f"{'one split' if count == 1 else f'{count} splits'} of the documents: they learned "
            "from part of them with their originals, and were measured on others. Each claim is "
            "told by the one that found most; the intervals allow for the choice among all of "
            f"them. The one behind the curve {sure}."
        )
    else:
        who = (
            f"The attacker, a network ({facts['attacker']}), learned from part of the documents "
            f"with their originals, and was measured on others. It {sure}."
        )
    curve = [(point["leakage"], point["share"]) for point in facts["exceedance"]]
    return Report(
        title="Audit of released text",
        about=TESTED,
        answer=answer,
        verdict=verdict,
        because=because,
        guarantee=(
            f"The claim that was tested: over all pairs of candidate words and all releases, the "
            f"odds between the two words move by more than e^(ε·d) in at most {percent(delta)} of "
            f"cases, d being how far apart the two words are.",
            f"Secrets were {_SECRETS[facts['sensitive']]}. {who}",
        ),
        not_protected=(
            ONE_ATTACKER,
            "Words that were not counted as secrets, the length of documents, and other columns.",
            OWN_FIGURES,
        ),
        provenance=provenance,
        tables=(tested, *([_attackers(runs)] if runs else []), basis),
        draw=lambda: (exceedance_chart(curve, findings, delta=delta),) if curve else (),
        terms=("epsilon", "delta", "odds", "posterior leakage", "triple", "attacker", "interval"),
    )


def _attackers(runs: Sequence[Mapping[str, Any]]) -> Table:
    """What each attacker found over its splits."""
    told = any(run["control_mean_share"] is not None for run in runs)
    columns = ("attacker", "leakage over ε =", "mean share", "deviation", "highest", "violated")
    return Table(
        "All attackers, over their splits",
        (*columns, "calibrated", "splits", *(["mean share in the control"] if told else [])),
        tuple(
            (
                run["attacker"],
                run["epsilon"],
                run["mean_share"],
                "" if run["deviation"] is None else run["deviation"],
                run["highest_share"],
                run["violated"],
                run["calibrated"],
                len(run["seeds"]),
                *([run["control_mean_share"]] if told else []),
            )
            for run in runs
        ),
    )


def tune_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """How strengths were chosen against an attacker (`voile text tune`)."""
    rounds, chosen, target = list(facts["rounds"]), facts["chosen"], facts["target_delta"]
    number = next(k for k, r in enumerate(rounds, 1) if r["strengths"] == chosen["strengths"])
    pii, poii = chosen["strengths"]
    found = (
        f"With strengths {pii:g} for names and {poii:g} for words close to names, leakage exceeds "
        f"ε = {facts['epsilon']:g} in {percent(chosen['violation'])} of {facts['counted']}"
    )
    met = facts["meets_target"]
    table = Table(
        "Violations against utility loss",
        ("round", "violations", "utility loss"),
        tuple((k, r["violation"], r["utility_loss"]) for k, r in enumerate(rounds, 1)),
    )
    frontier = frontier_chart(
        table,
        name="frontier",
        title="Privacy against use, and the chosen point",
        alt=(
            "Each point is a round, with its number; left and down is better. The ring marks the "
            "strengths that were chosen."
        ),
        x="violations",
        y="utility loss",
        group=None,
        beside="round",
        chosen=(float(chosen["violation"]), float(chosen["utility_loss"])),
        axes=(f"share of {facts['counted']} above ε", "utility loss"),
    )
    return Report(
        title="Strengths for names in text",
        answer=f"{found}, {'within' if met else 'still more than'} the {percent(target)} allowed.",
        verdict=Verdict.OPEN,
        because=(
            "The strengths keep this attacker below the target. That is not a proof: another "
            "attacker may find more."
            if met
            else "No round came below the target; this is the best that was found."
        ),
        guarantee=(
            f"Names are released at ε = {facts['epsilon'] * pii:.4g} and words close to names at "
            f"ε = {facts['epsilon'] * poii:.4g}, each per unit of distance between words; all "
            "other words stay in clear.",
            f"To use them: voile text protect FILE {facts['protect_options']}",
        ),
        not_protected=(
            "All words that are neither names nor close to names: they stay in clear.",
            ONE_ATTACKER,
            *((str(facts["caveat"]),) if facts["caveat"] else ()),
            OWN_FIGURES,
        ),
        provenance=provenance,
        draw=lambda: (rounds_chart(rounds, target=target, chosen=number), frontier),
        terms=("epsilon", "delta", "strength", "violations", "utility loss", "triple", "attacker"),
    )
