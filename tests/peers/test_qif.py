"""libqif as an oracle where it computes the same thing, and a note where it is off."""

import numpy as np
import pytest

import voile

qif = pytest.importorskip("qif", reason="qif is a test-only peer")


def space_and_distance(points, epsilon):
    space = voile.Space(points, metric=voile.metrics.euclidean())
    scaled = epsilon * space.distances()
    return space, lambda i, j: float(scaled[i, j])


POINTS = np.random.default_rng(0).random((9, 2)) * 3
GRID = np.array([[i, j] for i in range(10) for j in range(10)], dtype=float)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_exponential(epsilon):
    space, distance = space_and_distance(POINTS, epsilon)
    peer = qif.mechanism.d_privacy.exponential(len(space), distance)
    assert np.allclose(
        voile.mechanisms.exponential(space, epsilon=epsilon).probabilities(), peer, rtol=1e-6
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_geometric(epsilon):
    line = voile.Space([[float(i)] for i in range(9)], metric=voile.metrics.euclidean())
    peer = qif.mechanism.d_privacy.geometric(9, epsilon)
    assert np.allclose(
        voile.mechanisms.geometric(line, epsilon=epsilon).probabilities(), peer, rtol=1e-5
    )


def test_tight_constraints():
    space, distance = space_and_distance(GRID, 1.0)
    peer = qif.mechanism.d_privacy.tight_constraints(len(space), distance)
    ours = voile.mechanisms.tight_constraints(space, epsilon=1.0)
    assert np.allclose(ours.probabilities(), peer, rtol=1e-4, atol=1e-12)


def test_randomised_response():
    peer = qif.mechanism.d_privacy.randomized_response(5, 1.3)
    ours = voile.mechanisms.randomised_response(range(5), epsilon=1.3)
    assert np.allclose(ours.probabilities(), peer, rtol=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_the_certificate_is_its_smallest_epsilon(epsilon):
    """Its smallest_epsilon is relative to the given distance: 1 where the bound is met."""
    space, _ = space_and_distance(POINTS, 1.0)
    distances = space.distances()
    channel = voile.mechanisms.exponential(space, epsilon=epsilon)
    peer = qif.measure.d_privacy.smallest_epsilon(
        channel.probabilities(), lambda i, j: float(distances[i, j])
    )
    assert channel.certificate().epsilon == pytest.approx(peer, rel=1e-9)


def test_is_private_agrees_on_both_sides_of_the_line():
    space, _ = space_and_distance(POINTS, 1.0)
    distances = space.distances()
    channel = voile.mechanisms.exponential(space, epsilon=2.0)
    tight = channel.certificate().epsilon
    for claim, expected in ((tight * 1.001, True), (tight * 0.999, False)):
        verdict = qif.measure.d_privacy.is_private(
            channel.probabilities(), lambda i, j, c=claim: float(c * distances[i, j])
        )
        assert verdict is expected
        ours = voile.audit.certificate(space, channel.weights, claim=claim).verdict
        assert (ours == "holds") is expected


def test_its_planar_laplace_is_integrated_by_chance():
    """It estimates cells by Monte Carlo: off by up to several percent, where ours is exact."""
    space = voile.Space([[i, j] for i in range(5) for j in range(5)],
                        metric=voile.metrics.euclidean())  # fmt: skip
    ours = voile.mechanisms.planar_laplace_grid(space, epsilon=1.0).probabilities()
    peer = qif.mechanism.geo_ind.planar_laplace_grid(5, 5, 1.0, 1.0)
    off = np.abs(peer / ours - 1)
    assert off.max() < 0.2  # the same mechanism
    assert off.max() > 1e-5  # but not to more digits
