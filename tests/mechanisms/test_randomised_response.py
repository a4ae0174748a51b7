import math

import pytest

import voile
from voile.errors import InvalidInput


@pytest.mark.parametrize("size", [2, 3, 50])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_closed_form(size, epsilon):
    law = voile.mechanisms.randomised_response(range(size), epsilon=epsilon).probabilities()
    keep = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    assert law[0, 0] == pytest.approx(keep, rel=1e-5)
    assert law[0, 1] == pytest.approx((1 - keep) / (size - 1), rel=1e-5)


def test_labels_are_released_as_labels():
    channel = voile.mechanisms.randomised_response(["red", "green"], epsilon=30.0)
    assert channel.release(["green", "red"], voile.seeded_rng(0)).tolist() == ["green", "red"]


@pytest.mark.parametrize("labels", [[], ["a", "a"], [[1, 2], [3, 4]]])
def test_labels_that_are_none(labels):
    with pytest.raises(InvalidInput):
        voile.mechanisms.randomised_response(labels, epsilon=1.0)


def test_one_label_says_nothing():
    channel = voile.mechanisms.randomised_response(["only"], epsilon=1.0)
    assert channel.certificate().epsilon == 0
