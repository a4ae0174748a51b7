"""What a region's mechanism is solved for: losses are worked out where they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from voile.core.arrays import Floats, Indices, frozen
from voile.errors import InvalidInput, require
from voile.optimise.problem import Problem

PLACES = 128
"""Places whose losses for all outputs are held at once."""


@dataclass(frozen=True, eq=False)
class Apart:
    """How far apart what is known of a place and of an output lie, divided by `scale`.

    With the path lengths to each task and `cityblock` it is the travel error, with coordinates and
    `euclidean` the straight line: no table of all places and outputs is ever made.
    """

    places: Floats
    outputs: Floats
    metric: Literal["cityblock", "euclidean"]
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.places).all() and np.isfinite(self.outputs).all()):
            raise InvalidInput(
                "loss must be finite; an infinite one means that some places cannot reach each "
                "other: keep the largest connected part of the network"
            )

    def between(self, places: Indices, outputs: Indices) -> Floats:
        """A table (places, outputs)."""
        from scipy.spatial.distance import cdist

        from voile.optimise._region_rows import cityblock

        if self.metric == "euclidean":
            return np.asarray(cdist(self.places[places], self.outputs[outputs]) / self.scale)
        found = np.empty((len(places), len(outputs)))
        cityblock(self.places[places], np.ascontiguousarray(self.outputs[outputs].T), found)
        found /= self.scale
        return found

    def means(self, places: Indices, shares: Floats) -> Floats:
        """Mean losses; for `cityblock` in time linear in places + outputs, task by task.

        Σ_y w_y·|x − y| = x·(W₋ − W₊) + M₊ − M₋ with the shares W and moments M = Σ w_y·y of the
        outputs below and above x: running sums over outputs in order.
        """
        if self.metric == "euclidean":
            return np.concatenate(
                [
                    self.between(places[i : i + PLACES], np.arange(len(shares))) @ shares
                    for i in range(0, len(places), PLACES)
                ]
            )
        total = np.zeros(len(places))
        for x, y in zip(self.places[places].T, self.outputs.T, strict=True):
            order = np.argsort(y)
            above, below = y[order], np.concatenate([[0.0], np.cumsum(shares[order])])
            moments = np.concatenate([[0.0], np.cumsum(shares[order] * above)])
            at = np.searchsorted(above, x)
            total += x * (2 * below[at] - below[-1]) + moments[-1] - 2 * moments[at]
        return np.asarray(total / self.scale)

    def with_outputs(self, chosen: Indices) -> Apart:
        """The same for some of the outputs."""
        return replace(self, outputs=self.outputs[chosen])


@dataclass(frozen=True, eq=False)
class Tabled:
    """Losses that are at hand as a table, for maps small enough to have one."""

    table: Floats

    def between(self, places: Indices, outputs: Indices) -> Floats:
        """A table (places, outputs)."""
        return np.asarray(self.table[np.ix_(places, outputs)])

    def means(self, places: Indices, shares: Floats) -> Floats:
        """The mean loss of each place over all outputs, by their shares."""
        return np.asarray(self.table[places] @ shares)

    def with_outputs(self, chosen: Indices) -> Tabled:
        """The same for some of the outputs."""
        return Tabled(self.table[:, chosen])


@dataclass(frozen=True, eq=False)
class RegionProblem:
    """Places with a public prior, outputs, losses, and the box that the guarantee will cover."""

    places: Floats
    prior: Floats
    outputs: Floats
    losses: Apart | Tabled = field(repr=False)
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        prior = np.asarray(self.prior, dtype=float)
        good = prior.shape == (len(self.places),) and bool((prior >= 0).all()) and prior.sum() > 0
        require(
            good, "prior", f"{len(self.places)} non-negative numbers, not all zero", prior.shape
        )
        inside = ((self.places >= np.asarray(self.low)) & (self.places <= self.high)).all()
        require(bool(inside), "places", "inside the box", "some outside")
        object.__setattr__(self, "prior", frozen(prior / prior.sum()))

    def with_outputs(self, chosen: Indices) -> RegionProblem:
        """The same with only some of the outputs."""
        losses = self.losses.with_outputs(chosen)
        return replace(self, outputs=self.outputs[chosen], losses=losses)


def as_region(problem: Problem) -> RegionProblem:
    """A map that is small enough for a table of losses, as a region."""
    if len(problem.low) != 2:
        raise InvalidInput("a region must lie in the plane; use smooth_spline")
    losses = Tabled(problem.loss)
    return RegionProblem(
        problem.places, problem.prior, problem.outputs, losses, problem.low, problem.high
    )
