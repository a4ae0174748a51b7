"""What all rewriters have in common: a result that says what was cut, fidelities and laws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from voile.core.guarantee import Basis, Guarantee
from voile.errors import require
from voile.metrics import discrete
from voile.rewriting.public_law import BandSampler, MixtureSampler
from voile.rewriting.token_law import TokenLaw
from voile.rewriting.token_sampler import TokenSampler

Fidelity = Literal["sound", "as_released"]
"""`sound`: the guarantee holds. `as_released`: what the published code does, on its word."""

Law = Literal["clipped", "mixture", "public"]
"""How a token is drawn: the published law on clipped logits (`TokenSampler`), mixed with the
uniform one (`MixtureSampler`), or near what the model says without the text (`BandSampler`)."""


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


def sound_law(law: Law, epsilon: float, bounds: tuple[float, float]) -> TokenLaw:
    """The named law of a token; bounds are those of the clipped one."""
    if law == "mixture":
        return MixtureSampler(epsilon)
    if law == "public":
        return BandSampler(epsilon)
    require(law == "clipped", "law", "'clipped', 'mixture' or 'public'", repr(law))
    return TokenSampler(epsilon, *bounds, aligned=True)


def check_fidelity_of_law(fidelity: str, law: str) -> None:
    """Published code knows the published law alone."""
    check_fidelity(fidelity)
    fits = fidelity == "sound" or law == "clipped"
    require(fits, "law", "'clipped' for code as it was released", repr(law))


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
