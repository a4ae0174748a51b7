"""A picture of where a person standing somewhere may be reported."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from voile.audit.finding import Verdict
from voile.core.arrays import Floats
from voile.core.guarantee import Basis
from voile.errors import CannotWrite
from voile.places.charts import blur_chart, street_lines
from voile.places.designs import PlacesDesign
from voile.places.outside import Outside, refused
from voile.report import Chart, Provenance, Report, Table, write_charts, write_report
from voile.report.charts_common import guarantee_chart
from voile.report.model import promised
from voile.report.words import ground, sentence


def show_place(
    design: PlacesDesign, *, latitude: float, longitude: float, out: str | Path
) -> dict[str, Any]:
    """Write `<out>.png` and `<out>.html`; what they show, in numbers.

    Both mark the place that was asked for: they are for the eyes of whoever asked.
    """
    degrees = np.array([latitude]), np.array([longitude])
    inside, off, far = design.located(*degrees)
    problem = refused(int(off.sum()), int(far.sum()), 1, design.reach, Outside.MOVE)
    if problem is not None:
        raise problem
    place = design.projection.to_km(*degrees)
    law = np.asarray(design.mechanism.probabilities(inside)[0])
    outputs = np.asarray(design.mechanism.outputs, dtype=float)
    facts = _facts(place, inside, outputs, law)
    chart = blur_chart(
        box=design.box,
        streets=street_lines(design.places, design.streets),
        place=inside[0],
        outputs=outputs,
        law=law,
        where="at the place that was asked for",
    )
    target = Path(out)
    png, page = target.with_suffix(".png"), target.with_suffix(".html")
    _write_png(chart, png)
    write_report(_report(design, facts, chart), page)
    return facts | {"png": str(png), "html": str(page)}


def _facts(place: Floats, inside: Floats, outputs: Floats, law: Floats) -> dict[str, Any]:
    distance = np.linalg.norm(outputs - place, axis=1)
    order = np.argsort(distance)
    reach = np.cumsum(law[order])
    last = len(order) - 1
    return {
        "inside_the_map": bool((place == inside).all()),
        "mean_distance_km": float(law @ distance),
        "half_within_km": float(distance[order][min(int(np.searchsorted(reach, 0.5)), last)]),
        "nine_in_ten_within_km": float(
            distance[order][min(int(np.searchsorted(reach, 0.9)), last)]
        ),
        "likeliest_share": float(law.max()),
        "places_above_1_percent": int((law > 0.01).sum()),
    }


def _report(design: PlacesDesign, facts: dict[str, Any], chart: Chart) -> Report:
    from voile import __version__

    guarantee = design.guarantee
    rows = (
        ("mean distance (km)", facts["mean_distance_km"]),
        ("half of the time within (km)", facts["half_within_km"]),
        ("nine times in ten within (km)", facts["nine_in_ten_within_km"]),
        ("share of the likeliest report", facts["likeliest_share"]),
        ("reports likelier than 1 %", facts["places_above_1_percent"]),
    )
    outside = () if facts["inside_the_map"] else (
        "The place lies outside the map; it is moved to the border before it is blurred.",
    )  # fmt: skip
    return Report(
        title="A blurred place",
        answer=(
            f"A person standing here is reported {facts['mean_distance_km']:.2f} km away on "
            f"average, and nine times in ten within {facts['nine_in_ten_within_km']:.2f} km."
        ),
        verdict=Verdict.OPEN if guarantee.basis == Basis.CLAIMED else Verdict.HOLDS,
        because=f"ε = {guarantee.epsilon:g} is {guarantee.basis}. {ground(guarantee.basis)}",
        guarantee=promised(guarantee),
        not_protected=(
            "The place on this map: it is marked because you asked for it. If somebody stands "
            "there, keep this page to yourself.",
            *(sentence(item) for item in guarantee.outside),
        ),
        provenance=Provenance(
            version=__version__,
            command="voile places show",
            randomness="nothing was drawn: the chart is the law itself",
            when=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            seconds=0.0,
        ),
        notes=outside,
        tables=(Table("How far reports lie from here", ("what", "value"), rows),),
        draw=lambda: (chart, guarantee_chart(guarantee, farthest=2.0)),
        terms=("epsilon", "odds", "certified", "proved", "mechanism"),
    )


def _write_png(chart: Chart, png: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _, made = write_charts([chart], folder)
        try:
            shutil.copyfile(made, png)
        except OSError as problem:
            raise CannotWrite(f"cannot write {png}: {problem.strerror or problem}") from problem
