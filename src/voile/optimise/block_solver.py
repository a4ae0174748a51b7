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

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput, require
from voile.interrupts import asked_to_stop, worth_keeping
from voile.optimise._compile import in_slices
from voile.optimise.cones import Cones, Surroundings
from voile.progress import tell

if TYPE_CHECKING:
    from voile.optimise._chunk import Chunk

T = TypeVar("T")
AT_ONCE = 48
"""Outputs side by side at most: enough to fill vectors, few enough to divide among cores."""


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
    hopeless: float = float("inf"),
    name: str = "",
    around: Surroundings | None = None,
) -> BlockSolution:
    """The least-cost functions, one row of `costs` (Y, n) an output.

    Mehrotra's predictor and corrector with Nesterov–Todd scaling, from the uniform mechanism,
    which is strictly feasible. With a `name` it tells the gap of each iteration under it. If it
    stops early (iterations, seconds, stalled, asked to by Ctrl-C, or its dual value shows a cost
    above `hopeless`), `converged` is False and the coefficients are the last iterate.

    With `around` the functions are part of larger ones whose other coefficients stay as they are:
    M p_y + offset_y ∈ K and Σ_y p_y = total, begun at `around.start`.

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
    return _Run(problem, cones, tolerance, around).solve(iterations, seconds, hopeless, name)


class _Run:
    """One solve. Functions are scaled by Y, costs by their largest entry."""

    def __init__(
        self, costs: Floats, cones: Cones, tolerance: float, around: Surroundings | None
    ) -> None:
        from voile.optimise._chunk import Chunk

        self.outputs, self.n = costs.shape
        self.unit = float(np.abs(costs).max()) or 1.0
        self.tolerance = tolerance
        sign = np.where(np.arange(cones.matrix.shape[1]) == 0, 1.0, -1.0)
        signed = np.einsum("mdi,d,mdj->mij", cones.matrix, sign, cones.matrix)
        level = 0.1 * float(np.abs(costs).mean()) / self.unit
        cores = os.cpu_count() or 1
        pieces = min(self.outputs, cores * -(-self.outputs // (cores * AT_ONCE)))
        self.total = self.outputs * (np.ones(self.n) if around is None else around.total)
        cuts = np.array_split(np.arange(self.outputs), pieces)
        self.chunks = [
            Chunk(
                costs[part].T / self.unit, cones, signed, level,
                None if around is None else around.scaled(part, self.outputs),
            )
            for part in cuts
        ]  # fmt: skip
        self.price = np.zeros(self.n)
        self.short = np.zeros(self.n)

    def solve(
        self,
        iterations: int,
        seconds: float,
        hopeless: float,
        name: str,
    ) -> BlockSolution:
        """Iterate until the gap and the residuals are small, or until it must stop."""
        begun, converged, step = time.monotonic(), False, 1.0
        for iteration in range(iterations + 1):
            self._each(lambda chunk: chunk.residuals(self.price))
            self.short = self.total - sum(chunk.p.sum(axis=1) for chunk in self.chunks)
            loss = sum(float((chunk.costs * chunk.p).sum()) for chunk in self.chunks)
            dual = float(self.price @ self.total) - sum(chunk.fixed() for chunk in self.chunks)
            gap = abs(loss - dual) / max(abs(loss), 1e-9)
            if name:
                self._tell(name, gap)
            small = max(self._primal_error(), self._dual_error()) < max(1e-9, self.tolerance)
            converged = gap < self.tolerance and small
            late = time.monotonic() - begun > seconds
            # No p ≥ 0 costs less than the dual value, less what the residual may give; a spline's
            # coefficients can be a little negative, so this decides when to stop and nothing else.
            surely = (dual / self.outputs - self.n * self._dual_error()) * self.unit
            if (
                converged
                or late
                or asked_to_stop()
                or surely > hopeless
                or iteration == iterations
                or not np.isfinite(loss)
            ):
                break
            if iteration > 15 and step < 1e-5:
                break
            step = self._step(iteration)
            worth_keeping()
        shrink = 1 / self.outputs
        return BlockSolution(
            coefficients=np.concatenate([chunk.p.T for chunk in self.chunks]) * shrink,
            prices=self.price * self.unit,
            multipliers=np.concatenate([c.z.transpose(2, 0, 1) for c in self.chunks]) * self.unit,
            loss=loss * self.unit * shrink,
            dual=dual * self.unit * shrink,
            primal_residual=self._primal_error(),
            dual_residual=self._dual_error(),
            iterations=iteration,
            seconds=time.monotonic() - begun,
            converged=converged,
        )

    def _tell(self, name: str, gap: float) -> None:
        """The gap, and how many of the digits that it is to lose it has lost."""
        lost = math.log(max(gap, self.tolerance)) / math.log(self.tolerance)
        tell(f"{name}, gap {100 * gap:.1f} %", done=round(100 * max(0.0, lost)), total=100)

    def _each(self, work: Callable[[Chunk], T]) -> list[T]:
        """What `work` says of every chunk, on all cores."""
        answers: dict[int, T] = {}

        def some(_: int, part: slice) -> None:
            for i in range(part.start, part.stop):
                answers[i] = work(self.chunks[i])

        in_slices(some, len(self.chunks))
        return [answers[i] for i in range(len(self.chunks))]

    def _primal_error(self) -> float:
        most = max(float(np.abs(chunk.primal).max()) for chunk in self.chunks)
        return float(max(most, np.abs(self.short).max() / self.outputs))

    def _dual_error(self) -> float:
        return max(float(np.abs(chunk.dual).max()) for chunk in self.chunks)

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

        level = self._level(0.0, 0.0)
        if not level > 0:
            return 0.0
        _, primal, dual = self._direction(0.0, False, price_change)
        ahead = self._level(min(1.0, primal), min(1.0, dual))
        centre = min(1.0, max(ahead / level, 0.0) ** 3)
        change, primal, dual = self._direction(max(centre, 1e-5) * level, True, price_change)
        if not (np.isfinite(change).all() and math.isfinite(primal + dual)):
            return 0.0  # a cone has shrunk to its tip: the last iterate is the answer
        keep = 0.95 if iteration < 6 else 0.99
        primal, dual = min(1.0, keep * primal), min(1.0, keep * dual)
        self._each(lambda chunk: chunk.move(primal, dual))
        self.price += dual * change
        return max(primal, dual)

    def _level(self, primal: float, dual: float) -> float:
        """The mean product of slack and multiplier of a cone, after steps of these lengths."""
        parts = self._each(lambda chunk: chunk.product(primal, dual))
        return float(sum(parts)) / (self.outputs * len(self.chunks[0].s))

    def _factor(self) -> Floats:
        """Factor every Hessian and sum their inverses."""
        sums: dict[int, Floats] = {}

        def work(worker: int, part: slice) -> None:
            sums[worker] = np.zeros((self.n, self.n))
            for chunk in self.chunks[part]:
                chunk.factor(sums[worker])

        in_slices(work, len(self.chunks))
        total = sum(sums.values(), np.zeros((self.n, self.n)))
        return np.asarray(np.tril(total) + np.tril(total, -1).T)

    def _direction(
        self, centre: float, correct: bool, price_change: Callable[[Floats], Floats]
    ) -> tuple[Floats, float, float]:
        """Find dp, ds, dz; return the price change and the longest primal and dual steps."""
        alone = self._each(lambda chunk: chunk.aim(centre, correct))
        change = price_change(self.short - sum(alone))
        longest = self._each(lambda chunk: chunk.direction(change))
        return change, min(a for a, _ in longest), min(b for _, b in longest)
