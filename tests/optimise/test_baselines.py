"""The linear program, ConstOPT, Laplace with remap, lower bounds and the better of both."""

from __future__ import annotations

import inspect
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from voile import metrics
from voile.core.lattice_laplace import lattice_laplace
from voile.core.randomness import seeded_rng
from voile.core.space import Space
from voile.errors import InvalidInput
from voile.mechanisms._laplace_cells import cell_log_masses
from voile.optimise.best import LARGEST_GRID, best, fine_cells
from voile.optimise.cones import ratio_cones
from voile.optimise.constopt import constopt
from voile.optimise.laplace_remap import (
    affordable,
    laplace_remap,
    laplace_remap_from_record,
)
from voile.optimise.least_loss import (
    essential_pairs,
    greedy_spanner,
    least_loss,
    least_loss_spanner,
)
from voile.optimise.lower_bounds import dual_value, lower_bound, paper_bound
from voile.optimise.plane_noise import PlaneNoise
from voile.optimise.problem import Problem
from voile.places.design_report import design_notes
from voile.places.solved import DesignFacts
from voile.progress import Step, heard_by


def square(k: int) -> Space:
    return Space([[i, j] for i in range(k) for j in range(k)], metric=metrics.euclidean())


@pytest.mark.parametrize(("side", "optimum"), [(5, 1.2287), (8, 1.4497)])
def test_optimum_equals_libqif(side, optimum):
    """libqif 1.6, min_loss_given_d, unit grid, ε = 1, uniform prior, Euclidean loss."""
    space = square(side)
    channel = least_loss(space, epsilon=1.0, loss=space.distances())
    assert channel.expected_loss(space.distances()) == pytest.approx(optimum, abs=6e-5)
    assert channel.certificate().epsilon <= 1.0


def test_spanner_costs_little_and_is_private():
    space = square(5)
    exact = least_loss(space, epsilon=1.0, loss=space.distances())
    thin = least_loss_spanner(space, epsilon=1.0, loss=space.distances(), stretch=1.05)
    assert thin.certificate().epsilon <= 1.0
    low, high = (c.expected_loss(space.distances()) for c in (exact, thin))
    assert low <= high <= 1.06 * low


def test_essential_pairs_and_spanners():
    line = Space([[float(i)] for i in range(6)], metric=metrics.euclidean())
    assert len(essential_pairs(line.distances())) == 10
    grid = square(4)
    distances = grid.distances()
    pairs = greedy_spanner(distances, stretch=1.2)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    lengths = distances[pairs[:, 0], pairs[:, 1]]
    paths = shortest_path(coo_array((lengths, pairs.T), shape=distances.shape).tocsr())
    assert (paths <= 1.2 * distances + 1e-9).all()
    assert len(pairs) < len(essential_pairs(distances))


def test_least_loss_is_never_above_a_feasible_channel():
    from voile.mechanisms.spaces.exponential import exponential

    rng = np.random.default_rng(1)
    space = Space(rng.uniform(0, 3, (9, 2)), metric=metrics.euclidean())
    loss, prior = rng.uniform(0, 1, (9, 9)), rng.dirichlet(np.ones(9))
    solved = least_loss(space, epsilon=0.8, loss=loss, prior=prior)
    assert (
        solved.expected_loss(loss, prior)
        <= exponential(space, epsilon=0.8).expected_loss(loss, prior) + 1e-9
    )


def test_items_at_distance_zero_are_refused():
    space = Space([[0.0], [0.0], [1.0]], metric=metrics.euclidean())
    with pytest.raises(InvalidInput, match="merge"):
        least_loss(space, epsilon=1.0, loss=np.zeros((3, 3)))


def test_constopt_is_private_where_normalising_alone_would_not_be():
    space = square(5)
    channel = constopt(space, epsilon=1.0, loss=space.distances(), near=6)  # fewer than all 25
    assert channel.certificate().epsilon <= 1.0
    assert channel.expected_loss(space.distances()) < 2.5
    with pytest.raises(InvalidInput, match="near"):
        constopt(space, epsilon=1.0, loss=space.distances(), near=0)


def test_constopt_takes_the_authors_50_near_items_or_all_there_are():
    """With 10 it loses more than the exponential mechanism on grids of 64 and 100 items."""
    from voile.mechanisms.spaces.exponential import exponential

    assert inspect.signature(constopt).parameters["near"].default == 50
    space = square(5)
    loss = space.distances()
    few, default = (constopt(space, epsilon=0.8, loss=loss, **n) for n in ({"near": 10}, {}))
    assert default.expected_loss(loss) < few.expected_loss(loss)
    assert default.expected_loss(loss) < exponential(space, epsilon=0.8).expected_loss(loss)


# ── Laplace ────────────────────────────────────────────────────────────────────────────────────


PLACES = np.array([[4.0, 3.3], [0.0, 0.0], [7.1, 15.0], [4.0, 3.75], [0.001, 14.999]])


@pytest.mark.parametrize("epsilon", [0.8, 2.5])
def test_cell_law_is_the_law_of_the_lattice_points_of_each_cell(epsilon):
    """By boxes of the noise itself, in logarithms: near and far cells, each to parts of itself."""
    xs, ys = np.linspace(0, 20, 6), np.linspace(0, 15, 5)
    noise = PlaneNoise(epsilon, 2.0)
    found = noise.cell_law(PLACES, xs, ys)
    far = 2**40
    x, y = (np.r_[-far, np.ceil(e[1:-1] / noise.step), far].astype(np.int64) for e in (xs, ys))
    low = np.stack(np.meshgrid(x[:-1], y[:-1], indexing="ij"), -1).reshape(-1, 2)
    high = np.stack(np.meshgrid(x[1:], y[1:], indexing="ij"), -1).reshape(-1, 2)
    law = lattice_laplace(2, epsilon * noise.step)
    for row, place in zip(found, noise.lattice(PLACES), strict=True):
        exact = law.box_log_prob(low - place, high - place)
        assert exact.min() < -8 * epsilon
        assert np.abs(np.log(row) - exact).max() < 1e-11
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-12


@pytest.mark.parametrize("epsilon", [0.8, 2.5])
def test_cell_law_is_close_to_the_integrals_of_continuous_noise(epsilon):
    xs, ys = np.linspace(0, 20, 6), np.linspace(0, 15, 5)
    found = PlaneNoise(epsilon, 2.0).cell_law(PLACES, xs, ys)
    x, y = np.r_[-np.inf, xs[1:-1], np.inf], np.r_[-np.inf, ys[1:-1], np.inf]
    for row, (a, b) in zip(found, PLACES, strict=True):
        left, bottom = np.meshgrid(x[:-1] - a, y[:-1] - b, indexing="ij")
        right, top = np.meshgrid(x[1:] - a, y[1:] - b, indexing="ij")
        exact = np.exp(cell_log_masses(left, right, bottom, top, epsilon=epsilon).ravel())
        assert np.abs(row - exact).max() < 2e-3


def test_the_law_on_a_line_is_laplace_noise():
    borders, at, epsilon = np.array([0.0, 1.0, 3.0, 6.0, 30.0]), 0.25, 1.6
    found = PlaneNoise(epsilon, 1.0).cell_law(np.array([[at, 0.0]]), borders, np.array([0.0, 1.0]))
    above = [math.exp(-epsilon * (b - at)) / 2 for b in (1, 3, 6)]  # all borders lie above it
    exact = [1 - above[0], above[0] - above[1], above[1] - above[2], above[2]]
    assert found[0] == pytest.approx(exact, rel=0.02)
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_noise_too_long_to_draw_is_refused():
    with pytest.raises(InvalidInput, match="epsilon must be at least"):
        PlaneNoise(1e-7, 2.0).draw(np.zeros((1, 2)), seeded_rng(0))


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_laplace_draws_follow_their_law_and_remap_helps(town, p):
    from voile.audit.samplers import sampler

    plain = laplace_remap(town, epsilon=0.8, cells=(6, 5), p=p, bayes=False)
    better = laplace_remap(town, epsilon=0.8, cells=(6, 5), p=p)
    losses = [m.expected_loss(town.places, town.loss, town.prior) for m in (plain, better)]
    assert losses[1] <= losses[0]
    place = np.array([[1.0, 0.5]])
    drawn = better.draw(np.repeat(place, 100_000, axis=0), seeded_rng(3))
    assert str(sampler(drawn, better.probabilities(place)[0]).verdict) != "violated"
    elsewhere = better.probabilities(np.array([[-4.0, 2.0]]))[0]
    assert str(sampler(drawn, elsewhere).verdict) == "violated"
    _, meta, arrays = better.to_record()
    again = laplace_remap_from_record(meta, arrays)
    assert (again.mapping == better.mapping).all()


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("epsilon", [0.8, 8.0])
def test_laplace_ratio_stays_below_epsilon_at_any_probability(town, p, epsilon):
    law = laplace_remap(town, epsilon=epsilon, cells=(6, 5), p=p)
    rng = seeded_rng(2)
    first = rng.uniform(town.low, town.high, (3000, 2))
    second = first + rng.normal(scale=0.05, size=first.shape)
    outputs = np.unique(law.mapping)
    a, b = (np.log(law.probabilities(x)[:, outputs]) for x in (first, second))
    gap = np.abs(a - b).max(axis=1)
    apart = np.linalg.norm(law.snap(first) - law.snap(second), ord=p, axis=1)
    assert a.min() < -4 * epsilon  # far outputs are among them
    assert (gap - epsilon * apart).max() <= 1e-10
    true = np.linalg.norm(first - second, ord=p, axis=1)
    assert (gap - epsilon * (true + 2 ** (1 / p) * law.resolution)).max() <= 1e-10
    assert "the rounding of places to 0.000976562 km" in law.guarantee.outside[0] or epsilon > 2


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_noise_gathered_in_finer_cells_loses_less_and_is_the_default(town, p):
    coarse = laplace_remap(town, epsilon=1.6, cells=(4, 3), p=p, finer=1)
    fine = laplace_remap(town, epsilon=1.6, cells=(4, 3), p=p)
    losses = [m.expected_loss(town.places, town.loss, town.prior) for m in (coarse, fine)]
    assert len(fine.xs) - 1 == 3 * 4
    assert losses[1] < 0.99 * losses[0]
    assert set(fine.mapping) <= set(range(len(town.outputs)))  # the outputs are the same


def test_finer_cells_are_left_where_they_take_long():
    assert affordable(3000, (20, 15)) == 3
    assert affordable(10_000, (20, 15)) == 2
    assert affordable(100_000, (20, 15)) == 1


# ── lower bounds ───────────────────────────────────────────────────────────────────────────────


def all_pairs_optimum(problem: Problem, epsilon: float, p: float = 2.0) -> float:
    n, m = problem.loss.shape
    distance = np.linalg.norm(problem.places[:, None] - problem.places[None], p, axis=2)
    rows = []
    for y in range(m):
        for i, j in np.argwhere(~np.eye(n, dtype=bool)):
            row = np.zeros((n, m))
            row[i, y], row[j, y] = 1.0, -np.exp(epsilon * distance[i, j])
            rows.append(row.ravel())
    sums = np.kron(np.eye(n), np.ones((1, m)))
    answer = linprog(
        (problem.prior[:, None] * problem.loss).ravel(),
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=sums,
        b_eq=np.ones(n),
        method="highs",
    )
    return float(answer.fun)


@pytest.fixture(scope="module")
def small() -> Problem:
    rng = np.random.default_rng(8)
    places, outputs = rng.uniform(0, 4, (14, 2)), rng.uniform(0, 4, (5, 2))
    loss = np.linalg.norm(places[:, None] - outputs[None], axis=2)
    return Problem(places, rng.dirichlet(np.ones(14)), outputs, loss, (0.0, 0.0), (4.0, 4.0))


@pytest.mark.parametrize("epsilon", [0.3, 0.8, 2.0])
def test_lower_bound_is_below_the_optimum_and_close_to_it(small, epsilon):
    optimum = all_pairs_optimum(small, epsilon)
    bound = lower_bound(small, epsilon=epsilon, neighbours=13)
    few = lower_bound(small, epsilon=epsilon, neighbours=3, sweeps=40)
    assert 0.98 * optimum < bound.value <= optimum
    assert 0 < few.value < bound.value
    assert (bound.sweeps, few.sweeps) == (400, 40)
    assert paper_bound(small, epsilon=epsilon, cells=(4, 4)).value <= optimum


@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
def test_lower_bound_holds_in_every_metric_with_places_twice_and_without_people(p):
    """All pairs by HiGHS, with the metric's own distances; two rows are one place."""
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 3, (9, 2))
    places[4] = places[3]
    outputs = places[:4]
    loss = rng.uniform(0, 2, (9, 4))
    prior = rng.dirichlet(np.ones(9)) * (np.arange(9) != 6)
    problem = Problem(places, prior, outputs, loss, (0.0, 0.0), (3.0, 3.0))
    optimum = all_pairs_optimum(problem, 0.9, p)
    bound = lower_bound(problem, epsilon=0.9, p=p)
    assert 0.97 * optimum < bound.value <= optimum


def test_a_bound_that_claims_too_much_would_be_seen(small):
    """With the decay of a smaller ε the multipliers give more than the optimum."""
    assert lower_bound(small, epsilon=0.5, neighbours=13).value > all_pairs_optimum(small, 0.8)


def test_one_place_alone_costs_its_least_loss():
    alone = Problem(np.array([[1.0, 1.0]]), np.ones(1), np.eye(2), np.array([[0.5, 0.7]]),
                    (0.0, 0.0), (2.0, 2.0))  # fmt: skip
    assert lower_bound(alone, epsilon=1.0).value == pytest.approx(0.5)
    assert lower_bound(alone, epsilon=1.0).value <= 0.5


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_any_multipliers_give_a_bound(seed):
    """Weak duality needs no solver: random multipliers never exceed a feasible loss."""
    rng = np.random.default_rng(seed)
    n, m = 6, 4
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    cones = ratio_cones(pairs, np.abs(pairs[:, 0] - pairs[:, 1]) * 0.5, n)
    costs = rng.uniform(0, 1, (m, n))
    value = dual_value(costs, cones, rng.exponential(0.1, (m, len(pairs), 1)))
    feasible = np.full((m, n), 1 / m)
    assert value <= (costs * feasible).sum()


def test_a_design_is_never_below_the_bound(town):
    from voile.optimise.continuous import smooth_spline

    loss = smooth_spline(town, epsilon=0.5, cells=(8, 6)).loss
    bound = lower_bound(town, epsilon=0.5)
    assert bound.value < loss
    assert bound.gap(loss) < 0.1


def test_best_hands_over_the_lower_loss(town):
    told: list[Step] = []
    with heard_by(told.append):
        chosen = best(town, epsilon=0.5, cells=(4, 3))
    assert chosen.loss == min(chosen.losses.values())
    assert set(chosen.losses) == {"Laplace + remap", "(f) smooth spline"}
    assert any("outputs worth having" in step.what for step in told)
    assert not chosen.capped
    assert chosen.spline_cells == chosen.mechanism.grid.cells


def test_a_capped_spline_is_said_to_be_one(town):
    cells, capped = fine_cells(town, epsilon=1.6, cells=(40, 30), outputs=1200)
    assert capped
    assert (cells[0] + 2) * (cells[1] + 2) <= LARGEST_GRID
    wide, capped = fine_cells(town, epsilon=1.6, cells=(200, 200), outputs=40_000)
    assert capped
    assert max(wide) < 40  # it once came back as 200×200: a dense system of 13 GB
    facts = DesignFacts(
        epsilon=1.6, p=2.0, unit="km", certificate=1.6, basis="certified", gap=None, outputs=1200,
        resolution=0.001, distance="km", stretch=1.0, reach=20.0, cells=(30, 40),
        spline_cells=(cells[1], cells[0]), spline_capped=True,
    )  # fmt: skip
    assert any(f"{cells[1]}×{cells[0]} cells" in line for line in design_notes(facts))


def test_best_gives_a_spline_up_that_is_sure_to_lose(town, monkeypatch):
    told: list[Step] = []
    module = sys.modules[best.__module__]
    monkeypatch.setattr(
        module, "fine_cells", lambda *args, **rest: ((2, 2), True)
    )  # far too coarse
    monkeypatch.setattr(module, "_too_coarse", lambda *args: False)
    with heard_by(told.append):
        chosen = best(town, epsilon=2.0, cells=(8, 6))
    assert chosen.name == "Laplace + remap"
    assert set(chosen.losses) == {"Laplace + remap"}
    assert told[-1].what.endswith("given up")
