"""Noise scales against the published table, an integral, and what the old formula hides."""

import math

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
    laplace_scale,
    true_epsilon,
)
from voile.rewriting.latent_noise import (
    GaussianNoise,
    clip_norm,
    clip_values,
    gaussian_noise,
    laplace_noise,
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


def test_laplace_for_a_euclidean_clip():
    """The published mistake, 2C/ε, is too little by √n: shown on the vectors that need it."""
    clip, dimension, epsilon = 1.0, 16, 2.0
    scale = laplace_scale(clip=clip, dimension=dimension, epsilon=epsilon)
    far = np.full(dimension, clip / math.sqrt(dimension))
    loss = np.abs(far - -far).sum() / scale  # at an output beyond both
    assert loss == pytest.approx(epsilon)
    assert np.abs(far - -far).sum() / (2 * clip / epsilon) == pytest.approx(epsilon * 4)
    assert laplace_noise(clip=clip, dimension=dimension, epsilon=epsilon).scale == scale


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
    step = 2.0 ** (math.floor(math.log2(0.3)) - 20)
    assert np.array_equal(found / step, np.rint(found / step))
    laplace = laplace_noise(clip=1.0, dimension=1, epsilon=4.0)
    draws = laplace.add(np.zeros((200_000, 1)), voile.seeded_rng(2))
    assert abs(np.abs(draws).mean() - 0.5) < 6.5 * 0.5 / math.sqrt(200_000)


def test_bad_input():
    with pytest.raises(InvalidInput, match=r"delta must be in \(0, 1\)"):
        analytic_sigma(sensitivity=1.0, epsilon=1.0, delta=0.0)
    with pytest.raises(InvalidInput, match="fidelity must be 'sound' or 'as_released'"):
        gaussian_noise(sensitivity=1.0, epsilon=1.0, fidelity="nearly")
