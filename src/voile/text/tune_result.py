"""Where the search for strengths ended, as a value and as its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voile.adapt.levels import Round, frontier
from voile.audit.finding import Verdict
from voile.report.charts_common import frontier_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table
from voile.report.result import Result, frame_of
from voile.report.words import ONE_ATTACKER, OWN_FIGURES
from voile.text.charts import rounds_chart


@dataclass(frozen=True, repr=False, eq=False)
class TextTuning(Result):
    """All rounds, the chosen one, and what to hand to protect.

    Strengths are of names and of words close to names, in that order.
    """

    epsilon: float
    target_delta: float
    attacker: str
    counted: str
    chosen: Round
    meets_target: bool
    protect_options: str
    caveat: str
    rounds: tuple[Round, ...]

    @property
    def frontier(self) -> tuple[Round, ...]:
        """The rounds that no other round beats in both violation and utility loss."""
        return frontier(self.rounds)

    def to_frame(self) -> Any:
        """A row for each round, as a pandas frame."""
        columns = ("pii", "poii", "violation", "utility_loss", "loss")
        rows = ((*r.strengths, r.violation, r.utility_loss, r.loss) for r in self.rounds)
        return frame_of(columns, list(rows))

    def _report(self) -> Report:
        pii, poii = self.chosen.strengths
        compared = "within" if self.meets_target else "still more than"
        return Report(
            title="Strengths for names in text",
            answer=(
                f"With strengths {pii:g} for names and {poii:g} for words close to names, leakage "
                f"exceeds ε = {self.epsilon:g} in {percent(self.chosen.violation)} of "
                f"{self.counted}, {compared} the {percent(self.target_delta)} allowed."
            ),
            verdict=Verdict.OPEN,
            because=(
                "The strengths keep this attacker below the target. That is not a proof: another "
                "attacker may find more."
                if self.meets_target
                else f"No round kept violations below {percent(self.target_delta)}: this is the "
                "best that was found."
            ),
            guarantee=(
                f"Names are released at ε = {self.epsilon * pii:.4g} and words close to names at "
                f"ε = {self.epsilon * poii:.4g}, each per unit of distance between words; all "
                "other words stay in clear.",
                f"To use them: voile text protect FILE {self.protect_options}",
            ),
            not_protected=(
                "All words that are neither names nor close to names: they stay in clear.",
                ONE_ATTACKER,
                *((self.caveat,) if self.caveat else ()),
                OWN_FIGURES,
            ),
            tables=(self._table(),),
            draw=self._charts,
            terms=(
                "epsilon",
                "delta",
                "strength",
                "violations",
                "utility loss",
                "triple",
                "attacker",
            ),
            cards=(
                ("strength of names", f"{pii:g}"),
                ("of words close to names", f"{poii:g}"),
                ("violations", percent(self.chosen.violation)),
            ),
        )

    @property
    def _number(self) -> int:
        """Which round was chosen, counted from 1."""
        tried = [round_.strengths for round_ in self.rounds]
        return tried.index(self.chosen.strengths) + 1

    def _table(self) -> Table:
        columns = ("round", "pii", "poii", f"violations, {self.counted}", "utility loss", "")
        rows = (
            (k, *r.strengths, r.violation, r.utility_loss, "chosen" if k == self._number else "")
            for k, r in enumerate(self.rounds, start=1)
        )
        return Table("The rounds", columns, tuple(rows))

    def _charts(self) -> tuple[Chart, ...]:
        table = Table(
            "Violations against utility loss",
            ("round", "violations", "utility loss"),
            tuple((k, r.violation, r.utility_loss) for k, r in enumerate(self.rounds, start=1)),
        )
        trade = frontier_chart(
            table,
            name="frontier",
            title="Privacy against use, and the chosen point",
            alt=(
                "Each point is a round, with its number; left and down is better. The ring marks "
                "the strengths that were chosen."
            ),
            x="violations",
            y="utility loss",
            group=None,
            beside="round",
            chosen=(self.chosen.violation, self.chosen.utility_loss),
            axes=(f"share of {self.counted} above ε", "utility loss"),
        )
        rounds = rounds_chart(self.rounds, target=self.target_delta, chosen=self._number)
        return rounds, trade
