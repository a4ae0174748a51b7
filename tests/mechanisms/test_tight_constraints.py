import numpy as np
import pytest

import voile
from voile.errors import DoesNotExist


def grid(side, step=1.0):
    points = [[i * step, j * step] for i in range(side) for j in range(side)]
    return voile.Space(points, metric=voile.metrics.euclidean())


def test_every_constraint_is_tight():
    space = grid(4)
    law = np.log(voile.mechanisms.tight_constraints(space, epsilon=1.5).probabilities())
    scales = law + 1.5 * space.distances()
    assert np.allclose(scales, scales[0], atol=1e-5)


def test_where_it_does_not_exist_it_says_so():
    with pytest.raises(DoesNotExist, match="scales are negative; raise epsilon"):
        voile.mechanisms.tight_constraints(grid(8, step=0.2), epsilon=1.0)
    with pytest.raises(DoesNotExist, match="merge them"):
        voile.mechanisms.tight_constraints(
            voile.Space([[0.0], [0.0]], metric=voile.metrics.euclidean()), epsilon=1.0
        )
    with pytest.raises(DoesNotExist):
        voile.mechanisms.tight_constraints(grid(6), epsilon=1e-9)


def test_better_than_the_exponential_at_equal_epsilon():
    space = grid(6)
    tight = voile.mechanisms.tight_constraints(space, epsilon=1.0)
    plain = voile.mechanisms.exponential(space, epsilon=1.0)
    distances = space.distances()
    assert tight.expected_loss(distances) < 0.8 * plain.expected_loss(distances)
