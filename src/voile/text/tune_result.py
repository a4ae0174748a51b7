"""Where the search for strengths ended, as a value and as its report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from voile.adapt.ampl import EXACT, Checked
from voile.adapt.levels import Round, frontier
from voile.audit.finding import Verdict
from voile.core.rounding import at_most
from voile.leakage.bounds import groups_needed
from voile.leakage.joint import JointBound
from voile.report.charts_common import frontier_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table, Value
from voile.report.result import Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES
from voile.text.charts import rounds_chart

_COUNTED = {
    "triples": "of the triples of a document, on average over {} fresh documents",
    "documents": "of {} fresh documents",
}


@dataclass(frozen=True)
class LevelLaw:
    """The law that draws the words of a tier: what was tuned, and what the command draws from."""

    tier: str
    epsilon: float
    mechanism: str
    outputs: int


@dataclass(frozen=True, repr=False, eq=False)
class TextTuning(Result):
    """All rounds, the choice and what it came to on fresh documents, and what to hand to protect.

    Strengths are of names and of words close to names, in that order. Rounds were measured on
    documents of the search, `checked` on documents that nothing was chosen on: first the choice,
    last what releasing nothing costs.
    """

    epsilon: float
    target_delta: float
    attacker: str
    counted: str
    chosen: Round
    checked: tuple[Checked, ...]
    laws: tuple[LevelLaw, ...]
    protect_command: str
    caveat: str
    search_documents: int
    secrets: int
    rounds: tuple[Round, ...]
    together: tuple[Round, ...]
    cap: float | None = None
    joint: JointBound | None = None
    """What was proved of the choice, where a cap was asked for."""
    recipe: str | None = None
    """Where the release of the choice was written, for `voile run`."""

    @property
    def choice(self) -> Checked:
        """The chosen strengths on fresh documents."""
        return self.checked[0]

    @property
    def nothing(self) -> Checked:
        """What releasing one word in all places costs, which tells nothing."""
        return self.checked[-1]

    @property
    def meets_target(self) -> bool:
        """Whether the whole interval on fresh documents lies within the target."""
        return self.choice.upper <= self.target_delta

    @property
    def frontier(self) -> tuple[Round, ...]:
        """The rounds that no other round beats in both violation and utility loss."""
        return frontier((*self.rounds, *self.together))

    def _records(self) -> Iterator[dict[str, float]]:
        columns = ("pii", "poii", "violation", "utility_loss", "loss")
        rows = ((*r.strengths, r.violation, r.utility_loss, r.loss) for r in self.rounds)
        return (dict(zip(columns, row, strict=True)) for row in rows)

    def _report(self) -> Report:
        pii, poii = self.chosen.strengths
        choice = self.choice
        return Report(
            title="Strengths for names in text",
            answer=(
                f"With strengths {pii:g} for names and {poii:g} for words close to names, leakage "
                f"exceeds ε = {self.epsilon:g} in {percent(choice.share)} {self._of(choice)} "
                f"({percent(choice.lower)} to {percent(choice.upper)}); "
                f"{percent(self.target_delta)} is allowed."
            ),
            verdict=Verdict.OPEN if self.joint is None else Verdict.HOLDS,
            because=f"{self._proved()}{self._told()} {self._worth()}",
            guarantee=(
                *(
                    f"{name} are released at ε = {law.epsilon:.4g} per unit of distance, "
                    f"{law.mechanism} over {law.outputs:,} words: the law that was tuned."
                    for name, law in zip(("Names", "Words close to names"), self.laws, strict=True)
                ),
                "All other words stay in clear.",
                f"To use them: {self.protect_command}",
                *(() if self.recipe is None else (f"Or: voile run {self.recipe}",)),
            ),
            not_protected=(
                "All words that are neither names nor close to names: they stay in clear.",
                *(
                    ()
                    if self.joint is None
                    else (
                        "Readers with another prior, who know more of the text or read the words "
                        "left in clear; rarer sensitive words; longer documents.",
                    )
                ),
                ONE_ATTACKER,
                *((self.caveat,) if self.caveat else ()),
                OWN_FIGURES,
            ),
            notes=tuple(self._notes()),
            tables=(self._compared(), self._table()),
            draw=self._charts,
            terms=(
                "epsilon",
                "delta",
                "strength",
                "violations",
                "utility loss",
                "triple",
                "attacker",
                "interval",
            ),
            cards=(
                ("strength of names", f"{pii:g}"),
                ("of words close to names", f"{poii:g}"),
                ("violations, fresh documents", percent(choice.share)),
                ("utility loss", f"{choice.loss:.3g}"),
                ("releasing nothing", f"{self.nothing.loss:.3g}"),
            ),
        )

    def _of(self, checked: Checked) -> str:
        return _COUNTED[self.counted].format(f"{checked.documents:,}")

    def _proved(self) -> str:
        """What holds for every release, and for whom."""
        if self.joint is None:
            return ""
        bound = self.joint
        seen = "" if bound.reached is None else f"some release reaches {bound.reached:.3g}; "
        return (
            f"Proved for every release of a document with at most {bound.length} of the "
            f"{self.secrets:,} secrets: to a reader who knows the law and whose prior is the chain "
            f"of these words, all releases together move the odds between two of them by at most "
            f"e^({at_most(bound.joint, digits=4)}·d), within the cap of {self.cap:g}; {seen}"
            f"one release alone by e^({at_most(bound.single, digits=4)}·d); whatever the prior, by "
            f"e^({at_most(bound.any_prior, digits=4)}·d). "
        )

    def _told(self) -> str:
        """What the interval says of the target, and what would settle it."""
        choice, allowed = self.choice, percent(self.target_delta)
        if not choice.shown:
            return (
                "The attacker was not shown to learn anything from the releases, so its count is "
                "no evidence; --attacker markov needs no training."
            )
        if self.meets_target and self.joint is not None:
            return f"On fresh documents this attacker stays within {allowed}, the whole interval."
        if self.meets_target:
            return (
                f"This attacker stays within {allowed}, the whole interval. That is not a proof: "
                "another attacker may find more."
            )
        if choice.lower > self.target_delta:
            return f"Nothing that was tried keeps this attacker within {allowed}."
        if choice.share < self.target_delta:
            needed = groups_needed(
                delta=self.target_delta, share=choice.share, failure_probability=0.01
            )
            return (
                f"Whether that is within {allowed} is open: about {needed:,} fresh documents "
                "would tell."
            )
        return f"It is not shown to be within {allowed}; the documents are too few to tell."

    def _worth(self) -> str:
        """The loss beside that of releasing nothing, which no draw may exceed for its leakage."""
        loss, free = self.choice.loss, self.nothing.loss
        beside = f"Expected loss {loss:.3g}; releasing nothing costs {free:.3g} and leaks nothing"
        if loss >= free:
            return (
                f"{beside}: by this measure these draws are worth nothing; leave the words out, or "
                "give a larger ε."
            )
        return f"{beside}."

    def _notes(self) -> list[str]:
        even = next(c for c in self.checked if "lowered together" in c.what)
        said = []
        if even is not self.choice:
            said.append(
                f"Strengths lowered together to {even.strengths[0] if even.strengths else 0:g}: "
                f"{percent(even.share)} {self._of(even)} and a loss of {even.loss:.3g}, against "
                f"{percent(self.choice.share)} and {self.choice.loss:.3g} of the choice."
            )
        if self.choice.gain is not None:
            who, beside = (
                ("Reading the words around it", "its own release alone")
                if self.attacker == EXACT
                else (f"Reading the right releases, the {self.attacker}", "reading shuffled ones")
            )
            said.append(
                f"{who} gained {self.choice.gain:.3g} nats a secret over {beside}, on "
                f"{self.choice.documents:,} fresh documents."
            )
        said.append(
            f"Chosen on {self.search_documents:,} documents, {self.secrets:,} secrets; measured on "
            f"{self.choice.documents:,} others with sensitive words, by the attacker's own odds. "
            "The loss is (1 − cosine)/2 between a word and what this command releases for it."
        )
        return said

    @property
    def _number(self) -> int:
        """Which round was chosen, counted from 1; 0 if it was lowered together."""
        tried = [round_.strengths for round_ in self.rounds]
        return tried.index(self.chosen.strengths) + 1 if self.chosen.strengths in tried else 0

    def _compared(self) -> Table:
        columns = ("what", "pii", "poii", "violations", "at least", "at most", "utility loss")
        rows = tuple(
            (c.what, *(c.strengths or (None, None)), c.share, c.lower, c.upper, c.loss)
            for c in self.checked
        )
        caption = f"On {self.choice.documents:,} fresh documents, violations counted in "
        return Table(caption + self.counted, columns, rows)

    def _table(self) -> Table:
        columns = ("round", "pii", "poii", f"violations, {self.counted}", "utility loss", "")
        alike = [r for r in self.together if r.strengths not in {s.strengths for s in self.rounds}]
        rows: list[tuple[Value, ...]] = [
            (k, *r.strengths, r.violation, r.utility_loss, self._said_of(k))
            for k, r in enumerate(self.rounds, start=1)
        ]
        rows += [
            (
                None,
                *r.strengths,
                r.violation,
                r.utility_loss,
                "lowered together" + (", chosen" if r.strengths == self.chosen.strengths else ""),
            )
            for r in alike
        ]
        return Table("The rounds, on documents of the search", columns, tuple(rows))

    def _said_of(self, number: int) -> str:
        """The first round is that of the plain strengths, whatever number of trials was asked."""
        said = ["plain strengths"] if number == 1 else []
        return ", ".join(said + (["chosen"] if number == self._number else []))

    def _charts(self) -> tuple[Chart, ...]:
        table = Table(
            "Violations against utility loss",
            ("round", "violations", "utility loss"),
            tuple(
                (k if k <= len(self.rounds) else "=", r.violation, r.utility_loss)
                for k, r in enumerate((*self.rounds, *self.together), start=1)
            ),
        )
        trade = frontier_chart(
            table,
            name="frontier",
            title="Privacy against use, and the chosen point",
            alt=(
                "Each point is a round, with its number, or = where strengths were lowered "
                "together; left and down is better. The ring marks the strengths that were chosen."
            ),
            x="violations",
            y="utility loss",
            group=None,
            beside="round",
            chosen=(self.chosen.violation, self.chosen.utility_loss),
            axes=(f"share of {self.counted} above ε", "utility loss"),
        )
        rounds = rounds_chart(
            self.rounds,
            target=self.target_delta,
            chosen=self._number,
            nothing=self.nothing.loss,
        )
        return rounds, trade
