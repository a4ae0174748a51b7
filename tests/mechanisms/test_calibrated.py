import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from laws import spaces
from voile.errors import GuaranteeBroken


def builder(space):
    return lambda strength: voile.mechanisms.exponential(space, epsilon=strength)


def test_the_certificate_is_the_claim():
    """Three points on a line: plain 0.614 of 1.0, calibrated all of it."""
    line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    plain = voile.mechanisms.exponential(line, epsilon=1.0)
    full = voile.mechanisms.calibrated(builder(line), epsilon=1.0)
    assert plain.certificate().epsilon == pytest.approx(0.614, abs=5e-4)
    assert 1 - 1e-6 <= full.certificate().epsilon <= 1.0
    assert full.expected_loss(line.distances()) < plain.expected_loss(line.distances())


@settings(max_examples=25)
@given(spaces(most=8), st.floats(0.01, 20))
def test_never_over_and_rarely_under(space, epsilon):
    full = voile.mechanisms.calibrated(builder(space), epsilon=epsilon)
    assert full.certificate().epsilon <= epsilon
    assert full.guarantee.epsilon == epsilon
    plain = voile.mechanisms.exponential(space, epsilon=epsilon)
    assert full.certificate().epsilon >= plain.certificate().epsilon * (1 - 1e-12)


def test_it_beats_the_plain_one_on_random_points():
    space = voile.Space(np.random.default_rng(0).random((40, 2)), metric=voile.metrics.euclidean())
    full = voile.mechanisms.calibrated(builder(space), epsilon=3.0)
    assert full.certificate().epsilon == pytest.approx(3.0, rel=1e-5)


def test_nothing_to_calibrate():
    alone = voile.Space([[0.0]], metric=voile.metrics.euclidean())
    assert voile.mechanisms.calibrated(builder(alone), epsilon=1.0).certificate().epsilon == 0


def test_a_builder_that_breaks_its_own_claim():
    line = voile.Space([[0.0], [1.0]], metric=voile.metrics.euclidean())

    def liar(strength):
        return voile.mechanisms.geometric(line, epsilon=2 * strength)

    with pytest.raises(GuaranteeBroken, match="must keep its own claim"):
        voile.mechanisms.calibrated(liar, epsilon=1.0)
