"""Charts of labels: what ε announces, what the features add, and what a belief can become."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from voile.audit.label_features import FeatureShare
from voile.core.rounding import percent_at_most
from voile.report.drawing import altair, base, finished, percent, series
from voile.report.model import Chart, Table
from voile.report.theme import colour

if TYPE_CHECKING:
    from voile.labels.audited import LeakageAtEpsilon

ANNOUNCED, UNEXPECTED = "announced by ε", "unexpected, from the features"
ALONE = "features alone (dashed)"


def label_leakage_chart(rows: Sequence[LeakageAtEpsilon]) -> Chart:
    """How often a label is guessed: the part that ε announces, and the part that it does not."""
    alt = altair()
    ordered = sorted(rows, key=lambda row: row.epsilon)
    table = Table(
        "How often the label is guessed",
        ("ε", ANNOUNCED, "in fact", "at least", "at most", "features alone"),
        tuple(
            (
                row.epsilon,
                row.expected,
                row.total.value,
                row.total.lower,
                row.total.upper,
                row.features_alone,
            )
            for row in ordered
        ),
    )
    order = [f"{row.epsilon:g}" for row in ordered]
    parts, spreads = [], []
    for row, name in zip(ordered, order, strict=True):
        total = row.total
        middle = min(row.expected, total.value)
        parts.append({"e": name, "part": ANNOUNCED, "from": 0.0, "to": middle})
        parts.append({"e": name, "part": UNEXPECTED, "from": middle, "to": total.value})
        says = percent(total.value)
        spreads.append({"e": name, "low": total.lower, "high": total.upper, "says": says})
    tint = alt.Color("part:N").scale(
        domain=[ANNOUNCED, UNEXPECTED, ALONE], range=[colour(c) for c in ("blue", "orange", "ink")]
    )
    x = alt.X("e:N").sort(order).title("ε of the label").axis(labelAngle=0)
    scale = alt.Scale(domain=[0, 1])
    y = alt.Y("from:Q").scale(scale).title("label guessed").axis(format="%")
    tips = ["e:N", "part:N", alt.Tooltip("to:Q", title="up to", format=".1%")]
    alone = ordered[0].features_alone
    line = [{"level": alone, "part": ALONE}]
    figure = (
        base(parts)
        .mark_bar(width={"band": 0.6})
        .encode(x=x, y=y, y2="to:Q", color=tint, tooltip=tips)
        + base(spreads).mark_rule(strokeWidth=2, color=colour("ink")).encode(
            x=x, y=alt.Y("low:Q").scale(scale), y2="high:Q"
        )
        + base(spreads).mark_text(dy=-9).encode(x=x, y=alt.Y("high:Q").scale(scale), text="says:N")
        + base(line).mark_rule(strokeDash=[5, 4], strokeWidth=2).encode(y="level:Q", color=tint)
    )  # fmt: skip
    worst = max(ordered, key=lambda row: row.total.value - row.expected)
    return finished(
        figure,
        name="label-leakage",
        title="What ε announces, and what the features add",
        alt=(
            f"For each ε, how often the label is guessed. At ε = {worst.epsilon:g} it is "
            f"announced to be {percent(worst.expected)} and is in fact "
            f"{percent(worst.total.value)}; features alone, without any release of the "
            f"label, give {percent(alone)}."
        ),
        data=table,
    )


def feature_chart(shares: Sequence[FeatureShare], *, most: int = 12) -> Chart:
    """Which features carry the label: nats said by one alone, and lost without it."""
    alt = altair()
    chosen = list(shares)[:most]
    kinds = ("said by itself", "lost without it")
    table = Table(
        "What each feature gives away, in nats",
        ("feature", *kinds),
        tuple((s.name, s.nats, s.lost) for s in chosen),
    )
    records = [
        {"feature": s.name, "what": what, "value": max(0.0, value)}
        for s in chosen
        for what, value in ((kinds[0], s.nats), (kinds[1], s.lost))
        if value is not None
    ]
    tint, sign = series("what", kinds)
    y = alt.Y("feature:N").sort([s.name for s in chosen]).title(None).axis(labelLimit=150)
    tips = ["feature:N", "what:N", alt.Tooltip("value:Q", format=".3f")]
    x = alt.X("value:Q").title("nats about the label").axis(tickCount=5)
    figure = base(records).mark_point(filled=True, size=90, opacity=1).encode(
        x=x, y=y, color=tint, shape=sign, tooltip=tips
    )  # fmt: skip
    top = chosen[0]
    return finished(
        figure,
        name="features",
        title="Which features carry the label",
        alt=(
            "Nats about the label: what a feature says by itself, and what all of them lose when "
            f"it is shuffled among records. The first is {top.name}."
        ),
        data=table,
        height=max(90, 30 * len(chosen)),
    )


def belief_chart(*, epsilon: float, noun: str, distance: float = 1.0, unit: str = "") -> Chart:
    """What a belief can become: p before, at most p·E/(p·E + 1 − p) after, E = e^(ε·d)."""
    alt = altair()
    grown = math.exp(min(700.0, epsilon * distance))
    rows = []
    for step in range(51):
        before = step / 50
        after = before * grown / (before * grown + 1 - before)
        rows.append((before, before / (before + grown * (1 - before)), after))
    table = Table(
        "What a belief can become", ("before", "at least after", "at most after"), tuple(rows)
    )
    records = [{"before": b, "low": low, "high": high} for b, low, high in rows]
    x = alt.X("before:Q").title("believed before the release").axis(format="%", tickCount=5)
    share = alt.Scale(domain=[0, 1])
    y = alt.Y("low:Q").scale(share).title("can be believed after it").axis(format="%", tickCount=5)
    tips = [
        alt.Tooltip("before:Q", format=".0%"),
        alt.Tooltip("low:Q", title="after, at least", format=".1%"),
        alt.Tooltip("high:Q", title="after, at most", format=".1%"),
    ]
    figure = (
        base(records).mark_area(color=colour("blue"), opacity=0.18).encode(x=x, y=y, y2="high:Q")
        + base(records).mark_line(color=colour("blue")).encode(
            x=x, y=alt.Y("high:Q").scale(share), tooltip=tips
        )
        + base(records).mark_line(color=colour("blue")).encode(
            x=x, y=alt.Y("low:Q").scale(share), tooltip=tips
        )
        + base(records).mark_line(color=colour("muted"), strokeDash=[5, 4]).encode(
            x=x, y=alt.Y("before:Q").scale(share)
        )
    )  # fmt: skip
    half = grown / (grown + 1)
    far = f" {distance:g} {unit} apart" if unit else ""
    return finished(
        figure,
        name="belief",
        title=f"What ε = {epsilon:.4g} lets somebody believe",
        alt=(
            f"Between two {noun}s{far}: a belief on the dashed line before the release ends within "
            f"the band after it, whatever is released. Half-sure becomes at most "
            f"{percent_at_most(half)} sure."
        ),
        data=table,
        height=280,
    )
