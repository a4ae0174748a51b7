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
    then equal to 1 but for rounding, which the certificate accounts for. `floor` is a probability;
    functions inside the cone are non-negative, so the mixture is at least κ/Y everywhere.
    """
    outputs = len(coefficients)
    lifts = np.array([cones.lift(row) for row in coefficients]) * _NUDGE
    table = coefficients + lifts[:, None]
    sums = table.sum(axis=0)
    short = sums.max() - sums
    extra = cones.lift(short) * _NUDGE
    whole = sums.max() + extra
    table = (table + (short + extra) / outputs) / whole
    share = floor * outputs
    table = (1 - share) * table + floor
    filled = float(short.mean() + extra) / whole
    return table, Mending(float(lifts.sum() / whole), filled, float(share))
