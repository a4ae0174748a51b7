"""What shuffling adds: local reports in a random order are private in the central sense."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require


def amplified_epsilon(epsilon: float, *, records: int, delta: float) -> float:
    """The ε of a whole file of ε₀-local reports in random order, with δ; at most ε₀.

    ε ≤ ln(1 + (e^ε₀ − 1)/(e^ε₀ + 1)·(8·√(e^ε₀·ln(4/δ))/√n + 8·e^ε₀/n)) for n records and
    ε₀ ≤ ln(n/(16·ln(2/δ))): Feldman, McMillan and Talwar, Hiding Among the Clones (FOCS 2021),
    theorem III.1. Each other report is, with probability e^−ε₀, drawn as the report of one of the
    two neighbours would be: a clone, among which the one that differs hides. Beyond that ε₀
    nothing is gained, and ε₀ itself, with δ = 0, is what holds.

    >>> round(amplified_epsilon(1.0, records=100_000, delta=1e-8), 4)
    0.0824
    """
    require(epsilon > 0, "epsilon", "> 0", epsilon)
    require(records >= 1, "records", ">= 1", records)
    require(0 < delta < 1, "delta", "between 0 and 1", delta)
    room = records / (16 * math.log(2 / delta))
    if room <= 1 or epsilon > math.log(room):
        return epsilon
    top = math.exp(epsilon)
    spread = 8 * math.sqrt(top * math.log(4 / delta) / records) + 8 * top / records
    return min(epsilon, math.log1p((top - 1) / (top + 1) * spread) * (1 + 2.0**-40))


@dataclass(frozen=True, eq=False)
class Shuffled:
    """Reports in a random order, and what holds of all of them together."""

    rows: NDArray[np.generic]
    guarantee: Guarantee


def shuffle(
    rows: NDArray[np.generic], guarantee: Guarantee, *, delta: float, rng: Generator
) -> Shuffled:
    """Put local reports into a random order, and state the (ε, δ) that this gives.

    `rows` are whole reports, one a record, each drawn independently under `guarantee`.
    """
    given = np.asarray(rows)
    require(len(given) >= 1, "rows", "at least one", "none")
    central = shuffled_guarantee(guarantee, records=len(given), delta=delta)
    return Shuffled(given[rng.permutation(len(given))], central)


def shuffled_guarantee(guarantee: Guarantee, *, records: int, delta: float) -> Guarantee:
    """What holds of so many reports in a random order, each drawn independently under `guarantee`.

    That must be local (δ = 0, for one record). It is for somebody who sees the shuffled rows only;
    whoever sees them before, or knows who handed them in when, has ε₀. Nothing of it holds for rows
    that were not shuffled.
    """
    require(guarantee.delta == 0, "the guarantee of each report", "without δ", guarantee.delta)
    if guarantee.granularity != "one record":
        raise InvalidInput(
            "each report must be private as a whole (granularity «one record»), got a guarantee "
            f"for {guarantee.granularity!r}"
        )
    require(guarantee.metric.largest == 1, "the metric", "discrete", guarantee.metric.name)
    found = amplified_epsilon(guarantee.epsilon, records=records, delta=delta)
    note = (
        "somebody who sees reports before they were shuffled, or knows all of them but one and "
        f"when it came: for them ε is {guarantee.epsilon:.4g}"
    )
    return replace(
        guarantee,
        epsilon=found,
        delta=delta if found < guarantee.epsilon else 0.0,
        basis=max(guarantee.basis, Basis.PROVED, key=list(Basis).index),
        outside=(*guarantee.outside, note),
    )
