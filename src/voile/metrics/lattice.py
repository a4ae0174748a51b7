"""ℓ_p distances between the lattice points that places are moved to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.metric import Metric
from voile.errors import require
from voile.metrics.lp_norms import LpDistance, check_points, lp


def lattice_lp(p: float, *, step: float, unit: str = "unit") -> Metric:
    """‖a' − b'‖_p, where a' and b' are the multiples of `step` nearest to a and b.

    The distance that a mechanism on a lattice answers to: see `rounding_clause` for how much it may
    exceed ‖a − b‖_p. It is zero for places that share a lattice point.

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


def rounding_clause(resolution: float, *, p: float, dimensions: int, unit: str) -> str:
    """What snapping to a lattice of step h leaves of a bound: ε·(d + N^(1/p)·h) for d apart.

    Rounding moves two coordinates apart by at most h along each axis, h·N^(1/p) in all: √2·h for ℓ₂
    in the plane, 2·h for ℓ₁, h for ℓ_∞.
    """
    reach = rounding_reach(resolution, p=p, dimensions=dimensions)
    return (
        f"the rounding of places to {resolution:g} {unit}: between two places d {unit} apart the "
        f"loss is at most ε·(d + {reach:.3g}), which matters where d is as small"
    )


def rounding_reach(resolution: float, *, p: float, dimensions: int) -> float:
    """N^(1/p)·h, rounded up to three digits: see `rounding_clause`."""
    reach = resolution * dimensions ** (1 / p)
    digits = 2 - math.floor(math.log10(reach))
    return float(f"{math.ceil(reach * 10.0**digits * (1 - 1e-12)) / 10.0**digits:.3g}")
