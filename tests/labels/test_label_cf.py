"""Label DP-CF: the bound from the sampled integers, for every P in the bracket, and optimality."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.leakage.labels import unexpected_advantage
from voile.leakage.labels_privacy import conditional_epsilon, label_epsilon, local_epsilon
from voile.mechanisms import label_cf, randomised_response
from voile.mechanisms._cells_program import ratio_bounds
from voile.mechanisms._spread import outwards

seeds = st.integers(0, 2**32 - 1)


def exact_log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def bracketed(seed: int, cells: int, classes: int, width: float):
    rng = np.random.default_rng(seed)
    given_label = rng.dirichlet(np.full(cells, 0.6), size=classes).T
    lower = np.maximum(given_label - width * rng.random(given_label.shape), 0)
    upper = np.minimum(given_label + width * rng.random(given_label.shape), 1)
    return given_label, lower, upper, rng


cf_worlds = st.tuples(
    seeds, st.integers(2, 6), st.integers(2, 3), st.floats(0, 0.2), st.floats(0.2, 3)
)


@settings(max_examples=40, deadline=None)
@given(cf_worlds)
def test_conditional_epsilon_holds_for_the_sampled_integers_and_every_p_in_the_bracket(drawn):
    seed, cells, classes, width, epsilon = drawn
    middle, lower, upper, rng = bracketed(seed, cells, classes, width)
    response = randomised_response(list(range(classes)), epsilon=epsilon / 2)
    blur = label_cf(
        response, lower=lower, upper=upper, weights=middle.mean(axis=1), epsilon=epsilon
    )
    assert blur.conditional.epsilon <= epsilon
    law = blur.law()
    priors = rng.dirichlet(np.ones(classes), size=3)
    for prior in priors:
        # A random P inside the bracket: a mixture of the middle and a far corner of it.
        corner = _corner(rng, lower, upper)
        mixed = rng.random()
        joint = (mixed * middle + (1 - mixed) * corner) * prior
        assert conditional_epsilon(joint, law) <= blur.conditional.epsilon + 1e-12
        assert unexpected_advantage(joint, law, epsilon=epsilon) <= 1e-12
    assert label_epsilon(law) <= blur.label.epsilon + 1e-9
    assert local_epsilon(law) <= blur.guarantee.epsilon + 1e-6


def _corner(rng, lower, upper):
    table = lower.copy()
    for y in range(lower.shape[1]):
        missing = 1 - table[:, y].sum()
        for c in rng.permutation(len(table)):
            more = min(missing, upper[c, y] - lower[c, y])
            table[c, y] += more
            missing -= more
    return table


def test_conditional_epsilon_in_exact_arithmetic():
    given_label = np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]])
    response = randomised_response(["ill", "well"], epsilon=0.5)
    blur = label_cf(response, lower=given_label, upper=given_label, weights=np.ones(3), epsilon=1.5)
    worst = 0.0
    for c in range(3):
        for answer in range(2):
            chance = []
            for y in range(2):
                moved = sum(
                    Fraction(float(given_label[x, y])) * int(blur.cells.weights[x, c])
                    for x in range(3)
                )
                total = sum(Fraction(float(v)) for v in given_label[:, y])
                chance.append(moved / total * int(response.weights[y, answer]))
            worst = max(worst, abs(exact_log(chance[0] / chance[1])))
    assert worst <= blur.conditional.epsilon <= 1.5
    assert worst > 1.5 - 1e-6  # and nothing is wasted


def test_cells_stay_as_they_are_where_they_reveal_little():
    given_label = np.array([[0.3, 0.25], [0.4, 0.4], [0.3, 0.35]])
    response = randomised_response([0, 1], epsilon=0.5)
    blur = label_cf(response, lower=given_label, upper=given_label, weights=np.ones(3), epsilon=1.0)
    assert blur.kept == pytest.approx(1.0, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(cf_worlds)
def test_no_private_mixture_changes_less(drawn):
    """The optimum is never worse than the identity mixed with a constant row, at the same bound.

    What it makes least is the mean chance of a change, and the largest one beside it.
    """
    seed, cells, classes, width, epsilon = drawn
    middle, lower, upper, rng = bracketed(seed, cells, classes, width)
    response = randomised_response(list(range(classes)), epsilon=epsilon / 2)
    weights = middle.mean(axis=1)
    blur = label_cf(response, lower=lower, upper=upper, weights=weights, epsilon=epsilon)
    constant = rng.dirichlet(np.ones(cells))
    low, high = 0.0, 1.0
    for _ in range(40):  # the least mixing that is private
        share = (low + high) / 2
        table = (1 - share) * np.eye(cells) + share * constant
        private = ratio_bounds(table, lower, upper).max() <= epsilon / 2
        low, high = (low, share) if private else (share, high)
    table = (1 - high) * np.eye(cells) + high * constant
    kept = float((np.diagonal(table) * weights).sum() / weights.sum())
    least = float(np.diagonal(blur.cells.probabilities()).min())
    assert blur.kept + least >= kept + float(np.diagonal(table).min()) - 2e-4


# Eight cells of census records, by log odds from −3.1 to 3.2, as shares of two classes.
CENSUS = np.array([
    [0.501, 0.022], [0.178, 0.059], [0.100, 0.071], [0.078, 0.114], [0.066, 0.166],
    [0.052, 0.239], [0.022, 0.231], [0.004, 0.098],
])  # fmt: skip
CENSUS = CENSUS / CENSUS.sum(axis=0)


def census():
    """Label DP-CF of these cells at ε = 2, a quarter of the records in the second class."""
    belief = CENSUS / CENSUS.sum(axis=1, keepdims=True)
    loss = np.abs(belief[:, None] - belief[None]).sum(axis=2) / 2 + 0.05 * (1 - np.eye(8))
    return label_cf(
        randomised_response([0, 1], epsilon=0.6), lower=CENSUS, upper=CENSUS,
        weights=CENSUS @ np.array([0.75, 0.25]), epsilon=2.0, loss=loss,
    )  # fmt: skip


def test_releases_tell_every_cell_from_the_others(monkeypatch):
    """The least mean loss alone gives a telling cell up: no number of releases could find it."""
    from voile.estimate.debiasing import unbiased_scores
    from voile.mechanisms.labels import label_cf as module

    blur = census()
    assert np.diagonal(blur.cells.probabilities()).min() > 0.5  # diagonally dominant, so invertible
    assert unbiased_scores(blur.cells).shape == (8, 8)
    monkeypatch.setattr(module, "WORST", 0.0)  # the planted program, which looks at the mean alone
    sparing = census()
    assert np.diagonal(sparing.cells.probabilities()).min() < 1e-6
    with pytest.raises(InvalidInput, match="too much alike"):
        unbiased_scores(sparing.cells)
    assert blur.conditional.epsilon <= 2.0
    assert blur.conditional.epsilon == pytest.approx(sparing.conditional.epsilon, abs=1e-6)


def test_more_releases_teach_more():
    """Of 10⁵ releases a law that tells cells apart teaches their order, whatever the recipe says.

    The likeliest table comes from the expected counts, so no luck is in it.
    """
    from voile.estimate.frequencies import likeliest_shares

    blur = census()
    law = blur.law().reshape(16, 16)
    truth = (CENSUS * np.array([0.75, 0.25])).ravel()
    counts = np.rint(1e5 * truth @ law).astype(int)
    found = likeliest_shares(law, counts).reshape(8, 2)
    order = np.argsort(CENSUS[:, 1] / CENSUS[:, 0])
    assert np.argsort(found[:, 1] / found[:, 0]).tolist() == order.tolist()


def test_planted_liar_clear_cells_are_found_out():
    given_label = np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]])
    response = randomised_response([0, 1], epsilon=0.5)
    honest = label_cf(
        response, lower=given_label, upper=given_label, weights=np.ones(3), epsilon=1.5
    )
    clear = honest.cells.from_probabilities(honest.cells.space, np.eye(3), honest.cells.guarantee)
    liar = replace(honest, cells=clear)
    joint = given_label / 2
    assert conditional_epsilon(joint, honest.law()) <= 1.5 + 1e-12
    assert conditional_epsilon(joint, liar.law()) > 2.0


def test_ratio_bounds_match_a_linear_program():
    from scipy.optimize import linprog

    _, lower, upper, rng = bracketed(3, 5, 2, 0.15)
    table = rng.dirichlet(np.ones(5), size=5)
    found = ratio_bounds(table, lower, upper)
    for y, other in ((0, 1), (1, 0)):
        worst = -math.inf
        for out in range(5):
            ends = []
            for label, sign in ((y, -1.0), (other, 1.0)):
                solved = linprog(
                    sign * table[:, out], A_eq=np.ones((1, 5)), b_eq=[1.0],
                    bounds=list(zip(lower[:, label], upper[:, label], strict=True)),
                )  # fmt: skip
                ends.append(sign * solved.fun)
            worst = max(worst, math.log(ends[0] / ends[1]))
        assert found[y, other] == pytest.approx(worst, abs=1e-9)


def test_draws_follow_the_law_and_a_liar_does_not():
    given_label = np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]])
    response = randomised_response([0, 1], epsilon=0.5)
    blur = label_cf(response, lower=given_label, upper=given_label, weights=np.ones(3), epsilon=1.5)
    count = 40_000
    secrets = np.tile([[0, 1]], (count, 1))
    law = blur.law()[0, 1]
    drawn = blur.release(secrets, seeded_rng(17))

    def statistic(rows: np.ndarray) -> float:
        seen = np.bincount(rows[:, 0] * 2 + rows[:, 1], minlength=6)
        used = law > 1e-6
        return float(((seen[used] - count * law[used]) ** 2 / (count * law[used])).sum())

    limit = chi2.isf(1e-9, int((law > 1e-6).sum()) - 1)
    assert statistic(drawn) <= limit
    assert statistic(blur.release(np.tile([[0, 0]], (count, 1)), seeded_rng(17))) > limit


def test_label_cf_refuses_a_response_that_spends_too_much_and_brackets_that_are_none():
    given_label = np.array([[0.5, 0.4], [0.5, 0.6]])
    with pytest.raises(InvalidInput, match="leave room"):
        label_cf(
            randomised_response([0, 1], epsilon=2.0),
            lower=given_label, upper=given_label, weights=np.ones(2), epsilon=1.0,
        )  # fmt: skip
    with pytest.raises(InvalidInput, match="lower <= upper"):
        label_cf(
            randomised_response([0, 1], epsilon=0.5),
            lower=given_label, upper=given_label - 0.1, weights=np.ones(2), epsilon=1.0,
        )  # fmt: skip


def exact_extreme(column, lower, upper, *, largest: bool) -> Fraction:
    """The largest or smallest Σ P_c·column[c] over a bracket, in rational numbers."""
    low, high = ([Fraction(float(v)) for v in side] for side in (lower, upper))
    value = sum(p * f for p, f in zip(low, column, strict=True))
    missing = 1 - sum(low)
    for c in sorted(range(len(column)), key=lambda c: column[c], reverse=largest):
        more = min(missing, high[c] - low[c])
        value, missing = value + more * column[c], missing - more
    return value


def test_bounds_over_a_bracket_are_rounded_outwards():
    """Few records: one cell may hold all but what the others hold at least, which sums lose."""
    from voile.labels.cells import _bracket

    rng = np.random.default_rng(3)
    for _ in range(300):
        cells, records = int(rng.integers(2, 5)), int(rng.integers(6, 40))
        label = rng.integers(0, 2, records)
        at = np.where(rng.random(records) < 0.8, label, rng.integers(0, cells, records))
        lower, upper = _bracket(at, label, cells, 2, 1e-3)
        changed = 10.0 ** -rng.uniform(4, 9)
        table = np.where(np.eye(cells) > 0, 1 - changed * (cells - 1), changed)
        columns = [[Fraction(float(v)) for v in table[:, out]] for out in range(cells)]
        high = [exact_extreme(f, lower[:, 0], upper[:, 0], largest=True) for f in columns]
        low = [exact_extreme(f, lower[:, 1], upper[:, 1], largest=False) for f in columns]
        truth = max(exact_log(a / b) for a, b in zip(high, low, strict=True))
        assert outwards(float(ratio_bounds(table, lower, upper)[0, 1])) >= truth


def test_both_ways_to_solve_the_program_find_the_least_loss(monkeypatch):
    from voile.mechanisms import _cells_program as program

    simplex = census()
    monkeypatch.setattr(program, "MANY", 0)
    interior = census()
    assert interior.kept == pytest.approx(simplex.kept, abs=1e-6)
    least = [float(np.diagonal(one.cells.probabilities()).min()) for one in (simplex, interior)]
    assert least[0] == pytest.approx(least[1], abs=1e-6)


def test_where_the_solver_gives_up_the_bound_holds_all_the_same(monkeypatch):
    """Its answer is a proposal: without one the cells are mixed until they tell little enough."""
    import scipy.optimize

    monkeypatch.setattr(
        scipy.optimize, "linprog", lambda *a, **k: scipy.optimize.OptimizeResult(x=None)
    )
    blur = census()
    assert 0 < blur.conditional.epsilon <= 2.0
    assert ratio_bounds(blur.cells.probabilities(), CENSUS, CENSUS).max() <= 2.0 - 0.6 + 1e-9
