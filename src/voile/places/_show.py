"""`voile.places.show`: a picture of where a person standing somewhere may be reported."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np

from voile.audit.finding import Verdict
from voile.core.arrays import Floats
from voile.core.guarantee import Basis
from voile.errors import CannotWrite, require
from voile.options import Option, current_call, use_case
from voile.places.blurring import Saved
from voile.places.charts import street_lines
from voile.places.designs import PlacesDesign
from voile.places.lengths import length_words
from voile.places.loading import opened_design
from voile.places.outside import Outside, refused
from voile.places.point_charts import blur_chart, released_within
from voile.report import Chart, Report, Table, write_charts
from voile.report.charts_common import guarantee_chart
from voile.report.model import promised
from voile.report.result import SILENT, Result
from voile.report.words import ground, sentence


@dataclass(frozen=True, repr=False, eq=False)
class ShownPlace(Result):
    """The law of a release at one place, in numbers; distances in km.

    Its picture marks the place that was asked for: it is for the eyes of whoever asked.
    """

    inside_the_map: bool
    mean_distance_km: float
    half_within_km: float
    nine_in_ten_within_km: float
    likeliest_share: float
    places_above_1_percent: int
    png: str | None
    html: str | None
    design: PlacesDesign = field(metadata=SILENT)
    place: Floats = field(metadata=SILENT)
    """On the map, km."""
    law: Floats = field(metadata=SILENT)
    """The probability of each output."""

    def _report(self) -> Report:
        guarantee = self.design.guarantee
        return Report(
            title="A blurred place",
            answer=(
                f"A person standing here is reported {length_words(self.mean_distance_km)} away on "
                f"average; half the time within {length_words(self.half_within_km)}, nine times in "
                f"ten within {length_words(self.nine_in_ten_within_km)}."
            ),
            verdict=Verdict.OPEN if guarantee.basis == Basis.CLAIMED else Verdict.HOLDS,
            because=f"ε = {guarantee.epsilon:g} per {guarantee.metric.unit} is {guarantee.basis}. "
            + ground(guarantee.basis),
            guarantee=promised(guarantee),
            not_protected=(
                "The place on this map: it is marked because you asked for it. If somebody stands "
                "there, keep this page to yourself.",
                *(sentence(item) for item in guarantee.outside),
            ),
            notes=tuple(self._notes()),
            tables=(self._table(),),
            draw=lambda: (self.chart(), guarantee_chart(guarantee, farthest=2.0)),
            terms=("epsilon", "odds", "certified", "proved", "mechanism"),
        )

    def _notes(self) -> list[str]:
        said = []
        if not self.inside_the_map:
            said.append("The place lies outside the map; it is moved to the border first.")
        if self.png is not None and self.html is not None:
            said.append(f"Wrote {Path(self.png).name} and {Path(self.html).name}")
        return said

    def _table(self) -> Table:
        rows = (
            ("mean distance", length_words(self.mean_distance_km)),
            ("half of the time within", length_words(self.half_within_km)),
            ("nine times in ten within", length_words(self.nine_in_ten_within_km)),
            ("share of the likeliest report", self.likeliest_share),
            ("reports likelier than 1 %", self.places_above_1_percent),
        )
        return Table("How far reports lie from here", ("what", "value"), rows)

    def chart(self) -> Chart:
        """Where a person may be reported, over the streets."""
        return blur_chart(
            box=self.design.box,
            streets=street_lines(self.design.places, self.design.streets),
            place=self.place,
            outputs=np.asarray(self.design.mechanism.outputs, dtype=float),
            law=self.law,
            where="at the place that was asked for",
        )


@use_case("places show")
def show(
    mechanism: Saved,
    *,
    at: Annotated[tuple[float, float], Option("LAT,LON of a person.")],
    out: Annotated[
        Path | None, Option("Writes OUT.png and OUT.html.", "Output", writes=True)
    ] = Path("place"),
) -> ShownPlace:
    """Draw where a person standing at a place may be reported, over the streets.

    Example: `voile places show city.voile --at 45.01,5.02 --out here`
    """
    require(len(at) == 2, "--at", "a latitude and a longitude", f"{len(at)} numbers")
    found = _shown(opened_design(mechanism), at, out)
    if found.png is not None and found.html is not None:
        _write_png(found.chart(), Path(found.png))
        call = current_call()
        assert call is not None  # this very use case, or one that called it
        found.noted(call)
        found.report(found.html)
    return found


def _shown(design: PlacesDesign, at: tuple[float, float], out: Path | None) -> ShownPlace:
    degrees = np.array([at[0]], dtype=float), np.array([at[1]], dtype=float)
    inside, off, far = design.located(*degrees)
    problem = refused(int(off.sum()), int(far.sum()), 1, design.reach, Outside.MOVE)
    if problem is not None:
        raise problem
    law = np.asarray(design.mechanism.probabilities(inside)[0])
    outputs = np.asarray(design.mechanism.outputs, dtype=float)
    distance = np.linalg.norm(outputs - design.projection.to_km(*degrees), axis=1)
    return ShownPlace(
        inside_the_map=not off.any(),
        mean_distance_km=float(law @ distance),
        half_within_km=released_within(distance, law, 0.5),
        nine_in_ten_within_km=released_within(distance, law, 0.9),
        likeliest_share=float(law.max()),
        places_above_1_percent=int((law > 0.01).sum()),
        png=None if out is None else str(Path(out).with_suffix(".png")),
        html=None if out is None else str(Path(out).with_suffix(".html")),
        design=design,
        place=inside[0],
        law=law,
    )


def _write_png(chart: Chart, png: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _, made = write_charts([chart], folder)
        try:
            shutil.copyfile(made, png)
        except OSError as problem:
            raise CannotWrite(f"cannot write {png}: {problem.strerror or problem}") from problem
