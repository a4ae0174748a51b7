"""Colours: one palette for light, one for dark, and how charts name them.

A chart names a colour as a CSS variable, `var(--blue)`; a page defines the variables for light,
dark and paper, so that charts follow it without being drawn again. A picture for a file gets the
light palette written in. Both palettes keep their hues apart for all common forms of colour
blindness (after Okabe and Ito, 2008), text reaches a contrast of 4.5 and marks one of 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LIGHT: Mapping[str, str] = {
    "paper": "#ffffff",
    "panel": "#f4f6f8",
    "ink": "#1c2126",
    "muted": "#57606b",
    "line": "#c5ccd3",
    "grid": "#e3e7eb",
    "link": "#0b5c9e",
    "blue": "#0072b2",
    "orange": "#c35300",
    "green": "#00795a",
    "purple": "#a6428f",
    "ochre": "#8a6500",
    "grey": "#6b7580",
    "violated": "#a8271d",
    "holds": "#00694e",
    "open": "#785300",
    "amber": "#fff3d1",
    "shade": "#00000033",
}

DARK: Mapping[str, str] = {
    "paper": "#14171b",
    "panel": "#1d2228",
    "ink": "#e8ebee",
    "muted": "#a3adb8",
    "line": "#46505b",
    "grid": "#2c333b",
    "link": "#7cc0f4",
    "blue": "#56b4e9",
    "orange": "#f39a4a",
    "green": "#35c39a",
    "purple": "#dd8fc6",
    "ochre": "#e6d25a",
    "grey": "#9aa5b1",
    "violated": "#ff8f83",
    "holds": "#4fd0aa",
    "open": "#e8bd55",
    "amber": "#33290f",
    "shade": "#ffffff38",
}

SERIES = ("blue", "orange", "green", "purple", "ochre", "grey")
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down")
FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"


def colour(name: str) -> str:
    """A palette's colour as charts and style sheets name it.

    >>> colour("blue")
    'var(--blue)'
    """
    return f"var(--{name})"


def variables(palette: Mapping[str, str]) -> str:
    """The palette as declarations of a style sheet."""
    return "".join(f"--{name}:{value};" for name, value in palette.items())


def painted(spec: Any, palette: Mapping[str, str] = LIGHT) -> Any:
    """A chart with the palette's colours written in, for programs that know no CSS.

    >>> painted({"mark": {"color": "var(--blue)"}})
    {'mark': {'color': '#0072b2'}}
    """
    if isinstance(spec, Mapping):
        return {key: painted(value, palette) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [painted(value, palette) for value in spec]
    if isinstance(spec, str):
        for name, value in palette.items():
            spec = spec.replace(colour(name), value)
    return spec


def chart_config() -> dict[str, Any]:
    """How all charts look: quiet axes, horizontal grid, legend below, no frame."""
    ink, muted, grid = colour("ink"), colour("muted"), colour("grid")
    text = {"labelColor": muted, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            **text,
            "titleFontWeight": "normal",
            "domainColor": colour("line"),
            "tickColor": colour("line"),
            "gridColor": grid,
            "titlePadding": 8,
        },
        "axisX": {"grid": False},
        "legend": {
            **text,
            "orient": "bottom",
            "columns": 2,
            "title": None,
            "symbolSize": 90,
            "symbolOpacity": 1,
            "labelLimit": 320,
        },
        "text": {"color": ink, "fontSize": 12},
        "rule": {"color": muted},
        "range": {"category": [colour(name) for name in SERIES], "symbol": list(SHAPES)},
    }
