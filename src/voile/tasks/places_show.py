"""A picture of where a person standing somewhere may be reported."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.domains.places.design import PlacesDesign
from voile.errors import CannotWrite, MissingExtra


def show_place(
    design: PlacesDesign, *, latitude: float, longitude: float, out: str | Path
) -> dict[str, Any]:
    """Write `<out>.png` and `<out>.html`; what they show, in numbers."""
    place = design.projection.to_km(np.array([latitude]), np.array([longitude]))
    low, high = design.box
    inside = np.clip(place, low, high)
    law = design.mechanism.probabilities(inside)[0]
    outputs = np.asarray(design.mechanism.outputs, dtype=float)
    distance = np.linalg.norm(outputs - place, axis=1)
    order = np.argsort(distance)
    reach = np.cumsum(law[order])
    facts = {
        "inside_the_map": bool((place == inside).all()),
        "mean_distance_km": float(law @ distance),
        "half_within_km": float(distance[order][np.searchsorted(reach, 0.5)]),
        "nine_in_ten_within_km": float(
            distance[order][min(np.searchsorted(reach, 0.9), len(order) - 1)]
        ),
        "likeliest_share": float(law.max()),
        "places_above_1_percent": int((law > 0.01).sum()),
    }
    image = _drawn(design, place[0], outputs, law)
    target = Path(out)
    png, page = target.with_suffix(".png"), target.with_suffix(".html")
    try:
        png.write_bytes(image)
        page.write_text(_page(design, facts, image), encoding="utf-8")
    except OSError as problem:
        raise CannotWrite(f"cannot write {png}: {problem.strerror or problem}") from problem
    return facts | {"png": str(png), "html": str(page)}


def _drawn(design: PlacesDesign, place: Floats, outputs: Floats, law: Floats) -> bytes:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise MissingExtra("matplotlib", extra="places") from missing
    low, high = design.box
    size = high - low
    figure = Figure(figsize=(8.5, max(4.0, min(11.0, 8.0 * size[1] / size[0])) + 0.6))
    FigureCanvasAgg(figure)
    axis = figure.add_subplot()
    if len(design.streets):
        axis.add_collection(
            LineCollection(
                list(design.places[design.streets]), colors="#c9ccd1", linewidths=0.5, zorder=1
            )
        )
    shown = law > 1e-4
    dots = axis.scatter(
        outputs[shown, 0],
        outputs[shown, 1],
        s=18 + 1400 * law[shown],
        c=100 * law[shown],
        cmap="viridis_r",
        alpha=0.85,
        linewidths=0,
        zorder=2,
    )
    axis.scatter(
        place[0], place[1], marker="*", s=260, color="#d62728", edgecolors="white", zorder=4
    )
    axis.annotate(
        "here",
        (place[0], place[1]),
        xytext=(0, -18),
        textcoords="offset points",
        color="#d62728",
        zorder=5,
        fontweight="bold",
        ha="center",
    )
    axis.set(
        xlim=(low[0], high[0]),
        ylim=(low[1], high[1]),
        aspect="equal",
        xlabel="km east of the centre",
        ylabel="km north of the centre",
    )
    axis.set_title(
        f"Where a person standing here may be reported, ε = "
        f"{design.guarantee.epsilon:g} per {design.guarantee.metric.unit}"
    )
    figure.colorbar(dots, ax=axis, label="probability, %", shrink=0.8)
    figure.tight_layout()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


def _page(design: PlacesDesign, facts: dict[str, Any], image: bytes) -> str:
    picture = base64.b64encode(image).decode("ascii")
    sentences = "".join(
        f"<p>{html.escape(line)}</p>" for line in design.guarantee.explain().splitlines()
    )
    rows = "".join(
        f"<tr><td>{html.escape(key.replace('_', ' '))}</td><td>{value:.4g}</td></tr>"
        for key, value in facts.items()
        if not isinstance(value, bool)
    )
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>A blurred place</title>"
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
        "padding:0 1rem}img{max-width:100%}td{padding:.1rem 1rem .1rem 0}</style>"
        f"<h1>A blurred place</h1><img alt='Map of release probabilities' "
        f"src='data:image/png;base64,{picture}'>{sentences}<table>{rows}</table></html>"
    )
