"""What all rewriters have in common: a result that says what was cut, and two fidelities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from voile.core.guarantee import Basis, Guarantee
from voile.errors import require
from voile.metrics import discrete

Fidelity = Literal["sound", "as_released"]
"""`sound`: the guarantee holds. `as_released`: what the published code does, on its word."""


@dataclass(frozen=True)
class Rewritten:
    """Rewritten texts, how many draws each took, and how many inputs were cut to fit the model."""

    texts: list[str]
    units: list[int] = field(default_factory=list)
    cut: int = 0

    def __repr__(self) -> str:  # never the texts
        return f"Rewritten({len(self.texts)} texts, {sum(self.units)} draws, {self.cut} cut)"


def check_fidelity(fidelity: str) -> None:
    """Only the two that exist."""
    known = fidelity in ("sound", "as_released")
    require(known, "fidelity", "'sound' or 'as_released'", repr(fidelity))


def guarantee_for(
    granularity: str,
    *,
    epsilon: float,
    fidelity: str,
    delta: float = 0.0,
    outside: tuple[str, ...] = (),
) -> Guarantee:
    """Local privacy for one unit: proved where the code is sound, claimed where it is not."""
    basis = Basis.PROVED if fidelity == "sound" else Basis.CLAIMED
    return Guarantee(epsilon, discrete(), granularity, basis, delta, outside)
