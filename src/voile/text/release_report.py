"""The report of a released text column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.audit.finding import Verdict
from voile.core.rounding import at_most
from voile.report.charts_common import bar_chart, odds_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Provenance, Report, Table, Value
from voile.report.words import COUNTS, columns_in_clear, ground, sentence


def protect_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """What was promised for a released text column (`voile text protect`).

    Every figure is one of the facts that the terminal and the guarantee file show.
    """
    basis = str(facts["basis"])
    columns = columns_in_clear(facts["passed_in_clear"], facts["looks_like_identifiers"])
    clear = bool(columns or facts["clear_by_choice"])
    levels = [row for row in facts["levels"] if row["epsilon"] is not None]
    weakest = max(levels, key=lambda row: float(row["epsilon"]), default=None)
    charts = [] if weakest is None else [*_kept_charts(weakest), *_odds_charts(facts, weakest)]
    tables = [_text_levels(facts), _text_settings(facts)]
    if weakest is not None and weakest.get("watched"):
        tables.append(_watched(facts))
    if "rows" in facts:
        tables.append(_text_counts(facts))
        charts.append(_document_chart(facts))
    return Report(
        title="A release of text",
        answer=" ".join(
            [*facts["in_brief"], *([] if "rows" in facts else ["Nothing is written yet."])]
        ),
        verdict=Verdict.OPEN if basis == "claimed" or clear else Verdict.HOLDS,
        because=(f"Part of what is released stands in clear. {ground(basis)}" if clear
                 else ground(basis)),
        guarantee=tuple(
            line for line in facts["explanation"].splitlines() if not line.startswith("Not covered")
        ),
        not_protected=(
            *((columns,) if columns else ()),
            *(sentence(item) for item in facts["outside"]),
            "A document as a whole: its words spend ε one by one, and together as much as the "
            "chart of documents shows.",
            *((COUNTS,) if "rows" in facts else ()),
        ),
        provenance=provenance,
        tables=tuple(tables),
        draw=lambda: tuple(charts),
        terms=("epsilon", "odds", basis, "mechanism", "release", "attacker", "secure", "seeded"),
    )  # fmt: skip


def _odds_charts(facts: Mapping[str, Any], weakest: Mapping[str, Any]) -> list[Chart]:
    """As far as the nearest word typically is, and no further."""
    farthest = facts["nearest"]["median"]
    if not farthest:
        return []
    noun, epsilon = facts["granularity"].removeprefix("one "), float(weakest["epsilon"])
    return [odds_chart(epsilon=epsilon, unit=facts["unit"], noun=noun, farthest=farthest)]


def _kept_charts(weakest: Mapping[str, Any]) -> list[Chart]:
    expected = weakest.get("expected") or {}
    if "attacker" not in expected:
        return []
    before, after = expected["attacker_without"], expected["attacker"]
    rows = [("a word is kept", float(expected["kept"]))]
    rows += [
        (f"{kind['most'][0][0]} ({kind['class']}) is kept", float(kind["most"][0][1]))
        for kind in weakest.get("watched") or ()
        if kind["most"]
    ]
    rows += [("best attacker names it", float(after)), ("… without the release", float(before))]
    return [
        bar_chart(
            rows,
            name="kept",
            title=f"What ε = {at_most(weakest['epsilon'], digits=4)} does to {weakest['title']}",
            alt=(
                f"By public word frequencies, a word is kept {percent(expected['kept'])} of the "
                f"time. The best attacker among the {expected['candidates']:,} most frequent words "
                f"names the right one {percent(after)} of the time, and {percent(before)} without "
                "any release. Between them, the watched word of each class that is kept most."
            ),
            axis="share of words",
            columns=("what", "share"),
            shares=True,
        )
    ]


def _text_levels(facts: Mapping[str, Any]) -> Table:
    """Each level's law and, after a release, what was drawn and what came out changed."""
    rows: list[tuple[Value, ...]] = []
    for row in facts["levels"]:
        each = "in clear" if row["released"] == "in clear" else row["epsilon"]
        if each is None:
            each = "by length"
        kept = (row.get("expected") or {}).get("kept")
        clear = (facts.get("in_clear") or {}).get(row["name"], 0)
        rows.append((row["title"], each, row.get("drawn"), row.get("changed"), clear, kept))
    for why, number in (facts.get("in_clear") or {}).items():
        if why not in {row["name"] for row in facts["levels"]}:
            rows.append((why, "in clear", None, None, number, None))
    return Table(
        "What each word was promised",
        ("words", "ε of each", "drawn", "changed", "in clear", "share kept, expected"),
        tuple(rows),
    )


def _watched(facts: Mapping[str, Any]) -> Table:
    return Table(
        "The watched words that are kept most, by the law",
        ("level", "class", "word", "probability to be kept"),
        tuple(
            (row["title"], kind["class"], word, chance)
            for row in facts["levels"]
            for kind in row.get("watched") or ()
            for word, chance in kind["most"]
        ),
    )


def _document_chart(facts: Mapping[str, Any]) -> Chart:
    names = {"median": "half of them", "nine_in_ten": "nine in ten", "largest": "all"}
    budget = {
        key: float(at_most(value, digits=4)) for key, value in facts["epsilon_per_document"].items()
    }
    return bar_chart(
        [(f"{text}, at most", float(budget[key])) for key, text in names.items()],
        name="documents",
        title="What a whole document spends",
        alt=(
            f"The epsilons of a document's words together: at most {budget['median']:.4g} for half "
            f"of the documents, {budget['nine_in_ten']:.4g} for nine in ten, "
            f"{budget['largest']:.4g} for all."
        ),
        axis="ε of one document",
        columns=("documents", "ε"),
    )


def _text_settings(facts: Mapping[str, Any]) -> Table:
    words = facts["vocabulary"]
    rows: list[tuple[str, Value]] = [
        ("mechanism", str(facts["mechanism"])),
        ("distance", str(facts["metric"])),
        ("vocabulary", f"{words['name']}, {words['words']:,} words"),
        ("randomness", str(facts["randomness"])),
        ("columns in clear", ", ".join(facts["passed_in_clear"]) or "none"),
        ("columns left out", ", ".join(facts["dropped"]) or "none"),
    ]
    return Table("How words were drawn", ("what", "value"), tuple(rows))


def _text_counts(facts: Mapping[str, Any]) -> Table:
    return Table(
        "What was released",
        ("what", "value"),
        tuple(
            (name, int(facts[key]))
            for name, key in (
                ("documents", "rows"),
                ("words", "words"),
                ("words drawn", "drawn"),
                ("words changed", "changed"),
                ("bad rows skipped", "skipped"),
                ("bad rows masked", "masked"),
            )
        ),
    )
