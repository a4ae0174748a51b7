"""What mechanisms of splines on a box share: the lattice that places are moved to, its tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Integers, Items
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.space import lookup, positions_of
from voile.errors import GuaranteeBroken, InvalidInput, require
from voile.metrics.lattice import rounding_clause
from voile.metrics.lp_norms import lp
from voile.optimise.certificate import SmoothCertificate
from voile.optimise.plane import plane_points
from voile.optimise.splines import SplineGrid

MOST_STEPS = 2**23
"""Of a lattice along an axis, at most: 8,000 km in metres, or 80 km in centimetres."""


def require_resolution(grid: SplineGrid, resolution: float) -> None:
    """Refuse a step wider than a cell, or so fine that the lattice has too many places to table."""
    narrowest = min(grid.steps)
    widest = max(high - low for low, high in zip(grid.low, grid.high, strict=True))
    require(
        widest / MOST_STEPS <= resolution <= narrowest,
        "resolution",
        f"at least {widest / MOST_STEPS:.3g} and at most a cell's side ({narrowest:g})",
        resolution,
    )


@dataclass(frozen=True, eq=False)
class AxisTable:
    """For each lattice place along an axis: its cell, and the basis weights there."""

    cells: Integers
    weights: Floats


class SplineMechanism(ABC):
    """Places in a box in, one of finitely many outputs out; p_y is a spline for each output y.

    The secret is *the place at the stated resolution*: a place is projected onto the box and
    snapped to a public lattice, and the splines are evaluated there.
    """

    grid: SplineGrid
    outputs: Items
    guarantee: Guarantee
    resolution: float
    _certificate: SmoothCertificate

    @property
    def p(self) -> float:
        """The exponent of the ℓ_p metric that the guarantee speaks of."""
        parameters = dict(self.guarantee.metric.parameters)
        if "p" not in parameters:
            raise InvalidInput(
                f"a mechanism on a box must have an ℓ_p metric, got {self.guarantee.metric}"
            )
        return float(parameters["p"])

    def certificate(self) -> SmoothCertificate:
        """The supremum of the privacy loss over the box, rounding included."""
        return self._certificate

    def _state_rounding(self) -> None:
        """What rounding to the lattice leaves of the bound is part of the guarantee."""
        clause = rounding_clause(
            self.resolution,
            p=self.p,
            dimensions=self.grid.dimensions,
            unit=self.guarantee.metric.unit,
        )
        object.__setattr__(self, "guarantee", replace(self.guarantee, outside=(clause,)))

    def _accept(self, certificate: SmoothCertificate) -> None:
        """Keep a certificate of what is claimed, or refuse to be made."""
        object.__setattr__(self, "_certificate", certificate)
        if not certificate.epsilon <= self.guarantee.epsilon:
            raise GuaranteeBroken(
                f"the certificate must not exceed the claim of {self.guarantee.epsilon:.6g}, got "
                f"{certificate.epsilon:.6g}; repair the mechanism, or claim more"
            )

    @abstractmethod
    def probabilities(self, places: Sequence[Any] | Items) -> Floats:
        """p_y at each place, as drawn."""

    def draw(self, secrets: Sequence[Any] | Items, rng: Generator) -> Indices:
        """One position among the outputs for each place, drawn exactly."""
        places = self.snap(secrets)
        drawn = np.empty(len(places), dtype=np.intp)
        for start in range(0, len(places), 65536):
            part = slice(start, start + 65536)
            self._draw_part(*self.grid.basis(places[part]), rng, drawn[part])
        return drawn

    @abstractmethod
    def _draw_part(self, index: Indices, weight: Floats, rng: Generator, drawn: Indices) -> None:
        """Draw for each row of basis weights; the positions are written into `drawn`."""

    @abstractmethod
    def to_record(self) -> tuple[str, dict[str, Any], dict[str, Items]]:
        """Kind, description and arrays, for `voile.save`."""

    def snap(self, places: Sequence[Any] | Items) -> Floats:
        """The lattice place of each place: projected onto the box first.

        Projection onto a box never separates two places, rounding by at most one step of the
        lattice along each axis: see `rounding_clause`. Places far off the box are refused.
        """
        unit = self.guarantee.metric.unit
        points = plane_points(places, self.grid.low, self.grid.high, unit=unit)
        low = np.asarray(self.grid.low)
        inside = np.clip(points, low, self.grid.high)
        steps = np.minimum(np.rint((inside - low) / self.resolution), self.last_steps)
        return np.asarray(low + steps * self.resolution)

    @cached_property
    def last_steps(self) -> tuple[int, ...]:
        """The largest number of whole steps from the corner of the box along each axis."""
        size = np.asarray(self.grid.high) - np.asarray(self.grid.low)
        return tuple(int(n) for n in np.floor(size / self.resolution * (1 + 1e-12)))

    @cached_property
    def lattice_tables(self) -> tuple[AxisTable, ...]:
        """What `SplineGrid.basis` says at every lattice place, axis by axis: its own numbers."""
        found = []
        for axis, last in enumerate(self.last_steps):
            places = np.repeat([self.grid.low], last + 1, axis=0).astype(float)
            places[:, axis] = self.grid.low[axis] + np.arange(last + 1) * self.resolution
            cell, _ = self.grid.locate(places)
            found.append(AxisTable(cell[:, axis], self.grid.axis_weights(places, axis)))
        return tuple(found)

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """Ln p_release(secret), shape (len(secrets), len(releases))."""
        columns = lookup(self._positions, np.asarray(releases), size=len(self.outputs))
        return np.asarray(np.log(self.probabilities(secrets)[:, columns]))

    def expected_loss(self, places: Items, loss: Floats, prior: Floats) -> float:
        """Σ_x π(x) Σ_y p_y(x)·loss[x, y] over the given places, in blocks."""
        total, share = 0.0, np.asarray(prior, dtype=float)
        for start in range(0, len(places), 4096):
            rows = slice(start, start + 4096)
            inner = (self.probabilities(places[rows]) * loss[rows]).sum(axis=1)
            total += float(share[rows] @ inner)
        return total / float(share.sum())

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One output for each place, drawn exactly."""
        return self.outputs[self.draw(secrets, rng)]

    def described(self) -> dict[str, Any]:
        """Grid, lattice and claim, as `grid_and_guarantee` reads them."""
        return {
            "low": list(self.grid.low),
            "high": list(self.grid.high),
            "cells": list(self.grid.cells),
            "degree": self.grid.degree,
            "tension": self.grid.tension,
            "resolution": self.resolution,
            "epsilon": self.guarantee.epsilon,
            "p": "inf" if np.isinf(self.p) else self.p,
            "unit": self.guarantee.metric.unit,
            "granularity": self.guarantee.granularity,
        }

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return positions_of(self.outputs)


def grid_and_guarantee(meta: Mapping[str, Any]) -> tuple[SplineGrid, Guarantee]:
    """The way back from `described`; what is claimed is certified anew by who builds with it."""
    grid = SplineGrid(
        tuple(meta["low"]),
        tuple(meta["high"]),
        tuple(meta["cells"]),
        int(meta["degree"]),
        float(meta.get("tension", 0.0)),
    )
    metric = lp(float(meta["p"]), unit=str(meta["unit"]))
    granularity = str(meta["granularity"])
    return grid, Guarantee(float(meta["epsilon"]), metric, granularity, Basis.CERTIFIED)
