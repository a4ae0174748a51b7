import numpy as np
import pytest

import voile
from voile.errors import InvalidInput


def line(values):
    return voile.Space(np.array(values, dtype=float)[:, None], metric=voile.metrics.euclidean())


def test_two_constructions_agree():
    """On a line the geometric mechanism is the one whose constraints are all tight."""
    space = line(range(12))
    one = voile.mechanisms.geometric(space, epsilon=0.6).probabilities()
    two = voile.mechanisms.tight_constraints(space, epsilon=0.6).probabilities()
    assert np.allclose(one, two, rtol=1e-6)


def test_tails_fold_onto_the_ends():
    alpha = np.exp(-1.0)
    law = voile.mechanisms.geometric(line(range(5)), epsilon=1.0).probabilities()[2]
    tail, middle = alpha**2 / (1 + alpha), (1 - alpha) / (1 + alpha)
    assert law == pytest.approx(
        [tail, alpha * middle, middle, alpha * middle, tail],
        rel=1e-6,
    )


@pytest.mark.parametrize("count", [1, 2, 3])
def test_short_lines(count):
    assert voile.mechanisms.geometric(line(range(count)), epsilon=1.0).certificate().epsilon <= 1.0


@pytest.mark.parametrize("values", [[0, 1, 3], [2, 1, 0], [0, 0, 1]])
def test_uneven_lines_are_refused(values):
    with pytest.raises(InvalidInput, match="evenly spaced"):
        voile.mechanisms.geometric(line(values), epsilon=1.0)


def test_planes_are_refused():
    plane = voile.Space([[0, 0], [1, 1]], metric=voile.metrics.euclidean())
    with pytest.raises(InvalidInput, match="numbers on a line"):
        voile.mechanisms.geometric(plane, epsilon=1.0)
