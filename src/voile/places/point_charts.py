"""Maps of errors, of where a person may be reported, and of points before and after a release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voile.core.arrays import Floats
from voile.places.charts import Box, cell_map, feature, map_chart, street_lines
from voile.places.designs import PlacesDesign
from voile.places.lengths import length_words
from voile.report.drawing import altair, base, named, percent, series
from voile.report.model import Chart, Table
from voile.report.theme import colour
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
    layers = (
        base(records)
        .mark_circle(opacity=0.7, color=colour("blue"))
        .encode(longitude="x:Q", latitude="y:Q", size=size, tooltip=tips),
        star.mark_point(
            shape="cross", size=260, color=colour("ink"), filled=True, opacity=1,
            stroke=colour("paper"), strokeWidth=1.5,
        ),
        star.mark_text(dy=-16, fontWeight="bold", fontSize=13).encode(text="says:N"),
    )  # fmt: skip
    distance = np.linalg.norm(outputs - place, axis=1)
    half, most = (released_within(distance, law, share) for share in (0.5, 0.9))
    return map_chart(
        *layers,
        box=box,
        streets=streets,
        name="blur",
        title="Where a person may be reported",
        alt=(
            f"A person stands at the cross, {where}. Larger dots are likelier "
            f"reports: half of the time within {length_words(half)}, nine times in ten within "
            f"{length_words(most)}."
        ),
        data=table,
    )


def released_within(distance: Floats, law: Floats, share: float) -> float:
    """The distance within which a release falls with this probability."""
    order = np.argsort(distance)
    place = int(np.searchsorted(np.cumsum(law[order]), share))
    return float(distance[order][min(place, len(order) - 1)])


def before_after_map(before: Floats, after: Floats, *, box: Box, streets: Floats) -> Chart:
    """Places and what was released for them, joined by lines; for their owner's eyes."""
    chosen = np.unique(np.linspace(0, len(before) - 1, min(len(before), MOST_POINTS)).astype(int))
    first, second = before[chosen].round(3), after[chosen].round(3)
    joined = feature("MultiLineString", np.stack([first, second], axis=1).tolist())
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
    moved = float(np.linalg.norm(after - before, axis=1).mean())
    shown = "" if len(chosen) == len(before) else f"{len(chosen):,} of "
    return map_chart(
        lines,
        dots,
        box=box,
        streets=streets,
        name="before-after",
        title="Before and after",
        alt=(
            f"{shown}{len(before):,} places and what was released for them, joined by lines; they "
            f"were moved by {length_words(moved)} on average."
        ),
        data=Table("Places before and after", ("what", "km east", "km north"), rows),
        large={"joined": [joined]},
    )


Walk = tuple[Floats, Floats, Floats]
"""A trace as it was, as it was released and as it was read, km row by row."""
SAID = ("as it was", "as released", "as read")


def walks_map(walks: Sequence[Walk]) -> Chart:
    """Some traces before and after, and as somebody reads them; for their owner's eyes."""
    features, rows = [], []
    for number, walk in enumerate(walks, 1):
        for what, points in zip(SAID[::-1], walk[::-1], strict=True):  # the truth above the rest
            features.append(feature("LineString", points.round(3).tolist(), what=what))
            rows += [(number, what, float(x), float(y)) for x, y in points.round(3).tolist()]
    records = [{"trace": n, "what": what, "x": x, "y": y} for n, what, x, y in rows]
    tint, sign = series("what", list(SAID))
    everywhere = np.concatenate([points for walk in walks for points in walk])
    low, high = everywhere.min(axis=0), everywhere.max(axis=0)
    room = 0.05 * max(float((high - low).max()), 0.2)
    box = (low - room, high + room)
    lines = named("walks").mark_geoshape(filled=False, strokeWidth=1.2, opacity=0.7)
    dots = base(records).mark_point(filled=True, size=26 if len(rows) < 150 else 9, opacity=0.85)
    layers = [
        lines.encode(color=tint),
        dots.encode(
            longitude="x:Q", latitude="y:Q", color=tint, shape=sign, tooltip=["trace:N", "what:N"]
        ),
    ]
    off = [
        float(np.mean(np.concatenate([np.linalg.norm(w[k] - w[0], axis=1) for w in walks])))
        for k in (1, 2)
    ]
    return map_chart(
        *layers,
        box=box,
        name="traces",
        title="Traces before and after",
        alt=f"{counted(len(walks), 'trace')} as before, as released ({length_words(off[0])} off on "
        f"average) and as read by somebody who knows how people move ({length_words(off[1])} off).",
        data=Table("Places of the traces", ("trace", "what", "km east", "km north"), tuple(rows)),
        large={"walks": features},
    )
