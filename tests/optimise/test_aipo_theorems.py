"""AIPO's propositions and theorems, each by itself: docs/reproductions.md names these tests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.optimise.anchored import LogInterpolation
from voile.optimise.problem import Problem

SIDES = (4.0, 3.0)
CELLS = (4, 3)
DUAL = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}
ROUNDING = 1e-9


def frame(seed, outputs=5):
    """A rectangle, random places in it, random outputs and losses."""
    rng = np.random.default_rng(seed)
    places = rng.uniform((0, 0), SIDES, (40, 2))
    loss = rng.uniform(0, 2, (40, outputs))
    return Problem(places, rng.dirichlet(np.ones(40)), places[:outputs], loss, (0.0, 0.0), SIDES)


def steep(grid, budgets, seed, outputs=5):
    """Random logarithms at the anchors that use up the slope budgets along both axes."""
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(outputs):
        parts = [np.cumsum(np.r_[0.0, rng.choice([-1, 1], n) * budget * step])
                 for n, budget, step in zip(CELLS, budgets, grid.steps, strict=True)]  # fmt: skip
        tables.append((parts[0][:, None] + parts[1][None]).ravel())
    return np.array(tables)


def pairs(seed, count=400):
    """Random places and others far, near, and along one axis alone."""
    rng = np.random.default_rng(seed + 1)
    first = rng.uniform((0, 0), SIDES, (count, 2))
    second = rng.uniform((0, 0), SIDES, (count, 2))
    second[: count // 3] = first[: count // 3] + rng.normal(scale=0.05, size=(count // 3, 2))
    second[count // 3 : count // 2, 0] = first[count // 3 : count // 2, 0]
    return first, np.clip(second, 0, SIDES)


def unnormalised(law, places):
    """ln f_int: Definition 5 before Definition 6 makes rows sum to one."""
    index, weight = law.grid.basis(places)
    return np.einsum("tj,tjy->ty", weight, law.logs.T[index])


def law_of(seed, budgets):
    problem = frame(seed)
    grid = problem.grid(CELLS, degree=1)
    return LogInterpolation(grid, problem.outputs, steep(grid, budgets, seed))


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_interpolated_logarithms_keep_the_bound_along_each_axis(seed):
    """Propositions 1 and 2: within an interval and across intervals."""
    budgets = (0.9, 0.4)
    law = law_of(seed, budgets)
    first, second = pairs(seed)
    for axis, budget in enumerate(budgets):
        moved = first.copy()
        moved[:, axis] = second[:, axis]
        gap = np.abs(unnormalised(law, first) - unnormalised(law, moved)).max(axis=1)
        assert (gap <= budget * np.abs(first - moved)[:, axis] + ROUNDING).all()


@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_axes_compose_by_the_dual_norm(p, seed):
    """Theorem 1 and Corollary 1, and Theorem 2's use of them on the whole box."""
    budgets = np.array([0.9, 0.4])
    whole = np.linalg.norm(budgets, DUAL[p])
    law = law_of(seed, budgets)
    first, second = pairs(seed)
    apart = np.linalg.norm(first - second, p, axis=1)
    gap = np.abs(unnormalised(law, first) - unnormalised(law, second)).max(axis=1)
    assert (gap <= whole * apart + ROUNDING).all()


@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_normalising_at_most_doubles_the_bound(p, seed):
    """Theorem 2 with Proposition 3: budgets of ε/2 give ε, by our bound and by every pair."""
    budgets = np.array([0.9, 0.4])
    epsilon = 2 * np.linalg.norm(budgets, DUAL[p])
    law = law_of(seed, budgets)
    assert law.supremum(p) <= epsilon * (1 + ROUNDING)
    first, second = pairs(seed)
    gap = np.abs(np.log(law.probabilities(first)) - np.log(law.probabilities(second)))
    allowed = epsilon * np.linalg.norm(first - second, p, axis=1)
    assert (gap.max(axis=1) <= allowed + ROUNDING).all()


def test_the_half_is_needed():
    """Planted: a reading of Proposition 3 without its factor is refuted by some pair."""
    over = []
    for seed in range(20):
        law = law_of(seed, (0.9, 0.4))
        first, second = pairs(seed)
        gap = np.abs(np.log(law.probabilities(first)) - np.log(law.probabilities(second)))
        apart = np.linalg.norm(first - second, axis=1)
        over.append((gap.max(axis=1) / np.maximum(apart, 1e-9)).max() / np.hypot(0.9, 0.4))
    assert max(over) > 1.3


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_the_surrogate_is_linear_exact_at_anchors_and_above_the_logarithmic_one(seed):
    """Proposition 4, with λ the weight of the *lower* corner as Definition 3 has it."""
    problem = frame(seed)
    grid = problem.grid(CELLS, degree=1)
    logs = steep(grid, (0.9, 0.4), seed)
    table = np.exp(logs)
    index, weight = grid.basis(problem.places)
    linear = np.einsum("tj,tjy->ty", weight, table.T[index])
    surrogate = float((problem.costs(grid) * table).sum())
    assert surrogate == pytest.approx(float((problem.prior[:, None] * problem.loss * linear).sum()))
    law = LogInterpolation(grid, problem.outputs, logs)
    assert (linear >= np.exp(unnormalised(law, problem.places)) * (1 - ROUNDING)).all()
    corner = np.asarray(problem.low)[None] + np.asarray(grid.steps) * [[1, 2]]
    near = corner + 1e-9
    found, share = grid.basis(near)
    lower = table[:, 1 * (CELLS[1] + 1) + 2]
    assert np.einsum("tj,tjy->ty", share, table.T[found])[0] == pytest.approx(lower, rel=1e-6)
