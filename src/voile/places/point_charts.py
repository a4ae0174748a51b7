"""Maps of errors, and of points before and after a release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voile.core.arrays import Floats
from voile.places.charts import (
    Box,
    cell_map,
    ground_layers,
    map_height,
    street_features,
    street_lines,
)
from voile.places.designs import PlacesDesign
from voile.places.lengths import length_words
from voile.report.drawing import altair, base, finished, named, series
from voile.report.model import Chart, Table
from voile.report.words import counted

MOST_POINTS = 1500
"""Points that a map shows; of more, evenly some."""


def error_map(design: PlacesDesign, *, size: int = 24) -> Chart:
    """How far a release lies from the truth on average, cell by cell over the map."""
    low, high = design.box
    wide = high - low
    columns, rows = size, max(2, round(size * float(wide[1] / wide[0])))
    step = wide / np.array([columns, rows])
    across, up = np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5)
    middles = low + np.stack([across, up], axis=-1).reshape(-1, 2) * step
    outputs = np.asarray(design.mechanism.outputs, dtype=float)
    law = design.mechanism.probabilities(middles)
    errors = np.array(
        [p @ np.linalg.norm(outputs - x, axis=1) for p, x in zip(law, middles, strict=True)]
    )
    worst, best = float(errors.max()), float(errors.min())
    return cell_map(
        errors.reshape(rows, columns),
        box=design.box,
        streets=street_lines(design.places, design.streets, most=6000),
        name="errors",
        title="How far releases fall, over the map",
        alt=(
            f"Each cell shows how far from the truth a release lies on average for a person "
            f"there: between {length_words(best)} and {length_words(worst)}."
        ),
        legend="mean error (km)",
        domain=(best, worst if worst > best else best + 1e-9),
        caption="Mean error, cell by cell",
    )


def before_after_map(before: Floats, after: Floats, *, box: Box, streets: Floats) -> Chart:
    """Places and what was released for them, joined by lines; for their owner's eyes."""
    alt = altair()
    chosen = np.unique(np.linspace(0, len(before) - 1, min(len(before), MOST_POINTS)).astype(int))
    first, second = before[chosen].round(3), after[chosen].round(3)
    joined = [
        {
            "type": "Feature",
            "geometry": {
                "type": "MultiLineString",
                "coordinates": np.stack([first, second], axis=1).tolist(),
            },
        }
    ]
    marks = ((0, "before", first), (1, "after", second))
    rows = tuple(
        (what, float(x), float(y)) for _, what, points in marks for x, y in points.tolist()
    )
    records = [{"what": what, "x": x, "y": y} for what, x, y in rows]
    tint, sign = series("what", ["before", "after"])
    lines = named("joined").mark_geoshape(filled=False, strokeWidth=0.7, opacity=0.45)
    dots = (
        base(records)
        .mark_point(filled=True, size=28, opacity=0.75)
        .encode(longitude="x:Q", latitude="y:Q", color=tint, shape=sign, tooltip=["what:N"])
    )
    figure = alt.layer(*ground_layers(box, streets), lines, dots).project(
        type="identity", reflectY=True
    )
    moved = float(np.linalg.norm(after - before, axis=1).mean())
    shown = "" if len(chosen) == len(before) else f"{len(chosen):,} of "
    return finished(
        figure,
        name="before-after",
        title="Before and after",
        alt=(
            f"{shown}{len(before):,} places and what was released for them, joined by lines; they "
            f"were moved by {length_words(moved)} on average."
        ),
        data=Table("Places before and after", ("what", "km east", "km north"), rows),
        height=map_height(box),
        ratio=float((box[1][1] - box[0][1]) / (box[1][0] - box[0][0])),
        large={"streets": street_features(streets), "joined": joined},
    )


Walk = tuple[Floats, Floats, Floats]
"""A trace as it was, as it was released and as it was read, km row by row."""
SAID = ("as it was", "as released", "as read")


def walks_map(walks: Sequence[Walk]) -> Chart:
    """Some traces before and after, and as somebody reads them; for their owner's eyes."""
    alt = altair()
    features, rows = [], []
    for number, walk in enumerate(walks, 1):
        for what, points in zip(SAID[::-1], walk[::-1], strict=True):  # the truth above the rest
            line = {"type": "LineString", "coordinates": points.round(3).tolist()}
            features.append({"type": "Feature", "what": what, "geometry": line})
            rows += [(number, what, float(x), float(y)) for x, y in points.round(3).tolist()]
    records = [{"trace": n, "what": what, "x": x, "y": y} for n, what, x, y in rows]
    tint, sign = series("what", list(SAID))
    everywhere = np.concatenate([points for walk in walks for points in walk])
    low, high = everywhere.min(axis=0), everywhere.max(axis=0)
    room = 0.05 * max(float((high - low).max()), 0.2)
    box = (low - room, high + room)
    lines = named("walks").mark_geoshape(filled=False, strokeWidth=1.2, opacity=0.7)
    dots = base(records).mark_point(filled=True, size=26 if len(rows) < 150 else 9, opacity=0.85)
    figure = alt.layer(
        *ground_layers(box, np.zeros((0, 2, 2))),
        lines.encode(color=tint),
        dots.encode(
            longitude="x:Q", latitude="y:Q", color=tint, shape=sign, tooltip=["trace:N", "what:N"]
        ),
    ).project(type="identity", reflectY=True)
    off = [
        float(np.mean(np.concatenate([np.linalg.norm(w[k] - w[0], axis=1) for w in walks])))
        for k in (1, 2)
    ]
    return finished(
        figure,
        name="traces",
        title="Traces before and after",
        alt=f"{counted(len(walks), 'trace')} as before, as released ({length_words(off[0])} off on "
        f"average) and as read by somebody who knows how people move ({length_words(off[1])} off).",
        data=Table("Places of the traces", ("trace", "what", "km east", "km north"), tuple(rows)),
        height=map_height(box),
        ratio=float((box[1][1] - box[0][1]) / (box[1][0] - box[0][0])),
        large={"walks": features},
    )
