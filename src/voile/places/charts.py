"""Charts of places: what a design costs, where a person may be reported, where ε is used up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.rounding import at_least
from voile.places.lengths import length_words
from voile.places.solved import Priced
from voile.report.charts_common import bar_chart
from voile.report.drawing import altair, base, finished, named, series
from voile.report.model import Chart, Table
from voile.report.theme import colour

Box = tuple[Floats, Floats]


def loss_chart(losses: Mapping[str, float], *, method: str, lower_bound: float | None) -> Chart:
    """The loss of each method beside the lower bound that none can pass."""
    rows = sorted(losses.items(), key=lambda item: item[1])
    mark = None if lower_bound is None else ("no private mechanism goes below", lower_bound)
    best = losses[method]
    words = ""
    if lower_bound is not None:
        words = f" The dashed line is the lower bound, {at_least(lower_bound, digits=4)}."
    return bar_chart(
        rows,
        name="loss",
        title="What the blur costs, method by method",
        alt=f"Expected loss in km; {method}, highlighted, loses {length_words(best)}.{words}",
        axis="expected loss (km)",
        columns=("method", "expected loss (km)"),
        mark=mark,
        strong=method,
    )


def sweep_chart(prices: Sequence[Priced]) -> Chart:
    """Loss against ε: one line a method, and the lower bound at each ε."""
    alt = altair()
    rows = tuple((row.epsilon, row.method, row.loss, row.lower_bound) for row in prices)
    table = Table(
        "Loss against epsilon", ("epsilon", "method", "loss (km)", "lower bound (km)"), rows
    )
    records = [{"epsilon": e, "what": method, "loss": loss} for e, method, loss, _ in rows]
    names = list(dict.fromkeys(method for _, method, _, _ in rows))
    bounds = [(e, bound) for e, _, _, bound in rows if bound is not None]
    if bounds:
        names.append("lower bound")
        records += [{"epsilon": e, "what": "lower bound", "loss": bound} for e, bound in bounds]
    tint, sign = series("what", names)
    ticks = sorted({e for e, _, _, _ in rows})
    x = alt.X("epsilon:Q").scale(type="log", nice=False, padding=14).title("ε per km").axis(
        values=ticks, format=".4~r"
    )  # fmt: skip
    y = alt.Y("loss:Q").scale(zero=True).title("expected loss (km)")
    tips = ["what:N", "epsilon:Q", alt.Tooltip("loss:Q", title="km", format=".4g")]
    figure = base(records).mark_line(strokeWidth=2).encode(x=x, y=y, color=tint) + base(
        records
    ).mark_point(filled=True, size=80, opacity=1).encode(
        x=x, y=y, color=tint, shape=sign, tooltip=tips
    )
    return finished(
        figure,
        name="sweep",
        title="More privacy costs more distance",
        alt=(
            "Expected loss against ε. Between the design and the lower bound lies all that a "
            "better mechanism could still gain."
        ),
        data=table,
    )


def ratio_map(
    *, box: Box, streets: Floats, ratios: Floats, claim: float, unit: str, certified: bool
) -> Chart:
    """The certificate over the map: how much of ε each neighbourhood uses.

    `ratios` holds, row by row from the south, the largest |ln p_y(x) − ln p_y(x′)| / d over
    outputs y and steps to close x′, one for each cell.
    """
    top = max(claim, float(ratios.max()))
    return cell_map(
        ratios,
        box=box,
        streets=streets,
        name="certificate",
        title="Where the guarantee is used up",
        alt=(
            f"Each cell of the map shows how fast the release's law changes there, per {unit}: "
            f"between {float(ratios.min()):.3g} and {float(ratios.max()):.4g}, against a claim of "
            f"{claim:g}. A cell at the claim has nothing to spare; a darker one is "
            "blurred more than was asked."
            + ("" if certified else " The bound is proved; this is an evaluation.")
        ),
        legend=f"ε used, per {unit}",
        domain=(min(float(ratios.min()), 0.9 * top), top),
        caption="ε used, cell by cell",
    )


def cell_map(
    values: Floats,
    *,
    box: Box,
    streets: Floats,
    name: str,
    title: str,
    alt: str,
    legend: str,
    domain: tuple[float, float],
    caption: str,
) -> Chart:
    """A value for each cell of the map, row by row from the south, as shades over the streets."""
    library = altair()
    rows_count, columns_count = values.shape
    low, high = box
    step = (high - low) / np.array([columns_count, rows_count])
    features, rows = [], []
    for row in range(rows_count):
        for column in range(columns_count):
            west, south = low + step * (column, row)
            # a little into the next cell, which is drawn later: no seams
            east, north = np.minimum(high, low + step * (column + 1.04, row + 1.04))
            value = float(values[row, column])
            ring = [_ring(west, south, east, north)]
            features.append(feature("Polygon", ring, value=round(value, 5)))
            middle = (low + step * (column + 0.5, row + 0.5)).round(3)
            rows.append((float(middle[0]), float(middle[1]), value))
    tone = (
        library.Color("value:Q")
        .scale(library.Scale(scheme="cividis", domain=list(domain), nice=False))
        .legend(
            title=legend,
            orient="bottom",
            gradientLength=180,
            format=".4~r",
            direction="horizontal",
        )
    )
    tip = library.Tooltip("value:Q", title=legend, format=".4g")
    cells = named("cells").mark_geoshape(stroke=None).encode(color=tone, tooltip=[tip])
    return map_chart(
        box=box,
        streets=streets,
        under=[cells],
        name=name,
        title=title,
        alt=alt,
        data=Table(caption, ("km east", "km north", legend), tuple(rows)),
        large={"cells": features},
    )


def street_lines(places: Floats, streets: Indices, *, most: int = 12_000) -> Floats:
    """The streets as pairs of points; thinned evenly where a page would grow too heavy."""
    chosen = streets[:: max(1, -(-len(streets) // most))]
    return np.asarray(places[chosen], dtype=float).reshape(-1, 2, 2)


def _ground(box: Box, streets: Floats) -> list[Any]:
    """The edge of the map, its streets and a bar of length, beneath or above the rest."""
    low, high = box
    edge = base([feature("Polygon", [_ring(*low, *high)])])
    layers = [edge.mark_geoshape(filled=False, stroke=colour("line"), strokeWidth=1)]
    if len(streets):
        layers.append(
            named("streets").mark_geoshape(
                filled=False, stroke=colour("grey"), strokeWidth=0.5, opacity=0.55
            )
        )
    length = _round_length(float(high[0] - low[0]) / 5)
    left, bottom = (low + 0.04 * (high - low)).tolist()
    bar = feature("LineString", [[left, bottom], [left + length, bottom]])
    words = [{"x": left + length / 2, "y": bottom, "says": length_words(length)}]
    # on paper of their own, or they would be lost on a shaded map
    for tone, wide in (("paper", 7.0), ("ink", 3.0)):
        layers.append(
            base([bar]).mark_geoshape(filled=False, stroke=colour(tone), strokeWidth=wide)
        )
    halo = {"stroke": colour("paper"), "strokeWidth": 4, "strokeJoin": "round"}
    for around in (halo, {}):
        text = base(words).mark_text(dy=-9, fontSize=12, **around)
        layers.append(text.encode(longitude="x:Q", latitude="y:Q", text="says:N"))
    return layers


def _ring(west: float, south: float, east: float, north: float) -> list[list[float]]:
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return [[round(float(x), 4), round(float(y), 4)] for x, y in corners]


def _round_length(wanted: float) -> float:
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(power * max(k for k in (1, 2, 5) if k * power <= wanted))


def feature(kind: str, coordinates: Any, **beside: Any) -> dict[str, Any]:
    """A shape as GeoJSON has it."""
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, **beside}


def map_chart(
    *layers: Any,
    box: Box,
    streets: Floats | None = None,
    under: Sequence[Any] = (),
    large: Mapping[str, Any] | None = None,
    **said: Any,
) -> Chart:
    """Layers in km east and north on a map, as high as its box asks for.

    `said` are the chart's name, title, alt and data.
    """
    lines = np.zeros((0, 2, 2)) if streets is None else streets
    size = box[1] - box[0]
    ratio = float(size[1] / size[0])
    roads = feature("MultiLineString", lines.round(3).tolist())
    return finished(
        altair()
        .layer(*under, *_ground(box, lines), *layers)
        .project(type="identity", reflectY=True),
        height=int(min(620, max(260, 620 * ratio))),
        ratio=ratio,
        large={"streets": [roads], **(large or {})},
        **said,
    )
