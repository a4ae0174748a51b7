"""Moving a solver's answer strictly inside its constraints, and certain to sum to one.

Constants are strictly inside every cone (see `cones`), so any answer can be mended: lift each
output's function by the constant that its worst constraint needs; fill up the row sums with a
function that is itself inside the cone, shared evenly; mix with the uniform law so that no
probability falls below a floor. Each step keeps the cone, because a cone is closed under sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats
from voile.optimise.cones import Cones

_NUDGE = 1 + 1e-6
LARGEST_SUM = 1.99
"""Running sums are integers of 63 bits, 62 of them behind the point: below 2 in size."""


@dataclass(frozen=True)
class Mending:
    """What the repair added, as shares of a row: lifts, the filling of sums, the floor."""

    lifted: float
    filled: float
    floor: float

    def __str__(self) -> str:
        parts = f"lifted {self.lifted:.2g}, filled {self.filled:.2g}, floor {self.floor:.2g}"
        return f"repaired: {parts} of a row"


def mend(coefficients: Floats, cones: Cones, *, floor: float) -> tuple[Floats, Mending]:
    """Coefficients (Y, n) inside the cones, with Σ_y = 1 and every value at least `floor`.

    Law: q_y ← q_y + δ_y with δ_y the lift of q_y; S = Σ_y q_y, r = max S − S, lifted by R;
    q_y ← (q_y + (r + R)/Y) / (max S + R); q_y ← (1 − κ)·q_y + κ/Y with κ = floor·Y. The sums are
    then equal to 1 but for rounding, which the certificate accounts for. κ is larger where running
    sums of coefficients would not fit into the integers they are drawn by. `floor` is a
    probability; functions inside the cone are non-negative, so the mixture is at least κ/Y.
    """
    outputs = len(coefficients)
    lifts = np.array([cones.lift(row) for row in coefficients]) * _NUDGE
    table = coefficients + lifts[:, None]
    sums = table.sum(axis=0)
    short = sums.max() - sums
    extra = cones.lift(short) * _NUDGE
    whole = sums.max() + extra
    table = (table + (short + extra) / outputs) / whole
    share = max(floor * outputs, _room(table))
    table = (1 - share) * table + share / outputs
    filled = float(short.mean() + extra) / whole
    return table, Mending(float(lifts.sum() / whole), filled, float(share))


def largest_sum(table: Floats) -> float:
    """The largest size of a coefficient, or of a running sum of them over the outputs."""
    return float(max(np.abs(table).max(), np.abs(np.cumsum(table, axis=0)).max()))


def _room(table: Floats) -> float:
    """The share of the uniform law that brings coefficients and their sums to `LARGEST_SUM`.

    Beside the border coefficients may lie far outside [0, 1] while the splines do not. A sum S
    becomes (1 − κ)·S + κ·u with u in [0, 1], so κ = (|S| − largest)/(|S| − 1) is enough.
    """
    most = largest_sum(table)
    return 0.0 if most <= LARGEST_SUM else (most - LARGEST_SUM) / (most - 1)
