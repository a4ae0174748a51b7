"""What a mechanism is solved for: where people are, what may be released, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from voile.core.arrays import Floats, Indices, frozen
from voile.errors import InvalidInput, require
from voile.optimise.splines import SplineGrid


@dataclass(frozen=True, eq=False)
class Problem:
    """Places with a public prior, outputs, and loss[x, y] of releasing y for a person at x.

    All in one plane, in one unit; `low` and `high` are the corners of the box that the guarantee
    will cover, which holds every place.

    >>> places = np.array([[0.5], [1.5], [2.5]])
    >>> line = Problem(places, np.ones(3), places, np.abs(places - places.T), (0.0,), (3.0,))
    >>> line.prior.round(3)
    array([0.333, 0.333, 0.333])
    """

    places: Floats
    prior: Floats
    outputs: Floats
    loss: Floats
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        places, outputs = np.array(self.places, dtype=float), np.array(self.outputs, dtype=float)
        prior, loss = np.array(self.prior, dtype=float), np.array(self.loss, dtype=float)
        require(places.ndim == 2 and len(places) > 0, "places", "rows of coordinates", places.shape)
        require(
            outputs.ndim == 2 and outputs.shape[1] == places.shape[1] and len(outputs) > 0,
            "outputs",
            f"rows of {places.shape[1]} coordinates",
            outputs.shape,
        )
        require(
            loss.shape == (len(places), len(outputs)),
            "loss",
            f"of shape {(len(places), len(outputs))}",
            loss.shape,
        )
        if not np.isfinite(loss).all() or (loss < 0).any():
            raise InvalidInput(
                "loss must be finite and >= 0; an infinite one means that some places cannot "
                "reach each other: keep the largest connected part of the network"
            )
        good = prior.shape == (len(places),) and bool((prior >= 0).all()) and prior.sum() > 0
        require(good, "prior", f"{len(places)} non-negative numbers, not all zero", prior.shape)
        inside = ((places >= np.asarray(self.low)) & (places <= np.asarray(self.high))).all()
        require(bool(inside), "places", "inside the box", "some outside")
        object.__setattr__(self, "low", tuple(map(float, self.low)))
        object.__setattr__(self, "high", tuple(map(float, self.high)))
        for name, value in (
            ("places", places),
            ("outputs", outputs),
            ("loss", loss),
            ("prior", prior / prior.sum()),
        ):
            object.__setattr__(self, name, frozen(value))

    def grid(self, cells: Sequence[int], *, degree: int) -> SplineGrid:
        """The box cut into cells."""
        return SplineGrid(self.low, self.high, tuple(map(int, cells)), degree)

    def costs(self, grid: SplineGrid) -> Floats:
        """c[y, i] = Σ_x π(x)·B_i(x)·loss[x, y]: the expected loss is Σ c·coefficients, exactly."""
        from scipy.sparse import csr_array

        index, weight = grid.basis(self.places)
        starts = np.arange(0, index.size + 1, index.shape[1])
        basis = csr_array((weight.ravel(), index.ravel(), starts), shape=(len(index), grid.size))
        return np.ascontiguousarray((basis.T @ (self.prior[:, None] * self.loss)).T)

    def with_outputs(self, chosen: Indices) -> Problem:
        """The same with only some of the outputs."""
        return replace(self, outputs=self.outputs[chosen], loss=self.loss[:, chosen])

    def expected(self, probabilities: Floats) -> float:
        """Σ_x π(x) Σ_y K(y|x)·loss[x, y] for a table of probabilities at the places."""
        return float(self.prior @ (probabilities * self.loss).sum(axis=1))


def laps(cells: Sequence[int], factor: float) -> tuple[int, ...]:
    """Cells scaled by a factor, at least one an axis."""
    return tuple(max(1, round(c * factor)) for c in cells)
