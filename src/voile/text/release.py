"""What a release of text returns, and its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from voile.audit.finding import Verdict
from voile.core.rounding import at_most, percent_at_most
from voile.jobs.release import Release, Spending
from voile.report.drawing import percent
from voile.report.model import Report, Table, Value
from voile.report.result import SILENT
from voile.report.words import COUNTS, ground, sentence
from voile.text import sentences
from voile.text.consistent import Scope
from voile.text.nearest import NearestWords
from voile.text.promise import Counts, Level
from voile.text.release_charts import release_charts
from voile.text.restored import Restored
from voile.text.seen import Seen, read_in


@dataclass(frozen=True)
class VocabularyUsed:
    """The words that may come out."""

    name: str
    words: int
    sha256: str
    private: bool


@dataclass(frozen=True)
class Remapped:
    """What a remap did: its prior, and how many words are left to be released, by level."""

    prior: str
    words_left: tuple[int, ...]


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class TextRelease(Release):
    """A released text column: what each word was promised, and what documents spent."""

    levels: tuple[Level, ...]
    nearest: NearestWords
    vocabulary: VocabularyUsed
    clear_by_choice: tuple[str, ...]
    counts: Counts | None = None
    words_per_document: Spending | None = None
    document_epsilon: float | None = None
    public_length: bool = False
    consistent: Scope | None = None
    """Where a word that repeats was drawn once."""
    pseudonyms: bool = False
    stand_ins: Mapping[str, int] = field(default_factory=dict)
    """How many stand-ins there are, by kind."""
    remap: Remapped | None = None
    restored: Restored | None = None
    language: str = "en"
    seen: Seen | None = None
    notes: tuple[str, ...] = ()
    sample: tuple[tuple[str, str], ...] = field(default=(), metadata=SILENT)
    """Texts before and after, drawn apart from the release, where the owner asked for them."""

    def _report(self) -> Report:
        clear = sentences.in_clear(self)
        basis = str(self.guarantee.basis)
        weakest = self.weakest
        tables = [_levels(self), _settings(self)]
        if weakest is not None and weakest.watched:
            tables.append(_watched(self))
        if self.counts is not None:
            tables.append(_counts(self))
        if self.seen is not None:
            tables.append(self.seen.table())
        return Report(
            title="A release of text",
            in_clear=clear,
            answer=sentences.headline(self),
            verdict=self._verdict(bool(clear)),
            because=ground(basis, clear=bool(clear)),
            guarantee=(
                *sentences.odds_sentences(self),
                *sentences.law_sentences(self),
                *sentences.expected_sentences(self),
                *sentences.watched_sentences(self),
            ),
            notes=tuple(_notes(self)),
            cards=_cards(self),
            tables=tuple(tables),
            draw=lambda: release_charts(self),
            sample=self.sample,
            not_protected=(
                *(sentence(item) for item in self.guarantee.outside),
                f"A document as a whole: its {_words(self)} spend ε one by one, and together as "
                "much as the chart of documents shows.",
                *((COUNTS,) if self.counts is not None else ()),
            ),
            terms=("epsilon", "odds", basis, "mechanism", "release", "attacker", "secure",
                   "seeded"),
        )  # fmt: skip

    def _verdict(self, clear: bool) -> Verdict | None:
        """No tick above anything in clear, and none before anything was released."""
        if self.rows is None:
            return None
        return Verdict.OPEN if str(self.guarantee.basis) == "claimed" or clear else Verdict.HOLDS

    @property
    def weakest(self) -> Level | None:
        """The level of the largest epsilon among those that are drawn."""
        drawn = [level for level in self.levels if level.epsilon is not None]
        return max(drawn, key=lambda level: level.epsilon or 0.0, default=None)


def _words(release: TextRelease) -> str:
    return "words" if release.consistent is None else "distinct words"


def _notes(release: TextRelease) -> list[str]:
    lines = []
    if release.output is not None and release.rows is not None and release.counts is not None:
        name = release.output.rpartition("/")[2]  # a page may be handed on: no folders
        lines.append(
            f"Wrote {name}: {release.rows.released:,} rows, {release.counts.words:,} "
            f"words, {release.seconds or 0.0:.1f} s."
        )
    lines += sentences.counted_sentences(release)
    if release.seen is not None and release.counts is not None:
        lines += release.seen.sentences(release.counts.words)
    if release.resumed_parts:
        lines.append(f"Continued an interrupted job: {release.resumed_parts} parts were there.")
    if release.columns.dropped:
        lines.append(f"Left out: the columns {', '.join(release.columns.dropped)}.")
    lines += release.ledger.sentences() if release.ledger is not None else ()
    return [*lines, *release.notes]


def _cards(release: TextRelease) -> tuple[tuple[str, str], ...]:
    found = []
    if release.weakest is not None:
        word = _words(release).removesuffix("s")
        found.append((f"ε of a {word}, at most", at_most(release.weakest.epsilon or 0.0, digits=4)))
        most = [group.most[0] for group in release.weakest.watched if group.most]
        if most:
            word, chance = max(most, key=lambda pair: pair[1])
            said = f"{word}, {percent_at_most(chance)}"
            found.append(("kept most of the watched words", said))
    if release.counts is not None:
        kept = 1 - release.counts.changed / max(1, release.counts.words)
        found.append(("words that came out as they were", percent(kept)))
        found.append(("ε of a document, at most", at_most(release.spent[0].largest, digits=4)))
    return tuple(found)


# ── tables ─────────────────────────────────────────────────────────────────────────────────────


def _levels(release: TextRelease) -> Table:
    """Each level's law and, after a release, what was drawn and what came out changed."""
    clear = {} if release.counts is None else dict(release.counts.in_clear)
    rows: list[tuple[Value, ...]] = []
    for level in release.levels:
        drawn = "by length" if level.released == "drawn" else "in clear"
        each: Value = drawn if level.epsilon is None else level.epsilon
        kept = None if level.expected is None else level.expected.kept
        left = clear.pop(level.name, 0)
        rows.append((level.title, each, level.drawn, level.changed, left, kept))
    rows += [(why, "in clear", None, None, number, None) for why, number in clear.items()]
    return Table(
        "What each word was promised",
        ("words", "ε of each", "drawn", "changed", "in clear", "share kept, expected"),
        tuple(rows),
        detail=len(rows) == 1,
    )


def _watched(release: TextRelease) -> Table:
    return Table(
        "The watched words that are kept most, by the law",
        ("level", "class", "word", "probability to be kept"),
        tuple(
            (level.title, group.kind, word, chance)
            for level in release.levels
            for group in level.watched
            for word, chance in group.most
        ),
        detail=True,
    )


def _settings(release: TextRelease) -> Table:
    words = release.vocabulary
    rows: list[tuple[str, Value]] = [
        ("mechanism", release.mechanism),
        ("distance", release.guarantee.metric.name),
        ("vocabulary", f"{words.name}, {words.words:,} words" if words.words else words.name),
        ("language", read_in(release.language)),
        ("randomness", release.randomness),
        ("columns in clear", ", ".join(release.columns.passed_in_clear) or "none"),
        ("columns left out", ", ".join(release.columns.dropped) or "none"),
    ]
    return Table("How words were drawn", ("what", "value"), tuple(rows), detail=True)


def _counts(release: TextRelease) -> Table:
    rows, counts = release.rows, release.counts
    assert rows is not None
    assert counts is not None
    return Table(
        "What was released",
        ("what", "value"),
        (
            ("documents", rows.released),
            ("words", counts.words),
            ("words drawn", counts.drawn),
            ("draws", counts.draws),
            ("words changed", counts.changed),
            ("bad rows skipped", rows.skipped),
            ("bad rows masked", rows.masked),
        ),
        detail=True,
    )
