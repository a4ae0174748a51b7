"""An interior-point method for many outputs that share their constraints.

It solves

    minimise Σ_y ⟨c_y, p_y⟩   subject to   M p_y ∈ K for every output y,   Σ_y p_y = 1,

with one sparse M for all outputs and K a product of half lines and second-order cones. The
Hessian of an output is banded; eliminating the outputs leaves one dense system of n equations
for the price vector. An iteration costs Y·n²·b/2 multiplications for Y outputs, n coefficients and
bandwidth b, where a general solver would factor a system of Y·n unknowns.

The answer is a proposal: residuals and gap are reported, and what is deployed is repaired and
certified afterwards. Its prices and multipliers give rigorous lower bounds (see `dual_value`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput, require
from voile.optimise._compile import in_slices
from voile.optimise.cones import Cones


@dataclass(frozen=True, eq=False)
class BlockSolution:
    """What the solver found, and how far from optimal it can tell that it is."""

    coefficients: Floats  # (Y, n)
    prices: Floats  # (n,)
    multipliers: Floats  # (Y, m, D)
    loss: float
    dual: float
    primal_residual: float
    dual_residual: float
    iterations: int
    seconds: float
    converged: bool

    @property
    def gap(self) -> float:
        """Relative distance of the primal and dual objectives."""
        return abs(self.loss - self.dual) / max(abs(self.loss), 1e-12)


def solve_blocks(
    costs: Floats,
    cones: Cones,
    *,
    tolerance: float = 1e-6,
    iterations: int = 80,
    seconds: float = float("inf"),
    progress: Callable[[int, float, float], None] | None = None,
) -> BlockSolution:
    """The least-cost functions, one row of `costs` (Y, n) an output.

    Mehrotra's predictor and corrector with Nesterov–Todd scaling, from the uniform mechanism,
    which is strictly feasible. `progress` is called with (iteration, loss, relative gap). If it
    stops early (iterations, seconds, stalled), `converged` is False and the coefficients are the
    last iterate.

    >>> from voile.optimise.cones import ratio_cones
    >>> pairs = np.array([[0, 1], [1, 0]])
    >>> cones = ratio_cones(pairs, np.array([1.0, 1.0]), 2)
    >>> answer = solve_blocks(np.array([[0.0, 0.5], [0.5, 0.0]]), cones)
    >>> round(answer.loss, 5)                       # 1 / (1 + e): randomised response
    0.26894
    """
    problem = np.ascontiguousarray(costs, dtype=np.float64)
    require(
        problem.ndim == 2 and problem.shape[1] == cones.size,
        "costs",
        f"of shape (outputs, {cones.size})",
        np.shape(costs),
    )
    if not np.isfinite(problem).all():
        raise InvalidInput("costs must be finite, got NaN or infinity; check the loss table")
    return _Run(problem, cones, tolerance).solve(iterations, seconds, progress)


class _Run:
    """The arrays of one solve. Functions are scaled by Y, costs by their largest entry."""

    def __init__(self, costs: Floats, cones: Cones, tolerance: float) -> None:
        self.outputs, self.n = costs.shape
        self.unit = float(np.abs(costs).max()) or 1.0
        self.costs = costs / self.unit
        self.cones, self.tolerance = cones, tolerance
        m, depth, _ = cones.matrix.shape
        y, n = self.outputs, self.n
        sign = np.where(np.arange(depth) == 0, 1.0, -1.0)
        self.signed = np.einsum("mdi,d,mdj->mij", cones.matrix, sign, cones.matrix)
        self.p = np.ones((y, n))
        self.price = np.zeros(n)
        self.s = np.broadcast_to(cones.slacks(np.ones(n)), (y, m, depth)).copy()
        self.z = np.zeros((y, m, depth))
        # Rows whose slack starts large start with a small multiplier: all products are equal.
        self.z[:, :, 0] = 0.1 * float(np.abs(self.costs).mean()) / self.s[:, :, 0]
        self.w, self.point, self.target = (np.zeros((y, m, depth)) for _ in range(3))
        self.ds, self.dz, self.primal = (np.zeros((y, m, depth)) for _ in range(3))
        self.eta = np.zeros((y, m))
        self.dual, self.v, self.dp = (np.zeros((y, n)) for _ in range(3))
        self.bands = np.zeros((y, n, cones.bandwidth + 1))

    def solve(
        self, iterations: int, seconds: float, progress: Callable[[int, float, float], None] | None
    ) -> BlockSolution:
        """Iterate until the gap and the residuals are small, or until it must stop."""
        begun, converged, step = time.monotonic(), False, 1.0
        for iteration in range(iterations + 1):
            self._residuals()
            loss, dual = float((self.costs * self.p).sum()), float(self.price.sum()) * self.outputs
            gap = abs(loss - dual) / max(abs(loss), 1e-9)
            if progress is not None:
                progress(iteration, loss * self.unit / self.outputs, gap)
            small = max(self._primal_error(), self._dual_error()) < max(1e-9, self.tolerance)
            converged = gap < self.tolerance and small
            late = time.monotonic() - begun > seconds
            if converged or late or iteration == iterations or not np.isfinite(loss):
                break
            if iteration > 15 and step < 1e-5:
                break
            step = self._step(iteration)
        shrink = 1 / self.outputs
        return BlockSolution(
            coefficients=self.p * shrink,
            prices=self.price * self.unit,
            multipliers=self.z * self.unit,
            loss=loss * self.unit * shrink,
            dual=dual * self.unit * shrink,
            primal_residual=self._primal_error(),
            dual_residual=self._dual_error(),
            iterations=iteration,
            seconds=time.monotonic() - begun,
            converged=converged,
        )

    def _residuals(self) -> None:
        from voile.optimise import _cone_kernels as kernels

        index, matrix = self.cones.index, self.cones.matrix
        in_slices(
            lambda _, part: kernels.residuals(
                index,
                matrix,
                self.p[part],
                self.s[part],
                self.z[part],
                self.price,
                self.costs[part],
                self.primal[part],
                self.dual[part],
            ),
            self.outputs,
        )
        self.short = self.outputs - self.p.sum(axis=0)

    def _primal_error(self) -> float:
        return max(float(np.abs(self.primal).max()), float(np.abs(self.short).max()) / self.outputs)

    def _dual_error(self) -> float:
        return float(np.abs(self.dual).max())

    def _step(self, iteration: int) -> float:
        """One predictor and corrector; the longer of the two step lengths taken."""
        from scipy.linalg import cho_factor, cho_solve

        coupling = self._factor()
        spread = 1 / np.sqrt(np.diag(coupling))
        scaled = coupling * spread[:, None] * spread[None, :]
        for bump in (1e-14, 1e-10, 1e-6):
            try:
                factor = cho_factor(scaled + bump * np.eye(self.n), lower=True, check_finite=False)
                break
            except np.linalg.LinAlgError:
                continue
        else:
            return 0.0

        def price_change(right: Floats) -> Floats:
            change = cho_solve(factor, right * spread, check_finite=False) * spread
            rest = right - coupling @ change
            return np.asarray(
                change + cho_solve(factor, rest * spread, check_finite=False) * spread
            )

        count = self.s.shape[0] * self.s.shape[1]
        level = float((self.s * self.z).sum()) / count
        _, primal, dual = self._direction(0.0, False, price_change)
        primal, dual = min(1.0, primal), min(1.0, dual)
        ahead = float(((self.s + primal * self.ds) * (self.z + dual * self.dz)).sum()) / count
        centre = min(1.0, max(ahead / level, 0.0) ** 3)
        change, primal, dual = self._direction(max(centre, 1e-5) * level, True, price_change)
        keep = 0.95 if iteration < 6 else 0.99
        primal, dual = min(1.0, keep * primal), min(1.0, keep * dual)
        self.p += primal * self.dp
        self.s += primal * self.ds
        self.z += dual * self.dz
        self.price += dual * change
        return max(primal, dual)

    def _factor(self) -> Floats:
        """Factor every Hessian and sum their inverses."""
        from voile.optimise import _band_kernels as bands
        from voile.optimise import _cone_kernels as kernels

        sums: dict[int, Floats] = {}

        def work(worker: int, part: slice) -> None:
            kernels.scale(
                self.s[part], self.z[part], self.w[part], self.eta[part], self.point[part]
            )
            bands.assemble(
                self.cones.index,
                self.cones.matrix,
                self.signed,
                self.w[part],
                self.eta[part],
                self.bands[part],
            )
            bands.factorise(self.bands[part], 1e-13)
            sums[worker] = np.zeros((self.n, self.n))
            bands.add_inverses(self.bands[part], sums[worker])

        in_slices(work, self.outputs)
        total = sum(sums.values(), np.zeros((self.n, self.n)))
        return np.asarray(np.tril(total) + np.tril(total, -1).T)

    def _direction(
        self, centre: float, correct: bool, price_change: Callable[[Floats], Floats]
    ) -> tuple[Floats, float, float]:
        """Fill dp, ds, dz; return the price change and the longest primal and dual steps."""
        from voile.optimise import _band_kernels as bands
        from voile.optimise import _cone_kernels as kernels

        index, matrix = self.cones.index, self.cones.matrix

        def aim(_: int, part: slice) -> None:
            kernels.targets(
                self.w[part],
                self.eta[part],
                self.point[part],
                self.ds[part],
                self.dz[part],
                centre,
                correct,
                self.target[part],
            )
            kernels.right_hand_side(
                index,
                matrix,
                self.w[part],
                self.eta[part],
                self.target[part],
                self.primal[part],
                self.dual[part],
                self.v[part],
            )
            bands.solve_each(self.bands[part], self.v[part])

        in_slices(aim, self.outputs)
        change = price_change(self.short - self.v.sum(axis=0))
        longest: list[tuple[float, float]] = []

        def move(_: int, part: slice) -> None:
            self.dp[part] = change
            bands.solve_each(self.bands[part], self.dp[part])
            self.dp[part] += self.v[part]
            kernels.cone_direction(
                index,
                matrix,
                self.w[part],
                self.eta[part],
                self.target[part],
                self.primal[part],
                self.dp[part],
                self.ds[part],
                self.dz[part],
            )
            longest.append(
                (
                    kernels.longest_step(self.s[part], self.ds[part]),
                    kernels.longest_step(self.z[part], self.dz[part]),
                )
            )

        in_slices(move, self.outputs)
        return change, min(a for a, _ in longest), min(b for _, b in longest)
