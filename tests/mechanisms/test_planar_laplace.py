import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, p_value
from voile.audit import ratio
from voile.errors import InvalidInput


def test_mean_displacement_is_two_over_epsilon():
    """Gamma(2, 2): mean 4, deviation 2.83; a 200th for the lattice and seven standard errors."""
    for step in (1e-6, 0.01):
        blur = voile.mechanisms.planar_laplace(epsilon=0.5, step=step)
        moved = np.linalg.norm(blur.release(np.zeros((200_000, 2)), voile.seeded_rng(1)), axis=1)
        assert moved.mean() == pytest.approx(4.02, abs=0.02 + 7 * 2.83 / np.sqrt(200_000))


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


@pytest.mark.parametrize("step", [1e-6, 1e-3, 0.5, 4.0])
def test_no_pair_exceeds_the_bound_at_any_step(step):
    """Exact losses between lattice points, near and far, against the metric of the guarantee."""
    blur = voile.mechanisms.planar_laplace(epsilon=1.0, step=step)
    rng = np.random.default_rng(3)
    places = rng.normal(size=(32, 2))
    places[31] = places[30] + [step, 0]
    releases = blur.release(np.repeat(places, 4, axis=0), voile.seeded_rng(1))
    finding = ratio(blur, places, releases=releases)
    assert finding.verdict == "open", str(finding)
    logs = blur.log_prob(places, releases)
    losses = np.abs(logs[:, None] - logs[None]).max(axis=2)
    assert (losses <= blur.guarantee.metric.pairwise(places, places) + 1e-9).all()


def test_the_lattice_is_said_with_what_it_costs():
    """Places 1.417 m apart that fall on points two steps apart have more than ε·d between them."""
    blur = voile.mechanisms.planar_laplace(epsilon=1.0, step=2**-10)
    (said,) = blur.guarantee.outside
    assert "the rounding of places to 0.000976562 km" in said
    assert "the loss is at most ε·(d + 0.00139)" in said
    step = 2.0**-10
    near = np.array([[0.499, 0.499], [-0.501, -0.501]]) * step
    apart = np.linalg.norm(near[0] - near[1])
    releases = near[:1] + np.array([[3.0, 3.0], [-3.0, -3.0]])
    logs = blur.log_prob(near, releases)
    loss = np.abs(logs[0] - logs[1]).max()
    assert 0.99 * apart < loss <= apart + np.sqrt(2) * step


@pytest.mark.parametrize("step", [2.0**-70, 1e-12])
def test_steps_below_what_noise_can_cover_are_refused(step):
    """The low bits of doubles would tell places apart."""
    with pytest.raises(InvalidInput, match=r"step must be at least 3\.7e-09 at this epsilon"):
        voile.mechanisms.planar_laplace(epsilon=1.0, step=step)
    with pytest.raises(InvalidInput, match=r"within 2\*\*52 lattice steps"):
        voile.mechanisms.planar_laplace(epsilon=1.0, step=1e-8).release(
            [[1e9, 0.0]], voile.seeded_rng(0)
        )


def test_steps_that_noise_never_leaves_and_far_releases_are_refused():
    for step in (1e300, 1e12):
        with pytest.raises(InvalidInput, match="step must be at most"):
            voile.mechanisms.planar_laplace(epsilon=1.0, step=step)
    blur = voile.mechanisms.planar_laplace(epsilon=2.0**11, step=1.0)
    with pytest.raises(InvalidInput, match="lattice steps of the origin"):
        blur.log_prob([[0.0, 0.0]], [[2.0**44, 0.0]])
    assert np.exp(blur.log_prob([[0.0, 0.0]], [[0.0, 0.0]]))[0, 0] <= 1


@pytest.mark.parametrize("arguments", [{"step": 0.0}, {"step": -1.0}, {"step": np.inf}])
def test_bad_steps(arguments):
    with pytest.raises(InvalidInput, match="step must be > 0"):
        voile.mechanisms.planar_laplace(epsilon=1.0, **arguments)


@pytest.mark.parametrize("places", [[[1.0]], [["a", "b"]], [[np.nan, 0.0]], []])
def test_bad_places(places):
    blur = voile.mechanisms.planar_laplace(epsilon=1.0, step=0.1)
    with pytest.raises(InvalidInput):
        blur.release(places, voile.seeded_rng(0))
