"""A mechanism of splines for a whole region, as a sparse table of integers.

    p_y(x) = Σ_l u_l(x)·A_l,y / 2**114 + w_y·F(x)

A place x has nine nodes l of the grid with basis weights u_l(x), integers that sum to 2**52. Node
l's row holds weights A_l,y for the outputs near it, and leaves F_l = 2**62 − Σ_y A_l,y for the
*floor*: all outputs by fixed shares w_y, integers out of 2**32. No weight is negative, so a release
is three draws, each exact: a node by u, an output or the floor by the node's row, and in the latter
case an output by w. The law is that formula with no rounding in it.

A spline with compact support is 0 outside and cannot be ε-Lipschitz in its logarithm; w_y·F can,
since F is nearly constant, and the sum of the two can: near the end of its support the first is
small beside the second. So p_y needs numbers only where it is more than its floor, about 16/ε
around y, and a region's table grows with its area and not with its square.

The certificate (`certified`) is that of `certificate`: Bernstein coefficients of value and
gradient of b_y + w_y·F on each cell that b_y reaches, and of F once for all cells beyond.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices, Integers, Items, frozen
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator, uniform_bits
from voile.core.space import as_items
from voile.errors import BadFile, require
from voile.optimise.certificate import ROUNDING, SmoothCertificate
from voile.optimise.cones import dual_exponent
from voile.optimise.on_lattice import SplineMechanism, grid_and_guarantee, require_resolution
from voile.optimise.smooth import DEFAULT_RESOLUTION
from voile.optimise.splines import SplineGrid, axis_tables

FLOOR_BITS = 32
WORDS = (52, 62, FLOOR_BITS)
"""Random bits of the three draws: a node, an entry of its row, an output of the floor."""
AT_ONCE = 1024
"""Outputs whose entries are gathered from the rows at once, to be certified."""


@dataclass(frozen=True, eq=False)
class RegionMechanism(SplineMechanism):
    """Places in a box in, one of many outputs out, each p_y in numbers only near where it matters.

    `rows` (nodes + 1) says where each node's entries begin among `listed` (outputs) and `sums`
    (running sums out of 2**62); `floor` (outputs) are running sums out of 2**32. A mechanism whose
    certificate exceeds its guarantee cannot be constructed.
    """

    grid: SplineGrid
    outputs: Items
    rows: Integers
    listed: NDArray[np.int32]
    sums: Integers
    floor: Integers
    guarantee: Guarantee
    resolution: float = DEFAULT_RESOLUTION
    _certificate: SmoothCertificate = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "outputs", as_items(self.outputs, name="outputs"))
        for name, kind in (("rows", "i8"), ("listed", "i4"), ("sums", "i8"), ("floor", "i8")):
            given = np.asarray(getattr(self, name))
            require(given.dtype.kind in "iu" and given.ndim == 1, name, "integers", given.dtype)
            object.__setattr__(self, name, frozen(np.ascontiguousarray(given, dtype=kind)))
        require(self.grid.dimensions == 2 and self.grid.degree == 2, "grid", "smooth, a plane", "")
        require_resolution(self.grid, self.resolution)
        self._require_table()
        require(self.p in (1.0, 2.0, math.inf), "p", "1, 2 or infinity", self.p)
        self._state_rounding()
        self._accept(certified(self))

    def _require_table(self) -> None:
        from voile.optimise._region_kernels import well_formed

        rows, outputs = self.rows, len(self.outputs)
        ok = (
            rows.shape == (self.grid.size + 1,)
            and rows[0] == 0
            and bool((np.diff(rows) >= 0).all())
        )
        ok = ok and int(rows[-1]) == len(self.listed) == len(self.sums)
        ok = ok and well_formed(rows, self.listed, self.sums, outputs)
        require(ok, "a region's table", "rows of outputs in order with running sums", "another")
        rising = bool((np.diff(self.floor, prepend=0) > 0).all())
        ok = len(self.floor) == outputs and rising and int(self.floor[-1]) == 2**FLOOR_BITS
        require(ok, "floor", f"{outputs} rising sums that end at 2**{FLOOR_BITS}", "others")

    @property
    def shares(self) -> Floats:
        """Each output's share of the floor."""
        return np.asarray(np.diff(self.floor, prepend=0) * 2.0**-FLOOR_BITS)

    def probabilities(self, places: Sequence[Any] | Items) -> Floats:
        """p_y at each place, in doubles: (places, outputs), so for some places at a time."""
        law, left = self._law(self.snap(places), np.arange(len(self.outputs)))
        law += left[:, None] * self.shares
        return law

    def nearby(self, places: Floats) -> tuple[Indices, Floats, Floats]:
        """The outputs that the rows of some snapped places list, what they give, and what is left.

        The law without its floor, which the second part has the mass of.
        """
        from voile.optimise._region_kernels import listing

        index, _ = self.grid.basis(places)
        seen = np.zeros(len(self.outputs), dtype=np.bool_)
        listing(np.unique(index), self.rows, self.listed, seen)
        outputs = np.flatnonzero(seen)
        local = np.full(len(seen), -1)
        local[outputs] = np.arange(len(outputs))
        return outputs, *self._law(places, local)

    def _law(self, places: Floats, local: Indices) -> tuple[Floats, Floats]:
        """What rows give to each output, in the column that `local` says, and what they leave."""
        from voile.optimise._region_kernels import law_rows

        index, weight = self.grid.basis(places)
        law, left = np.zeros((len(index), local.max() + 1)), np.empty(len(index))
        law_rows(index, weight, self.rows, self.listed, self.sums, local, law, left)
        return law, left

    def _draw_part(self, index: Indices, weight: Floats, rng: Generator, drawn: Indices) -> None:
        """One search in one row each."""
        from voile.optimise._region_kernels import draw_each

        words = [uniform_bits(rng, len(index), bits=bits) for bits in WORDS]
        columns = np.stack(words, axis=1).astype(np.int64)
        draw_each(index, weight, self.rows, self.listed, self.sums, self.floor, columns, drawn)

    def to_record(self) -> tuple[str, dict[str, Any], dict[str, Items]]:
        """Kind, description and arrays, for `voile.save`."""
        names = ("outputs", "rows", "listed", "sums", "floor")
        return "region mechanism", self.described(), {name: getattr(self, name) for name in names}


def region_from_record(meta: Mapping[str, Any], arrays: Mapping[str, Items]) -> RegionMechanism:
    """The mechanism of a saved record; certified anew, so a tampered file is refused."""
    try:
        grid, guarantee = grid_and_guarantee(meta)
        return RegionMechanism(
            grid, arrays["outputs"], arrays["rows"], arrays["listed"], arrays["sums"],
            arrays["floor"], guarantee, float(meta["resolution"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as problem:
        raise BadFile(f"the file does not describe a region's mechanism: {problem}") from problem


def certified(mechanism: RegionMechanism) -> SmoothCertificate:
    """The certificate of a region's table, from the integers that are drawn by.

    A coefficient is an integer over 2**62 plus a share of the floor, in doubles right to two units
    in its last place, which `certificate.ROUNDING` has room for. No coefficient is negative, so a
    value is never smaller than what rounding its terms costs. What is left are the basis weights:
    right to 2⁻⁴⁴ of themselves in doubles, and as integers of 52 bits off by 9·2⁻⁵¹ in all times
    the largest ratio of two coefficients of a cell. Between two places of the lattice, at least a
    resolution apart, each side errs once.
    """
    from voile.optimise._region_kernels import by_output, certify_output, left_of

    grid, rows = mechanism.grid, mechanism.rows
    left = np.empty(grid.size)
    left_of(rows, mechanism.sums, left)
    axes = sorted(range(2), key=lambda axis: -grid.strides[axis])
    wide = grid.shape[axes[1]]
    slow, fast = (_points(grid, axis) for axis in axes)
    q = dual_exponent(mechanism.p)
    kind = 0 if q == math.inf else int(q)
    scratch = np.empty((grid.shape[axes[0]], wide))
    found, worst, where = np.array([0.0, 0.0, np.inf, 1.0]), 0.0, 0
    none = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    certify_output(*none, 1.0, left, wide, slow, fast, kind, scratch, found)
    shares = mechanism.shares
    found[2] *= float(shares.min())
    for low in range(0, len(shares), AT_ONCE):
        high = min(low + AT_ONCE, len(shares))
        begins, nodes, weights = by_output(rows, mechanism.listed, mechanism.sums, low, high)
        for y in range(low, high):
            part = slice(begins[y - low], begins[y - low + 1])
            if part.start == part.stop:
                continue
            certify_output(
                nodes[part], weights[part], shares[y], left, wide, slow, fast, kind, scratch, found
            )
            if found[0] > worst:
                worst, where = found[0], y
    upper, lower, smallest, peak = map(float, found)
    if not smallest > 0:
        upper = peak = math.inf
    reach = max(max(abs(a), abs(b)) for a, b in zip(grid.low, grid.high, strict=True))
    evaluation = 4 * ROUNDING + upper * reach * 2.0**-49 + 9 * 2.0**-51 * peak
    rounding = 2 * evaluation / mechanism.resolution
    total = (upper + rounding) * (1 + 2.0**-50)
    unit = mechanism.guarantee.metric.unit
    return SmoothCertificate(total, upper, lower, where, smallest, 0.0, rounding, unit)


def _points(grid: SplineGrid, axis: int) -> tuple[Floats, Floats]:
    """Value and slope weights at the Bernstein points along an axis, two a cell and a last."""
    table = axis_tables(grid, axis, pieces=1)
    return np.ascontiguousarray(table.values), np.ascontiguousarray(table.slopes)
