"""Noise scales against the published table, an integral, and what the old formula hides."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import voile
from laws import FALSE_ALARM
from voile.errors import InvalidInput
from voile.rewriting.gaussian import (
    analytic_sigma,
    classical_sigma,
    gaussian_delta,
    true_epsilon,
)
from voile.rewriting.latent_noise import (
    LARGEST_DIMENSION,
    SMALLEST_EPSILON,
    GaussianNoise,
    _towards_zero,
    clip_norm,
    clip_values,
    gaussian_noise,
    lattice_excess,
)

CLV = 0.2 * math.sqrt(20 * 768)
PRUNED = 0.2 * math.sqrt(20 * 182)
ADEPT = 2 * 5.0


@pytest.mark.parametrize(
    ("epsilon", "clv", "pruned", "classical", "adept"),
    [
        (10, 12.391, 6.0319, 5.8460, 4.9989),
        (100, 2.3466, 1.1423, 0.58460, 0.94670),
        (250, 1.3371, 0.65089, 0.23384, 0.53942),
        (1000, 0.60931, 0.29662, 0.05846, 0.24582),
        (2500, 0.37225, 0.18121, 0.02338, 0.15018),
    ],
)
def test_noise_scales(epsilon, clv, pruned, classical, adept):
    """DP-BART (all dimensions, pruned to 182) and ADePT at δ = 1e-5, to four digits."""
    for sensitivity, golden in ((CLV, clv), (PRUNED, pruned), (ADEPT, adept)):
        found = analytic_sigma(sensitivity=sensitivity, epsilon=epsilon, delta=1e-5)
        assert found == pytest.approx(golden, rel=1e-4)
    found = classical_sigma(sensitivity=PRUNED, epsilon=epsilon, delta=1e-5)
    assert found == pytest.approx(classical, rel=2e-4)


@pytest.mark.parametrize(
    ("nominal", "truth"),
    [(10, 10.4), (50, 96), (100, 300), (250, 1550), (1000, 22_181), (2500, 135_336)],
)
def test_what_the_classical_formula_hides(nominal, truth):
    sigma = classical_sigma(sensitivity=1.0, epsilon=nominal, delta=1e-5)
    assert true_epsilon(sigma=sigma, sensitivity=1.0, delta=1e-5) == pytest.approx(truth, rel=5e-3)


def test_published_signal_to_noise_ratios_are_those_of_the_classical_formula():
    """TeDA's figure 10: 0.41, 1.60, 4.07 at ε = 250, 1000, 2500, norms near 5.7.

    They grow with ε as 1/σ does under the classical formula; analytic noise gives other ratios.
    """
    published = {250: 0.41, 1000: 1.60, 2500: 4.07}
    noise = math.sqrt(20 * 182)
    for epsilon, ratio in published.items():
        classical = classical_sigma(sensitivity=PRUNED, epsilon=epsilon, delta=1e-5)
        assert 5.7 / (classical * noise) == pytest.approx(ratio, rel=0.03)
        analytic = analytic_sigma(sensitivity=PRUNED, epsilon=epsilon, delta=1e-5)
        assert abs(5.7 / (analytic * noise) / ratio - 1) > 0.5


@pytest.mark.parametrize(("mu", "epsilon"), [(0.5, 0.3), (1.0, 1.0), (2.0, 4.0)])
def test_delta_against_an_integral(mu, epsilon):
    """δ = ∫ max(0, p − e^ε q) for two unit Gaussians μ apart."""
    value, _ = quad(
        lambda x: max(0.0, norm.pdf(x, mu) - math.exp(epsilon) * norm.pdf(x)), -12, 14, limit=400
    )
    assert gaussian_delta(mu, epsilon) == pytest.approx(value, rel=1e-6)


@given(st.floats(-2, 4), st.floats(-9, -1), st.floats(-2, 3))
def test_calibration_is_tight_and_never_under(log_epsilon, log_delta, log_sensitivity):
    epsilon, delta, sensitivity = 10**log_epsilon, 10**log_delta, 10**log_sensitivity
    sigma = analytic_sigma(sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    assert gaussian_delta(sensitivity / sigma, epsilon) <= delta * (1 + 1e-9)
    assert gaussian_delta(sensitivity / (0.999 * sigma), epsilon) > delta
    back = true_epsilon(sigma=sigma, sensitivity=sensitivity, delta=delta)
    assert back == pytest.approx(epsilon, rel=1e-6)


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), st.floats(0.01, 100))
def test_clips_clip(row, clip):
    table = np.array([row])
    assert np.linalg.norm(clip_norm(table, clip=clip)) <= clip * (1 + 1e-12)
    assert np.abs(clip_values(table, bound=clip)).max() <= clip
    inside = table / (np.linalg.norm(table) + 1) * 0.5 * clip
    assert np.allclose(clip_norm(inside, clip=clip), inside, rtol=1e-12)


def test_noise_has_its_scale_and_sits_on_a_grid():
    noise = GaussianNoise(0.3)
    found = noise.add(np.zeros((2000, 50)), voile.seeded_rng(1))
    expected = 0.3**2
    # variance of 100,000 squares: a deviation of 6.5 standard errors is below 1e-9
    error = expected * math.sqrt(2 / found.size)
    assert abs(found.var() - expected) < 6.5 * error
    assert 2 * norm.sf(6.5) < FALSE_ALARM
    steps = found / 0.3 * 2**26
    assert np.abs(steps - np.rint(steps)).max() < 1e-6, "whole steps of σ·2**-26"


@given(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4), st.floats(0.01, 100))
def test_no_vector_on_the_lattice_is_longer_than_the_clip(row, clip):
    """Exactly, in rationals: the sensitivity holds for the integers that noise is added to."""
    step = 0.3 / 2**26
    whole = _towards_zero(clip_norm(np.array([row]), clip=clip), step)[0].tolist()
    assert Fraction(step) ** 2 * sum(v * v for v in whole) <= Fraction(clip) ** 2


@pytest.mark.parametrize("steps", [8, 64])
def test_discrete_noise_is_as_close_to_rounded_noise_as_stated(steps):
    """−1/24s² ≤ ln(rounded / discrete) ≤ z²/24s⁴ for each integer z."""
    z = np.arange(0, 6 * steps)
    rounded = norm.cdf(-(z - 0.5) / steps) - norm.cdf(-(z + 0.5) / steps)
    discrete = np.exp(-(z**2) / (2 * steps**2)) / (steps * math.sqrt(2 * math.pi))
    logs = np.log(rounded / discrete)
    assert (logs >= -1 / (24 * steps**2) - 1e-9).all()
    assert (logs <= z**2 / (24 * steps**4) + 1e-9).all()


@pytest.mark.parametrize("epsilon", [SMALLEST_EPSILON, 0.1, 10.0, 2500.0, 1e6])
def test_the_lattice_costs_no_more_than_is_taken_off(epsilon):
    for dimension in (1, 128, 15_360, LARGEST_DIMENSION):
        assert lattice_excess(dimension, epsilon) <= epsilon * 2.0**-30
    noise = gaussian_noise(sensitivity=1.0, epsilon=epsilon)
    plain = analytic_sigma(sensitivity=1.0, epsilon=epsilon, delta=1e-5)
    assert plain < noise.sigma < plain * (1 + 1e-6)


def test_what_the_lattice_cannot_cover_is_refused():
    for wrong in ({"epsilon": 1e-4}, {"epsilon": 1.0, "delta": 1e-20}):
        with pytest.raises(InvalidInput, match="must be >="):
            gaussian_noise(sensitivity=1.0, **wrong)
    with pytest.raises(InvalidInput, match="at most 32768 coordinates"):
        GaussianNoise(1.0).add(np.zeros((1, LARGEST_DIMENSION + 1)), voile.seeded_rng(0))


def test_bad_input():
    with pytest.raises(InvalidInput, match=r"delta must be in \(0, 1\)"):
        analytic_sigma(sensitivity=1.0, epsilon=1.0, delta=0.0)
    with pytest.raises(InvalidInput, match="fidelity must be 'sound' or 'as_released'"):
        gaussian_noise(sensitivity=1.0, epsilon=1.0, fidelity="nearly")
