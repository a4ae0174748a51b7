"""A mechanism that is defined, private and exact at every place of a box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Integers, Items, Weights, frozen
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator, uniform_bits
from voile.core.space import as_items
from voile.core.weights import TOTAL, TOTAL_BITS
from voile.errors import BadFile, GuaranteeBroken, require
from voile.optimise.certificate import SmoothCertificate, certify_splines
from voile.optimise.on_lattice import SplineMechanism, grid_and_guarantee, require_resolution
from voile.optimise.repair import largest_sum
from voile.optimise.splines import SplineGrid

DEFAULT_RESOLUTION = 0.001
"""One metre, in km."""
FLOOR = 2.0**-30
"""Every output keeps at least this probability everywhere, so that rounding stays small."""


@dataclass(frozen=True, eq=False)
class SmoothMechanism(SplineMechanism):
    """Places in a box in, one of finitely many outputs out; p_y is a spline for each output y.

    The secret is *the place at the stated resolution*: a place is projected onto the box and
    snapped to a public lattice, then the splines are evaluated in integers whose weights sum to
    2**62 (`_release_kernels`) and drawn from exactly. The certificate bounds the privacy loss
    between any two lattice places, rounding included; a mechanism whose certificate exceeds its
    guarantee cannot be constructed. `coefficients` has a row for each output. What rounding leaves
    of the bound between places off the lattice is part of the guarantee (`outside`).
    """

    grid: SplineGrid
    outputs: Items
    coefficients: Floats
    guarantee: Guarantee
    resolution: float = DEFAULT_RESOLUTION
    _certificate: SmoothCertificate = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "outputs", as_items(self.outputs, name="outputs"))
        shape = (len(self.outputs), self.grid.size)
        require(
            self.coefficients.shape == shape,
            "coefficients",
            f"of shape {shape}",
            self.coefficients.shape,
        )
        kind = np.asarray(self.coefficients).dtype.kind
        require(kind in "fiu", "coefficients", "real numbers", f"kind {kind!r}")
        finite = bool(np.isfinite(self.coefficients).all())
        require(finite, "coefficients", "finite", "NaN or infinity")
        require_resolution(self.grid, self.resolution)
        self._state_rounding()
        most = largest_sum(np.asarray(self.coefficients))
        if not most < 2:  # the integers that are drawn by would overflow
            raise GuaranteeBroken(
                f"coefficients and their running sums must stay below 2, got {most:.6g}; mend them"
            )
        object.__setattr__(self, "coefficients", frozen(np.array(self.coefficients, dtype=float)))
        self._accept(
            certify_splines(
                self.grid,
                self.coefficients,
                p=self.p,
                resolution=self.resolution,
                weight_bits=TOTAL_BITS,
                unit=self.guarantee.metric.unit,
            )
        )

    # ── asking ─────────────────────────────────────────────────────────────────────────────

    def weights(self, places: Sequence[Any] | Items) -> Weights:
        """The integer weights at each place: rows that sum to exactly 2**62."""
        from voile.optimise._release_kernels import integer_rows

        index, weight = self.grid.basis(self.snap(places))
        rows = np.empty((len(index), len(self.outputs)), dtype=np.int64)
        integer_rows(index, weight, self.table, rows)
        return rows.astype(np.uint64)

    def probabilities(self, places: Sequence[Any] | Items) -> Floats:
        """p_y at each place, as drawn: integer weights over 2**62."""
        return np.asarray(self.weights(places) / float(TOTAL))

    # ── drawing ────────────────────────────────────────────────────────────────────────────

    def _draw_part(self, index: Indices, weight: Floats, rng: Generator, drawn: Indices) -> None:
        """One row of integers each; (degree+1)^N·log₂(outputs) products."""
        from voile.optimise._release_kernels import draw_each

        targets = uniform_bits(rng, len(index), bits=TOTAL_BITS).astype(np.int64)
        draw_each(index, weight, self.table, targets, drawn)

    @cached_property
    def table(self) -> Integers:
        """For each coefficient the running sums over the outputs, integers that end at 2**62.

        A coefficient is rounded to the nearest integer; what a row's sum misses goes to its
        largest entry. The certificate counts both.
        """
        whole = np.rint(np.ldexp(self.coefficients.T, TOTAL_BITS)).astype(np.int64)
        largest = whole.argmax(axis=1)
        whole[np.arange(len(whole)), largest] += TOTAL - whole.sum(axis=1)
        return np.asarray(frozen(np.cumsum(whole, axis=1)))

    # ── keeping ────────────────────────────────────────────────────────────────────────────

    def to_record(self) -> tuple[str, dict[str, Any], dict[str, Items]]:
        """Kind, description and arrays, for `voile.save`."""
        arrays = {"outputs": self.outputs, "coefficients": self.coefficients}
        return "smooth mechanism", self.described(), arrays


def smooth_from_record(meta: Mapping[str, Any], arrays: Mapping[str, Items]) -> SmoothMechanism:
    """The mechanism of a saved record; certified anew, so a tampered file is refused."""
    try:
        grid, guarantee = grid_and_guarantee(meta)
        return SmoothMechanism(
            grid,
            arrays["outputs"],
            np.asarray(arrays["coefficients"]),
            guarantee,
            float(meta["resolution"]),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise BadFile(f"the file does not describe a mechanism on a box: {problem}") from problem
