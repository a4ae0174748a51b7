"""What a release met in its texts: languages, personal data, words that no list knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from voile.core.rounding import percent_at_most
from voile.report.model import Table
from voile.report.words import counted
from voile.text.languages import AUTO, LANGUAGES, title
from voile.text.plan import UNKNOWN_WORDS
from voile.text.reading_language import LEFT

PREFIX = "seen "


@dataclass(frozen=True)
class Seen:
    """How texts were read, and what was in them; counts of what was released, outside any ε."""

    language: str
    found_by: tuple[str, ...]
    rows_by_language: Mapping[str, int]
    """As detected; under "" those too short or unclear to tell."""
    found: Mapping[str, int]
    """Placeholders by what they stand for."""
    unknown_words: int
    left_at_heads: int = 0
    """Words that may be a name found elsewhere, left since their capital says nothing."""

    @classmethod
    def of(cls, totals: Mapping[str, float], language: str, found_by: tuple[str, ...]) -> Seen:
        """The totals of a job, read again."""
        seen = {k.removeprefix(PREFIX): int(n) for k, n in sorted(totals.items()) if n}
        seen = {k: n for k, n in seen.items() if PREFIX + k in totals}

        def under(prefix: str) -> dict[str, int]:
            return {k.removeprefix(prefix): n for k, n in seen.items() if k.startswith(prefix)}

        return cls(language, found_by, under("language "), under("found "),
                   seen.get(UNKNOWN_WORDS, 0), seen.get(LEFT, 0))  # fmt: skip

    @property
    def foreign(self) -> dict[str, int]:
        """Rows that were read in another language than theirs."""
        if self.language == AUTO:
            return {}
        rows = self.rows_by_language.items()
        return {code: n for code, n in rows if code not in ("", self.language)}

    def sentences(self, words: int) -> list[str]:
        """What a reader of the report must know of it."""
        lines = []
        told = {code: n for code, n in self.rows_by_language.items() if code}
        if told:
            unclear = self.rows_by_language.get("", 0)
            listed = [f"{n:,} {title(code)}" for code, n in _by_number(told)]
            listed += [f"{unclear:,} too short or unclear to tell"] if unclear else []
            lines.append(f"Rows by language, as detected: {', '.join(listed)}.")
        if self.foreign:
            rows = sum(self.foreign.values())
            lines.append(
                f"note: {rows:,} rows that look otherwise were read as {title(self.language)}: "
                "their names and stop words may be missed, and their words be unknown; "
                "--language auto reads each row in its own."
            )
        if self.unknown_words:
            share = percent_at_most(self.unknown_words / max(words, self.unknown_words))
            lines.append(
                f"{share} of the words are outside the vocabulary ({self.unknown_words:,})."
            )
        if self.left_at_heads:
            lines.append(
                f"note: {counted(self.left_at_heads, 'word')} at the head of a sentence, or in "
                "rows all in capitals, may be a name that was found elsewhere (Will, Mark): left "
                "as words are."
            )
        if self.found:
            listed = [f"{n:,} {kind}" for kind, n in _by_number(self.found)]
            by = ", ".join(self.found_by)
            lines.append(f"Replaced by placeholders (found by {by}): {', '.join(listed)}.")
        return lines

    def table(self) -> Table:
        """Placeholders and rows by language, counted."""
        rows = [(f"[{kind}]", n) for kind, n in _by_number(self.found)]
        rows += [
            (f"rows in {title(code)}" if code else "rows of unclear language", n)
            for code, n in _by_number(self.rows_by_language)
        ]
        rows.append((UNKNOWN_WORDS, self.unknown_words))
        return Table("What was met in the texts", ("what", "number"), tuple(rows), detail=True)


def _by_number(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def read_in(language: str) -> str:
    """How rows are read, for the table of settings."""
    if language == AUTO:
        return f"each row's own, of {', '.join(one.title for one in LANGUAGES.values())}"
    return title(language)
