"""The better of what is solved for and of Laplace noise with a remap, with a lower bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voile.errors import require_epsilon
from voile.optimise.continuous import smooth_spline, used_outputs
from voile.optimise.laplace_remap import LaplaceRemap, laplace_remap
from voile.optimise.problem import Problem, laps
from voile.optimise.smooth import DEFAULT_RESOLUTION, SmoothMechanism

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
    note: Callable[[str], None] = lambda text: None,
) -> Choice:
    """Laplace + remap, and (f) from coarse to fine; the one of lower loss.

    A coarse (f) tells which outputs are worth having (few, at small ε); it is then solved for
    those alone, on a grid fine enough for ε where that is affordable, until it has won or its dual
    value says that it loses (then `losses` has no figure for it). Screening can only cost loss,
    never privacy: the answer is repaired and certified like any other.
    """
    epsilon = require_epsilon(epsilon)
    begun = time.monotonic()
    losses: dict[str, float] = {}
    noisy: LaplaceRemap | None = None
    if len(problem.low) == 2 and p in (1.0, 2.0):
        noisy = laplace_remap(problem, epsilon=epsilon, cells=cells, p=p, unit=unit)
        losses["Laplace + remap"] = noisy.expected_loss(problem.places, problem.loss, problem.prior)
        note(f"Laplace + remap: loss {losses['Laplace + remap']:.4f} {unit}")
    factor = min(1.0, (110 / math.prod(cells)) ** (1 / len(cells)))
    coarse = smooth_spline(
        problem,
        epsilon=epsilon,
        cells=laps(cells, factor),
        p=p,
        resolution=resolution,
        unit=unit,
        tolerance=1e-3,
    )
    used = used_outputs(problem, coarse, share=SHARE)
    note(
        f"coarse pass: loss {coarse.loss:.4f} {unit}, {len(used)} of {len(problem.outputs)} "
        f"outputs worth having"
    )
    fine, capped = fine_cells(problem, epsilon=epsilon, cells=cells, outputs=len(used))
    shown = "×".join(map(str, fine))
    smooth = smooth_spline(
        problem.with_outputs(used),
        epsilon=epsilon,
        cells=fine,
        p=p,
        resolution=resolution,
        unit=unit,
        tolerance=1e-4,
        hopeless=losses.get("Laplace + remap", math.inf),
        progress=lambda i, loss, gap: note(
            f"spline on {shown} cells, step {i}: loss {loss:.4f} {unit}, gap {gap:.1e}"
        ),
    )
    if smooth.solution.converged or smooth.loss < losses.get("Laplace + remap", math.inf):
        losses["(f) smooth spline"] = smooth.loss
    else:
        note(f"spline on {shown} cells: not below Laplace + remap, given up")
    seconds = time.monotonic() - begun
    if noisy is not None and losses["Laplace + remap"] < smooth.loss:
        name = "Laplace + remap"
        return Choice(
            name, noisy, losses[name], losses, len(problem.outputs), fine, capped, seconds
        )
    return Choice(
        "(f) smooth spline", smooth.mechanism, smooth.loss, losses, len(used), fine, capped, seconds
    )


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
