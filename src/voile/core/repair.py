"""Moving a nearly private table inside its bound, exactly and by little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats
from voile.core.space import Space
from voile.errors import GuaranteeBroken, InvalidInput

LARGEST_DUST = 0.01
"""A repair that moves more of a row than this is refused: the table was not private."""


@dataclass(frozen=True)
class Repair:
    """What a repair did: negative dust clipped, and the share of each row that was moved."""

    clipped: float
    moved: float

    def __str__(self) -> str:
        return f"repaired: clipped {self.clipped:.2g}, moved {100 * self.moved:.3g} % of each row"


def repaired(table: Floats, *, space: Space, epsilon: float) -> tuple[Floats, Repair]:
    """A table inside (epsilon, d), and how far it is from the given one.

    Law: each output y is lifted by one constant for all secrets,
    δ_y = max over x, x' of (K(y|x) − e^(ε·d) K(y|x')) / (e^(ε·d) − 1), or 0.
    Then K(y|x) + δ_y ≤ e^(ε·d) (K(y|x') + δ_y) for every pair, and since all rows gained the
    same Σδ_y, dividing by 1 + Σδ_y restores the sums without touching a ratio. Costs n²·m.
    """
    inside = epsilon * (1 - 1e-9)
    clipped = float(max(0.0, -table.min()))
    if clipped > LARGEST_DUST:
        raise InvalidInput(f"probabilities must be >= 0 up to dust, got {table.min():.3g}")
    table = np.maximum(table, 0.0)
    table /= table.sum(axis=1, keepdims=True)
    lift = np.zeros(table.shape[1])
    for rows, distances in space.metric.blocks(space.items, space.items):
        shrink = np.exp(-inside * distances)
        apart = distances > 0
        gap = np.where(apart, -np.expm1(-inside * distances), 1.0)
        for y, column in enumerate(table.T):
            need = (column[rows, None] * shrink - column[None, :]) / gap
            lift[y] = max(lift[y], float(np.max(need, where=apart, initial=0.0)))
    moved = float(lift.sum() / (1 + lift.sum()))
    if moved > LARGEST_DUST:
        raise GuaranteeBroken(
            f"repair must move at most {100 * LARGEST_DUST:g} % of a row, this table needs "
            f"{100 * moved:.3g} %: it is not a private mechanism with dust; claim a larger epsilon"
        )
    return (table + lift) / (1 + lift.sum()), Repair(clipped, moved)
