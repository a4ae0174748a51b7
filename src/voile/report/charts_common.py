"""Charts that several tasks share: what ε allows, intervals side by side, bars, frontiers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from voile.core.guarantee import Guarantee
from voile.core.rounding import at_most, exp_upwards, odds_at_most, product_upwards
from voile.report.drawing import altair, base, finished, level, percent, series
from voile.report.model import Chart, Table, finite
from voile.report.theme import colour


def guarantee_chart(guarantee: Guarantee, *, farthest: float) -> Chart:
    """What ε allows: how far one release can move the odds, by how far apart two secrets are."""
    epsilon, delta, unit = guarantee.epsilon, guarantee.delta, guarantee.metric.unit
    noun = guarantee.granularity.removeprefix("one ")
    alt = altair()
    steps = 40
    reach = _odds(epsilon, farthest)
    rows = [(farthest * step / steps, _odds(epsilon, farthest * step / steps))
            for step in range(steps + 1)]  # fmt: skip
    table = Table(
        f"Odds between two {noun}s, at most", (f"distance ({unit})", "odds factor"), tuple(rows)
    )
    records = [{"distance": d, "odds": o} for d, o in rows]
    line = (
        base(records)
        .mark_line(color=colour("blue"), strokeWidth=2.5)
        .encode(
            x=alt.X("distance:Q").title(f"how far apart the two are ({unit})").axis(tickCount=5),
            y=alt.Y("odds:Q")
            .scale(alt.Scale(type="log") if reach > 100 else alt.Scale(zero=False))
            .title("odds change at most, ×")
            .axis(format=".4~r", tickCount=5),
            tooltip=[
                alt.Tooltip("distance:Q", title=unit, format=".3g"),
                alt.Tooltip("odds:Q", title="odds ×", format=".3g"),
            ],
        )
    )
    failing = f", except with probability {delta:g}" if delta else ""
    return finished(
        line,
        name="odds",
        title=f"What ε = {at_most(epsilon, digits=4)} allows",
        alt=(
            f"The line starts at 1 (nothing learned) and grows to {odds_at_most(reach)} for two "
            f"{noun}s {farthest:.4g} {unit} apart: whatever is released, the odds between them "
            f"move no further{failing}."
        ),
        data=table,
        height=240,
    )


def _odds(epsilon: float, distance: float) -> float:
    """What is allowed at a distance, to four digits, rounded up; as far as a chart can show."""
    factor = exp_upwards(min(700.0, product_upwards(epsilon, distance)))
    return float(at_most(factor, digits=4))


def interval_chart(
    rows: Sequence[tuple[str, float, float, float]],
    *,
    name: str,
    title: str,
    alt: str,
    axis: str,
    marks: Mapping[str, float],
    domain: tuple[float, float] | None = None,
    columns: tuple[str, str, str, str] = ("what", "value", "from", "to"),
) -> Chart:
    """A dot and its interval for each row, against named vertical lines (a claim, a ceiling)."""
    library = altair()
    table = Table(title, columns, tuple(rows))
    tops = [r[3] for r in rows if finite(r[3]) is not None] + list(marks.values())
    edge = 1.08 * max([r[1] for r in rows if finite(r[1]) is not None] + tops + [1e-9])
    records = [
        {
            "what": what,
            "value": finite(value),
            "from": finite(low),
            "to": edge if finite(high) is None else high,
            "says": f"{low:.3g} to {high:.3g}".replace("inf", "∞"),
        }
        for what, value, low, high in rows
    ]
    order = [r["what"] for r in records]
    y = library.Y("what:N").sort(order).title(None).axis(labelLimit=170)
    scale = library.Scale(domain=list(domain or (min(0.0, *(r[2] for r in rows)), edge)))
    tips = [
        library.Tooltip("what:N", title=" "),
        library.Tooltip("value:Q", title=columns[1], format=".4g"),
        library.Tooltip("says:N", title="interval"),
    ]
    x = library.X("from:Q").scale(scale).title(axis)
    bars = base(records).mark_rule(color=colour("blue"), strokeWidth=3, opacity=0.55)
    dots = base(records).mark_point(filled=True, size=110, color=colour("blue"), opacity=1)
    figure = bars.encode(x=x, x2="to:Q", y=y, tooltip=tips) + dots.encode(
        x=library.X("value:Q").scale(scale).title(axis), y=y, tooltip=tips
    )
    return finished(
        _marked(figure, marks, ("orange", "green", "purple")),
        name=name,
        title=title,
        alt=alt,
        data=table,
        height=max(70, 46 * len(rows)),
    )


def reach(values: Sequence[object]) -> list[float]:
    """Where an axis begins and ends: with some room, but never where no value can be.

    Not below 0 if no value is negative, and not above 1 if none is larger: shares, probabilities
    and areas under a curve end there.

    >>> [round(edge, 3) for edge in reach([0.02, 0.98])], reach([2.0, 4.0])
    ([0.0, 1.0], [1.84, 4.16])
    """
    found = [float(v) for v in values if isinstance(v, int | float) and math.isfinite(v)] or [0.0]
    low, high = min(found), max(found)
    room = 0.08 * (high - low) or 0.08 * abs(high) or 0.1
    begin = max(0.0, low - room) if low >= 0 else low - room
    end = min(1.0, high + room) if high <= 1 else high + room
    return [begin, end]


def bar_chart(
    rows: Sequence[tuple[str, float]],
    *,
    name: str,
    title: str,
    alt: str,
    axis: str,
    columns: tuple[str, str],
    mark: tuple[str, float] | None = None,
    strong: str | None = None,
    shares: bool = False,
) -> Chart:
    """Horizontal bars with their numbers; one of them may stand out, a named line may cross."""
    library = altair()
    table = Table(title, columns, tuple(rows))
    records = [
        {
            "what": what,
            "value": value,
            "shown": percent(value) if shares else f"{value:.4g}",
            "tone": "this" if what == strong else "other",
        }
        for what, value in rows
    ]
    top = max([value for _, value in rows] + ([mark[1]] if mark else []) + [1e-12])
    edge = 1.0 if shares and top > 0.4 else 1.3 * top
    scale = library.Scale(domain=[0, edge])
    y = library.Y("what:N").sort([r["what"] for r in records]).title(None).axis(labelLimit=170)
    marked = {"values": [0, 0.25, 0.5, 0.75, 1]} if shares and edge == 1 else {"tickCount": 5}
    x = (
        library.X("value:Q")
        .scale(scale)
        .title(axis)
        .axis(format="~%" if shares else ".4~r", **marked)
    )
    tone = (
        library.when("datum.tone === 'this'")
        .then(library.value(colour("orange")))
        .otherwise(library.value(colour("blue")))
    )
    bars = base(records).mark_bar(height={"band": 0.62}).encode(x=x, y=y, color=tone)
    long = [value > 0.8 * edge for _, value in rows]
    outside = base([r for r, is_long in zip(records, long, strict=True) if not is_long])
    inside = base([r for r, is_long in zip(records, long, strict=True) if is_long])
    figure = (
        bars
        + outside.mark_text(align="left", dx=6).encode(x=x, y=y, text="shown:N")
        + inside.mark_text(align="right", dx=-8, color=colour("paper")).encode(
            x=x, y=y, text="shown:N"
        )
    )
    figure = _marked(figure, dict([mark] if mark else []), ("green",))
    return finished(
        figure, name=name, title=title, alt=alt, data=table, height=max(60, 34 * len(rows))
    )


def _marked(figure: Any, marks: Mapping[str, float], tones: Sequence[str]) -> Any:
    """A figure crossed by named vertical lines, each in its tone."""
    if not marks:
        return figure
    lines = [{"place": value, "says": text} for text, value in marks.items()]
    signs = altair().Color("says:N").scale(domain=list(marks), range=list(map(colour, tones)))
    rule = base(lines).mark_rule(strokeDash=[5, 4], strokeWidth=2)
    return figure + rule.encode(x="place:Q", color=signs, tooltip=["says:N"])


def frontier_chart(
    table: Table,
    *,
    name: str,
    title: str,
    alt: str,
    x: str,
    y: str,
    group: str | None,
    beside: str | None = None,
    chosen: tuple[float, float] | None = None,
    levels: Sequence[tuple[float, str]] = (),
    axes: tuple[str, str] = ("", ""),
    errors: tuple[str, str] | None = None,
) -> Chart:
    """Two prices against each other, a line a mechanism, `beside` written at each point.

    `errors` are the columns of their standard errors: bars reach two of them each way.
    """
    library = altair()
    records = [dict(row) for row in table.records()]
    tips = [library.Tooltip(library.FieldName(c), title=c, format=".4g")
            if all(not isinstance(r[c], str) for r in records)
            else library.Tooltip(library.FieldName(c), type="nominal", title=c)
            for c in table.columns]  # fmt: skip
    across = [r[x] for r in records] + ([chosen[0]] if chosen else [])
    up = [r[y] for r in records] + ([chosen[1]] if chosen else []) + [value for value, _ in levels]
    where = {
        "x": library.X(x, type="quantitative").scale(domain=reach(across)).title(axes[0] or x),
        "y": library.Y(y, type="quantitative").scale(domain=reach(up)).title(axes[1] or y),
    }
    drawn = base(records)
    if group is not None:
        names = list(dict.fromkeys(str(r[group]) for r in records))
        tint, sign = series(group, names)
        picked = library.selection_point(fields=[group], bind="legend")
        fade = library.when(picked).then(library.value(1)).otherwise(library.value(0.18))
        lines = drawn.mark_line(strokeWidth=1.5).encode(
            **where, color=tint, opacity=fade, order=library.Order(x, type="quantitative")
        )
        dots = drawn.mark_point(filled=True, size=80).encode(
            **where, color=tint, shape=sign, opacity=fade, tooltip=tips
        )
        figure = lines + dots.add_params(picked)
    else:
        figure = drawn.mark_point(filled=True, size=80, color=colour("blue"), opacity=1).encode(
            **where, tooltip=tips
        )
    if errors is not None:
        figure = (
            figure
            + _bars(records, where, x, errors[0], "x")
            + _bars(records, where, y, errors[1], "y")
        )
    if beside is not None:
        words = drawn.mark_text(dy=-11, fontSize=11, color=colour("muted"))
        figure = figure + words.encode(**where, text=library.Text(beside, type="quantitative"))
    if chosen is not None:
        star = [{x: chosen[0], y: chosen[1], "says": "chosen"}]
        ring = base(star).mark_point(size=420, strokeWidth=2.5, color=colour("ink"), filled=False)
        words = base(star).mark_text(dy=22, fontWeight="bold", color=colour("ink"))
        figure = figure + ring.encode(**where) + words.encode(**where, text="says:N")
    for value, text in levels:
        figure = figure + level(value, text)
    return finished(figure, name=name, title=title, alt=alt, data=table, height=340)


def _bars(
    records: list[dict[str, Any]], where: dict[str, Any], of: str, error: str, way: str
) -> Any:
    """Two standard errors each way along one axis."""
    library = altair()
    low, high = f"{of} from", f"{of} to"
    spread = [{**r, low: r[of] - 2 * r[error], high: r[of] + 2 * r[error]} for r in records]
    along = type(where[way])(low, type="quantitative").title(
        where[way].to_dict().get("title") or of
    )
    ends = {"x2": library.X2(high)} if way == "x" else {"y2": library.Y2(high)}
    rule = base(spread).mark_rule(color=colour("muted"), strokeWidth=1)
    return rule.encode(**(where | {way: along}), **ends)
