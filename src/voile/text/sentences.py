"""The promise of a text release in sentences, read from the facts of `text_promise` alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.core.rounding import at_most, odds_at_most, percent_at_most
from voile.report.words import columns_in_clear

Facts = Mapping[str, Any]


def words_in_clear(facts: Facts) -> str:
    """How much of the text stands in clear, or would; empty if nothing does."""
    if "words" not in facts:
        chosen = ", ".join(facts["clear_by_choice"])
        return f"IN CLEAR would stand: {chosen}" if chosen else ""
    clear, signs = sum(facts["in_clear"].values()), facts["signs_in_clear"]
    parts = []
    if clear:
        share = percent_at_most(clear / facts["words"])
        parts.append(f"{share} of the words stand IN CLEAR ({clear:,} of {facts['words']:,})")
    if signs:
        parts.append(f"{signs:,} signs at words stand IN CLEAR")
    return "; ".join(parts)


def headline(facts: Facts) -> str:
    """The first line: what stands in clear and how much, then each level's number and epsilon."""
    parts = [words_in_clear(facts)] if words_in_clear(facts) else []
    if facts["public_length"]:
        number = f"{facts['drawn']:,} words" if "drawn" in facts else "words"
        parts.append(
            f"{number}: ε = {at_most(facts['document_epsilon'], digits=4)} for each document in "
            "all, split evenly over its words"
        )
    else:
        parts += [f"{_named(rows)}: ε = {at_most(epsilon, digits=4)} each"
                  for epsilon, rows in _by_epsilon(facts).items()]  # fmt: skip
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]} (per {facts['unit']}, {facts['basis']})."


def in_brief(facts: Facts) -> list[str]:
    """What is said before anything else; whatever stands in clear comes first."""
    columns = columns_in_clear(facts["passed_in_clear"], facts["looks_like_identifiers"])
    lines = [headline(facts), columns] if words_in_clear(facts) else [columns, headline(facts)]
    return [line for line in lines if line]


def _by_epsilon(facts: Facts) -> dict[float, list[Facts]]:
    """Levels that are drawn for, strictest first; those of one epsilon together."""
    found: dict[float, list[Facts]] = {}
    for row in sorted(facts["levels"], key=lambda row: row["epsilon"] or 0.0):
        if row["released"] == "drawn" and row["epsilon"] is not None:
            found.setdefault(row["epsilon"], []).append(row)
    return found


def _named(rows: list[Facts]) -> str:
    """Names of levels, with how many words if any were drawn."""
    title = rows[0]["title"] if len(rows) == 1 else "words" if len(rows) == 3 else "other words"
    if "drawn" not in rows[0]:
        return f"{title}"
    return f"{sum(row['drawn'] for row in rows):,} {title}"


def odds_sentences(facts: Facts) -> list[str]:
    """What the bound allows between words that are as near as nearest words are."""
    nearest, unit = facts["nearest"], facts["unit"]
    drawn = _by_epsilon(facts)
    middle, close = nearest["median"], nearest["five_percent"]
    if middle is None:
        return [
            "The bound says nothing about most pairs of nearest words: see what is not covered."
        ]
    if close is None or not drawn:
        return []
    lines = [
        f"Nearest words are typically {middle:.3g} {unit}s apart, one in twenty at most "
        f"{close:.3g} ({nearest['looked_at']:,} words of the vocabulary looked at)."
    ]
    for rows in drawn.values():
        who = f"Two {rows[0]['title']}" if _several(facts) and len(rows) < 3 else "Two words"
        odds = rows[0]["odds"]
        lines.append(
            f"{who} that far apart: whatever is released, the odds between them change by at most "
            f"{_factor(odds['median'])}; for one in twenty, {_factor(odds['five_percent'])}."
        )
    return lines


def _factor(odds: Facts) -> str:
    exponent = at_most(odds["exponent"])
    factor = odds["factor"]
    return f"e^{exponent}" + ("" if factor is None else f" = {odds_at_most(factor)}")


def expected_sentences(facts: Facts) -> list[str]:
    """What each level's law does, on public word frequencies."""
    lines = []
    rows = [row for row in facts["levels"] if row.get("expected")]
    for row in _different(rows):
        expected = row["expected"]
        who = f"{row['title']}: expected" if _several(facts) else "Expected"
        line = f"{who} share kept {100 * expected['kept']:.3g} % (public frequencies)"
        if "attacker" in expected:
            line += (
                f"; the best attacker who knows mechanism and frequencies names the word, among "
                f"the {expected['candidates']:,} most frequent, {100 * expected['attacker']:.3g} % "
                f"of the time, without the release {100 * expected['attacker_without']:.3g} %"
            )
        lines.append(f"{line[:1].upper()}{line[1:]}.")
    return lines


def watched_sentences(facts: Facts) -> list[str]:
    """The watched words that are kept most, by class and level."""
    rows = [row for row in facts["levels"] if row.get("watched")]
    lines, shown = [], 1 if _several(facts) else 3
    for row in _different(rows):
        who = f" ({row['title']})" if _several(facts) else ""
        worst = "; ".join(
            f"{kind['class']}: "
            + ", ".join(f"{word} {percent_at_most(p)}" for word, p in kind["most"][:shown])
            for kind in row["watched"]
            if kind["most"]
        )
        unknown = sum(kind["unknown"] for kind in row["watched"])
        outside = f"; {unknown:,} watched words are outside the vocabulary" if unknown else ""
        lines.append(f"Kept most, by the law{who}: {worst}{outside}.")
    if any(row["released"] == "in clear" for row in facts["levels"]):
        lines.append("In a level that stands in clear every word is kept.")
    return lines


def _several(facts: Facts) -> bool:
    return len(facts["levels"]) > 1


def _different(rows: list[Facts]) -> list[Facts]:
    """One row for each epsilon."""
    return list({row["epsilon"]: row for row in rows}.values())


def counted_sentences(facts: Facts) -> list[str]:
    """What came out, and what documents spent."""
    budget, lengths = facts["epsilon_per_document"], facts["words_per_document"]
    kept = facts["words"] - facts["changed"]
    levels = [row for row in facts["levels"] if row["drawn"]]
    detail = ", ".join(
        f"{100 * (1 - row['changed'] / row['drawn']):.3g} % of {row['title']}" for row in levels
    )
    lines = [
        f"{100 * kept / max(1, facts['words']):.3g} % of {facts['words']:,} words came out as they "
        f"were" + (f" (of those drawn: {detail})" if _several(facts) and detail else "") + ".",
        f"A document's drawn words together: ε = {_spent(budget['median'])} for half of them, "
        f"{_spent(budget['nine_in_ten'])} for nine in ten, {_spent(budget['largest'])} at most "
        f"({lengths['median']:,.0f}, {lengths['nine_in_ten']:,.0f} and {lengths['largest']:,.0f} "
        "words).",
    ]
    if facts["skipped"] or facts["masked"]:
        lines.append(f"{facts['skipped']} rows were skipped, {facts['masked']} masked.")
    return lines


def _spent(value: float) -> str:
    return at_most(value, digits=4)


def explanation(facts: Facts) -> str:
    """The promise in full: the headline, the odds, and what is not covered."""
    lines = [*in_brief(facts), *odds_sentences(facts)]
    lines += [f"Not covered: {item}." for item in facts["outside"]]
    return "\n".join(lines)
