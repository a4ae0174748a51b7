"""Reports of released places, and of an audit of what released them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.audit.finding import Verdict
from voile.core.arrays import Floats
from voile.core.guarantee import Basis
from voile.core.rounding import odds_at_most
from voile.places.design_report import REPEATED, TERMS, certificate_chart, likely_place
from voile.places.designs import PlacesDesign
from voile.report.charts_common import bar_chart, guarantee_chart, interval_chart
from voile.report.model import Provenance, Report, Table, or_infinity, promised, worst_verdict
from voile.report.words import (
    COUNTS,
    ONE_ATTACKER,
    OWN_FIGURES,
    columns_in_clear,
    counted,
    ground,
    sentence,
    times_in_clear,
)

_SHORT = {
    "Privacy loss on the whole map": "whole map",
    "Largest ratio over random pairs (PPR)": "random pairs (PPR)",
    "Largest ratio over close pairs": "close pairs",
}
_SAYS = {
    Verdict.HOLDS: "holds on the whole map",
    Verdict.VIOLATED: "is violated",
    Verdict.OPEN: "is neither proved nor refuted",
}


def protect_report(
    facts: Mapping[str, Any], design: PlacesDesign, *, provenance: Provenance
) -> Report:
    """What was promised for a released file of places (`voile places protect`)."""
    guarantee = design.guarantee
    claim, unit = guarantee.epsilon, guarantee.metric.unit
    clear = tuple(
        line
        for line in (
            columns_in_clear(facts["passed_in_clear"], facts["looks_like_identifiers"]),
            times_in_clear(facts.get("times_in_clear") or ()),
        )
        if line
    )
    odds = guarantee.odds_factor(1.0)
    return Report(
        title="A release of places",
        answer=(
            f"{clear[0] + ' ' if clear else ''}"
            f"{counted(int(facts['rows']), 'place')} {'was' if facts['rows'] == 1 else 'were'} "
            f"replaced by draws: between two places 1 {unit} apart, one release moves the odds by "
            f"at most {odds_at_most(odds)}."
        ),
        verdict=(Verdict.OPEN if guarantee.basis == Basis.CLAIMED or clear else Verdict.HOLDS),
        because=f"ε = {claim:g} per {unit} is {guarantee.basis}. {ground(guarantee.basis)}",
        guarantee=promised(guarantee),
        not_protected=(
            *clear,
            *(sentence(item) for item in guarantee.outside),
            REPEATED,
            COUNTS,
        ),
        provenance=provenance,
        tables=(
            Table(
                "What was released",
                ("what", "value"),
                (
                    ("places released", int(facts["rows"])),
                    ("bad rows skipped", int(facts["skipped"])),
                    ("bad rows masked", int(facts["masked"])),
                    ("moved to the border of the map", int(facts["places_outside_the_map"])),
                    ("method", str(facts["method"])),
                    ("ε is per", str(facts["distance"])),
                    ("places that can be reported", len(design.mechanism.outputs)),
                    ("columns in clear", ", ".join(facts["passed_in_clear"]) or "none"),
                    ("columns left out", ", ".join(facts["dropped"]) or "none"),
                ),
            ),
        ),
        draw=lambda: (likely_place(design), guarantee_chart(guarantee, farthest=2.0)),
        terms=(
            "epsilon",
            "odds",
            "certified",
            "proved",
            "mechanism",
            "release",
            "secure",
            "seeded",
        ),
    )


def audit_report(
    facts: Mapping[str, Any], design: PlacesDesign, *, ratios: Floats, provenance: Provenance
) -> Report:
    """The certificate, the ratios and the attacks on a design (`voile places audit`).

    `facts` are what `--json` prints, with nothing for an infinity.
    """
    findings, attack, files = list(facts["findings"]), facts["attack"], facts["files"]
    guarantee = design.guarantee
    claim, unit = guarantee.epsilon, guarantee.metric.unit
    verdict = worst_verdict([f["verdict"] for f in findings if f["samples"] == 0])
    broken = [f for f in findings if f["verdict"] == "violated"]
    verdict = Verdict.VIOLATED if broken else verdict
    after, before = attack["with_prior"], attack["blind"]
    first = broken[0] if broken else findings[0]
    because = (
        f"{first['question']}: at least {first['lower']:.6g} per {unit}, above the claim of "
        f"{claim:g}."
        if broken
        else f"{ground(guarantee.basis)} Ratios over random and close pairs found nothing against "
        "it."
    )
    guesses = [
        ("before any release", before),
        ("after one release", after),
        ("… not knowing the prior", attack["without_prior"]),
    ]
    rows: list[tuple[str, float | int]] = [("mean displacement (km)", attack["displacement"])]
    if files is not None:
        guesses.append(("rows given, one release", files["bayes_error"]))
        if "markov_error" in files:
            guesses.append(("rows given, whole traces", files["markov_error"]))
        rows += [
            ("rows compared", int(files["rows"])),
            ("mean displacement of the rows given (km)", files["mean_displacement"]),
            ("released rows that are no output of this mechanism", int(files["not_an_output"])),
        ]
    tested = Table(
        "What was tested",
        ("question", "at least", "at most", "claim", "samples", "verdict"),
        tuple(
            (f["question"], f["lower"], f["upper"], f["claim"], f["samples"], f["verdict"])
            for f in findings
        ),
    )
    return Report(
        title="Audit of a mechanism for places",
        answer=(
            f"ε = {claim:g} per {unit} {_SAYS[verdict]}; after one report, the best guess of a "
            f"person's place is {after:.2f} km off on average, instead of {before:.2f} km before."
        ),
        verdict=verdict,
        because=because,
        guarantee=promised(guarantee),
        not_protected=(
            *(sentence(item) for item in guarantee.outside),
            REPEATED,
            ONE_ATTACKER,
            *((OWN_FIGURES,) if files is not None else ()),
        ),
        provenance=provenance,
        tables=(
            tested,
            Table("How far releases lie from the truth", ("what", "value"), tuple(rows)),
        ),
        draw=lambda: (
            bar_chart(
                guesses,
                name="guesses",
                title="How far off the best guess is",
                alt=(
                    f"Expected distance between a person's place and the best guess of it: "
                    f"{before:.3g} km before any release, {after:.3g} km after one. The attacker "
                    "knows where people tend to be (the prior), unless it is said otherwise."
                ),
                axis="km off, on average",
                columns=("attacker", "km off"),
            ),
            interval_chart(
                [
                    (
                        _SHORT.get(f["question"], f["question"]),
                        f["lower"],
                        f["lower"],
                        or_infinity(f["upper"]),
                    )
                    for f in findings
                ],
                name="findings",
                title="What was found, against the claim",
                alt=(
                    f"Each row starts at the largest loss that was found and ends at the most that "
                    f"it can be; the dashed line is the claim, {claim:g}."
                ),
                axis=f"privacy loss per {unit}",
                marks={"claim": claim},
                columns=("question", "found", "at least", "at most"),
            ),
            certificate_chart(design, ratios),
            likely_place(design),
        ),
        terms=(*TERMS, "attacker", "interval"),
    )
