"""The report of a design for places, and the maps that other reports of places share."""

from __future__ import annotations

from functools import partial

import numpy as np

from voile.audit.finding import Verdict
from voile.audit.map_ratios import local_ratios
from voile.core.guarantee import Basis
from voile.core.rounding import at_least, percent_at_most
from voile.optimise.region_descent import NAME as REGION_NAME
from voile.places.charts import (
    loss_chart,
    ratio_map,
    street_lines,
    sweep_chart,
)
from voile.places.designs import PlacesDesign
from voile.places.lengths import to_a_tenth
from voile.places.point_charts import blur_chart, error_map
from voile.places.solved import DesignFacts
from voile.report.charts_common import guarantee_chart
from voile.report.model import Chart, Report, Table, promised
from voile.report.words import sentence

TERMS = ("epsilon", "odds", "certified", "proved", "loss", "lower bound", "prior", "mechanism")
REPEATED = (
    "The same person reported again: each report spends ε anew, and a day of reports spends as "
    "many times as much."
)


def design_report(design: PlacesDesign) -> Report:
    """What a design promises and costs. Everything in a design is public: so is this."""
    facts, guarantee = design.facts, design.guarantee
    claim, unit = guarantee.epsilon, guarantee.metric.unit
    because = (
        f"The largest privacy loss over the whole map is {facts.certificate:.6f} per {unit}, "
        f"computed from the numbers that are drawn, against a claim of {claim:g}."
        if guarantee.basis == Basis.CERTIFIED
        else f"ε = {claim:g} per {unit} is proved: noise with that density, then post-processing."
    )
    return Report(
        title="A mechanism for places",
        answer=_answer(facts),
        verdict=Verdict.HOLDS if facts.certificate <= claim else Verdict.VIOLATED,
        because=because,
        guarantee=promised(guarantee),
        not_protected=(
            *(sentence(item) for item in guarantee.outside),
            REPEATED,
            "Anything else that is handed on beside the place: times, names, other columns.",
        ),
        notes=tuple(design_notes(facts)),
        tables=tuple(_tables(facts)),
        draw=partial(_charts, design),
        terms=TERMS,
    )


def _answer(facts: DesignFacts) -> str:
    if facts.loss is None:
        return f"People on this map can be reported at ε = {facts.epsilon:g} per {facts.unit}."
    near = ""
    if facts.gap is not None:
        more = percent_at_most(facts.gap)
        near = f", at most {more} more than any private mechanism with these outputs must lose"
    return (
        f"At ε = {facts.epsilon:g} per {facts.unit}, people on this map can be reported with an "
        f"expected travel error of {facts.loss:.3f} km{near}."
    )


def design_notes(facts: DesignFacts) -> list[str]:
    """What a design's figures do not say by themselves."""
    said = []
    if facts.stopped:
        said.append(
            f"Stopped by Ctrl-C during {facts.stopped}: this is the best so far, certified like "
            "any other; a run to the end may lose less, or say more about what is left to gain."
        )
    said.append(sentence(f"The map: {facts.map}"))
    if facts.lower_bound is not None:
        said.append(
            "No private mechanism with these outputs goes below "
            f"{at_least(facts.lower_bound, digits=4)} km."
        )
    elif facts.method == REGION_NAME:
        said.append("No lower bound is worked out for a region.")
    said.append(f"Whatever is reported is one of {facts.outputs:,} places, at most one a cell.")
    asked, solved = facts.cells, facts.spline_cells
    if facts.spline_capped and asked is not None and solved is not None:
        said.append(
            f"The spline was solved on {solved[0]}×{solved[1]} cells to be done in time "
            f"({asked[0]}×{asked[1]} outputs were asked for); a finer one may lose a little less."
        )
    said.append(
        f"ε is per {facts.distance}; the map's plane lengthens distances by "
        f"{percent_at_most(facts.stretch - 1, digits=2)} at most, which is taken off beforehand."
    )
    if facts.saved is not None:
        said.append(f"Saved {facts.saved.rpartition('/')[2]}")
    return said


def _tables(facts: DesignFacts) -> list[Table]:
    bound = None if facts.lower_bound is None else float(at_least(facts.lower_bound, digits=4))
    figures = Table(
        "The design in numbers",
        ("what", "value"),
        (
            ("method", facts.method),
            ("expected loss (km)", to_a_tenth(facts.loss)),
            (f"certificate (ε per {facts.unit})", facts.certificate),
            ("lower bound (km)", bound),
            ("outputs", facts.outputs),
            ("resolution (m)", 1000 * facts.resolution),
            ("solved in (s)", facts.seconds),
        ),
    )
    loss = facts.loss
    if loss is None:
        return [figures]
    rows = tuple(
        (name, to_a_tenth(other), f"{100 * (loss / other - 1):+.1f} %" if other else "")
        for name, other in sorted(_losses(facts, loss).items(), key=lambda item: item[1])
    )
    compared = Table(
        "What other methods lose at the same ε", ("method", "loss km", "this design"), rows
    )
    return [figures, compared]


def _losses(facts: DesignFacts, loss: float) -> dict[str, float]:
    """The loss of every method that was tried, this one's among them."""
    return {**facts.losses, facts.method: loss}


def _charts(design: PlacesDesign) -> list[Chart]:
    facts = design.facts
    found = []
    if facts.loss is not None:
        losses = _losses(facts, facts.loss)
        found.append(loss_chart(losses, method=facts.method, lower_bound=facts.lower_bound))
    if design.sweep:
        found.append(sweep_chart(design.sweep))
    return [
        *found,
        likely_place(design),
        error_map(design),
        certificate_chart(design),
        guarantee_chart(design.guarantee, farthest=2.0),
    ]


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


def certificate_chart(design: PlacesDesign) -> Chart:
    """The certificate over the map of a design."""
    return ratio_map(
        box=design.box,
        streets=street_lines(design.places, design.streets, most=6000),
        ratios=local_ratios(design),
        claim=design.guarantee.epsilon,
        unit=design.guarantee.metric.unit,
        certified=design.guarantee.basis == Basis.CERTIFIED,
    )
