import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from laws import spaces
from voile.errors import InvalidInput

LINE = voile.Space([[float(i)] for i in range(5)], metric=voile.metrics.euclidean())


@given(spaces(most=8), st.floats(0.01, 10), st.integers(0, 2**32))
def test_never_worse_and_never_less_private(space, epsilon, seed):
    prior = np.random.default_rng(seed).random(len(space)) + 1e-3
    prior /= prior.sum()
    channel = voile.mechanisms.exponential(space, epsilon=epsilon)
    loss = space.distances()
    better = voile.mechanisms.remap(channel, loss=loss, prior=prior)
    tiny = 1e-12 * (1 + loss.max())
    assert better.expected_loss(loss, prior) <= channel.expected_loss(loss, prior) + tiny
    assert better.certificate().lower <= channel.certificate().epsilon


def test_it_is_the_best_map_of_all():
    """Against all 5**5 maps, by brute force."""
    from itertools import product

    prior = np.array([0.5, 0.1, 0.1, 0.1, 0.2])
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    loss = LINE.distances()
    joint = prior[:, None] * channel.probabilities()
    costs = joint.T @ loss  # output y released as y'
    best = min(
        sum(costs[y, to] for y, to in enumerate(choice)) for choice in product(range(5), repeat=5)
    )
    remapped = voile.mechanisms.remap(channel, loss=loss, prior=prior)
    assert remapped.expected_loss(loss, prior) == pytest.approx(best)


def test_new_outputs():
    outputs = np.array([[0.5], [3.5]])
    loss = np.abs(LINE.items - outputs.T)
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    remapped = voile.mechanisms.remap(channel, loss=loss, outputs=outputs)
    assert remapped.outputs.tolist() == outputs.tolist()


@pytest.mark.parametrize(
    "arguments",
    [
        {"loss": np.zeros((5, 4))},
        {"loss": np.zeros((5, 5)), "prior": [1.0, 2.0]},
        {"loss": np.zeros((5, 5)), "prior": [0.0] * 5},
        {"loss": np.zeros((5, 5)), "prior": [-1.0, 1, 1, 1, 1]},
    ],
)
def test_bad_arguments(arguments):
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    with pytest.raises(InvalidInput):
        voile.mechanisms.remap(channel, **arguments)
