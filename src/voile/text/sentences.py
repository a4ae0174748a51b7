"""The promise of a text release in sentences, read from the release alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from voile.core.rounding import at_most, odds_at_most, percent_at_most
from voile.jobs.release import Spending
from voile.text.promise import Level, Odds
from voile.text.restored import restored_sentences

if TYPE_CHECKING:
    from voile.text.release import TextRelease


def words_in_clear(release: TextRelease) -> str:
    """How much of the text stands in clear, or would; empty if nothing does."""
    counts = release.counts
    if counts is None:
        chosen = ", ".join(release.clear_by_choice)
        return f"IN CLEAR would stand: {chosen}." if chosen else ""
    clear, parts = sum(counts.in_clear.values()), []
    if clear:
        share = percent_at_most(clear / counts.words)
        parts.append(f"{share} of the words stand IN CLEAR ({clear:,} of {counts.words:,})")
    if counts.signs_in_clear:
        parts.append(f"{counts.signs_in_clear:,} signs at words stand IN CLEAR")
    return "; ".join(parts) + "." if parts else ""


def in_clear(release: TextRelease) -> tuple[str, ...]:
    """Whatever stands in clear: it is said before anything else."""
    lines = (words_in_clear(release), release.columns.sentence())
    return tuple(line for line in lines if line)


def headline(release: TextRelease) -> str:
    """Each level's number of words and their epsilon."""
    if release.public_length:
        number = "words" if release.counts is None else f"{release.counts.drawn:,} words"
        budget = at_most(release.document_epsilon or 0.0, digits=4)
        over = "words" if release.consistent is None else "distinct words"
        said = f"{number}: ε = {budget} for each document in all, split evenly over its {over}"
    else:
        scope = release.consistent
        each = "each" if scope is None else f"for each distinct one of a {scope}"
        said = "; ".join(
            f"{_named(rows)}: ε = {at_most(epsilon, digits=4)} {each}"
            for epsilon, rows in _by_epsilon(release).items()
        )
    guarantee = release.guarantee
    if said:
        said = f"{said[:1].upper()}{said[1:]} (per {guarantee.metric.unit}, {guarantee.basis})."
    return " ".join(line for line in (said, stand_in_sentence(release)) if line)


def stand_in_sentence(release: TextRelease) -> str:
    """How many stand-ins there are, and what they say."""
    if not release.pseudonyms:
        return ""
    number = f"{sum(release.stand_ins.values()):,} places" if release.counts else "Places"
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(release.stand_ins.items()))
    return (
        f"{number} hold stand-ins for names and identifiers{f' ({kinds})' if kinds else ''}, drawn "
        "whatever these are, but of the same kind and form."
    )


def _by_epsilon(release: TextRelease) -> dict[float, list[Level]]:
    """Levels that are drawn for, strictest first; those of one epsilon together."""
    found: dict[float, list[Level]] = {}
    for level in sorted(release.levels, key=lambda level: level.epsilon or 0.0):
        if level.released == "drawn" and level.epsilon is not None:
            found.setdefault(level.epsilon, []).append(level)
    return found


def _named(levels: Sequence[Level]) -> str:
    """Names of levels, with how many words if any were drawn."""
    title = levels[0].title if len(levels) == 1 else "words" if len(levels) == 3 else "other words"
    if levels[0].drawn is None:
        return title
    return f"{sum(level.drawn or 0 for level in levels):,} {title}"


def odds_sentences(release: TextRelease) -> list[str]:
    """What the bound allows between words that are as near as nearest words are."""
    nearest, unit = release.nearest, release.guarantee.metric.unit
    drawn = _by_epsilon(release)
    if all(level.released == "in clear" for level in release.levels):
        return []
    if nearest.median is None:
        return [
            "The bound says nothing about most pairs of nearest words: see what is not covered."
        ]
    if nearest.five_percent is None or not drawn:
        return []
    lines = [
        f"Nearest words are typically {nearest.median:.3g} {unit}s apart, one in twenty at most "
        f"{nearest.five_percent:.3g} ({nearest.looked_at:,} words of the vocabulary looked at)."
    ]
    for levels in drawn.values():
        who = f"Two {levels[0].title}" if _several(release) and len(levels) < 3 else "Two words"
        lines.append(
            f"{who} that far apart: whatever is released, the odds between them change by at most "
            f"{_factor(levels[0].median)}; for one in twenty, {_factor(levels[0].five_percent)}."
        )
    return lines


def _factor(odds: Odds | None) -> str:
    assert odds is not None  # there are nearest words
    exponent = at_most(odds.exponent)
    return f"e^{exponent}" + ("" if odds.factor is None else f" = {odds_at_most(odds.factor)}")


def expected_sentences(release: TextRelease) -> list[str]:
    """What each level's law does, on public word frequencies."""
    lines = []
    for level in _different(release):
        seen = level.expected
        if seen is None:
            continue
        who = f"{level.title}: expected" if _several(release) else "Expected"
        line = f"{who} share kept {100 * seen.kept:.3g} % (public frequencies)"
        if seen.attacker is not None and seen.attacker_without is not None:
            line += (
                f"; the best attacker who knows mechanism and frequencies names the word, among "
                f"the {seen.candidates:,} most frequent, {100 * seen.attacker:.3g} % of the time, "
                f"without the release {100 * seen.attacker_without:.3g} %"
            )
        lines.append(f"{line[:1].upper()}{line[1:]}.")
    return lines


def watched_sentences(release: TextRelease) -> list[str]:
    """The watched words that are kept most, by class and level."""
    lines, shown = [], 1 if _several(release) else 3
    for level in _different(release):
        if not level.watched:
            continue
        who = f" ({level.title})" if _several(release) else ""
        worst = "; ".join(
            f"{group.kind}: "
            + ", ".join(f"{word} {percent_at_most(p)}" for word, p in group.most[:shown])
            for group in level.watched
            if group.most
        )
        unknown = sum(group.unknown for group in level.watched)
        outside = f"; {unknown:,} watched words are outside the vocabulary" if unknown else ""
        lines.append(f"Kept most, by the law{who}: {worst}{outside}.")
    if lines and any(level.released == "in clear" for level in release.levels):
        lines.append("In a level that stands in clear every word is kept.")
    return lines


def _several(release: TextRelease) -> bool:
    return len(release.levels) > 1


def _different(release: TextRelease) -> list[Level]:
    """One level for each epsilon."""
    return list({level.epsilon: level for level in release.levels}.values())


def law_sentences(release: TextRelease) -> list[str]:
    """By which mechanism words were drawn from which vocabulary, and what followed."""
    words = release.vocabulary
    if all(level.released == "in clear" for level in release.levels):
        return []
    lines = [f"{release.mechanism} over {words.words:,} words of {words.name}."]
    if release.remap is not None:
        left = ", ".join(f"{count:,}" for count in release.remap.words_left)
        lines.append(
            f"Remapped under {release.remap.prior}: {left} different words can come out. "
            "A function of the draw alone, so the guarantee is unchanged; fewer words can make "
            "what is trained on the release less accurate: measure it with `voile text utility`."
        )
    return lines + ([] if release.restored is None else restored_sentences(release.restored))


def counted_sentences(release: TextRelease) -> list[str]:
    """What came out, and what documents spent."""
    counts, rows, lengths = release.counts, release.rows, release.words_per_document
    if counts is None or rows is None or lengths is None:
        return ["Nothing was released."]
    kept = counts.words - counts.changed
    detail = ", ".join(
        f"{100 * (1 - (level.changed or 0) / level.drawn):.3g} % of {level.title}"
        for level in release.levels
        if level.drawn
    )
    drawn = f" (of those drawn: {detail})" if _several(release) and detail else ""
    words = "drawn words" if release.consistent is None else "distinct words"
    lines = [
        f"{100 * kept / max(1, counts.words):.3g} % of {counts.words:,} words came out as they "
        f"were{drawn}.",
        f"A document's {words} together: {_spent_by(release.spent[0])} "
        f"({lengths.median:,.0f}, {lengths.nine_in_ten:,.0f} and {lengths.largest:,.0f} "
        f"{words.removeprefix('drawn ')}).",
        *(f"A {s.unit}'s {words} together: {_spent_by(s)}." for s in release.spent[1:]),
    ]
    if not counts.drawn:
        lines = []
    elif release.consistent == "document":
        lines.append(f"{counts.draws:,} draws for {counts.drawn:,} words: a word that repeats in a "
                     "document was drawn once.")  # fmt: skip
    if rows.skipped or rows.masked:
        lines.append(f"{rows.skipped} rows were skipped, {rows.masked} masked.")
    return lines


def _spent_by(spent: Spending) -> str:
    median, most, largest = (
        at_most(value, digits=4) for value in (spent.median, spent.nine_in_ten, spent.largest)
    )
    return f"ε = {median} for half of them, {most} for nine in ten, {largest} at most"


def explanation(release: TextRelease) -> tuple[str, ...]:
    """The promise in full: what stands in clear, the levels, the odds, what is not covered."""
    outside = [f"Not covered: {item}." for item in release.guarantee.outside]
    return (*in_clear(release), headline(release), *odds_sentences(release), *outside)
