"""The result of an audit of one black box: what each attack showed, and its report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from voile.audit.distinguishing import Attributed
from voile.audit.finding import Verdict
from voile.core.rounding import at_least, at_most
from voile.report.charts_common import interval_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table, worst_verdict
from voile.report.result import Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED, counted
from voile.text.black_boxes import Attacked
from voile.text.game import ALIKE, caution


@dataclass(frozen=True)
class AttackShown:
    """What one attack showed of one whole text, and what that says of the claim."""

    attack: str
    lower: float
    middle: float
    upper: float
    ceiling: float
    successes: int
    """In how many trials it named the source, by whichever form epsilon is estimated."""
    trials: int
    failure_probability: float
    sure: float
    """What it shows by the guesses it is sure of, on trials its threshold was not chosen on."""
    spoke: float
    """The share of trials in which it was sure."""
    right_where_sure: float
    """The share of those in which it was right."""
    verdict: Verdict
    note: str

    @classmethod
    def of(cls, found: Attributed, *, claim: float | None, symmetric: bool) -> AttackShown:
        """By one form of estimate; without a claim there is nothing to refute."""
        claimed = float("inf") if claim is None else claim
        verdict = found.finding(claim=claimed, symmetric=symmetric).verdict
        estimate, sure = found.estimated(symmetric=symmetric), found.sure
        return cls(
            found.attack,
            **vars(estimate)
            | {
                "successes": found.estimate.successes,
                "ceiling": found.ceiling(symmetric=symmetric),
            },
            sure=sure.lower,
            spoke=sure.share,
            right_where_sure=sure.right / sure.kept if sure.kept else 0.0,
            verdict=verdict,
            note=found.note,
        )

    @property
    def at_least(self) -> float:
        """The larger of its two bounds; both hold together."""
        return max(self.lower, self.sure)

    def words(self) -> str:
        """How often it named the source, of all releases or of those it was sure of."""
        if self.sure > self.lower:
            return (
                f"The {self.attack} attack is sure in {percent(self.spoke)} of the releases and "
                f"names the source of {percent(self.right_where_sure)} of those"
            )
        right = percent(self.successes / self.trials)
        return f"The {self.attack} attack names the source of a release {right} of the time"


@dataclass(frozen=True, repr=False, eq=False)
class Calibration(Result):
    """What each attack showed of a black box, in a game of so many trials."""

    trials: int
    claim: float | None
    symmetric: bool
    attacks: tuple[AttackShown, ...]
    caution: str
    candidates: int
    texts: int
    duplicates: int
    kept: int
    empty: int
    drawn: bool
    """Whether each trial's source was drawn and released for it; else releases were given."""
    alike: bool
    """Whether texts were released again, and never in two ways."""

    @classmethod
    def of(cls, found: Attacked, *, claim: float | None, symmetric: bool) -> Calibration:
        """The result of a game."""
        shown = (AttackShown.of(a, claim=claim, symmetric=symmetric) for a in found.attributed)
        return cls(
            trials=len(found.game),
            claim=claim,
            symmetric=symmetric,
            attacks=tuple(shown),
            caution=caution([a.attack for a in found.attributed]),
            candidates=int(found.game.sets.shape[1]),
            texts=len(found.game.pool),
            duplicates=found.game.duplicates,
            kept=found.kept,
            empty=found.attributed[0].empty,
            drawn=found.game.drawn,
            alike=found.alike,
        )

    def _records(self) -> tuple[AttackShown, ...]:
        return self.attacks

    @property
    def strongest(self) -> AttackShown:
        """The attack that showed most."""
        return max(self.attacks, key=lambda a: (a.at_least, a.middle))

    def _report(self) -> Report:
        """What the strongest attack shows, and a row for each."""
        best, claim = self.strongest, self.claim
        verdict = worst_verdict([a.verdict for a in self.attacks])
        return Report(
            title="Distinguishability audit",
            about=TESTED,
            answer=(
                f"{best.words()}: an epsilon of at least {at_least(best.at_least)} for one text"
                + ("." if claim is None else f", where {claim:g} is claimed.")
            ),
            verdict=verdict,
            because=self._because(verdict),
            guarantee=(self._game(),),
            not_protected=(ONE_ATTACKER, OWN_FIGURES),
            tables=(self._table(),),
            draw=self._charts,
            notes=tuple(self._notes(verdict)),
            terms=("empirical epsilon", "ceiling", "attacker", "interval"),
        )

    def _because(self, verdict: Verdict) -> str:
        """Why the verdict is what it is, and what it takes for granted."""
        if verdict != Verdict.VIOLATED:
            return self.caution
        shown = at_least(self.strongest.at_least, digits=4)
        told = f"Even the cautious end, {shown}, is above the claim of {self.claim:g}."
        return f"{told} {ALIKE}" if self.alike else told

    def _game(self) -> str:
        form = "; estimated from true and false positives" if self.symmetric else ""
        again = (
            f" ({counted(self.duplicates, 'duplicate')} dropped)"
            if self.drawn
            else ("; each release serves once")
        )
        return (
            f"The game: {counted(self.trials, 'trial')}, in each of which an attack sees one "
            f"release and says which of {self.candidates} texts it came from, out of "
            f"{self.texts:,} different ones{again}{form}."
        )

    def _table(self) -> Table:
        return Table(
            "What each attack shows of one text",
            (
                "attack",
                "names the source",
                "ε_emp at least",
                "at most",
                "where sure, at least",
                "sure in",
                "ceiling",
                "claim",
            ),
            tuple(
                (
                    a.attack,
                    percent(a.successes / a.trials),
                    float(at_least(a.lower, digits=4)),
                    a.upper,
                    float(at_least(a.sure, digits=4)),
                    percent(a.spoke),
                    a.ceiling,
                    None if self.claim is None else str(a.verdict),
                )
                for a in self.attacks
            ),
        )

    def _notes(self, verdict: Verdict) -> Iterator[str]:
        if self.kept:
            yield f"{self.kept:,} of the releases were made by an earlier run, and were read."
        if self.empty:
            yield f"{counted(self.empty, 'release')} were empty."
        for a in self.attacks:
            if a.note:
                yield f"{a.attack}: {a.note}."
        if verdict == Verdict.VIOLATED:
            yield self.caution
        elif self.alike:
            yield ALIKE

    def _charts(self) -> list[Chart]:
        ceiling = max(a.ceiling for a in self.attacks)
        marks = ({} if self.claim is None else {"claim": self.claim}) | {"ceiling": ceiling}
        return [
            interval_chart(
                [
                    (a.attack, max(a.middle, a.sure), a.at_least, max(a.upper, a.sure))
                    for a in self.attacks
                ],
                name="attacks",
                title="What each attack shows",
                alt=(
                    "Each attack's epsilon for one text with its interval. The mechanism's own is "
                    "at least its left end. No attack can show more than the ceiling, "
                    f"{at_most(ceiling)}."
                ),
                axis="ε of one text",
                marks=marks,
                columns=("attack", "ε_emp", "at least", "this attack at most"),
            )
        ]
