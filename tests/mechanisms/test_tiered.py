import numpy as np
import pytest

import voile
from voile.errors import InvalidInput

LINE = voile.Space([[float(i)] for i in range(6)], metric=voile.metrics.euclidean())


def channels(*strengths):
    return [voile.mechanisms.exponential(LINE, epsilon=strength) for strength in strengths]


def test_rows_come_from_their_level():
    weak, strong = channels(4.0, 0.5)
    levels = [0, 1, 0, 1, 1, 0]
    both = voile.mechanisms.tiered([weak, strong], levels=levels)
    for row, level in enumerate(levels):
        assert np.array_equal(both.weights[row], [weak, strong][level].weights[row])


def test_the_claim_is_what_is_true_across_levels():
    """The strong level's own bound does not hold towards a neighbour of another level."""
    weak, strong = channels(8.0, 0.1)
    both = voile.mechanisms.tiered([weak, strong], levels=[0, 1, 1, 1, 1, 1])
    assert both.guarantee.epsilon == both.certificate().epsilon
    assert both.guarantee.epsilon > 2.0
    assert any("within level 1" in note for note in both.guarantee.outside)


def test_one_level_is_the_channel_itself():
    (only,) = channels(1.0)
    same = voile.mechanisms.tiered([only], levels=[0] * 6)
    assert np.array_equal(same.weights, only.weights)


def test_mixed_spaces_and_wrong_levels_are_refused():
    other = voile.mechanisms.exponential(
        voile.Space([[float(i)] for i in range(5)], metric=voile.metrics.euclidean()), epsilon=1.0
    )
    with pytest.raises(InvalidInput, match="share one space"):
        voile.mechanisms.tiered([*channels(1.0), other], levels=[0] * 6)
    for levels in ([0] * 5, [2] * 6, [-1] * 6):
        with pytest.raises(InvalidInput, match="levels must be"):
            voile.mechanisms.tiered(channels(1.0, 2.0), levels=levels)
    with pytest.raises(InvalidInput, match="channels must be at least one"):
        voile.mechanisms.tiered([], levels=[])
