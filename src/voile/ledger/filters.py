r"""When a person's budget is spent: the rules that stay sound when spending is adaptive.

Fix two lives of one person that differ by at most one unit in every secret. Release i is ε_i-close
on them, given all that was released before; ε_i may itself depend on that. Let L be the log-ratio
of everything released.

- **Sum.** |L| ≤ Σ ε_i, surely. If Σ ε_i ≤ B whenever the ledger says yes, the whole is B-private,
  for lives t units apart t·B. Nothing is assumed about how releases are chosen.
- **Moments** (lives one unit apart, with a δ). An ε-close pair of laws is a post-processing of
  randomised response (Kairouz, Oh, Viswanath 2015), so for every λ > 0

      E[e^{λ L_i} | past] ≤ e^{c(ε_i)},  c(ε) = ln((e^{(1+λ)ε} + e^{−λε}) / (1 + e^ε)),

  and e^{λL − Σ c(ε_i)} is a supermartingale, however the ε_i are chosen. What matters is δ(B) =
  E[(1 − e^{B−L})₊], the least δ with P(S) ≤ e^B·Q(S) + δ for all S. Since
  (1 − e^{−u})₊ ≤ m·e^{λu} with m = λ^λ / (1+λ)^{1+λ} (equality at e^{−u} = λ/(1+λ)),

      Σ c(ε_i) ≤ λB − ln(m/δ)  whenever the ledger says yes  gives  δ(B) ≤ δ.

  This is a Rényi filter (Feldman, Zrnic 2021) of order 1 + λ with the exact curve of randomised
  response. λ is fixed beforehand, from B and δ alone, where it pays for the most small releases.
  The filter of Whitehouse, Ramdas, Rogers and Wu (2023) bounds P(L > B) with Gaussian tails; here
  both steps are sharper.
- **Either.** Yes may be said whenever one of the two holds: where the sum holds, L ≤ B surely and
  adds nothing to δ(B); what is left is bounded by the second.

A release with a δ_i of its own is, except with probability δ_i, as good as one without (the same
source): such δ_i are summed against a part of δ that is set aside for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from functools import cached_property, lru_cache

from voile.errors import require
from voile.ledger.amounts import ATTO, LARGEST, NANO, Cost, budget_units, delta_units, epsilon_units

_DIGITS = 60
_MARGIN = Decimal("1e-30")
"""More than sixty digits of `decimal` can be off by, and far below a unit."""

Amounts = tuple[int, int, int]
"""Epsilon in 10⁻⁹, moment in 10⁻⁹, delta in 10⁻¹⁸."""


@dataclass(frozen=True)
class Budget:
    """What one person may spend: epsilon, and where δ > 0 is accepted, by moments too.

    `leaks` is the part of delta kept for releases that have a delta of their own.

    >>> pure = Budget(1.0)
    >>> pure.allows((1_000_000_000, 0, 0)), pure.allows((1_000_000_001, 0, 0))
    (True, False)
    >>> Budget(6.0, delta=1e-6).releases(0.1), Budget(6.0).releases(0.1)
    (132, 60)
    """

    epsilon: float
    delta: float = 0.0
    leaks: float = 0.0

    def __post_init__(self) -> None:
        budget_units(self.epsilon)
        require(0 <= self.delta < 1, "delta", "between 0 and 1", self.delta)
        ok = self.leaks == 0 or 0 < self.leaks < self.delta
        require(ok, "leaks", "below delta", self.leaks)

    def __str__(self) -> str:
        return f"{self.epsilon:.12g}" + (f" with δ = {self.delta:g}" if self.delta else "")

    @cached_property
    def epsilon_limit(self) -> int:
        """The budget in units."""
        return budget_units(self.epsilon)

    @cached_property
    def delta_limit(self) -> int:
        """What is kept for releases with a delta, in units."""
        with localcontext() as context:
            context.prec = _DIGITS
            return int((Decimal(repr(self.leaks)) * ATTO).to_integral_value(ROUND_FLOOR))

    @cached_property
    def rate(self) -> float:
        """λ: any number above 0 is sound; this one pays for the most small releases.

        c(ε) is nearly (λ + λ²)ε²/2 for small ε. Taken from a grid of short decimals, so that every
        machine takes the same.
        """
        if not self.delta:
            return 0.0
        grid = [float(f"{10 ** (k / 32):.5g}") for k in range(-96, 193)]
        return max(grid, key=lambda rate: self._room(rate) / (rate + rate * rate))

    def _room(self, rate: float) -> float:
        """λB − ln(m/δ), in doubles: good enough to choose by."""
        surprise = -math.log(self.delta - self.leaks)
        most = rate * math.log(rate) - (1 + rate) * math.log1p(rate)
        return rate * self.epsilon - surprise - most

    @cached_property
    def moment_limit(self) -> int | None:
        """⌊λB − ln(m/δ)⌋ in units; None where the sum alone counts."""
        if not self.delta:
            return None
        with localcontext() as context:
            context.prec = _DIGITS
            rate = Decimal(self.rate)
            most = rate * rate.ln() - (1 + rate) * (1 + rate).ln()
            log = (Decimal(self.delta) - Decimal(self.leaks)).ln()
            limit = rate * self.epsilon_limit / NANO + log - most - _MARGIN
            return min(LARGEST, int((limit * NANO).to_integral_value(ROUND_FLOOR)))

    def price(self, cost: Cost) -> Amounts:
        """A cost in units, each rounded up."""
        moments = 0
        if self.delta:
            moments = min(LARGEST, sum(_moments(self.rate, e, n) for e, _, n in cost))
        return epsilon_units(cost), moments, delta_units(cost)

    def allows(self, spent: Amounts) -> bool:
        """Whether all that was spent is inside the budget."""
        epsilon, moments, delta = spent
        by_moments = self.moment_limit is not None and moments <= self.moment_limit
        return delta <= self.delta_limit and (epsilon <= self.epsilon_limit or by_moments)

    def releases(self, epsilon: float) -> int:
        """How many releases of one epsilon a fresh budget pays for.

        Each is priced apart, as rows are.
        """
        epsilons, moments, _ = self.price(((epsilon, 0.0, 1),))
        most = self.epsilon_limit // epsilons
        return most if self.moment_limit is None else max(most, self.moment_limit // moments)


@lru_cache(maxsize=65536)
def _moments(rate: float, epsilon: float, releases: int) -> int:
    """n·c(ε) in units, rounded up."""
    with localcontext() as context:
        context.prec = _DIGITS
        size, power = Decimal(epsilon), Decimal(rate)
        # Divided through by e^{(1+λ)ε}, so that nothing overflows.
        above = 1 + (-(1 + 2 * power) * size).exp()
        moment = power * size + (above / (1 + (-size).exp())).ln()
        units = (releases * (moment + _MARGIN) * NANO).to_integral_value(ROUND_CEILING)
        return min(LARGEST, int(units))
