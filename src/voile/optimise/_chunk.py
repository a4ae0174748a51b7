"""Some outputs of the block solver side by side, and what is done to each of them alone."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats
from voile.optimise import _band_kernels as bands
from voile.optimise import _cone_kernels as kernels
from voile.optimise.cones import Cones, Surroundings

_ROOM, _LEAST = 0.3, 1e-7
"""A warm start lies on its constraints: slacks begin that share of themselves further inside."""


class Chunk:
    """Some outputs side by side: arrays with the output last, and the loops over them."""

    def __init__(
        self,
        costs: Floats,
        cones: Cones,
        signed: Floats,
        level: float,
        around: Surroundings | None = None,
    ) -> None:
        n, count = costs.shape
        m, depth, _ = cones.matrix.shape
        self.costs = np.ascontiguousarray(costs)
        self.index, self.matrix, self.signed = cones.index, cones.matrix, signed
        self.offset: Floats | None = None
        if around is None:
            self.p = np.ones((n, count))
            self.s = np.repeat(cones.slacks(np.ones(n))[:, :, None], count, axis=2)
        else:
            self.p = np.ascontiguousarray(around.start.T)
            self.offset = np.ascontiguousarray(around.offset.transpose(1, 2, 0))
            self.s = np.einsum("mdl,mlv->mdv", cones.matrix, self.p[cones.index]) + self.offset
            self.s[:, 0] += _ROOM * np.abs(self.s[:, 0]) + _LEAST
        self.z = np.zeros((m, depth, count))
        # Rows whose slack starts large start with a small multiplier: all products are equal.
        self.z[:, 0] = level / self.s[:, 0]
        self.w, self.point, self.target = (np.zeros((m, depth, count)) for _ in range(3))
        self.ds, self.dz, self.primal = (np.zeros((m, depth, count)) for _ in range(3))
        self.eta = np.zeros((m, count))
        self.dual, self.v, self.dp = (np.zeros((n, count)) for _ in range(3))
        self.bands = np.zeros((n, cones.bandwidth + 1, count))

    def residuals(self, price: Floats) -> None:
        """What the constraints and the multipliers lack."""
        kernels.residuals(
            self.index, self.matrix, self.p, self.s, self.z, price, self.costs, self.primal,
            self.dual,
        )  # fmt: skip
        if self.offset is not None:
            self.primal += self.offset

    def fixed(self) -> float:
        """What the multipliers make of that which cannot be changed."""
        return 0.0 if self.offset is None else float(np.vdot(self.offset, self.z))

    def product(self, primal: float, dual: float) -> float:
        """The inner product of slacks and multipliers after steps of these lengths."""
        return float(np.vdot(self.s + primal * self.ds, self.z + dual * self.dz))

    def factor(self, total: Floats) -> None:
        """Factor the Hessians; add their inverses to `total`."""
        kernels.scale(self.s, self.z, self.w, self.eta, self.point)
        bands.assemble(self.index, self.matrix, self.signed, self.w, self.eta, self.bands)
        bands.factorise(self.bands, 1e-13)
        bands.add_inverses(self.bands, total)

    def aim(self, centre: float, correct: bool) -> Floats:
        """Where each output would go at the same prices, summed."""
        kernels.targets(
            self.w, self.eta, self.point, self.ds, self.dz, centre, correct, self.target
        )
        kernels.right_hand_side(
            self.index, self.matrix, self.w, self.eta, self.target, self.primal, self.dual, self.v
        )
        bands.solve_each(self.bands, self.v)
        return np.asarray(self.v.sum(axis=1))

    def direction(self, change: Floats) -> tuple[float, float]:
        """Fill dp, ds, dz for this change of prices; the longest primal and dual steps."""
        self.dp[:] = change[:, None]
        bands.solve_each(self.bands, self.dp)
        self.dp += self.v
        kernels.cone_direction(
            self.index, self.matrix, self.w, self.eta, self.target, self.primal, self.dp, self.ds,
            self.dz,
        )  # fmt: skip
        return kernels.longest_step(self.s, self.ds), kernels.longest_step(self.z, self.dz)

    def move(self, primal: float, dual: float) -> None:
        """Take the step."""
        self.p += primal * self.dp
        self.s += primal * self.ds
        self.z += dual * self.dz
