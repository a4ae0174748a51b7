import numpy as np
from scipy.special import softmax

import voile


def test_closed_form_with_outputs_of_its_own():
    rng = np.random.default_rng(0)
    space = voile.Space(rng.normal(size=(20, 3)), metric=voile.metrics.manhattan())
    outputs = rng.normal(size=(9, 3))
    law = voile.mechanisms.exponential(space, epsilon=2.0, outputs=outputs).probabilities()
    distances = np.abs(space.items[:, None] - outputs[None]).sum(axis=2)
    assert np.allclose(law, softmax(-distances, axis=1), rtol=1e-6)


def test_duplicates_are_one_secret():
    space = voile.Space([[0.0], [0.0], [1.0]], metric=voile.metrics.euclidean())
    channel = voile.mechanisms.exponential(space, epsilon=1.0)
    assert np.array_equal(channel.weights[0], channel.weights[1])
