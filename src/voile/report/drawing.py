"""What the charts are drawn with: Altair, inline data, and a few marks that recur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.errors import needs
from voile.report.model import Chart, Table
from voile.report.theme import SERIES, SHAPES, colour

HEIGHT = 300


def altair() -> Any:
    """The charting library, loaded when a chart is drawn."""
    with needs("altair", extra="report"):
        import altair
    return altair


def inline(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as data that travel with the chart."""
    return altair().Data(values=list(rows))


def base(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A chart of these rows, without marks yet."""
    return altair().Chart(inline(rows))


def named(name: str) -> Any:
    """A chart of rows that `finished` is given under this name.

    Altair checks every value of inline data against its schema, which takes seconds for a city's
    streets; rows that are added afterwards are not checked.
    """
    library = altair()
    return library.Chart(library.NamedData(name))


def finished(
    figure: Any,
    *,
    name: str,
    title: str,
    alt: str,
    data: Table,
    height: int = HEIGHT,
    ratio: float | None = None,
    large: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> Chart:
    """The chart with its words; `alt` is also what a screen reader hears.

    A map's `ratio` of height to width lets a narrow page keep its shape.
    """
    spec = figure.properties(description=alt, height=height).to_dict()
    if ratio is not None:
        spec["usermeta"] = {"ratio": ratio}
    if large:
        spec["datasets"] = {**spec.get("datasets", {}), **large}
    return Chart(name, title, alt, spec, data)


def series(
    field: str,
    names: Sequence[str],
    *,
    title: str | None = None,
    among: Sequence[str] | None = None,
) -> tuple[Any, Any]:
    """Colour and shape by one column: two signs, so that neither is needed alone.

    With `among`, a name looks as it does in a chart of all of those.
    """
    alt = altair()
    count = len(names)
    places = [(among or names).index(name) for name in names]
    colours = [colour(SERIES[k % len(SERIES)]) for k in places]
    # the second time round the colours repeat, the shapes are shifted by one
    shapes = [SHAPES[(k + k // len(SERIES)) % len(SHAPES)] for k in places]
    legend = alt.Legend(title=title, columns=min(count, 2))
    return (
        alt.Color(field, type="nominal", legend=legend).scale(domain=list(names), range=colours),
        alt.Shape(field, type="nominal", legend=legend).scale(domain=list(names), range=shapes),
    )


def level(value: float, text: str, *, tone: str = "muted", side: str = "left") -> Any:
    """A dashed horizontal line with its name on it."""
    alt = altair()
    rows = [{"level": value, "says": text}]
    line = base(rows).mark_rule(strokeDash=[5, 4], color=colour(tone)).encode(y="level:Q")
    at = alt.value(4) if side == "left" else alt.value("width")
    words = (
        base(rows)
        .mark_text(
            align="left" if side == "left" else "right", dy=-7, color=colour(tone), fontSize=12
        )
        .encode(x=at, y="level:Q", text="says:N")
    )
    return line + words


def percent(share: float) -> str:
    """A share for a reader.

    >>> percent(0.05), percent(0.00012), percent(0.9996)
    ('5 %', '0.012 %', '99.96 %')
    """
    return f"{100 * share:.3g} %" if share < 0.995 else f"{100 * share:.4g} %"
