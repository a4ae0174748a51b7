"""`voile.places.utility`: what a release of places is still good for, whatever released it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from voile.audit.finding import Verdict
from voile.core.arrays import Floats
from voile.errors import require
from voile.options import Data, Option, use_case
from voile.places.columns import read_both
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.geodesy import geodesic_km
from voile.places.knowing import in_order
from voile.places.lengths import length_words
from voile.places.trace_attack import same_rows
from voile.places.tracing import Times, Tracing
from voile.places.usefulness import Use, Usefulness
from voile.progress import tell
from voile.report.charts_common import bar_chart
from voile.report.model import Chart, Report, Table
from voile.report.result import Result
from voile.report.words import OWN_FIGURES, counted


@dataclass(frozen=True, repr=False, eq=False)
class Utility(Result):
    """How far (km) releases are off, and what is left of their use."""

    rows: int
    mean_error_km: float
    half_within_km: float
    nine_in_ten_within_km: float
    use: Use

    def _report(self) -> Report:
        first, *others = self.use.sentences()
        return Report(
            title="What released places are still good for",
            answer=f"{counted(self.rows, 'place')}: {length_words(self.mean_error_km)} off on "
            f"average, half within {length_words(self.half_within_km)}, nine in ten within "
            f"{length_words(self.nine_in_ten_within_km)}. {first}",
            verdict=Verdict.OPEN,
            because="It says what these rows are good for, not what is promised for them.",
            notes=tuple(others),
            tables=(Table("What is left", ("what", "value"), tuple(self._rows())),),
            not_protected=(OWN_FIGURES,),
            draw=partial(_charts, self),
            terms=("release",),
            about="What was measured",
        )

    def _rows(self) -> list[tuple[str, str | int]]:
        use, routes = self.use, self.use.routes
        found: list[tuple[str, str | int]] = [
            ("rows", self.rows),
            ("off on average", length_words(self.mean_error_km)),
            (
                f"rows in a wrong area of {length_words(use.area_km)}, net",
                _share(use.areas_misplaced),
            ),
        ]
        if use.nearest_kept is not None:
            found.append((f"nearest {use.nearest} public places kept", _share(use.nearest_kept)))
        if use.own_loss is not None:
            found.append(("own loss, on average", f"{use.own_loss:.4g}"))
        if routes is not None:
            found += [
                ("routes", routes.routes),
                ("streets of a route kept", _share(routes.same_streets)),
                ("routes kept as a whole", _share(routes.same_routes)),
                ("farther when led from the release", length_words(routes.detour_m / 1000)),
            ]
        return found


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _charts(found: Utility) -> tuple[Chart, ...]:
    use, routes = found.use, found.use.routes
    shares = [("rows in their area, net", 1 - use.areas_misplaced)]
    if use.nearest_kept is not None:
        shares.append((f"nearest {use.nearest} places", use.nearest_kept))
    if routes is not None and routes.routes:
        shares += [("streets of a route", routes.same_streets), ("routes", routes.same_routes)]
        if routes.same_choice is not None:
            shares.append(("nearest by road", routes.same_choice))
    rows = [(what, round(100 * share, 1)) for what, share in shares]
    told = "; ".join(f"{what}: {value:.3g} %" for what, value in rows)
    return (
        bar_chart(
            rows,
            name="utility",
            title="What stays the same",
            alt=f"Per cent that the release leaves as it was: {told}.",
            axis="per cent that stays the same",
            columns=("what", "per cent"),
        ),
    )


@use_case("places utility")
def utility(
    original: Annotated[Data, Option("The file of places.", reads="private")],
    released: Annotated[Data, Option("What was made of it, row by row.", reads="private")],
    *,
    columns: Coordinates = DEGREES,
    trace: Annotated[
        str | None, Option("Column that names a trace: routes are its trips.", shown=True)
    ] = None,
    time: Times = None,
    use: Usefulness = Usefulness(),
) -> Utility:
    """Measure what released places are still good for, with or without a design.

    Example: `voile places utility trips.csv trips.protected.csv --poi shops.csv --nearest 3
    --routes city.graphml --trace trip`

    Counts of areas, the nearest public places, the streets of shortest routes, and your own loss,
    all on the very rows of two files that correspond. For their owner: the figures come from
    private rows.
    """
    tell("comparing the rows given")
    degrees = read_both(original, released, columns)
    require(len(degrees[0]) > 0, "the files", "of at least one row", 0)
    tracing = Tracing(trace=trace, time=time)
    if trace is not None:
        same_rows(original, released, tracing)
    traces = None if trace is None else in_order(original, tracing)
    off: Floats = geodesic_km(*degrees[0].T, *degrees[1].T)
    half, most = np.quantile(off, [0.5, 0.9])
    return Utility(
        rows=len(off),
        mean_error_km=float(off.mean()),
        half_within_km=float(half),
        nine_in_ten_within_km=float(most),
        use=use.found(columns, degrees, traces),
    )
