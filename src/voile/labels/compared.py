"""What a comparison of the ways to share labelled records found, and its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from voile.audit.finding import Verdict
from voile.labels.synthetic import NAME, TRUST
from voile.report.charts_common import frontier_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table
from voile.report.result import Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED, counted, sentence


@dataclass(frozen=True)
class TradePoint:
    """One mechanism at one epsilon: means over the repeats, with their standard errors.

    `leakage` is an attacker's accuracy on the label from the whole release; `cap` is what no
    attacker exceeds (None: nothing bounds it); `auc` is that of a model trained on the release
    and tested on clean records, by the `analyst` who does best; `aucs` are those of all.
    `recipe_auc` is that of the recipe without any release, where it tells of the classes.
    """

    mechanism: str
    epsilon: float
    leakage: float
    leakage_error: float
    cap: float | None
    auc: float
    auc_error: float
    analyst: str
    aucs: Mapping[str, float]
    recipe_auc: float | None = None


@dataclass(frozen=True)
class Crossing:
    """A point that surely beats one of label DP: no more leakage, a higher AUC."""

    better: TradePoint
    than: TradePoint

    @property
    def gain(self) -> float:
        """How much AUC it gains."""
        return self.better.auc - self.than.auc


@dataclass(frozen=True, repr=False, eq=False)
class ComparedLabels(Result):
    """All points, what clean records give, and where another mechanism beats label DP."""

    clean_auc: float
    guess: float
    features_alone: float
    repeats: int
    draws: int
    points: tuple[TradePoint, ...]
    crossings: tuple[Crossing, ...]
    notes: tuple[str, ...] = ()

    def _records(self) -> tuple[TradePoint, ...]:
        return self.points

    def _best(self) -> Crossing | None:
        return max(self.crossings, key=lambda pair: pair.gain, default=None)

    def _report(self) -> Report:
        return Report(
            title="Ways to share labelled records",
            about=TESTED,
            answer=self._answer(),
            verdict=Verdict.OPEN,
            because=(
                "Leakage is what an attacker's accuracy was in these trials. It compares the ways; "
                "only a cap, where there is one, bounds every attacker."
            ),
            guarantee=(
                f"A model trained on clean records reaches an AUC of {self.clean_auc:.3f}. An "
                f"attacker guesses the label {percent(self.guess)} of the time blindly, and "
                f"{percent(self.features_alone)} from clear features alone.",
                f"Means over {self.repeats} random splits, {counted(self.draws, 'draw')} of noise "
                "on each. *Surely* is by a rank test over the splits, at 5 % for all pairs "
                "together.",
                *(_said(pair) for pair in self.crossings),
                *((sentence(TRUST),) if any(p.mechanism == NAME for p in self.points) else ()),
            ),
            not_protected=(ONE_ATTACKER, OWN_FIGURES),
            notes=tuple(sentence(text) for text in (*self.notes, *self._recipe_note())),
            tables=(self._table(), self._by_analyst()),
            draw=lambda: (self._chart(),),
            terms=("epsilon", "label DP", "conditional epsilon", "AUC", "attacker"),
        )

    def _answer(self) -> str:
        best = self._best()
        if best is None:
            return (
                "Nowhere does another way surely beat noise on the label alone: none leaks no more "
                "and teaches a model surely more."
            )
        return (
            f"{best.better.mechanism} at ε = {best.better.epsilon:g} is the better choice than "
            f"label DP at ε = {best.than.epsilon:g}: it leaks no more and a model learns more from "
            f"it (AUC {best.better.auc:.3f} against {best.than.auc:.3f})."
        )

    def _recipe_note(self) -> tuple[str, ...]:
        if all(point.recipe_auc is None for point in self.points):
            return ()
        return (
            "*recipe alone* is what the cells of Label DP-CF teach without any release: here they "
            "were made from the records themselves, so it counts for no analyst",
        )

    def _table(self) -> Table:
        ordered = sorted(self.points, key=lambda point: (point.mechanism, point.epsilon))
        return Table(
            "Usefulness against leakage",
            ("mechanism", "ε", "leakage", "± leakage", "no attacker exceeds", "AUC", "± AUC"),
            tuple(
                (p.mechanism, p.epsilon, p.leakage, p.leakage_error, p.cap, p.auc, p.auc_error)
                for p in ordered
            ),
            bars="AUC",
        )  # fmt: skip

    def _by_analyst(self) -> Table:
        names = tuple(dict.fromkeys(name for point in self.points for name in point.aucs))
        beside = ("recipe alone",) if self._recipe_note() else ()
        ordered = sorted(self.points, key=lambda point: (point.mechanism, point.epsilon))
        return Table(
            "AUC of each analyst",
            ("mechanism", "ε", *names, *beside),
            tuple(
                (
                    p.mechanism,
                    p.epsilon,
                    *(p.aucs.get(name) for name in names),
                    *((p.recipe_auc,) if beside else ()),
                )
                for p in ordered
            ),
        )

    def _chart(self) -> Chart:
        best = self._best()
        return frontier_chart(
            self._table(),
            name="frontier",
            title="Usefulness against leakage",
            alt=(
                "Left and up is better: how well a model learns (AUC) against how often an "
                "attacker guesses the label. Epsilons are written at the points, bars are two "
                "standard errors each way; the dashed line "
                f"is what clean records give, {self.clean_auc:.3f}."
            ),
            x="leakage",
            y="AUC",
            group="mechanism",
            beside="ε",
            errors=("± leakage", "± AUC"),
            chosen=None if best is None else (best.better.leakage, best.better.auc),
            levels=((self.clean_auc, "clean records"),),
            axes=("leakage: attacker's accuracy on the label", "test AUC"),
        )


def _said(pair: Crossing) -> str:
    return (
        f"{pair.better.mechanism} at ε = {pair.better.epsilon:g} beats label DP at "
        f"ε = {pair.than.epsilon:g}: no more leakage and a surely higher AUC."
    )
