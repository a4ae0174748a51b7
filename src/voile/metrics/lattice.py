"""ℓ_p distances between the lattice points that places are moved to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.metric import Metric
from voile.errors import require
from voile.metrics.lp import LpDistance, check_points, lp


def lattice_lp(p: float, *, step: float, unit: str = "unit") -> Metric:
    """‖a' − b'‖_p, where a' and b' are the multiples of `step` nearest to a and b.

    The distance that a mechanism on a lattice answers to. In the plane it is at most ‖a − b‖_p
    and step·√2 more (2·step for p = 1), and it is zero for places that share a lattice point.

    >>> import numpy as np
    >>> near = lattice_lp(2.0, step=0.5, unit="km")
    >>> near.pairwise(np.array([[0.1, 0.0]]), np.array([[0.2, 0.0], [0.3, 0.0]]))
    array([[0. , 0.5]])
    """
    require(0 < step < math.inf, "step", "finite and > 0", step)
    plain = lp(p, unit=unit)
    return Metric(
        plain.name,
        unit,
        LatticeDistance(LpDistance(float(p)), float(step)),
        parameters=(*plain.parameters, ("lattice", float(step))),
        check_items=check_points,
    )


@dataclass(frozen=True)
class LatticeDistance:
    """The distance of `lattice_lp`: equal for equal p and step."""

    between: LpDistance
    step: float

    def __call__(self, left: Items, right: Items) -> Floats:
        """All distances."""
        return self.step * self.between(np.rint(left / self.step), np.rint(right / self.step))


def beyond_the_lattice(p: float, step: float, unit: str) -> str:
    """What moving places to a lattice leaves out of a guarantee, as a phrase."""
    extra, sign = (2 * step, "2") if p == 1 else (math.sqrt(2) * step, "√2")
    return (
        f"where within {step:.3g} {unit} a place lies: it is first moved to a lattice of that "
        f"step, so that the bound between two places d apart is ε·(d + {sign}·{step:.3g}), that "
        f"is {extra:.3g} {unit} more"
    )
