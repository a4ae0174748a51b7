"""Mechanisms on a whole box: the certificate is an upper bound, and planted faults are caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import seeded_rng
from voile.core.weights import TOTAL
from voile.errors import GuaranteeBroken, InvalidInput
from voile.metrics.lp_norms import lp
from voile.optimise import continuous
from voile.optimise.anchored import LogInterpolation, aipo, aipo_relaxed
from voile.optimise.block_solver import solve_blocks
from voile.optimise.certificate import certify_splines
from voile.optimise.cones import Cones, dual_exponent, gradient_cones
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.problem import Problem
from voile.optimise.repair import largest_sum, mend
from voile.optimise.smooth import FLOOR, SmoothMechanism, smooth_from_record

METHODS = [bilinear_axis, bilinear_cone, smooth_spline]
EPSILON = 0.7


@pytest.fixture(scope="module")
def spline(town):
    return smooth_spline(town, epsilon=EPSILON, cells=(7, 5))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf, 3.0])
def test_every_construction_is_certified_and_spends_its_budget(town, method, p):
    found = method(town, epsilon=EPSILON, cells=(6, 5), p=p)
    certificate = found.mechanism.certificate()
    assert certificate.epsilon <= EPSILON
    assert certificate.lower >= 0.9 * EPSILON
    assert certificate.lower <= certificate.supremum
    rows = found.mechanism.weights(town.places[:50])
    assert (rows.sum(axis=1, dtype=object) == TOTAL).all()
    assert found.loss == pytest.approx(found.solution.loss, rel=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_one_and_three_dimensions(line, cube, method):
    assert method(line, epsilon=1.0, cells=(9,)).mechanism.certificate().epsilon <= 1.0
    assert method(cube, epsilon=1.0, cells=(3, 3, 3)).mechanism.certificate().epsilon <= 1.0


def test_families_are_ordered_by_loss(town):
    """(e) contains (d); (f) is richer still at this size; all beat the even mechanism."""
    losses = [m(town, epsilon=EPSILON, cells=(7, 5), tolerance=1e-6).loss for m in METHODS]
    assert losses[1] <= losses[0] * (1 + 1e-5)
    assert losses[2] < losses[1]
    even = town.expected(np.full(town.loss.shape, 1 / len(town.outputs)))
    assert losses[0] < even


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_tension_serves_better_than_quadratics(town, p):
    plain = smooth_spline(town, epsilon=EPSILON, cells=(6, 5), p=p, tension=0.0)
    taut = smooth_spline(town, epsilon=EPSILON, cells=(6, 5), p=p)
    assert taut.mechanism.grid.tension > 0
    assert taut.loss < plain.loss


def test_on_a_line_tension_reaches_what_privacy_allows():
    """Two places, 4 km apart, both outputs private everywhere between: the optimum is known.

    p and 1 − p may each grow by e^(ε·x), so p climbs like that to ½ half-way and 1 − p falls from
    there: an error of e^(−2ε)/2 at either end. That curve is a spline under tension ε, and smooth.
    """
    places = np.array([[0.0], [4.0]])
    two = Problem(places, np.ones(2), places, 1 - np.eye(2), (0.0,), (4.0,))
    least = np.exp(-2 * 0.5) / 2
    taut = smooth_spline(two, epsilon=0.5, cells=(4,), tolerance=1e-8)
    plain = smooth_spline(two, epsilon=0.5, cells=(4,), tolerance=1e-8, tension=0.0)
    assert least * (1 - 1e-9) <= taut.loss <= least * (1 + 1e-4)
    assert plain.loss > least * 1.02


def test_loss_falls_as_epsilon_grows(town):
    losses = [bilinear_cone(town, epsilon=e, cells=(6, 5)).loss for e in (0.2, 0.5, 1.0)]
    assert losses[0] > losses[1] > losses[2]


def largest_ratio(mechanism, first, second, p):
    apart = np.linalg.norm(first - second, p, axis=1)
    keep = apart > 0
    first, second, apart = first[keep], second[keep], apart[keep]
    worst = 0.0
    for start in range(0, len(first), 50_000):
        rows = slice(start, start + 50_000)
        a, b = mechanism.probabilities(first[rows]), mechanism.probabilities(second[rows])
        worst = max(worst, float((np.abs(np.log(a / b)).max(axis=1) / apart[rows]).max()))
    return worst


def test_a_million_close_pairs_stay_below_the_certificate(spline):
    """On the deployed integers, at places of the lattice, 1 to 30 m apart."""
    mechanism, rng = spline.mechanism, seeded_rng(11)
    low, high = mechanism.grid.low, mechanism.grid.high
    first = rng.uniform(low, high, (1_000_000, 2))
    # Half of them near the borders of cells, where a fault would sit.
    steps = np.asarray(mechanism.grid.steps) / 2
    first[::2] = low + np.rint((first[::2] - low) / steps) * steps
    second = mechanism.snap(first + rng.uniform(-0.03, 0.03, first.shape))
    first = mechanism.snap(first)
    worst = largest_ratio(mechanism, first, second, 2)
    assert worst <= mechanism.certificate().epsilon
    assert worst >= 0.97 * mechanism.certificate().lower


def log_gradient(mechanism, place, output, q, h=1e-6):
    grid, row = mechanism.grid, mechanism.coefficients[output]

    def value(points):
        index, weight = grid.basis(points)
        return (weight * row[index]).sum(axis=1)

    shifts = np.concatenate([np.eye(len(place)) * h, -np.eye(len(place)) * h])
    values = value(place + shifts)
    count = len(place)
    slope = (values[:count] - values[count:]) / (2 * h) / value(place[None])[0]
    return float(np.linalg.norm(slope, q))


def test_gradient_search_stays_below_the_certificate(spline):
    mechanism, rng = spline.mechanism, seeded_rng(5)
    low, high = np.asarray(mechanism.grid.low) + 1e-4, np.asarray(mechanism.grid.high) - 1e-4
    best = 0.0
    for output in range(len(mechanism.outputs)):
        start = rng.uniform(low, high)
        found = minimize(
            lambda x, y=output: -log_gradient(mechanism, np.clip(x, low, high), y, 2.0),
            start,
            method="Nelder-Mead",
            options={"maxiter": 60},
        )
        best = max(best, -found.fun)
    assert best <= mechanism.certificate().supremum * (1 + 1e-6)
    assert best >= 0.9 * mechanism.certificate().lower


# ── planted faults ─────────────────────────────────────────────────────────────────────────────


def build(problem, grid, cones, p=2.0):
    answer = solve_blocks(problem.costs(grid), cones, tolerance=1e-6)
    table, _ = mend(answer.coefficients, cones, floor=FLOOR)
    return constructed(problem, grid, table, p)


def constructed(problem, grid, table, p):
    guarantee = Guarantee(EPSILON, lp(p, unit="km"), "one location", Basis.CERTIFIED)
    return SmoothMechanism(grid, problem.outputs, table, guarantee)


def test_honest_build_passes(town):
    grid = town.grid((6, 5), degree=2)
    build(town, grid, gradient_cones(*grid.rows(), grid.size, epsilon=EPSILON * (1 - 1e-4), p=2.0))


def test_a_constraint_dropped_at_a_cell_edge_is_caught(town):
    grid = town.grid((6, 5), degree=1)
    index, rows = grid.rows()
    busy = np.argmax(town.costs(grid).sum(axis=0))  # where people are
    keep = ~(index == busy).any(axis=1)
    cones = gradient_cones(index, rows, grid.size, epsilon=EPSILON * (1 - 1e-4), p=2.0)
    fewer = Cones(cones.index[keep], cones.matrix[keep], grid.size)
    with pytest.raises(GuaranteeBroken):
        build(town, grid, fewer)


def test_unrepaired_solver_output_is_caught(town, sparse_rows):
    """A simplex answer sits on the constraints, to 1e-7: zeros beside non-zeros."""
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, identity, kron

    grid = town.grid((6, 5), degree=1)
    cones = gradient_cones(*grid.rows(), grid.size, epsilon=EPSILON * (1 - 1e-4), p=1.0)
    costs = town.costs(grid)
    one = sparse_rows(cones)
    answer = linprog(
        costs.ravel(),
        A_ub=-block_diag([one] * len(costs), format="csr"),
        b_ub=np.zeros(one.shape[0] * len(costs)),
        A_eq=kron(np.ones((1, len(costs))), identity(grid.size)),
        b_eq=np.ones(grid.size),
        bounds=(0, None),
        method="highs-ds",
    )
    raw = answer.x.reshape(costs.shape)
    with pytest.raises(GuaranteeBroken):
        constructed(town, grid, raw, 1.0)
    mended, what = mend(raw, cones, floor=FLOOR)
    assert constructed(town, grid, mended, 1.0).certificate().epsilon <= EPSILON
    assert what.lifted + what.filled < 1e-4


@pytest.mark.parametrize(("claimed", "used"), [(np.inf, 1.0), (np.inf, 2.0), (2.0, 1.0)])
def test_a_wrong_dual_norm_is_caught(town, claimed, used):
    """ℓ_∞ privacy needs ‖∇‖₁; asking for a smaller norm of the gradient lets too much through."""
    assert dual_exponent(claimed) < dual_exponent(used)
    grid = town.grid((6, 5), degree=2)
    cones = gradient_cones(*grid.rows(), grid.size, epsilon=EPSILON * (1 - 1e-4), p=used)
    with pytest.raises(GuaranteeBroken):
        build(town, grid, cones, p=claimed)


def test_a_touched_coefficient_is_caught(spline):
    table = spline.mechanism.coefficients.copy()
    table[0, table.shape[1] // 2] *= 1.5
    with pytest.raises(GuaranteeBroken):
        replace(spline.mechanism, coefficients=table)


def test_coefficients_that_integers_cannot_hold_are_mended_and_refused(town):
    """On wide cells coefficients beside the border pass 2, and 2·2⁶² does not fit into 63 bits."""
    made = smooth_spline(town, epsilon=2.0, cells=(3, 2), p=1.0, tolerance=1e-3)
    raw, kept = made.solution.coefficients, made.mechanism
    assert largest_sum(raw) > 2
    lone = np.array([[-1.1], [2.05], [0.05]])  # its running sums would fit
    assert largest_sum(lone) == 2.05
    index, weight = kept.grid.basis(kept.snap(town.places))
    true = np.einsum("pl,ypl->py", weight, kept.coefficients[:, index])
    assert np.abs(kept.probabilities(town.places) - true).max() < 1e-9
    with pytest.raises(GuaranteeBroken, match="below 2"):
        replace(kept, coefficients=raw)


def test_sums_that_are_off_are_caught(spline):
    with pytest.raises(GuaranteeBroken):
        replace(spline.mechanism, coefficients=spline.mechanism.coefficients * 1.001)


def test_aipo_needs_its_half(town):
    honest = aipo(town, epsilon=EPSILON, cells=(6, 5))
    assert honest.supremum <= EPSILON
    assert honest.guarantee is not None
    whole = tuple(2 * b for b in honest.budgets)
    with pytest.raises(GuaranteeBroken, match="epsilon / 2"):
        aipo(town, epsilon=EPSILON, cells=(6, 5), budgets=whole)


def test_aipo_supremum_bounds_what_a_search_finds(town):
    found = aipo(town, epsilon=EPSILON, cells=(6, 5))
    rng = seeded_rng(3)
    first = rng.uniform(town.low, town.high, (20_000, 2))
    second = np.clip(first + rng.normal(scale=1e-3, size=first.shape), town.low, town.high)
    gap = np.abs(np.log(found.law.probabilities(first) / found.law.probabilities(second)))
    ratio = gap.max(axis=1) / np.linalg.norm(first - second, axis=1)
    assert 0.4 * found.supremum < ratio.max() <= found.supremum


def test_relaxed_aipo_has_no_guarantee_and_violates(town):
    found = aipo_relaxed(town, epsilon=EPSILON, cells=(6, 5))
    assert found.guarantee is None
    assert not hasattr(found.law, "release")
    rng = seeded_rng(3)
    first = rng.uniform(town.low, town.high, (5_000, 2))
    second = np.clip(first + rng.normal(scale=1e-3, size=first.shape), town.low, town.high)
    gap = np.abs(np.log(found.law.probabilities(first) / found.law.probabilities(second)))
    assert (gap.max(axis=1) / np.linalg.norm(first - second, axis=1)).max() > EPSILON


def test_the_ratio_test_misses_what_the_certificate_finds(town):
    """A supremum of 1.14 ε hides from a thousand random places, not from the certificate."""
    grid = town.grid((6, 5), degree=2)
    cones = gradient_cones(*grid.rows(), grid.size, epsilon=1.14 * EPSILON, p=2.0)
    table, _ = mend(solve_blocks(town.costs(grid), cones).coefficients, cones, floor=FLOOR)
    found = certify_splines(grid, table, p=2.0, resolution=0.001, weight_bits=62)
    assert found.lower > EPSILON


# ── release ────────────────────────────────────────────────────────────────────────────────────


def test_draws_follow_the_integer_law(spline):
    from voile.audit.samplers import sampler

    mechanism = spline.mechanism
    place = np.array([[1.234, -0.567]])
    drawn = mechanism.draw(np.repeat(place, 200_000, axis=0), seeded_rng(9))
    law = mechanism.probabilities(place)[0]
    assert str(sampler(drawn, law).verdict) != "violated"
    liar = np.roll(law, 1)
    assert str(sampler(drawn, liar).verdict) == "violated"


def test_places_outside_are_projected_and_places_within_a_lattice_step_agree(spline):
    mechanism = spline.mechanism
    high = np.asarray(mechanism.grid.high)
    assert (mechanism.weights([high + 10.0]) == mechanism.weights([high])).all()
    with pytest.raises(InvalidInput, match="1 of 2 rows"):  # far off it: another map, or degrees
        mechanism.weights([high, high + 50.0])
    assert (mechanism.weights([[0.1, 0.1]]) == mechanism.weights([[0.1002, 0.0998]])).all()


def test_log_prob_and_records(spline):
    mechanism = spline.mechanism
    table = mechanism.log_prob([[0.0, 0.0]], mechanism.outputs)
    assert np.exp(table).sum() == pytest.approx(1.0)
    kind, meta, arrays = mechanism.to_record()
    again = smooth_from_record(meta, arrays)
    assert kind == "smooth mechanism"
    assert (again.weights([[0.3, 0.2]]) == mechanism.weights([[0.3, 0.2]])).all()
    with pytest.raises(GuaranteeBroken):
        smooth_from_record(meta | {"epsilon": 0.5 * EPSILON}, arrays)


def test_bad_places_and_epsilons(spline, town):
    with pytest.raises(InvalidInput, match="2 coordinates"):
        spline.mechanism.draw([[1.0, 2.0, 3.0]], seeded_rng(0))
    with pytest.raises(InvalidInput, match="finite"):
        spline.mechanism.draw([[1.0, np.nan]], seeded_rng(0))
    for epsilon in (0.0, -1.0, np.inf):
        with pytest.raises(InvalidInput, match="epsilon"):
            bilinear_cone(town, epsilon=epsilon, cells=(4, 3))
    with pytest.raises(InvalidInput, match="cells"):
        bilinear_cone(town, epsilon=1.0, cells=(0, 3))


def test_a_tiny_epsilon_is_refused_and_a_coarser_resolution_helps(town):
    with pytest.raises(GuaranteeBroken, match="coarser resolution"):
        bilinear_cone(town, epsilon=1e-9, cells=(4, 3))
    assert bilinear_cone(town, epsilon=1e-4, cells=(4, 3), resolution=0.1).loss > 0


def test_a_solver_stopped_early_gives_a_worse_but_certified_mechanism(town, monkeypatch):
    full = bilinear_cone(town, epsilon=EPSILON, cells=(6, 5))
    monkeypatch.setattr(
        continuous,
        "solve_blocks",
        lambda costs, cones, **rest: solve_blocks(costs, cones, iterations=4),
    )
    early = bilinear_cone(town, epsilon=EPSILON, cells=(6, 5))
    assert not early.solution.converged
    assert early.mechanism.certificate().epsilon <= EPSILON
    assert early.loss > full.loss


def test_log_interpolation_needs_logs(town):
    law = LogInterpolation(
        town.grid((2, 2), degree=1), town.outputs, np.zeros((len(town.outputs), 9))
    )
    assert law.supremum(2.0) == 0.0
