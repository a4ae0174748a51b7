"""The better of what is solved for and of Laplace noise with a remap, with a lower bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from voile.errors import require_epsilon
from voile.interrupts import asked_to_stop, worth_keeping
from voile.optimise.continuous import smooth_spline, used_outputs
from voile.optimise.laplace_remap import LaplaceRemap, laplace_remap
from voile.optimise.problem import Problem, laps
from voile.optimise.smooth import DEFAULT_RESOLUTION, SmoothMechanism
from voile.optimise.windows import window_descent
from voile.progress import tell

LARGEST_GRID = 1100
"""Coefficients a spline may have in `best`: one dense system of this size an iteration."""
LARGEST_TABLE = 30_000_000
"""Coefficients of all outputs together in a descent by windows: a quarter of a gigabyte a copy."""
COARSEST = 0.6
"""Times 1/ε: where a whole can only be solved for on wider cells than that, windows win."""
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
    """Laplace + remap, and (f); the one of lower loss.

    Where the grid that ε asks for is too fine for one solve, (f) is improved from Laplace + remap
    window by window (`window_descent`); if it ends above what Laplace + remap loses, a whole on a
    coarser grid may not. Elsewhere a coarse (f) tells which outputs are worth
    having (few, at small ε); it is then solved for those alone, on a finer grid, until it has won
    or its dual value says that it loses (then `losses` has no figure for it). Screening can only
    cost loss, never privacy: the answer is repaired and certified like any other. Asked to stop,
    it hands over the best that it has by then, the coarse one too.
    """
    epsilon = require_epsilon(epsilon)
    begun = time.monotonic()
    noisy = _noisy(problem, epsilon, cells, p, unit)
    losses = {} if noisy is None else {_NOISY: noisy.loss}
    least = losses.get(_NOISY, math.inf)
    how: dict[str, Any] = {"epsilon": epsilon, "p": p, "resolution": resolution, "unit": unit}
    wanted = wanted_cells(problem, epsilon=epsilon, cells=cells)
    if noisy is not None and _too_coarse(problem, epsilon, cells):
        grid, capped = fitting(wanted, outputs=len(problem.outputs))
        found = window_descent(problem, cells=grid, noise_cells=cells, **how)
        smooth = _Candidate(found.name, found.mechanism, found.loss)
        if found.loss >= least and not asked_to_stop():  # stuck: windows find no global optimum
            whole, cut = _whole(problem, cells, least, how)
            if whole.loss < smooth.loss:
                smooth, capped = whole, cut
    else:
        smooth, capped = _whole(problem, cells, least, how)
    if smooth.loss < least or smooth.done:
        losses[smooth.name] = smooth.loss
    else:
        tell(f"{smooth.name}: not below {_NOISY}, given up")
    won = noisy if noisy is not None and least < smooth.loss else smooth
    assert isinstance(smooth.mechanism, SmoothMechanism)
    grid = tuple(smooth.mechanism.grid.cells)
    outputs, seconds = len(won.mechanism.outputs), time.monotonic() - begun
    return Choice(won.name, won.mechanism, won.loss, losses, outputs, grid, capped, seconds)


def _whole(
    problem: Problem, cells: Sequence[int], least: float, how: dict[str, Any]
) -> tuple[_Candidate, bool]:
    """(f) solved for as a whole, from coarse to fine; whether its grid was capped."""
    factor = min(1.0, (110 / math.prod(cells)) ** (1 / len(cells)))
    smooth = coarse = smooth_spline(problem, cells=laps(cells, factor), tolerance=1e-3, **how)
    used = used_outputs(problem, coarse, share=SHARE)
    tell(
        f"coarse pass: loss {coarse.loss:.4f} {how['unit']}, {len(used)} of "
        f"{len(problem.outputs)} outputs worth having"
    )
    fine, capped = fine_cells(problem, epsilon=how["epsilon"], cells=cells, outputs=len(used))
    if not asked_to_stop():
        some = problem.with_outputs(used)
        smooth = smooth_spline(some, cells=fine, tolerance=1e-4, hopeless=least, **how)
    if asked_to_stop() and coarse.loss < smooth.loss:
        smooth = coarse
    done = smooth.solution.converged
    return _Candidate(smooth.name, smooth.mechanism, smooth.loss, done), capped


_NOISY = "Laplace + remap"


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A mechanism that may be handed over, and its loss."""

    name: str
    mechanism: SmoothMechanism | LaplaceRemap
    loss: float
    done: bool = True
    """Whether it was solved to the end, and not given up."""


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


def wanted_cells(problem: Problem, *, epsilon: float, cells: Sequence[int]) -> tuple[float, ...]:
    """Cells about 0.4/ε wide, 1.5 to 3 times as many along an axis as asked for."""
    widths = [high - low for low, high in zip(problem.low, problem.high, strict=True)]
    return tuple(
        min(3.0 * c, max(1.5 * c, w * epsilon / 0.4)) for c, w in zip(cells, widths, strict=True)
    )


def fine_cells(
    problem: Problem, *, epsilon: float, cells: Sequence[int], outputs: int
) -> tuple[tuple[int, ...], bool]:
    """The cells wanted, or as many as the solve of a whole can afford; whether it was capped.

    An iteration costs outputs·n²·b/2 multiplications and as much again for the constraints; the
    grid is capped so that outputs·n²·b stays near 5·10⁹ (about two seconds of one core) and n at
    `LARGEST_GRID`. A capped grid may be coarser than was asked for.
    """
    wanted = wanted_cells(problem, epsilon=epsilon, cells=cells)

    def fits(trial: Sequence[int]) -> bool:
        n = math.prod(c + 2 for c in trial)
        band = 2 * n / (max(trial) + 2) + 2
        return n <= LARGEST_GRID and outputs * n * n * band <= 5e9

    return _scaled(wanted, fits)


def fitting(wanted: Sequence[float], *, outputs: int) -> tuple[tuple[int, ...], bool]:
    """The cells wanted, or as many as window descent can hold; whether it was capped."""
    return _scaled(wanted, lambda trial: outputs * math.prod(c + 2 for c in trial) <= LARGEST_TABLE)


def _scaled(
    wanted: Sequence[float], fits: Callable[[Sequence[int]], bool]
) -> tuple[tuple[int, ...], bool]:
    scale = 1.0
    while True:
        trial = [max(2, round(scale * c)) for c in wanted]
        if fits(trial) or max(trial) == 2:
            return tuple(trial), scale < 1
        scale *= 0.95


def _too_coarse(problem: Problem, epsilon: float, cells: Sequence[int]) -> bool:
    """Whether the grid that a whole can afford has cells wider than `COARSEST`/ε.

    Where ε is so large that this matters, about two thirds of the outputs are worth having.
    """
    likely = max(1, 2 * len(problem.outputs) // 3)
    affordable, capped = fine_cells(problem, epsilon=epsilon, cells=cells, outputs=likely)
    widest = max(problem.grid(affordable, degree=2).steps)
    return capped and epsilon * widest > COARSEST
