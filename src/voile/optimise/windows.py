"""Window descent: a fine spline improved part by part, private on the whole map at every moment.

The global solve of (f) couples all coefficients in one dense system and so stops near a thousand
of them. Here the grid is as fine as ε asks for. Laplace noise with a remap at 0.9 ε, put on the
splines, is a first design inside the cone of ε. Then the coefficients of one window are solved for
with all others fixed (`Surroundings`), window after window, in sweeps whose windows are shifted
against each other. What is fixed enters the constraints as constants, so that a solved window and
its surroundings obey *all* constraints of the map together: the state stays in the cone, its loss
only falls, and whatever it is when time is up is mended and certified like any other design.

An iteration of a window costs what the block solver costs on its 256 coefficients, whatever the
map's size: time is linear in the area. It does not find the optimum of the whole (a window cannot
move what crosses its border), but on grids that the global solve cannot afford it ends lower.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require_epsilon
from voile.interrupts import asked_to_stop, worth_keeping
from voile.optimise.block_solver import solve_blocks
from voile.optimise.building import built, margin_of, smooth_family
from voile.optimise.cones import Cones, Surroundings
from voile.optimise.laplace_remap import LaplaceRemap, laplace_remap
from voile.optimise.problem import Problem
from voile.optimise.repair import mend
from voile.optimise.smooth import DEFAULT_RESOLUTION, FLOOR, SmoothMechanism
from voile.optimise.splines import SplineGrid
from voile.progress import tell

SIDE = 16
"""Coefficients along a window's side."""
STARTS_AT = 0.9
"""Of ε: what the noise that it starts from is given. Splines follow it, and have room to move."""
SEEN = 1e-3
"""An output takes part in a window if its probability is above this somewhere in it."""
SHARE = 1e-4
"""Outputs that the start releases more rarely than this are left out."""
ENOUGH = 2e-3
"""A sweep that lowers the loss by less than this share is the last."""
NAME = "(f) smooth spline, by windows"


@dataclass(frozen=True, eq=False)
class Descent:
    """A certified mechanism, its expected loss, and how it came about."""

    name: str
    mechanism: SmoothMechanism
    loss: float
    began_at: float
    sweeps: int
    windows: int
    rejected: int
    seconds: float


def window_descent(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    noise_cells: Sequence[int] | None = None,
    p: float = 2.0,
    sweeps: int = 4,
    side: int = SIDE,
    resolution: float = DEFAULT_RESOLUTION,
    unit: str = "km",
) -> Descent:
    """A spline on `cells`, from Laplace + remap at 0.9 ε down by windows, certified.

    `noise_cells` are those of the noise that it starts from (`cells` if not given). Ends after
    `sweeps`, or when one has gained little, or when asked to stop: with the best state so far.

    >>> x = np.stack(np.meshgrid(np.arange(6.0), np.arange(4.0), indexing="ij"), -1).reshape(-1, 2)
    >>> loss = np.linalg.norm(x[:, None] - x[None, ::4], axis=2)
    >>> town = Problem(x, np.ones(24), x[::4], loss, (-0.5, -0.5), (5.5, 3.5))
    >>> found = window_descent(town, epsilon=1.0, cells=(8, 6), side=6)
    >>> found.loss < found.began_at, found.mechanism.certificate().epsilon <= 1.0
    (True, True)
    """
    epsilon = require_epsilon(epsilon)
    begun = time.monotonic()
    noisy = laplace_remap(
        problem, epsilon=STARTS_AT * epsilon, cells=noise_cells or cells, p=p, unit=unit
    )
    shares = problem.prior @ noisy.probabilities(problem.places)
    used = np.flatnonzero(shares > SHARE)
    some = problem.with_outputs(used)
    grid, family = smooth_family(some, epsilon=epsilon, cells=cells, p=p)
    cones = family(grid, epsilon * (1 - margin_of(epsilon, resolution)))
    table = on_splines(noisy, grid, used)
    run = _Descending(some.costs(grid), cones, grid, mend(table, cones, floor=FLOOR)[0], unit)
    worth_keeping()
    began_at, done = run.loss, 0
    tell(f"{NAME}: {'×'.join(map(str, grid.cells))} cells, from a loss of {began_at:.4f} {unit}")
    for done in range(1, sweeps + 1):
        if not run.sweep(done, sweeps, side):
            break
    mechanism, _ = built(
        run.best, grid, some.outputs, family,
        epsilon=epsilon, p=p, resolution=resolution, unit=unit,
    )  # fmt: skip
    loss = mechanism.expected_loss(some.places, some.loss, some.prior)
    seconds = time.monotonic() - begun
    return Descent(NAME, mechanism, loss, began_at, done, run.solved, run.rejected, seconds)


def on_splines(noisy: LaplaceRemap, grid: SplineGrid, outputs: Indices) -> Floats:
    """The law of some outputs at the middle of each coefficient's reach, as coefficients (Y, n)."""
    table = np.empty((len(outputs), grid.size))
    for row, points in zip(grid.numbers, grid.middles[grid.numbers], strict=True):
        law = noisy.probabilities(points)[:, outputs]
        table[:, row] = (law / law.sum(axis=1, keepdims=True)).T
    return table


class _Descending:
    """The state of a descent: coefficients inside the cones that sum to one, and their loss."""

    def __init__(
        self, costs: Floats, cones: Cones, grid: SplineGrid, table: Floats, unit: str
    ) -> None:
        if len(grid.cells) != 2:
            raise InvalidInput("windows must lie in the plane; use smooth_spline")
        self.costs, self.cones, self.unit = costs, cones, unit
        self.numbers = grid.numbers
        self.table = self.best = table
        self.loss = self.now = float((costs * table).sum())
        self.solved = self.rejected = 0
        self.clock, self.planned = time.monotonic(), 0

    def sweep(self, count: int, of: int, side: int) -> bool:
        """Solve every window once; whether it is worth another sweep."""
        windows = [w for w in _windows(self.numbers, side, count - 1) if self.costs[:, w].any()]
        self.planned = self.planned or of * len(windows)
        before = self.loss
        self.table = self.best.copy()
        for window in windows:
            if asked_to_stop():
                break
            self._tell(count)
            self._solve(window)
        mended, _ = mend(self.table, self.cones, floor=FLOOR)
        loss = float((self.costs * mended).sum())
        if loss < self.loss:
            self.best, self.loss = mended, loss
        self.now = self.loss
        return self.loss < before * (1 - ENOUGH) and not asked_to_stop()

    def _tell(self, count: int) -> None:
        left = ""
        if self.solved:
            seconds = (time.monotonic() - self.clock) / self.solved
            seconds *= max(0, self.planned - self.solved)
            left = f", {duration(seconds)} left at most"
        tell(
            f"sweep {count}: loss {self.now:.4f} {self.unit}{left}",
            done=self.solved,
            total=max(self.planned, self.solved),
        )

    def _solve(self, free: Indices) -> None:
        """Solve for the coefficients of one window, and keep them if that lowers the loss."""
        here = self.table[:, free]
        outputs = np.flatnonzero(here.max(axis=1) > SEEN)
        inner, offset = around_window(self.cones, self.table[outputs], free)
        start, costs = here[outputs], np.ascontiguousarray(self.costs[np.ix_(outputs, free)])
        around = Surroundings(offset, start.sum(axis=0), start)
        found = solve_blocks(costs, inner, tolerance=2e-3, iterations=45, around=around)
        self.solved += 1
        gain = float((costs * (start - found.coefficients)).sum())
        if gain > 0 and found.primal_residual < 3e-4:
            self.table[np.ix_(outputs, free)] = found.coefficients
            self.now -= gain
        else:
            self.rejected += 1


def around_window(cones: Cones, table: Floats, free: Indices) -> tuple[Cones, Floats]:
    """The constraints that touch a window, and what its surroundings in `table` add to them."""
    place = np.full(cones.size, -1)
    place[free] = np.arange(len(free))
    touched = (place[cones.index] >= 0).any(axis=1)
    index, matrix = cones.index[touched], cones.matrix[touched]
    inside = place[index] >= 0
    held = np.where(inside[:, None, :], 0.0, matrix)
    offset = np.einsum("mdl,yml->ymd", held, table[:, index])
    spare = np.broadcast_to(place[index].max(axis=1)[:, None], index.shape)  # of weight 0
    mine = np.where(inside, place[index], spare)
    return Cones(mine, np.ascontiguousarray(matrix - held), len(free)), offset


def _windows(numbers: Indices, side: int, sweep: int) -> Iterator[Indices]:
    """The windows of a sweep: squares, shifted by halves and quarters from sweep to sweep."""
    shift = (0, side // 2, side // 4, 3 * side // 4)[sweep % 4]
    for top in range(-shift, numbers.shape[0], side):
        for left in range(-shift, numbers.shape[1], side):
            block = numbers[max(0, top) : top + side, max(0, left) : left + side]
            if block.size >= 9:
                tall = block.shape[0] >= block.shape[1]
                yield (block if tall else block.T).ravel()  # neighbours in a narrow band


def duration(seconds: float) -> str:
    """In seconds, or in minutes from two on."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{math.ceil(seconds / 60)} min"
