"""The report of a design for places, and the maps that other reports of places share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.audit.finding import Verdict
from voile.core.arrays import Floats
from voile.core.guarantee import Basis
from voile.core.rounding import percent_at_most
from voile.places.charts import (
    blur_chart,
    loss_chart,
    ratio_map,
    street_lines,
    sweep_chart,
)
from voile.places.designs import PlacesDesign
from voile.report.charts_common import guarantee_chart
from voile.report.model import Chart, Provenance, Report, Table, promised
from voile.report.words import sentence

TERMS = ("epsilon", "odds", "certified", "proved", "loss", "lower bound", "prior", "mechanism")
REPEATED = (
    "The same person reported again: each report spends ε anew, and a day of reports spends as "
    "many times as much."
)


def design_report(
    design: PlacesDesign,
    *,
    ratios: Floats,
    provenance: Provenance,
    sweep: Sequence[tuple[float, str, float, float | None]] = (),
) -> Report:
    """What a design promises and costs. Everything in a design is public: so is this."""
    facts, guarantee = design.facts, design.guarantee
    claim, unit = guarantee.epsilon, guarantee.metric.unit
    gap = facts.get("gap")
    near = (
        ""
        if gap is None
        else f", at most {percent_at_most(gap)} more than any private mechanism must lose"
    )
    answer = (
        f"At ε = {claim:g} per {unit}, people on this map can be reported with an expected travel "
        f"error of {facts['loss']:.3f} km{near}."
    )
    certified = guarantee.basis == Basis.CERTIFIED
    because = (
        f"The largest privacy loss over the whole map is {facts['certificate']:.6f} per {unit}, "
        f"computed from the numbers that are drawn, against a claim of {claim:g}."
        if certified
        else f"ε = {claim:g} per {unit} is proved: noise with that density, then post-processing."
    )
    figures = Table(
        "The design in numbers",
        ("what", "value"),
        (
            ("method", str(facts["method"])),
            ("expected loss (km)", float(facts["loss"])),
            (f"certificate (ε per {unit})", float(facts["certificate"])),
            ("lower bound (km)", _number(facts.get("lower_bound"))),
            ("outputs", int(facts["outputs"])),
            ("resolution (m)", 1000 * float(facts["resolution"])),
            ("solved in (s)", float(facts["seconds"])),
        ),
    )
    losses = dict(facts["losses"]) | {str(facts["method"]): float(facts["loss"])}
    charts = [
        loss_chart(losses, method=str(facts["method"]), lower_bound=facts.get("lower_bound")),
        *((sweep_chart(sweep),) if sweep else ()),
        likely_place(design),
        certificate_chart(design, ratios),
        guarantee_chart(guarantee, farthest=2.0),
    ]
    return Report(
        title="A mechanism for places",
        answer=answer,
        verdict=Verdict.HOLDS if facts["certificate"] <= claim else Verdict.VIOLATED,
        because=because,
        guarantee=promised(guarantee),
        not_protected=(
            *(sentence(item) for item in guarantee.outside),
            REPEATED,
            "Anything else that is handed on beside the place: times, names, other columns.",
        ),
        provenance=provenance,
        notes=(sentence(f"The map: {facts['map']}"),),
        tables=(figures,),
        draw=lambda: tuple(charts),
        terms=TERMS,
    )


def likely_place(design: PlacesDesign) -> Chart:
    """The blur of the place where, by the public prior, people are likeliest to be.

    Of equally likely ones, the one nearest to the middle of the map.
    """
    low, high = design.box
    likely = design.places[design.prior >= design.prior.max() * (1 - 1e-9)]
    place = likely[np.linalg.norm(likely - (low + high) / 2, axis=1).argmin()]
    inside = np.clip(place, low, high)
    return blur_chart(
        box=design.box,
        streets=street_lines(design.places, design.streets),
        place=inside,
        outputs=np.asarray(design.mechanism.outputs, dtype=float),
        law=np.asarray(design.mechanism.probabilities(inside[None])[0]),
        where="at the likeliest place of the public map",
    )


def certificate_chart(design: PlacesDesign, ratios: Floats) -> Chart:
    """The certificate over the map of a design."""
    return ratio_map(
        box=design.box,
        streets=street_lines(design.places, design.streets, most=6000),
        ratios=ratios,
        claim=design.guarantee.epsilon,
        unit=design.guarantee.metric.unit,
        certified=design.guarantee.basis == Basis.CERTIFIED,
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
