"""Laplace noise on a lattice: its law, its bound, and mixtures that break it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from laws import FALSE_ALARM, p_value
from voile.core import lattice_laplace as module
from voile.core.lattice_laplace import COARSEST, FINEST, finer, lattice_laplace
from voile.core.weights import TOTAL
from voile.errors import GuaranteeBroken, InvalidInput

DIMENSIONS = [1, 2, 3, 50, 384, 1024]
RATES = [COARSEST, 1e-4, FINEST]


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("rate", RATES)
def test_the_slope_keeps_its_bound_and_uses_it(dimension, rate):
    noise = lattice_laplace(dimension, rate)
    assert 0.999 * rate < noise.steepest() <= rate
    radius = np.geomspace(1e-3 / rate, 1e9 / rate, 10_000)
    assert noise.slope(radius).max() <= rate
    near = (radius > 0.9 * dimension / rate) & (radius < 1.1 * dimension / rate)
    assert noise.slope(radius)[near].min() > 0.99 * rate, "as steep as it may where noise falls"


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([1, 2, 5]),
    st.floats(1e-6, COARSEST),
    st.integers(0, 2**31),
    st.floats(0.0, 200.0),
)
def test_log_probabilities_are_lipschitz(dimension, rate, seed, reach):
    """Two secrets, one release: |ln f(‖z‖) − ln f(‖z'‖)| ≤ rate·‖z − z'‖, near and far."""
    noise = lattice_laplace(dimension, rate)
    rng = np.random.default_rng(seed)
    here = np.rint(rng.normal(size=(200, dimension)) * reach / rate)
    there = here + np.rint(rng.normal(size=here.shape) * rng.choice([1, 30, 1 / rate], (200, 1)))
    first, second = (noise.log_prob((z**2).sum(axis=1)) for z in (here, there))
    apart = np.linalg.norm(here - there, axis=1)
    assert (np.abs(first - second) <= rate * apart + 1e-9).all()


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_law_sums_to_one(dimension):
    noise = lattice_laplace(dimension, COARSEST)
    far = np.full((1, dimension), 2**50)
    assert noise.box_log_prob(-far, far)[0] == pytest.approx(0.0, abs=1e-12)


def test_the_chain_is_followed_as_far_as_a_release_is():
    """However far out, what `log_prob` says falls no faster than the rate."""
    noise = lattice_laplace(2, COARSEST)
    for far in (1e7, 1e9, 1e12, 1e15):
        near, beyond = noise.log_prob(np.array([far**2, (far + 1000.0) ** 2]))
        assert 0 <= near - beyond <= 1000 * COARSEST
    low = np.array([2**50, -3])
    assert np.isfinite(noise.box_log_prob(low, low + 7))


def test_a_box_is_the_sum_of_its_points():
    noise = lattice_laplace(2, COARSEST)
    for low, high in (([3, -2], [7, 5]), ([-4, -9], [0, -1]), ([900, 40], [903, 41])):
        points = np.array([(x, y) for x in range(low[0], high[0]) for y in range(low[1], high[1])])
        exact = np.log(np.exp(noise.log_prob((points**2).sum(axis=1))).sum())
        found = noise.box_log_prob(np.array(low), np.array(high))
        assert found == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("dimension", [1, 2])
def test_draws_follow_the_law_and_a_liar_does_not(dimension):
    honest = lattice_laplace(dimension, 1e-3)
    edges = np.array([-(2**40), -3000, -1500, -600, -200, 0, 150, 500, 1200, 2500, 2**40])
    boxes = np.stack(np.meshgrid(*[np.arange(10)] * dimension, indexing="ij"), -1)
    law = np.exp(honest.box_log_prob(edges[boxes], edges[boxes + 1])).reshape(-1)

    def counts(noise):
        drawn = noise.draw(200_000, voile.seeded_rng(5))
        cells = np.searchsorted(edges, drawn, side="right") - 1
        return np.bincount(cells @ 10 ** np.arange(dimension)[::-1], minlength=10**dimension)

    assert p_value(counts(honest), law) > FALSE_ALARM
    assert p_value(counts(lattice_laplace(dimension, 1.05e-3)), law) < FALSE_ALARM


@pytest.mark.parametrize("dimension", [1, 2, 50])
def test_it_is_hardly_longer_than_continuous_noise(dimension):
    """Length n/rate on average, Gamma(n): within a hundredth, six standard errors beside it."""
    drawn = lattice_laplace(dimension, 1e-4).draw(60_000, voile.seeded_rng(8)).astype(float)
    length = np.linalg.norm(drawn, axis=1).mean() * 1e-4
    assert abs(length - dimension) < 0.01 * dimension + 6 * np.sqrt(dimension / 60_000)


def test_mixtures_that_fall_too_steeply_cannot_be_built():
    """Too strong a claim, a tail that ends, a gap between scales: each is caught by the bound."""
    noise = lattice_laplace(2, 1e-3)
    with pytest.raises(GuaranteeBroken, match=r"at most 0\.00099"):
        replace(noise, rate=0.99e-3)
    cut = noise.weights.copy()
    cut[-30:-1] = 1
    cut[0] += np.uint64(TOTAL - int(cut.sum()))
    with pytest.raises(GuaranteeBroken):
        replace(noise, weights=cut)
    moved = noise.weights.copy()
    middle = len(moved) // 2
    moved[middle - 11 : middle + 12] = 1
    moved[middle - 12] += np.uint64(TOTAL - int(moved.sum()))
    with pytest.raises(GuaranteeBroken):
        replace(noise, weights=moved)
    with pytest.raises(InvalidInput, match=r"of sum 2\*\*62"):
        replace(noise, weights=noise.weights // np.uint64(2))


def test_the_chain_past_the_table_is_drawn_too(monkeypatch):
    """Once in 2**54 draws: asked for here."""
    noise = lattice_laplace(2, 1e-3)
    last = 8 * int(noise.eighths[-1])
    rows = np.array([noise.beyond(voile.seeded_rng(seed)) for seed in range(3000)], dtype=float)
    scales = np.array([8.0 * module._chained(last // 8, place) for place in range(40)])
    chances = 0.5 ** np.arange(1, 41)
    second = (chances * scales**2).sum()
    assert (rows**2).mean() > 0.5 * last**2
    assert np.median(np.abs(rows)) < np.sqrt(second)
    assert scales[:5].tolist() == [1.25 * last, 1.5 * last, 1.75 * last, 2 * last, 2.5 * last]
    # A table whose every word falls past its sums draws from the chain alone.
    monkeypatch.setitem(noise.__dict__, "_sums", np.zeros(len(noise.eighths), dtype=np.uint64))
    drawn = noise.draw(200, voile.seeded_rng(1)).astype(float)
    assert (drawn**2).mean() > 0.5 * last**2


def test_a_cut_hides_the_point_too(monkeypatch):
    """Sums are cut, not noise: beyond the cut two points give the same release."""
    noise = lattice_laplace(2, 1e-3)
    monkeypatch.setitem(noise.__dict__, "_sums", np.zeros(len(noise.eighths), dtype=np.uint64))
    monkeypatch.setattr(type(noise), "beyond", lambda self, rng: [2**70, -(2**70)])
    points = np.array([[5, -7], [0, 10**6]])
    assert noise.add(points, voile.seeded_rng(1)).tolist() == [[2**62, -(2**62)]] * 2


@pytest.mark.parametrize(("dimension", "rate"), [(0, 1e-3), (1025, 1e-3), (2, 1e-12), (2, 0.1)])
def test_what_cannot_be_bounded_is_refused(dimension, rate):
    with pytest.raises(InvalidInput, match="must be between"):
        lattice_laplace(dimension, rate)


@given(st.floats(1e-12, 1e6))
def test_a_lattice_is_made_fine_enough_and_no_finer(rate):
    parts = finer(rate)
    assert rate / parts <= COARSEST
    assert parts == 1 or rate / parts > COARSEST / 2
