"""Charts of text: how often leakage exceeds ε, how the rounds of an adaptation went."""

from __future__ import annotations

from collections.abc import Sequence

from voile.adapt.levels import Round
from voile.leakage.posterior import Exceedance
from voile.report.drawing import altair, base, finished, level, percent, series
from voile.report.model import Chart, Table
from voile.report.theme import colour
from voile.text.audit_result import Tested


def exceedance_chart(
    curve: Sequence[Exceedance], findings: Sequence[Tested], *, delta: float
) -> Chart:
    """The distribution of posterior leakage as the share of triples above each value.

    A claim Pr[leakage > ε] ≤ δ is a point of this picture: it is broken where the curve passes
    above it.
    """
    alt = altair()
    floor = min([point.share for point in curve if point.share > 0] + [delta]) / 2
    records = [{"leakage": p.leakage, "share": max(floor, p.share)} for p in curve]
    scale = alt.Scale(type="log", domain=[floor, 1.0], clamp=True)
    y = alt.Y("share:Q").scale(scale).title("share of triples above it").axis(
        format="~%", tickCount=5
    )  # fmt: skip
    x = alt.X("leakage:Q").title("posterior leakage").scale(nice=True)
    tips = [
        alt.Tooltip("leakage:Q", title="leakage over", format=".3g"),
        alt.Tooltip("share:Q", title="share", format=".3%"),
    ]
    area = base(records).mark_area(color=colour("blue"), opacity=0.15, line=False)
    line = base(records).mark_line(color=colour("blue"), strokeWidth=2.5)
    points = [
        {
            "leakage": f.epsilon,
            "share": max(floor, f.share),
            "lower": max(floor, f.lower),
            "upper": max(floor, f.upper),
            "verdict": f.verdict.value,
        }
        for f in findings
    ]
    verdicts = [v for v in ("violated", "open") if v in {f.verdict for f in findings}]
    tone = alt.Color("verdict:N").scale(
        domain=verdicts, range=[colour("orange" if v == "violated" else "green") for v in verdicts]
    )
    spread = base(points).mark_rule(strokeWidth=3).encode(
        x=x, y=alt.Y("lower:Q").scale(scale), y2="upper:Q", color=tone
    )  # fmt: skip
    dots = base(points).mark_point(filled=True, size=120, opacity=1).encode(
        x=x, y=y, color=tone, tooltip=[*tips, "verdict:N"]
    )  # fmt: skip
    figure = (
        area.encode(x=x, y=y, y2=alt.value("height"))
        + line.encode(x=x, y=y, tooltip=tips)
        + spread
        + dots
        + level(delta, f"allowed: δ = {percent(delta)}", tone="ink", side="right")
    )
    rows = tuple((point.leakage, point.share) for point in curve)
    asked = ", ".join(f"{percent(f.share)} above {f.epsilon:g}" for f in findings)
    return finished(
        figure,
        name="leakage",
        title="How often the odds move further than ε",
        alt=(
            f"The curve gives the share of (pair of words, release) triples whose leakage exceeds "
            f"each value: {asked}. Dots with their intervals stand at the epsilons that were "
            f"asked; a claim is broken where a whole interval lies above the dashed line."
        ),
        data=Table("Share of triples above each leakage", ("leakage", "share above"), rows),
    )


def rounds_chart(rounds: Sequence[Round], *, target: float, chosen: int, nothing: float) -> Chart:
    """What each round of an adaptation (AmPL) found and cost, in the order they were tried.

    `chosen` is 0 where none of them was; `nothing` is what releasing nothing costs.
    """
    alt = altair()
    rows = [
        (number, *r.strengths, r.violation, r.utility_loss, r.loss)
        for number, r in enumerate(rounds, start=1)
    ]
    table = Table(
        "Rounds of the adaptation",
        ("round", "strength of names", "strength near names", "violations", "utility loss", "loss"),
        tuple(rows),
    )
    long = [
        {"round": r[0], "what": what, "value": r[k]}
        for r in rows
        for k, what in ((3, "violations"), (4, "utility loss"))
    ]
    tint, sign = series("what", ["violations", "utility loss"])
    x = (
        alt.X("round:Q")
        .scale(domain=[0.5, len(rows) + 0.5], nice=False)
        .title("round")
        .axis(tickMinStep=1, format="d")
    )
    y = alt.Y("value:Q").scale(zero=True).title("share, or loss").axis(format=".4~r")
    tips = ["round:Q", "what:N", alt.Tooltip("value:Q", format=".4g")]
    star = [{"round": chosen}] if chosen else []
    figure = (
        base(star).mark_rule(strokeWidth=18, opacity=0.16, color=colour("green")).encode(x=x)
        + base(long).mark_line(strokeWidth=2).encode(x=x, y=y, color=tint)
        + base(long)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(x=x, y=y, color=tint, shape=sign, tooltip=tips)
        + level(target, f"violations allowed: {percent(target)}", tone="ink", side="right")
        + level(nothing, f"loss of releasing nothing: {nothing:.3g}", tone="muted", side="left")
    )
    best = rows[chosen - 1]
    which = (
        f"round {chosen} (shaded) was chosen, with violations of {percent(best[3])} and a utility "
        f"loss of {best[4]:.4g}"
        if chosen
        else "none of them was chosen, but strengths lowered together"
    )
    return finished(
        figure,
        name="rounds",
        title="What each round found and cost",
        alt=(
            f"{len(rows)} rounds; {which}. Violations must come below their dashed line, the loss "
            f"below {nothing:.3g}, which releasing nothing costs."
        ),
        data=table,
    )
