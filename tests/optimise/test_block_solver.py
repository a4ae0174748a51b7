"""The block solver against general solvers on the same programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import block_diag, identity, kron

from voile.errors import InvalidInput
from voile.optimise.block_solver import solve_blocks
from voile.optimise.cones import axis_cones, gradient_cones, ratio_cones
from voile.progress import heard_by


def by_highs(costs, cones, sparse_rows):
    outputs, n = costs.shape
    one = sparse_rows(cones)
    answer = linprog(
        costs.ravel(),
        A_ub=-block_diag([one] * outputs, format="csr"),
        b_ub=np.zeros(one.shape[0] * outputs),
        A_eq=kron(np.ones((1, outputs)), identity(n)),
        b_eq=np.ones(n),
        bounds=(None, None),
        method="highs",
    )
    assert answer.status == 0
    return answer.fun


def test_linear_programs_agree_with_highs(town, sparse_rows):
    grid = town.grid((5, 4), degree=1)
    index, rows = grid.rows()
    for cones in (
        axis_cones(index, rows, grid.size, budgets=(0.5, 0.4)),
        gradient_cones(index, rows, grid.size, epsilon=0.6, p=1.0),
        gradient_cones(index, rows, grid.size, epsilon=0.6, p=np.inf),
    ):
        answer = solve_blocks(town.costs(grid), cones, tolerance=1e-8)
        assert answer.converged
        assert answer.loss == pytest.approx(
            by_highs(town.costs(grid), cones, sparse_rows), rel=1e-6
        )


@pytest.mark.parametrize("degree", [1, 2])
def test_second_order_cones_agree_with_clarabel(town, degree, sparse_rows):
    clarabel = pytest.importorskip("clarabel")
    grid = town.grid((4, 3), degree=degree)
    index, rows = grid.rows()
    cones = gradient_cones(index, rows, grid.size, epsilon=0.6, p=2.0)
    costs = town.costs(grid)
    outputs, n = costs.shape
    one = sparse_rows(cones)
    from scipy.sparse import csc_array, vstack

    matrix = csc_array(
        vstack([kron(np.ones((1, outputs)), identity(n)), -block_diag([one] * outputs)])
    )
    right = np.concatenate([np.ones(n), np.zeros(one.shape[0] * outputs)])
    kinds = [clarabel.ZeroConeT(n)]
    kinds += [clarabel.SecondOrderConeT(3)] * (len(cones.index) * outputs)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    empty = csc_array((costs.size, costs.size))
    solved = clarabel.DefaultSolver(empty, costs.ravel(), matrix, right, kinds, settings).solve()
    answer = solve_blocks(costs, cones, tolerance=1e-7)
    assert answer.converged
    assert answer.loss == pytest.approx(solved.obj_val, rel=1e-5)


def test_gap_and_residuals_are_reported(town):
    grid = town.grid((4, 3), degree=2)
    cones = gradient_cones(*grid.rows(), grid.size, epsilon=0.6, p=2.0)
    answer = solve_blocks(town.costs(grid), cones, tolerance=1e-6)
    assert answer.gap < 1e-6
    assert answer.primal_residual < 1e-6
    assert answer.dual_residual < 1e-6
    assert answer.dual <= answer.loss * (1 + 1e-6)


def test_a_solver_that_stops_early_says_so(town):
    grid = town.grid((4, 3), degree=2)
    cones = gradient_cones(*grid.rows(), grid.size, epsilon=0.6, p=2.0)
    seen = []
    with heard_by(seen.append):
        answer = solve_blocks(town.costs(grid), cones, iterations=3, name="a town")
    assert not answer.converged
    assert answer.iterations == 3
    assert len(seen) == 4
    assert all(step.what.startswith("a town, gap ") for step in seen)
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert {step.total for step in seen} == {100}
    stopped = solve_blocks(town.costs(grid), cones, seconds=-1.0)
    assert not stopped.converged
    assert stopped.iterations == 0


def test_a_solver_gives_up_once_it_is_sure_to_lose(town):
    grid = town.grid((4, 3), degree=2)
    cones = gradient_cones(*grid.rows(), grid.size, epsilon=0.6, p=2.0)
    costs = town.costs(grid)
    answer = solve_blocks(costs, cones)
    beaten = solve_blocks(costs, cones, hopeless=0.97 * answer.loss)
    assert not beaten.converged
    assert beaten.iterations < answer.iterations
    assert 0.97 * answer.loss < beaten.dual < answer.loss * 1.001
    still = solve_blocks(costs, cones, hopeless=1.0001 * answer.loss)
    assert still.converged
    assert still.iterations == answer.iterations
    assert still.loss == answer.loss


def test_bad_costs_are_refused():
    cones = ratio_cones(np.array([[0, 1], [1, 0]]), np.ones(2), 2)
    with pytest.raises(InvalidInput, match="finite"):
        solve_blocks(np.array([[0.0, np.nan]]), cones)
    with pytest.raises(InvalidInput, match="shape"):
        solve_blocks(np.zeros((2, 3)), cones)


def test_a_cone_at_its_tip_stops_the_solver_and_raises_nothing(town, monkeypatch):
    """Where every number of a cone has become 0, quotients are undefined: no step is taken."""
    from voile.optimise._chunk import Chunk

    factor = Chunk.factor

    def at_its_tip(self, total):
        factor(self, total)
        self.point[0] = 0.0

    monkeypatch.setattr(Chunk, "factor", at_its_tip)
    grid = town.grid((4, 3), degree=1)
    cones = gradient_cones(*grid.rows(), grid.size, epsilon=0.6, p=2.0)
    answer = solve_blocks(town.costs(grid), cones, iterations=2)
    assert not answer.converged
    assert (answer.coefficients == 1 / len(answer.coefficients)).all()  # where it began
