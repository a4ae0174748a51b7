"""The report of a released text column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.audit.finding import Verdict
from voile.report.charts_common import bar_chart, odds_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Provenance, Report, Table, Value
from voile.report.words import COUNTS, columns_in_clear, counted, ground, sentence


def protect_report(facts: Mapping[str, Any], *, provenance: Provenance) -> Report:
    """What was promised for a released text column (`voile text protect`)."""
    epsilon, unit, basis = facts["epsilon_per_word"], facts["unit"], str(facts["basis"])
    each = facts["granularity"]
    expected = facts["expected"]
    if "rows" in facts:
        share = facts["changed"] / max(1, facts["words"])
        done = (
            f"{counted(int(facts['words']), 'word')} in {counted(int(facts['rows']), 'document')} "
            f"were replaced by draws, {percent(share)} of them by another word"
        )
    else:
        done = "Nothing is written yet"
    if epsilon is None:
        promise = f"each document spends ε = {facts['document_epsilon']:g} in all"
    else:
        promise = f"ε = {epsilon:.4g} per {unit} for {each}"
    charts = _kept_charts(expected)
    if epsilon is not None:
        charts.append(
            odds_chart(epsilon=epsilon, unit=unit, noun=each.removeprefix("one "), farthest=2.0)
        )
    tables = [_text_settings(facts)]
    if "rows" in facts:
        tables.append(_text_counts(facts))
        charts.append(_document_chart(facts))
    clear = columns_in_clear(facts)
    return Report(
        title="A release of text",
        answer=f"{clear} {done}: {promise} ({basis}).".strip(),
        verdict=Verdict.OPEN if basis == "claimed" or clear else Verdict.HOLDS,
        because=ground(basis),
        guarantee=tuple(
            line for line in facts["explanation"].splitlines() if not line.startswith("Not covered")
        ),
        not_protected=(
            *((clear,) if clear else ()),
            *(sentence(item) for item in facts["outside"]),
            "A document as a whole: its words spend ε one by one, and together as much as the "
            "chart of documents shows.",
            *((COUNTS,) if "rows" in facts else ()),
        ),
        provenance=provenance,
        tables=tuple(tables),
        charts=tuple(charts),
        terms=("epsilon", "odds", basis, "mechanism", "release", "attacker", "secure", "seeded"),
    )


def _kept_charts(expected: Mapping[str, Any]) -> list[Chart]:
    if "attacker" not in expected:
        return []
    before, after = expected["attacker_without"], expected["attacker"]
    return [
        bar_chart(
            [
                ("word is kept", float(expected["kept"])),
                ("best attacker names it", float(after)),
                ("… without the release", float(before)),
            ],
            name="kept",
            title="What this epsilon does to a word",
            alt=(
                f"By public word frequencies, a word is kept {percent(expected['kept'])} of the "
                f"time. The best attacker among the {expected['candidates']:,} most frequent words "
                f"names the right one {percent(after)} of the time, and {percent(before)} without "
                "any release."
            ),
            axis="share of words",
            columns=("what", "share"),
            shares=True,
        )
    ]


def _document_chart(facts: Mapping[str, Any]) -> Chart:
    names = {"median": "half of them", "nine_in_ten": "nine in ten", "largest": "all"}
    budget = facts["epsilon_per_document"]
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
    for name, value in (facts.get("tiers") or {}).items():
        rows.append((f"ε of the level {name}", "in clear" if value is None else float(value)))
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
                ("words changed", "changed"),
                ("bad rows skipped", "skipped"),
                ("bad rows masked", "masked"),
            )
        ),
    )
