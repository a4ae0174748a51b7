"""Planar Laplace noise, released as the nearest point of a grid: a channel, exactly."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats
from voile.core.channel import Channel
from voile.core.space import Space
from voile.errors import InvalidInput, require_epsilon
from voile.mechanisms._laplace_cells import cell_log_masses


def planar_laplace_grid(
    grid: Space, *, epsilon: float, granularity: str = "one location"
) -> Channel:
    """Add noise of density ε²/(2π)·e^(−ε‖z‖), report the nearest grid point.

    Andrés et al. (CCS 2013), with the nearest point of a bounded grid in place of their
    truncation. K(y|x) is the mass of y's cell, integrated to machine precision; cells on the
    border reach to infinity. The density is ε-Lipschitz in the secret and snapping is
    post-processing; the certificate confirms it on the integers, so nothing about continuous
    sampling is left to trust. The space must be a full rectangular grid with the Euclidean
    metric. Costs n·m cell integrals.

    >>> import voile
    >>> points = [[i, j] for i in range(5) for j in range(5)]
    >>> grid = voile.Space(points, metric=voile.metrics.euclidean(unit="km"))
    >>> channel = planar_laplace_grid(grid, epsilon=1.0)
    >>> channel.probabilities()[12, 12].round(5)        # stays in the middle cell
    np.float64(0.10968)
    """
    epsilon = require_epsilon(epsilon)
    if grid.metric.name != "euclidean" or grid.items.ndim != 2 or grid.items.shape[1] != 2:
        raise InvalidInput(
            f"planar_laplace_grid must have points in the plane with voile.metrics.euclidean(), "
            f"got {grid.metric}; project coordinates to km first"
        )
    x_low, x_high = _borders(grid.items[:, 0])
    y_low, y_high = _borders(grid.items[:, 1])
    corners = np.unique(grid.items, axis=0)
    full = len(np.unique(grid.items[:, 0])) * len(np.unique(grid.items[:, 1]))
    if not len(corners) == len(grid) == full:
        raise InvalidInput(
            f"planar_laplace_grid must have a full rectangular grid of distinct points, got "
            f"{len(grid)} points of {full} crossings; use multivariate_laplace()"
        )

    def log_weights(strength: float) -> Floats:
        x, y = grid.items[:, :1].astype(float), grid.items[:, 1:].astype(float)
        return cell_log_masses(
            x_low[None] - x, x_high[None] - x, y_low[None] - y, y_high[None] - y, epsilon=strength
        )

    return Channel.build(grid, log_weights, epsilon=epsilon, granularity=granularity)


def _borders(coordinates: Floats) -> tuple[Floats, Floats]:
    """Halfway to the neighbours on each side; infinite at the ends."""
    values, inverse = np.unique(coordinates, return_inverse=True)
    halfway = (values[1:] + values[:-1]) / 2
    low = np.concatenate([[-np.inf], halfway])
    high = np.concatenate([halfway, [np.inf]])
    return low[inverse], high[inverse]


def examples() -> list[Channel]:
    """A square grid, and one with uneven spacing."""
    from voile import metrics

    square = [[i, j] for i in range(4) for j in range(5)]
    uneven = [[x, y] for x in (0.0, 0.5, 2.0) for y in (0.0, 1.0)]
    return [
        planar_laplace_grid(Space(square, metric=metrics.euclidean(unit="km")), epsilon=0.8),
        planar_laplace_grid(Space(uneven, metric=metrics.euclidean(unit="km")), epsilon=2.0),
    ]
