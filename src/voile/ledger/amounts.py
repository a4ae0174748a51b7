"""Epsilons as exact integers: what a release costs, never a digit too little.

Sums of doubles drift, and a drift downwards is budget spent unseen. So amounts are integers of
10⁻⁹ and are rounded up once, when a row is priced. One thing stands in the way of plain rounding
up: a double is rarely the decimal that was typed (0.1 is 1.4·10⁻¹⁷ too large, a budget of 100
split over 30 words 4·10⁻¹⁵), and a budget of 1 should pay for ten releases of 0.1. Amounts are
therefore read with a relative slack of 2⁻⁵⁰, which does not accumulate,

    Σ ε_i ≤ Σ charged_i / (1 − 2⁻⁵⁰),

and `stated` adds it back: the guarantee that is printed for a person is never below the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from voile.errors import InvalidInput, require

NANO = 10**9
ATTO = 10**18
SLACK = Fraction(1, 2**50)
LARGEST = 10**18
"""No amount exceeds this (ε = 10⁹): sums over a part stay far inside 64 bits."""

Cost = tuple[tuple[float, float, int], ...]
"""What a row spends: (epsilon, delta, how many releases at these)."""

Whole = NDArray[np.int64]
Bools = NDArray[np.bool_]


def simple_cost(epsilon: float, releases: int = 1) -> Cost:
    """The cost of releases of one epsilon, without a delta.

    >>> simple_cost(0.8, 3)
    ((0.8, 0.0, 3),)
    """
    return ((epsilon, 0.0, releases),) if releases else ()


@lru_cache(maxsize=65536)
def epsilon_units(cost: Cost) -> int:
    """The sum of the epsilons of a cost in 10⁻⁹, rounded up (up to the slack above).

    >>> epsilon_units(((0.1, 0.0, 10),)), epsilon_units(((1 / 3, 0.0, 1),))
    (1000000000, 333333334)
    """
    for epsilon, _, releases in cost:
        if not (0 <= epsilon < math.inf) or releases < 0:
            raise InvalidInput(
                f"only a finite epsilon >= 0 can be charged, got {epsilon}; choose a mechanism "
                "whose guarantee bounds a release"
            )
    total = sum((Fraction(e) * n for e, _, n in cost), Fraction(0))
    units = math.ceil(total * (1 - SLACK) * NANO)
    if units > LARGEST:
        raise InvalidInput(
            f"at most ε = {LARGEST // NANO:g} can be charged for one row, and no budget is larger; "
            "choose a smaller epsilon, which would protect more as well"
        )
    return units


@lru_cache(maxsize=65536)
def delta_units(cost: Cost) -> int:
    """The sum of the deltas of a cost in 10⁻¹⁸, rounded up; 1 and more is beyond every budget."""
    return min(LARGEST, math.ceil(sum((Fraction(d) * n for _, d, n in cost), Fraction(0)) * ATTO))


def budget_units(budget: float) -> int:
    """A budget in 10⁻⁹, read as the decimal that was typed, rounded down.

    >>> budget_units(0.3), budget_units(20)
    (300000000, 20000000000)
    """
    ok = isinstance(budget, int | float) and 0 < budget <= LARGEST / NANO
    require(ok, "budget", f"a number > 0 and at most {LARGEST // NANO:g}", budget)
    with localcontext() as context:
        context.prec = 60
        units = int((Decimal(repr(float(budget))) * NANO).to_integral_value(ROUND_FLOOR))
    require(units >= 1, "budget", "at least 1e-9", budget)
    return units


def stated(units: int) -> float:
    """The smallest double that is certainly not below what was spent.

    >>> stated(20 * NANO)
    20.00000000000002
    """
    exact = Fraction(units, NANO) / (1 - SLACK)
    value = float(exact)
    return value if Fraction(value) >= exact else math.nextafter(value, math.inf)


def shown(units: int) -> str:
    """Units as the decimal they are, without trailing noughts.

    >>> shown(20 * NANO), shown(1_500_000_001)
    ('20', '1.500000001')
    """
    whole, rest = divmod(units, NANO)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


@dataclass(frozen=True, eq=False)
class Bill:
    """What each row of a batch costs: a list of prices, and which one is whose.

    −1 stands for a row that is not released at all, being a bad one: it is not charged and not
    counted. A row may be released and cost nothing (a text without words).
    """

    prices: tuple[Cost, ...]
    which: NDArray[np.intp]

    @classmethod
    def listed(cls, costs: Sequence[Cost | None]) -> Bill:
        """One cost for each row, None for a row that is not released.

        >>> Bill.listed([simple_cost(1.0), simple_cost(2.0), None, simple_cost(1.0)]).which.tolist()
        [0, 1, -1, 0]
        """
        places: dict[Cost, int] = {}
        which = [-1 if c is None else places.setdefault(c, len(places)) for c in costs]
        return cls(tuple(places), np.array(which, dtype=np.intp))

    @classmethod
    def alike(cls, cost: Cost, charged: Bools) -> Bill:
        """One cost for all rows that are charged; the others are not released."""
        return cls((cost,), np.asarray(charged, dtype=np.intp) - 1)

    def __len__(self) -> int:
        return len(self.which)
