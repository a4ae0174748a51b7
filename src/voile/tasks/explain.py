"""What an epsilon means: odds and guesses at given distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voile.core.guarantee import Guarantee
from voile.errors import require, require_epsilon
from voile.metrics import discrete, euclidean


@dataclass(frozen=True)
class Explanation:
    """Sentences, and the numbers behind them: one row a distance."""

    sentences: str
    unit: str
    candidates: int
    rows: tuple[tuple[float, float, float], ...]  # distance, odds factor, best guess


def explain(
    *,
    epsilon: float,
    distances: Sequence[float] = (1.0,),
    candidates: int = 100,
    unit: str = "km",
    delta: float = 0.0,
    local: bool = False,
) -> Explanation:
    """The meaning of epsilon per unit, or of plain local privacy if `local`.

    >>> explain(epsilon=1.0, local=True, candidates=2).rows[0][2].__round__(4)
    0.7311
    """
    epsilon = require_epsilon(epsilon)
    require(len(distances) > 0, "distances", "at least one", "none")
    for distance in distances:
        require(0 <= distance < float("inf"), "distance", "a finite number >= 0", distance)
    metric, granularity = (
        (discrete(), "one label") if local else (euclidean(unit=unit), "one place")
    )
    guarantee = Guarantee(epsilon, metric, granularity, delta=delta)
    chosen = (1.0,) if local else tuple(sorted(distances))
    around = (
        (1.0,) if local else tuple(sorted({*chosen, *(max(chosen) * f for f in (0.25, 0.5, 2, 4))}))
    )
    rows = tuple(
        (d, guarantee.odds_factor(d), guarantee.best_guess(candidates=candidates, within=d))
        for d in around
    )
    sentences = guarantee.explain(distances=chosen, candidates=candidates).split("\n", 1)[1]
    return Explanation(sentences, metric.unit, candidates, rows)
