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
from voile.report.drawing import altair, base, finished, named, percent, series
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


def blur_chart(
    *, box: Box, streets: Floats, place: Floats, outputs: Floats, law: Floats, where: str
) -> Chart:
    """Where a person standing at `place` may be reported, over the streets.

    `streets` are pairs of points (n × 2 × 2), `law` the probability of each output; all in km.
    """
    alt = altair()
    seen = law > 1e-4
    rows = tuple(
        (round(float(x), 3), round(float(y), 3), float(p))
        for (x, y), p in sorted(
            zip(outputs[seen].tolist(), law[seen].tolist(), strict=True), key=lambda item: -item[1]
        )
    )
    table = Table(
        "Where the release may fall (above 0.01 %)",
        ("km east", "km north", "probability"),
        rows,
    )
    records = [{"x": x, "y": y, "p": p, "shown": percent(p)} for x, y, p in rows]
    top = max(p for _, _, p in rows)
    size = (
        alt.Size("p:Q")
        .scale(type="linear", domain=[0, top], range=[10, 700])
        .legend(title="probability", format="~%", orient="bottom", symbolFillColor=colour("blue"))
    )
    tips = [
        alt.Tooltip("shown:N", title="probability"),
        alt.Tooltip("x:Q", title="km east", format=".2f"),
        alt.Tooltip("y:Q", title="km north", format=".2f"),
    ]
    here = [{"x": float(place[0]), "y": float(place[1]), "says": "here"}]
    star = base(here).encode(longitude="x:Q", latitude="y:Q")
    figure = alt.layer(
        *ground_layers(box, streets),
        base(records)
        .mark_circle(opacity=0.7, color=colour("blue"))
        .encode(longitude="x:Q", latitude="y:Q", size=size, tooltip=tips),
        star.mark_point(
            shape="cross", size=260, color=colour("ink"), filled=True, opacity=1,
            stroke=colour("paper"), strokeWidth=1.5,
        ),
        star.mark_text(dy=-16, fontWeight="bold", fontSize=13).encode(text="says:N"),
    ).project(type="identity", reflectY=True)  # fmt: skip
    distance = np.linalg.norm(outputs - place, axis=1)
    order = np.argsort(distance)
    reach = np.cumsum(law[order])
    half = float(distance[order][min(int(np.searchsorted(reach, 0.5)), len(order) - 1)])
    most = float(distance[order][min(int(np.searchsorted(reach, 0.9)), len(order) - 1)])
    return finished(
        figure,
        name="blur",
        title="Where a person may be reported",
        alt=(
            f"A person stands at the cross, {where}. Larger dots are likelier "
            f"reports: half of the time within {length_words(half)}, nine times in ten within "
            f"{length_words(most)}."
        ),
        data=table,
        height=map_height(box),
        ratio=float((box[1][1] - box[0][1]) / (box[1][0] - box[0][0])),
        large={"streets": street_features(streets)},
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
            ring = {"type": "Polygon", "coordinates": [_ring(west, south, east, north)]}
            features.append({"type": "Feature", "geometry": ring, "value": round(value, 5)})
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
    figure = library.layer(
        named("cells").mark_geoshape(stroke=None).encode(color=tone, tooltip=[tip]),
        *ground_layers(box, streets),
    ).project(type="identity", reflectY=True)
    return finished(
        figure,
        name=name,
        title=title,
        alt=alt,
        data=Table(caption, ("km east", "km north", legend), tuple(rows)),
        height=map_height(box),
        ratio=float((box[1][1] - box[0][1]) / (box[1][0] - box[0][0])),
        large={"streets": street_features(streets), "cells": features},
    )


def street_lines(places: Floats, streets: Indices, *, most: int = 12_000) -> Floats:
    """The streets as pairs of points; thinned evenly where a page would grow too heavy."""
    chosen = streets[:: max(1, -(-len(streets) // most))]
    return np.asarray(places[chosen], dtype=float).reshape(-1, 2, 2)


def ground_layers(box: Box, streets: Floats) -> list[Any]:
    """The edge of the map, its streets and a bar of length, beneath or above the rest."""
    low, high = box
    edge = {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [_ring(*low, *high)]},
    }
    layers = [
        base([edge]).mark_geoshape(filled=False, stroke=colour("line"), strokeWidth=1),
    ]
    if len(streets):
        layers.append(
            named("streets").mark_geoshape(
                filled=False, stroke=colour("grey"), strokeWidth=0.5, opacity=0.55
            )
        )
    length = _round_length(float(high[0] - low[0]) / 5)
    left, bottom = (low + 0.04 * (high - low)).tolist()
    bar = {
        "type": "Feature",
        "geometry": {
            "type": "LineString",
            "coordinates": [[left, bottom], [left + length, bottom]],
        },
    }
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


def street_features(streets: Floats) -> list[dict[str, Any]]:
    """All streets as one feature."""
    coordinates = np.asarray(streets).round(3).tolist()
    return [
        {
            "type": "Feature",
            "geometry": {"type": "MultiLineString", "coordinates": coordinates},
        }
    ]


def _ring(west: float, south: float, east: float, north: float) -> list[list[float]]:
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return [[round(float(x), 4), round(float(y), 4)] for x, y in corners]


def _round_length(wanted: float) -> float:
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(power * max(k for k in (1, 2, 5) if k * power <= wanted))


def map_height(box: Box) -> int:
    """Of a map on a page, px."""
    size = box[1] - box[0]
    return int(min(620, max(260, 620 * float(size[1] / size[0]))))
