"""Window descent: every state in the cone, the loss falls, and what is fixed stays as it is."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest

from voile.errors import InvalidInput
from voile.interrupts import best_so_far
from voile.optimise import windows
from voile.optimise.best import best, fitting
from voile.optimise.block_solver import solve_blocks
from voile.optimise.building import margin_of, smooth_family
from voile.optimise.cones import Surroundings
from voile.optimise.laplace_remap import laplace_remap
from voile.optimise.lower_bounds import lower_bound
from voile.optimise.repair import mend
from voile.optimise.smooth import FLOOR
from voile.optimise.windows import (
    _Descending,
    _windows,
    around_window,
    on_splines,
    window_descent,
)
from voile.progress import heard_by

EPSILON = 1.0


@pytest.fixture(scope="module")
def whole(town):
    """The splines of one little grid, their constraints, and a mended start."""
    grid, family = smooth_family(town, epsilon=EPSILON, cells=(9, 7), p=2.0)
    cones = family(grid, EPSILON * (1 - margin_of(EPSILON, 0.001)))
    noisy = laplace_remap(town, epsilon=0.9 * EPSILON, cells=(4, 3))
    start = on_splines(noisy, grid, np.arange(len(town.outputs)))
    return grid, cones, mend(start, cones, floor=FLOOR)[0]


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_descent_falls_below_its_start_and_is_certified(town, p):
    told = []
    with heard_by(lambda step: told.append(step.what)):
        found = window_descent(town, epsilon=EPSILON, cells=(9, 7), side=6, sweeps=2, p=p)
    assert found.mechanism.certificate().epsilon <= EPSILON
    assert found.loss < 0.99 * found.began_at
    assert found.windows > found.rejected
    assert lower_bound(town, epsilon=EPSILON, p=p, sweeps=60).value < found.loss
    losses = [float(what.split("loss ")[1].split()[0]) for what in told if "sweep" in what]
    assert losses == sorted(losses, reverse=True)
    assert any("left at most" in what for what in told)


def test_a_window_as_large_as_the_map_is_the_solve_of_the_whole(town, whole):
    """Nothing is fixed then: the optimum of the block solver, from another start."""
    grid, cones, start = whole
    costs = town.costs(grid)
    optimum = solve_blocks(costs, cones, tolerance=1e-5).loss
    run = _Descending(costs, cones, grid, start, "km")
    run.sweep(1, 1, max(grid.shape))
    assert run.solved == 1
    assert optimum <= run.loss * (1 + 1e-4)
    assert run.loss < 1.01 * optimum


def test_a_solved_window_leaves_the_rest_and_the_sums_and_keeps_all_constraints(town, whole):
    grid, cones, start = whole
    run = _Descending(town.costs(grid), cones, grid, start, "km")
    free = next(iter(_windows(run.numbers, 6, 0)))
    run.table = start.copy()
    run._solve(free)
    others = np.setdiff1d(np.arange(grid.size), free)
    assert run.rejected == 0
    assert np.array_equal(run.table[:, others], start[:, others])
    assert np.abs(run.table.sum(axis=0) - 1).max() < 1e-5
    assert max(cones.lift(row) for row in run.table) < 1e-5
    assert (run.costs * run.table).sum() < (run.costs * start).sum()


def test_surroundings_that_are_forgotten_break_the_constraints(town, whole):
    """The planted mistake: solve a window as if nothing stood around it."""
    grid, cones, start = whole
    run = _Descending(town.costs(grid), cones, grid, start, "km")
    free = next(iter(_windows(run.numbers, 6, 0)))
    inner, offset = around_window(run.cones, start, free)
    around = Surroundings(np.zeros_like(offset), np.ones(len(free)), start[:, free])
    found = solve_blocks(np.ascontiguousarray(run.costs[:, free]), inner, around=around)
    table = start.copy()
    table[:, free] = found.coefficients
    assert max(cones.lift(row) for row in table) > 1e-4


def test_windows_of_a_sweep_cover_every_coefficient_once():
    numbers = np.arange(23 * 17).reshape(23, 17)
    for sweep in range(4):
        seen = np.concatenate(list(_windows(numbers, 8, sweep)))
        assert len(seen) == len(set(seen))
        assert len(seen) >= numbers.size - 2 * 23  # slivers of a border are left for another sweep


def test_an_interrupt_keeps_the_state_of_that_moment(town):
    def press(step):
        if step.what.startswith("sweep 1") and step.done == 1:
            keeping.asked = True

    with best_so_far() as keeping, heard_by(press):
        found = window_descent(town, epsilon=EPSILON, cells=(9, 7), side=6)
    assert found.sweeps == 1
    assert found.windows == 2
    assert found.loss < found.began_at
    assert found.mechanism.certificate().epsilon <= EPSILON


def test_best_goes_by_windows_where_a_whole_would_be_too_coarse(town, monkeypatch):
    monkeypatch.setattr(sys.modules[best.__module__], "LARGEST_GRID", 60)
    found = best(town, epsilon=1.6, cells=(6, 5))
    assert found.name == windows.NAME
    assert found.loss == min(found.losses.values())
    assert not found.capped
    assert found.spline_cells == (18, 15)
    assert fitting((18.0, 15.0), outputs=10**7)[1]  # and a table that is too large is capped


def test_windows_that_are_stuck_give_way_to_a_whole(town, monkeypatch):
    """As in ℓ₁ on some maps: what ends above Laplace + remap is not the last word."""
    module = sys.modules[best.__module__]
    monkeypatch.setattr(module, "_too_coarse", lambda *_: True)
    monkeypatch.setattr(module, "window_descent", partial(window_descent, sweeps=0))
    found = best(town, epsilon=EPSILON, cells=(4, 3))
    assert found.name != windows.NAME
    assert found.loss == min(found.losses.values())
    monkeypatch.undo()
    assert found.loss <= best(town, epsilon=EPSILON, cells=(4, 3)).loss * (1 + 1e-9)


def test_windows_lie_in_the_plane(line):
    with pytest.raises(InvalidInput, match="plane"):
        window_descent(line, epsilon=1.0, cells=(4,))
