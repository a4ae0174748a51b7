"""Planar Laplace noise for any place, released on a grid without end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.space import as_items
from voile.errors import require, require_epsilon
from voile.mechanisms._laplace_cells import cell_log_masses


@dataclass(frozen=True)
class PlanarLaplace:
    """See `planar_laplace`."""

    guarantee: Guarantee
    step: float

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One grid point near each place: rows of two coordinates."""
        points = _plane(secrets)
        angle = rng.uniform(0, 2 * np.pi, len(points))
        radius = rng.standard_gamma(2.0, len(points)) / self.guarantee.epsilon
        noisy = points + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.rint(noisy / self.step) * self.step

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """Ln of the mass of each release's grid cell."""
        here, there = _plane(secrets), np.rint(_plane(releases) / self.step) * self.step
        offset = there[None, :, :] - here[:, None, :]
        half = self.step / 2
        x, y = offset[..., 0], offset[..., 1]
        return cell_log_masses(
            x - half, x + half, y - half, y + half, epsilon=self.guarantee.epsilon
        )


def planar_laplace(
    *, epsilon: float, step: float, unit: str = "km", granularity: str = "one location"
) -> PlanarLaplace:
    """Add noise of density ε²/(2π)·e^(−ε‖z‖) to a place, report the nearest grid point.

    Andrés et al. (CCS 2013): direction uniform, radius Gamma(2, 1/ε), mean displacement 2/ε. The
    density is ε-Lipschitz in the secret by the triangle inequality; the grid of the given step
    is public, so rounding to it is post-processing and hides the low bits of the sum. The proof
    is about real numbers: the draw itself is in doubles (see docs/known-limits.md). On a bounded
    grid, `planar_laplace_grid` has no such remainder.

    >>> import voile
    >>> blur = planar_laplace(epsilon=0.8, step=0.1)
    >>> blur.release([[0.0, 0.0]], voile.seeded_rng(1)).shape
    (1, 2)
    """
    from voile.metrics.lp import euclidean

    epsilon = require_epsilon(epsilon)
    require(0 < step < np.inf, "step", "> 0", step)
    guarantee = Guarantee(epsilon, euclidean(unit=unit), granularity, Basis.PROVED)
    return PlanarLaplace(guarantee, float(step))


def _plane(points: Sequence[Any] | Items) -> Floats:
    array = as_items(points, name="places")
    numeric = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "fiu"
    require(numeric, "places", "rows of two coordinates", f"shape {array.shape} of {array.dtype}")
    return array.astype(np.float64)


def examples() -> list[PlanarLaplace]:
    """A fine grid and a coarse one."""
    return [planar_laplace(epsilon=0.8, step=0.1), planar_laplace(epsilon=2.0, step=1.0)]
