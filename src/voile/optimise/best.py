"""The better of what is solved for and of Laplace noise with a remap, with a lower bound."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from voile.errors import require_epsilon
from voile.interrupts import asked_to_stop, worth_keeping
from voile.optimise.continuous import smooth_spline, used_outputs
from voile.optimise.laplace_remap import LaplaceRemap, laplace_remap
from voile.optimise.problem import Problem, laps
from voile.optimise.smooth import DEFAULT_RESOLUTION, SmoothMechanism
from voile.progress import tell

LARGEST_GRID = 1100
"""Coefficients a spline may have in `best`: one dense system of this size an iteration."""
SHARE = 3e-4
"""Of all releases: outputs that a coarse design releases more rarely are left out."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The mechanism handed over, and the losses of the candidates it was chosen from.

    `spline_cells` is the grid that the spline was solved on, `capped` whether a finer one was
    wanted and would have taken too long: a better spline may then exist.
    """

    name: str
    mechanism: SmoothMechanism | LaplaceRemap
    loss: float
    losses: dict[str, float]
    outputs_used: int
    spline_cells: tuple[int, ...]
    capped: bool
    seconds: float


def best(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float = 2.0,
    resolution: float = DEFAULT_RESOLUTION,
    unit: str = "km",
) -> Choice:
    """Laplace + remap, and (f) from coarse to fine; the one of lower loss.

    A coarse (f) tells which outputs are worth having (few, at small ε); it is then solved for
    those alone, on a grid fine enough for ε where that is affordable, until it has won or its dual
    value says that it loses (then `losses` has no figure for it). Screening can only cost loss,
    never privacy: the answer is repaired and certified like any other. Asked to stop, it hands
    over the best that it has by then, the coarse one too.
    """
    epsilon = require_epsilon(epsilon)
    begun = time.monotonic()
    noisy = _noisy(problem, epsilon, cells, p, unit)
    losses = {} if noisy is None else {_NOISY: noisy.loss}
    least = losses.get(_NOISY, math.inf)
    spline = partial(smooth_spline, epsilon=epsilon, p=p, resolution=resolution, unit=unit)
    factor = min(1.0, (110 / math.prod(cells)) ** (1 / len(cells)))
    coarse = spline(problem, cells=laps(cells, factor), tolerance=1e-3)
    used = used_outputs(problem, coarse, share=SHARE)
    tell(
        f"coarse pass: loss {coarse.loss:.4f} {unit}, {len(used)} of {len(problem.outputs)} "
        "outputs worth having"
    )
    fine, capped = fine_cells(problem, epsilon=epsilon, cells=cells, outputs=len(used))
    smooth = coarse
    if not asked_to_stop():
        some = problem.with_outputs(used)
        smooth = spline(some, cells=fine, tolerance=1e-4, hopeless=least)
    if asked_to_stop() and coarse.loss < smooth.loss:
        smooth = coarse
    if smooth.solution.converged or smooth.loss < least:
        losses[smooth.name] = smooth.loss
    else:
        tell(f"{smooth.name}: not below {_NOISY}, given up")
    solved = _Candidate(smooth.name, smooth.mechanism, smooth.loss)
    won = noisy if noisy is not None and least < smooth.loss else solved
    grid = tuple(smooth.mechanism.grid.cells)
    outputs, seconds = len(won.mechanism.outputs), time.monotonic() - begun
    return Choice(won.name, won.mechanism, won.loss, losses, outputs, grid, capped, seconds)


_NOISY = "Laplace + remap"


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A mechanism that may be handed over, and its loss."""

    name: str
    mechanism: SmoothMechanism | LaplaceRemap
    loss: float


def _noisy(
    problem: Problem, epsilon: float, cells: Sequence[int], p: float, unit: str
) -> _Candidate | None:
    """Laplace + remap, where there is one: on a plane, in ℓ₁ and ℓ₂."""
    if len(problem.low) != 2 or p not in (1.0, 2.0):
        return None
    made = laplace_remap(problem, epsilon=epsilon, cells=cells, p=p, unit=unit)
    loss = made.expected_loss(problem.places, problem.loss, problem.prior)
    worth_keeping()
    tell(f"{_NOISY}: loss {loss:.4f} {unit}")
    return _Candidate(_NOISY, made, loss)


def fine_cells(
    problem: Problem, *, epsilon: float, cells: Sequence[int], outputs: int
) -> tuple[tuple[int, ...], bool]:
    """Cells about 0.4/ε wide, 1.5 to 3 times as many along an axis as asked for, if time allows.

    An iteration costs outputs·n²·b/2 multiplications and as much again for the constraints; the
    grid is capped so that outputs·n²·b stays near 5·10⁹ (about two seconds of one core) and n at
    `LARGEST_GRID`. Also whether it was capped: it may then be coarser than was asked for.
    """
    widths = [high - low for low, high in zip(problem.low, problem.high, strict=True)]
    wanted = [
        min(3 * c, max(1.5 * c, w * epsilon / 0.4)) for c, w in zip(cells, widths, strict=True)
    ]
    scale = 1.0
    while True:
        trial = [max(2, round(scale * c)) for c in wanted]
        n = math.prod(c + 2 for c in trial)
        band = 2 * n / (max(trial) + 2) + 2
        fits = n <= LARGEST_GRID and outputs * n * n * band <= 5e9
        if fits or max(trial) == 2:
            return tuple(trial), scale < 1
        scale *= 0.95
