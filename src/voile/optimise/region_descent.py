"""Window descent on a whole region: as in `windows`, on a table that is sparse.

It begins with Laplace noise and a remap (`region_start`), inside the cone as it is, improves it
window by window (`region_windows`), and at any moment the rows become integers that are certified
(`region`). Time is linear in the area where people are, memory in outputs × 16/ε around each.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.core.guarantee import Basis, Guarantee
from voile.errors import InvalidInput, require, require_epsilon
from voile.interrupts import asked_to_stop, worth_keeping
from voile.metrics.lp_norms import lp
from voile.optimise.building import margin_of
from voile.optimise.cones import dual_exponent
from voile.optimise.region import RegionMechanism
from voile.optimise.region_problem import RegionProblem
from voile.optimise.region_start import Rows, started
from voile.optimise.region_windows import Asked, Run, State, Window, solved
from voile.optimise.smooth import DEFAULT_RESOLUTION
from voile.optimise.splines import SplineGrid
from voile.optimise.windows import SIDE, duration
from voile.progress import tell

NAME = "(f) smooth spline, a region by windows"
WIDEST = 0.5
"""Times 1/ε: wider cells cannot follow the noise that it begins with."""
MOST_CELLS = 100_000
BLOCK = 12
"""Cells along the side of a block whose places are looked at together."""


Spread = Callable[[Callable[[object, Asked], Floats], Iterator[Asked]], Iterator[Floats]]
"""Solves windows somewhere: answers in the order of what was asked."""


def in_turn(work: Callable[[object, Asked], Floats], asked: Iterator[Asked]) -> Iterator[Floats]:
    """One after the other, here."""
    return (work(None, one) for one in asked)


@dataclass(frozen=True, eq=False)
class RegionDescent:
    """A certified mechanism, its expected loss, and how it came about.

    `sweeps` are whole ones, `windows` of `planned` were solved, `entries` are the table's numbers.
    """

    name: str
    mechanism: RegionMechanism
    loss: float
    began_at: float
    sweeps: int
    windows: int
    planned: int
    rejected: int
    entries: int
    seconds: float


def region_descent(
    problem: RegionProblem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float = 2.0,
    sweeps: int = 2,
    side: int = SIDE,
    resolution: float = DEFAULT_RESOLUTION,
    unit: str = "km",
    kept: Mapping[str, Any] | None = None,
    keep: Callable[[State], None] | None = None,
    spread: Spread = in_turn,
) -> RegionDescent:
    """A spline on `cells`, from Laplace noise with a remap down by windows; sparse, certified.

    After each window `keep` is given the state. Its numbers given back as `kept`, the descent goes
    on from there and ends where it would have ended. `spread` solves the windows of one colour, in
    processes or on a cluster for one; the answer is the same but for the order of sums.
    Asked to stop, it ends with the state of that moment.
    """
    begun, epsilon = time.monotonic(), require_epsilon(epsilon)
    grid = region_grid(problem, epsilon=epsilon, cells=cells, p=p)
    some, table = started(problem, grid, epsilon=epsilon, p=p)
    state = State(table) if kept is None else State.again(table, kept)
    worth_keeping()
    run = Run(some, grid, state, epsilon * (1 - margin_of(epsilon, resolution)), p)
    tell(f"{NAME}: {'×'.join(map(str, grid.cells))} cells, {len(table.listed):,} numbers")
    planned = sum(len(c) for sweep in range(sweeps) for c in run.windows(side, sweep))
    while state.sweeps < sweeps and not asked_to_stop():
        colours = run.windows(side, state.sweeps)
        for colour in colours_left(colours, state.done):
            if asked_to_stop():
                break
            _solve_colour(run, colour, spread, keep, planned=planned, unit=unit)
        if state.done >= sum(map(len, colours)):
            state.sweeps, state.done = state.sweeps + 1, 0
    mechanism = integral(
        state.table, grid, some, epsilon=epsilon, p=p, resolution=resolution, unit=unit
    )
    loss = expected_loss(mechanism, some)
    return RegionDescent(
        NAME, mechanism, loss, loss + state.gained, state.sweeps, state.windows, planned,
        state.rejected, len(state.table.listed), time.monotonic() - begun,
    )  # fmt: skip


def colours_left(colours: Sequence[Sequence[Window]], done: int) -> Iterator[Sequence[Window]]:
    """The windows of each colour that are still to be solved.

    >>> list(colours_left([["a", "b"], ["c"]], done=1))
    [['b'], ['c']]
    """
    for colour in colours:
        if done < len(colour):
            yield colour[done:]
        done = max(0, done - len(colour))


def _solve_colour(
    run: Run,
    windows: Sequence[Window],
    spread: Spread,
    keep: Callable[[State], None] | None,
    *,
    planned: int,
    unit: str,
) -> None:
    """Ask for all windows of one colour, and take the answers in their order."""
    state, first, clock = run.state, run.state.windows, time.monotonic()
    under_way: deque[Asked] = deque()

    def asking() -> Iterator[Asked]:
        for number, window in enumerate(windows, first):
            if asked_to_stop():
                return
            under_way.append(run.asked(window, number))
            yield under_way[-1]

    for answer in spread(solved, asking()):
        run.take(under_way.popleft(), answer)
        state.done += 1
        each = (time.monotonic() - clock) / (state.windows - first)
        tell(
            f"sweep {state.sweeps + 1}: {state.gained:.4f} {unit} gained, "
            f"{duration(each * (planned - state.windows))} left at most",
            done=state.windows,
            total=planned,
        )
        if keep is not None:
            keep(state)
        if asked_to_stop():
            return


def region_grid(
    problem: RegionProblem, *, epsilon: float, cells: Sequence[int], p: float
) -> SplineGrid:
    """The grid of a region, its cells at most `WIDEST`/ε wide; tension as in `smooth_family`."""
    require(p in (1.0, 2.0), "p of a region", "1 or 2", p)
    sides = zip(problem.low, problem.high, cells, strict=True)
    fine = tuple(max(int(c), math.ceil((b - a) * epsilon / WIDEST)) for a, b, c in sides)
    if math.prod(fine) > MOST_CELLS:
        raise InvalidInput(
            f"a region may have {MOST_CELLS:,} cells, and at ε = {epsilon:g} it would need "
            f"{fine[1]:,}×{fine[0]:,}: cells of at most {WIDEST:g}/ε; cut it into several maps, or "
            "protect without a design"
        )
    grid = SplineGrid(problem.low, problem.high, fine, 2)
    return replace(grid, tension=min(epsilon * 2 ** (-1 / dual_exponent(p)), 3 / max(grid.steps)))


def integral(
    table: Rows,
    grid: SplineGrid,
    problem: RegionProblem,
    *,
    epsilon: float,
    p: float,
    resolution: float,
    unit: str,
) -> RegionMechanism:
    """The table in integers, certified."""
    from voile.optimise._region_rows import to_integers

    sums = np.empty(len(table.values), dtype=np.int64)
    to_integers(table.rows, table.values, sums)
    guarantee = Guarantee(epsilon, lp(p, unit=unit), "one location", Basis.CERTIFIED)
    return RegionMechanism(
        grid, problem.outputs, table.rows, table.listed, sums, table.floor, guarantee, resolution
    )


def expected_loss(mechanism: RegionMechanism, problem: RegionProblem) -> float:
    """Σ_x π(x) Σ_y p_y(x)·loss(x, y): what rows give near each place, and the floor's mean.

    Block by block of cells, so that losses are worked out for the outputs near a block alone.
    """
    places = mechanism.snap(problem.places)
    cells, _ = mechanism.grid.locate(places)
    blocks = cells // BLOCK
    order = np.lexsort(blocks.T)
    cuts = np.flatnonzero((np.diff(blocks[order], axis=0) != 0).any(axis=1)) + 1
    floor, total = problem.losses.means(np.arange(len(places)), mechanism.shares), 0.0
    for here in np.split(order, cuts):
        outputs, law, left = mechanism.nearby(places[here])
        given = (law * problem.losses.between(here, outputs)).sum(axis=1) + left * floor[here]
        total += float(problem.prior[here] @ given)
    return total
