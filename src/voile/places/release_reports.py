"""Reports of released places, and of an audit of what released them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.audit.finding import Verdict
from voile.core.guarantee import Basis
from voile.core.rounding import odds_at_most
from voile.places.design_report import REPEATED, likely_place
from voile.places.designs import PlacesDesign
from voile.report.charts_common import guarantee_chart
from voile.report.model import Provenance, Report, Table, promised
from voile.report.words import (
    COUNTS,
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
    clear = tuple(line for line in (columns_in_clear(facts), times_in_clear(facts)) if line)
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
