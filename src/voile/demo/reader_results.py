"""What the demo's own reader of whole messages found, and what adapting against it came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from voile.adapt.levels import Round
from voile.demo.readers import Reading
from voile.report.charts_common import bar_chart, frontier_chart
from voile.report.model import Chart, Report, Table
from voile.report.result import Result
from voile.report.words import ONE_ATTACKER

HOW = (
    "The reader knows the mechanism and has learned from other messages which word follows which; "
    "it is exact for that knowledge and was not trained."
)
WHOLE = "A whole message: its words add up, and context tells what one word does not."


@dataclass(frozen=True, repr=False, eq=False)
class Read(Result):
    """How much a reader of whole messages gets back of a release, and of one made before it."""

    reading: Reading
    before: Reading | None = None

    def sentences(self) -> Iterator[str]:
        """Words, and names among them; a second release against the first."""
        found, before = self.reading, self.before
        if before is not None:
            yield (
                f"Names and places read: {100 * found.names_read:.0f} %, instead of "
                f"{100 * before.names_read:.0f} %."
            )
            yield (
                f"Of all words: {100 * found.whole:.0f} %, instead of {100 * before.whole:.0f} %: "
                "this reader knows which strength a word got."
            )
            return
        yield (
            f"Of {found.words:,} words: {100 * found.blind:.0f} % named blindly, "
            f"{100 * found.alone:.0f} % from each word's own release, {100 * found.whole:.0f} % by "
            "reading whole messages."
        )
        yield (
            f"Of {found.names:,} names and places: {100 * found.names_read:.0f} %. The bound for "
            "one word holds; context adds what it does not count."
        )

    def _report(self) -> Report:
        return Report(
            title="A reader of whole messages",
            about="Who reads",
            answer=" ".join(self.sentences()),
            guarantee=(HOW,),
            not_protected=(WHOLE, ONE_ATTACKER),
            draw=self._charts,
            terms=("attacker", "release"),
        )

    def _shares(self) -> list[tuple[str, float]]:
        found, before = self.reading, self.before
        blind = ("all words: blind guess", found.blind)
        if before is None:
            return [
                blind,
                ("all words: each by itself", found.alone),
                ("all words: whole messages", found.whole),
                ("names", found.names_read),
            ]
        return [
            blind,
            ("all words: same ε for all", before.whole),
            ("all words: after adapting", found.whole),
            ("names: same ε for all", before.names_read),
            ("names: after adapting", found.names_read),
        ]

    def _charts(self) -> tuple[Chart, ...]:
        shares = self._shares()
        return (
            bar_chart(
                shares,
                name="read",
                title="How much a reader gets back",
                alt=f"Shares of words that were named: {_listed(shares)}.",
                axis="share of words named",
                columns=("who reads what", "share"),
                shares=True,
                strong=shares[-1][0],
            ),
        )


def _listed(rows: Sequence[tuple[str, float]]) -> str:
    return "; ".join(f"{what} {100 * value:.0f} %" for what, value in rows)


@dataclass(frozen=True, repr=False, eq=False)
class Adapted(Result):
    """The rounds of an adaptation against the reader, and the one that was chosen."""

    rounds: tuple[Round, ...]
    chosen: Round
    frontier: tuple[Round, ...]
    target: float
    """The share of names that may be read."""

    @property
    def met(self) -> bool:
        """Whether the chosen round keeps to the target."""
        return self.chosen.violation <= self.target

    def sentences(self) -> Iterator[str]:
        """What was chosen, and what it changed."""
        first, (pii, poii) = self.rounds[0], self.chosen.strengths
        yield (
            f"{len(self.rounds)} rounds on public messages, so nothing private is spent: strengths "
            f"{pii:g} for names and {poii:g} for words close to names."
        )
        yield (
            f"Names read: {100 * first.violation:.0f} % → {100 * self.chosen.violation:.0f} %; "
            f"meaning lost: {first.utility_loss:.3f} → {self.chosen.utility_loss:.3f}."
        )
        if not self.met:
            yield f"No round came below {100 * self.target:.0f} %."

    def _report(self) -> Report:
        return Report(
            title="Strengths for names",
            about="Who reads",
            answer=" ".join(self.sentences()),
            guarantee=(HOW,),
            not_protected=(ONE_ATTACKER,),
            draw=self._charts,
            terms=("attacker", "strength", "utility loss"),
        )

    def _charts(self) -> tuple[Chart, ...]:
        chosen = self.chosen
        tried = Table(
            "Rounds of the adaptation",
            ("strength of names", "strength near names", "names read", "utility loss"),
            tuple((*r.strengths, r.violation, r.utility_loss) for r in self.rounds),
        )
        return (
            frontier_chart(
                tried,
                name="adapting",
                title="Names read against meaning lost, round by round",
                alt=f"{len(self.rounds)} rounds; the ringed one was chosen: names read "
                f"{100 * chosen.violation:.1f} %, utility loss {chosen.utility_loss:.3f}.",
                x="utility loss",
                y="names read",
                group=None,
                chosen=(chosen.utility_loss, chosen.violation),
                levels=[(self.target, "one name in ten")],
                axes=("utility loss", "share of names read"),
            ),
        )
