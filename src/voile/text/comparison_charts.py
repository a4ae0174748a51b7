"""Charts of a comparison: empirical against nominal epsilon, with intervals and ceiling."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from voile.core.rounding import at_least, at_most
from voile.report.charts_common import frontier_chart
from voile.report.drawing import altair, base, finished, level, series
from voile.report.model import Chart, Table, finite
from voile.text.comparison import Cell, Chosen, Shown

STRONGEST = "strongest"
Nominal = Literal["epsilon", "text_epsilon"]
Row = tuple[str, float, str, float, float, float]


def comparison_charts(
    cells: Sequence[Cell], *, chosen: Chosen | None = None, each_attack: bool = False
) -> list[Chart]:
    """All charts of a comparison, those without anything to show left out.

    `calibration`: empirical against nominal ε, by the strongest attack, and with `each_attack` the
    same for each; `frontier`: use against empirical ε, where use was measured; `converted`: with
    nominal ε of a whole text. A mechanism without an ε stands on the frontier alone.
    """
    charts = _calibrations(cells, each_attack)
    for use in ("f1", "similarity"):
        if any(getattr(cell, use) is not None for cell in cells):
            charts.append(use_chart(cells, use=use, chosen=chosen))
            break
    counted = [cell for cell in cells if _can_be_drawn(cell.text_epsilon)]
    if counted:
        charts.append(calibration_chart(counted, x="text_epsilon", name="converted"))
    return charts


def _calibrations(cells: Sequence[Cell], each_attack: bool) -> list[Chart]:
    nominal = [cell for cell in cells if _can_be_drawn(cell.epsilon)]
    attacks = list(dict.fromkeys(s.attack for cell in nominal for s in cell.shown))
    if not nominal:
        return []
    charts = [calibration_chart(nominal)]
    among = list(dict.fromkeys(cell.mechanism for cell in nominal))
    for attack in attacks if each_attack and len(attacks) > 1 else ():
        only = [replace(cell, shown=(found,)) for cell in nominal if (found := cell.by(attack))]
        name = re.sub(r"[^a-z0-9]+", "-", attack.lower()).strip("-")
        charts.append(calibration_chart(only, name=f"calibration-{name}", among=among))
    return charts


def _can_be_drawn(epsilon: float | None) -> bool:
    """Whether it has a place on an axis of logarithms."""
    return epsilon is not None and 0 < epsilon < math.inf


def calibration_chart(
    cells: Sequence[Cell],
    *,
    x: Nominal = "epsilon",
    name: str = "calibration",
    among: Sequence[str] | None = None,
) -> Chart:
    """Empirical ε of one text against nominal ε: a line a mechanism, its interval as a band.

    `x` is "epsilon" (of the mechanism's own unit) or "text_epsilon" (times the units of a text).
    A menu picks one attack; at first the strongest of each point is shown. `among` are all
    mechanisms of a set of charts, so that each looks alike in all of them.
    """
    alt = altair()
    names = list(dict.fromkeys(cell.mechanism for cell in cells))
    attacks = list(dict.fromkeys(s.attack for cell in cells for s in cell.shown))
    top = max(s.ceiling for cell in cells for s in cell.shown)
    rows: list[Row] = []
    for cell in cells:
        rows += [_row(cell, s, s.attack, x) for s in cell.shown]
        rows.append(_row(cell, cell.worst, STRONGEST, x))
    table = Table(
        "Empirical against nominal epsilon",
        ("mechanism", "nominal ε", "attack", "ε_emp at least", "this attack at most", "ceiling"),
        tuple(rows),
    )
    records = [
        {"mechanism": r[0], "nominal": r[1], "attack": r[2], "low": r[3],
         "high": min(1.08 * top, 1.08 * top if finite(r[4]) is None else r[4])}
        for r in rows
    ]  # fmt: skip
    options = [STRONGEST, *attacks]
    picked = alt.param(
        name=f"attack_{x}",
        value=STRONGEST,
        bind=alt.binding_select(options=options, name="Attack: "),
    )
    tint, sign = series("mechanism", names, among=among)
    places = sorted({r[1] for r in rows})
    ticks = places if len(places) <= 8 else None
    axis = alt.Axis(values=ticks, format=".4~r") if ticks else alt.Axis(format=".4~r", tickCount=6)
    across = alt.X("nominal:Q").scale(type="log", nice=False, padding=14).axis(axis).title(
        "nominal ε (of its own unit)" if x == "epsilon" else "nominal ε × units of a text"
    )  # fmt: skip
    up = alt.Y("low:Q").scale(domain=[0, 1.1 * top]).title("empirical ε of one text, at least")
    tips = [
        "mechanism:N",
        alt.Tooltip("nominal:Q", format=".3g"),
        alt.Tooltip("low:Q", title="ε_emp at least", format=".3f"),
        alt.Tooltip("high:Q", title="at most", format=".3f"),
    ]
    shown = base(records).transform_filter(f"datum.attack === attack_{x}")
    figure = (
        shown.mark_area(opacity=0.13)
        .encode(x=across, y=up, y2="high:Q", color=tint)
        .add_params(picked)
        + shown.mark_line(strokeWidth=2).encode(x=across, y=up, color=tint)
        + shown.mark_point(filled=True, size=80, opacity=1).encode(
            x=across, y=up, color=tint, shape=sign, tooltip=tips
        )
        + level(top, f"ceiling {at_most(top)}", tone="ink")
    )  # fmt: skip
    highest = max((r for r in rows if r[2] == STRONGEST), key=lambda r: r[3])
    return finished(
        figure,
        name=name,
        title=(
            "What each epsilon is worth in practice"
            if x == "epsilon"
            else "The same, with nominal ε converted to a whole text"
        ),
        alt=(
            f"Each line gives the ε that an attack showed at least; its band reaches up to what "
            f"that attack can show at most, and nothing can pass the ceiling at {at_most(top)}. "
            f"Highest: {highest[0]} at nominal {highest[1]:g}, at least {at_least(highest[3])}."
        ),
        data=table,
        height=340,
    )


def use_chart(cells: Sequence[Cell], *, use: str, chosen: Chosen | None) -> Chart:
    """The frontier: use against what the strongest attack shows, the chosen point ringed.

    `use` is the column "f1" or "similarity".
    """
    says = {"f1": "F1 on clean texts", "similarity": "similarity of meaning"}[use]
    useful = [cell for cell in cells if getattr(cell, use) is not None]
    points = {cell.called: (cell.worst.at_least, float(getattr(cell, use))) for cell in useful}
    order = list(dict.fromkeys(cell.mechanism for cell in useful))
    useful.sort(key=lambda cell: (order.index(cell.mechanism), cell.epsilon or 0.0))
    rows = [(cell.mechanism, cell.epsilon, *points[cell.called]) for cell in useful]
    ring = next(
        (points[cell.called] for cell in useful if Chosen(cell.mechanism, cell.epsilon) == chosen),
        None,
    )
    table = Table(
        f"{says} against empirical ε", ("mechanism", "ε", "ε_emp at least", says), tuple(rows)
    )
    best = max(useful, key=lambda cell: points[cell.called][1])
    return frontier_chart(
        table,
        name="frontier",
        title="Use against distinguishability",
        alt=(
            f"Left and up is better: {says} against the ε that the strongest attack shows. Most "
            f"useful: {best.called} ({points[best.called][1]:.3f})."
            + (" The ring marks the answer." if ring else "")
        ),
        x="ε_emp at least",
        y=says,
        group="mechanism",
        beside="ε",
        chosen=ring,
        axes=("empirical ε of one text, strongest attack", says),
    )


def _row(cell: Cell, s: Shown, attack: str, x: Nominal) -> Row:
    nominal = cell.epsilon if x == "epsilon" else cell.text_epsilon
    assert nominal is not None
    return (cell.mechanism, nominal, attack, s.at_least, max(s.upper, s.sure), s.ceiling)
