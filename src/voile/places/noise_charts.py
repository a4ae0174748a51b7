"""Charts of noise without a design: how far releases fall from the truth."""

from __future__ import annotations

import numpy as np

from voile.places.lengths import length_words
from voile.places.noise import PlacesNoise
from voile.report.drawing import altair, base, finished, percent
from voile.report.model import Chart, Table
from voile.report.theme import colour


def fall_chart(noise: PlacesNoise) -> Chart:
    """The share of releases that fall within each distance of the truth, by the law drawn from."""
    alt = altair()
    half, most, far = (noise.error_within(share) for share in (0.5, 0.9, 0.99))
    distances = np.linspace(0, far, 61)
    rows = tuple((float(d), noise.share_within(float(d))) for d in distances)
    records = [{"distance": d, "share": s, "shown": percent(s)} for d, s in rows]
    line = (
        base(records)
        .mark_line(color=colour("blue"), strokeWidth=2.5)
        .encode(
            x=alt.X("distance:Q").title("from the true place (km)").axis(tickCount=5),
            y=alt.Y("share:Q")
            .scale(domain=[0, 1])
            .title("of releases fall within")
            .axis(format="~%", tickCount=5),
            tooltip=[
                alt.Tooltip("distance:Q", title="km", format=".3g"),
                alt.Tooltip("shown:N", title="within"),
            ],
        )
    )
    marks = [
        {"distance": half, "share": 0.5, "says": f"half: {length_words(half)}"},
        {"distance": most, "share": 0.9, "says": f"nine in ten: {length_words(most)}"},
    ]
    dots = base(marks).encode(x="distance:Q", y="share:Q")
    figure = (
        line
        + dots.mark_point(filled=True, size=90, color=colour("orange"), opacity=1)
        + dots.mark_text(align="left", dx=10, dy=12, fontSize=12).encode(text="says:N")
    )
    before = "" if noise.remap is None else ", before they are moved to a public place"
    return finished(
        figure,
        name="fall",
        title="How far releases fall from the truth" + before,
        alt=(
            f"Half of the releases lie within {length_words(half)} of the true place, nine in ten "
            f"within {length_words(most)}{before}."
        ),
        data=Table("Share of releases within a distance", ("km", "share"), rows),
        height=260,
    )
