import numpy as np
import pytest
from scipy.stats import laplace

import voile
from laws import FALSE_ALARM, draws_needed, p_value
from voile.errors import InvalidInput


def law_on_a_line(points, secret, epsilon):
    """In one dimension the noise is Laplace, and cells are intervals."""
    borders = np.concatenate([[-np.inf], (points[1:] + points[:-1]) / 2, [np.inf]])
    return np.diff(laplace.cdf(borders, loc=secret, scale=1 / epsilon))


def test_on_a_line_it_is_laplace_noise_and_a_liar_is_seen():
    points = np.arange(6.0)
    space = voile.Space(points[:, None], metric=voile.metrics.euclidean())
    law = law_on_a_line(points, 2.0, 1.0)
    wrong = law_on_a_line(points, 2.0, 2.0)
    count = max(draws_needed(law, wrong), 5_000)
    secrets = np.full((count, 1), 2.0)

    def counts(epsilon):
        mechanism = voile.mechanisms.multivariate_laplace(space, epsilon=epsilon)
        return np.bincount(mechanism.release(secrets, voile.seeded_rng(1))[:, 0].astype(int),
                           minlength=6)  # fmt: skip

    assert p_value(counts(1.0), law) > FALSE_ALARM
    assert p_value(counts(2.0), law) < FALSE_ALARM


def test_in_the_plane_it_agrees_with_the_integrated_cells():
    points = [[i, j] for i in range(3) for j in range(3)]
    space = voile.Space(np.array(points, dtype=float), metric=voile.metrics.euclidean())
    law = voile.mechanisms.planar_laplace_grid(space, epsilon=1.5).probabilities()[4]
    mechanism = voile.mechanisms.multivariate_laplace(space, epsilon=1.5)
    released = mechanism.release(np.repeat(space.items[[4]], 50_000, axis=0), voile.seeded_rng(2))
    assert p_value(np.bincount(space.index(released), minlength=9), law) > FALSE_ALARM


def test_the_radius_grows_with_the_dimension():
    space = voile.Space(np.zeros((1, 50)), metric=voile.metrics.euclidean())
    mechanism = voile.mechanisms.multivariate_laplace(space, epsilon=10.0)
    assert mechanism.release(np.zeros((3, 50)), voile.seeded_rng(0)).shape == (3, 50)


def test_a_metric_is_not_taken_by_its_name():
    from voile.core.metric import Metric

    plain = voile.metrics.euclidean()
    shrunk = Metric("euclidean", "km", lambda a, b: plain.pairwise(a, b) / 1000)
    with pytest.raises(InvalidInput, match="must have voile"):
        voile.mechanisms.multivariate_laplace(
            voile.Space([[0.0], [10.0]], metric=shrunk), epsilon=1.0
        )


def test_half_precision_does_not_overflow_the_lattice():
    items = np.array([[0.03], [0.04], [0.0]], dtype=np.float16)
    space = voile.Space(items, metric=voile.metrics.euclidean())
    mechanism = voile.mechanisms.multivariate_laplace(space, epsilon=1.0)
    assert np.abs(mechanism._lattice * mechanism.step - items.astype(float)).max() < 1e-5


def test_other_metrics_are_refused():
    space = voile.Space([[0.0, 1.0], [1.0, 0.0]], metric=voile.metrics.angular())
    with pytest.raises(InvalidInput, match="truncated_exponential"):
        voile.mechanisms.multivariate_laplace(space, epsilon=1.0)
