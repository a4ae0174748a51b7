"""Charts as pictures without a browser, and the script that draws them in one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from voile.errors import needs, writing
from voile.files import like_source, write_private
from voile.report.drawing import altair
from voile.report.model import Chart
from voile.report.theme import chart_config, painted

WIDTH = 640
"""Of a picture, and of the still drawing in a page, before scaling."""


def complete(spec: Mapping[str, Any], *, width: int | str = WIDTH) -> dict[str, Any]:
    """A chart's specification with the common look and a width ("container" for a page)."""
    whole = {**spec, "config": chart_config(), "width": width}
    if width == "container":
        whole["autosize"] = {"type": "fit-x", "contains": "padding", "resize": True}
    return whole


def still(chart: Chart) -> str:
    """The chart as inline SVG whose colours follow the page, for readers without scripts."""
    drawn = str(_converter().vegalite_to_svg(complete(chart.spec), allowed_base_urls=[]))
    drawn = re.sub(r' width="\d+" height="\d+"', "", drawn, count=1)
    drawn = re.sub(r"<rect [^>]*fill=\"transparent\"/>", "", drawn, count=1)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(chart.alt)}" ', 1)


def script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script (BSD-3-Clause), with no address to load from."""
    bundle = str(_converter().javascript_bundle())
    return bundle.replace("</script", "<\\/script")


def write_charts(
    charts: Sequence[Chart], folder: str | Path, *, sources: Sequence[Path | str] = ()
) -> list[Path]:
    """Write each chart as `NAME.svg` and `NAME.png` (twice the size, for sharp print).

    Those may read them who may read the sources that they were made from.
    """
    target = Path(folder)
    converter = _converter()
    written = []
    with writing(f"charts to {target}"):
        target.mkdir(parents=True, exist_ok=True)
        for chart in charts:
            spec = painted(complete(chart.spec))
            spec["config"]["background"] = "white"
            svg, png = target / f"{chart.name}.svg", target / f"{chart.name}.png"
            write_private(svg, converter.vegalite_to_svg(spec, allowed_base_urls=[]))
            write_private(png, converter.vegalite_to_png(spec, scale=2.0, allowed_base_urls=[]))
            like_source(svg, sources)
            like_source(png, sources)
            written += [svg, png]
    return written


def require_charts() -> None:
    """Refuse where charts can be neither drawn nor turned into pictures."""
    altair()
    _converter()


def _converter() -> Any:
    with needs("vl-convert-python", extra="report"):
        import vl_convert
    return vl_convert
