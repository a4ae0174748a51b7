import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, p_value
from voile.audit import ratio
from voile.errors import InvalidInput


def test_mean_displacement_is_two_over_epsilon():
    blur = voile.mechanisms.planar_laplace(epsilon=0.5, step=1e-9)
    moved = np.linalg.norm(blur.release(np.zeros((200_000, 2)), voile.seeded_rng(1)), axis=1)
    # Gamma(2, 2): mean 4, deviation 2.83; seven standard errors.
    assert moved.mean() == pytest.approx(4.0, abs=7 * 2.83 / np.sqrt(200_000))


def test_releases_lie_on_the_grid():
    blur = voile.mechanisms.planar_laplace(epsilon=1.0, step=0.25)
    released = blur.release(np.random.default_rng(0).normal(size=(100, 2)), voile.seeded_rng(2))
    assert np.array_equal(released, np.rint(released / 0.25) * 0.25)


def test_draws_follow_log_prob_and_a_liar_does_not():
    secret = np.array([[0.2, -0.1]])
    blur = voile.mechanisms.planar_laplace(epsilon=1.0, step=1.0)
    cells = np.array([[x, y] for x in range(-3, 4) for y in range(-3, 4)], dtype=float)
    law = np.exp(blur.log_prob(secret, cells)[0])
    law = np.append(law, 1 - law.sum())  # everything further out

    def counts(mechanism):
        drawn = mechanism.release(np.repeat(secret, 40_000, axis=0), voile.seeded_rng(3))
        inside = (np.abs(drawn) <= 3).all(axis=1)
        places = ((drawn[inside, 0] + 3) * 7 + drawn[inside, 1] + 3).astype(int)
        return np.append(np.bincount(places, minlength=49), (~inside).sum())

    assert p_value(counts(blur), law) > FALSE_ALARM
    liar = voile.mechanisms.planar_laplace(epsilon=1.1, step=1.0)
    assert p_value(counts(liar), law) < FALSE_ALARM


def test_ratio_audit_catches_a_wrong_constant():
    """log_prob of noise twice as strong as claimed, judged by the claim."""
    honest = voile.mechanisms.planar_laplace(epsilon=1.0, step=0.5)
    strong = voile.mechanisms.planar_laplace(epsilon=2.0, step=0.5)

    class Liar:
        guarantee = honest.guarantee
        release = staticmethod(strong.release)
        log_prob = staticmethod(strong.log_prob)

    places = np.random.default_rng(7).normal(size=(40, 2))
    releases = strong.release(places, voile.seeded_rng(0))
    assert ratio(honest, places, releases=releases).verdict == "open"
    assert ratio(Liar(), places, releases=releases).verdict == "violated"


@pytest.mark.parametrize("arguments", [{"step": 0.0}, {"step": -1.0}, {"step": np.inf}])
def test_bad_steps(arguments):
    with pytest.raises(InvalidInput, match="step must be > 0"):
        voile.mechanisms.planar_laplace(epsilon=1.0, **arguments)


@pytest.mark.parametrize("places", [[[1.0]], [["a", "b"]], [[np.nan, 0.0]], []])
def test_bad_places(places):
    blur = voile.mechanisms.planar_laplace(epsilon=1.0, step=0.1)
    with pytest.raises(InvalidInput):
        blur.release(places, voile.seeded_rng(0))
