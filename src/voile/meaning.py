"""What an epsilon means: odds and guesses at given distances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from voile.core.guarantee import Guarantee
from voile.errors import require, require_epsilon
from voile.metrics import discrete, euclidean
from voile.options import Option, use_case
from voile.report.model import Report, Table, Value
from voile.report.result import Result


@dataclass(frozen=True)
class Meant:
    """What epsilon allows between two secrets at one distance."""

    distance: float
    odds_factor: float
    best_guess: float


@dataclass(frozen=True, repr=False, eq=False)
class Explanation(Result):
    """Sentences, and the numbers behind them: one row a distance."""

    epsilon: float
    delta: float
    unit: str
    candidates: int
    explanation: str
    rows: tuple[Meant, ...]

    def _report(self) -> Report:
        """The sentences, and the guesses as bars."""
        first, *rest = self.explanation.splitlines()
        rows = [(f"{r.distance:g} {self.unit}", r.best_guess, _odds(r)) for r in self.rows]
        guess = f"best guess among {self.candidates}"
        return Report(
            title=f"What ε = {self.epsilon:g} means",
            answer=first,
            guarantee=tuple(rest),
            tables=(
                Table(
                    f"{guess.capitalize()}, by how far apart the candidates are",
                    ("apart", guess, "odds ×"),
                    (*rows, ("before any release", 1 / self.candidates, 1.0)),
                    bars=guess,
                ),
            ),
            about="What it allows",
            terms=("epsilon", "odds"),
        )


def _odds(meant: Meant) -> Value:
    return "no bound" if math.isinf(meant.odds_factor) else meant.odds_factor


@use_case("explain")
def explain(
    *,
    epsilon: Annotated[float, Option("Privacy parameter, per unit of distance.", "How strong")],
    distance: Annotated[
        tuple[float, ...], Option("How far apart two secrets are; several with commas.")
    ] = (1.0,),
    candidates: Annotated[int, Option("How many secrets an attacker chooses from.")] = 100,
    unit: Annotated[str, Option("The unit of distance.", shown=True)] = "km",
    delta: Annotated[
        float, Option("Probability with which the bound may fail.", "How strong")
    ] = 0.0,
    local: Annotated[bool, Option("Plain local privacy: any two secrets are 1 apart.")] = False,
) -> Explanation:
    """Say what an epsilon means, in odds and in guesses.

    Example: `voile explain --epsilon 0.8 --distance 1 --candidates 100`

    >>> round(explain(epsilon=1.0, local=True, candidates=2).rows[0].best_guess, 4)
    0.7311
    """
    epsilon = require_epsilon(epsilon)
    require(len(distance) > 0, "distance", "at least one", "none")
    for one in distance:
        require(0 <= one < float("inf"), "distance", "a finite number >= 0", one)
    metric, granularity = (
        (discrete(), "one label") if local else (euclidean(unit=unit), "one place")
    )
    guarantee = Guarantee(epsilon, metric, granularity, delta=delta)
    chosen = (1.0,) if local else tuple(sorted(distance))
    around = (
        (1.0,) if local else tuple(sorted({*chosen, *(max(chosen) * f for f in (0.25, 0.5, 2, 4))}))
    )
    rows = tuple(
        Meant(d, guarantee.odds_factor(d), guarantee.best_guess(candidates=candidates, within=d))
        for d in around
    )
    sentences = guarantee.explain(distances=chosen, candidates=candidates).split("\n", 1)[1]
    return Explanation(epsilon, delta, metric.unit, candidates, sentences, rows)
