import numpy as np
import pytest

import voile
from voile.core.space import as_items
from voile.errors import InvalidInput


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "at least one"),
        ([[1.0], [np.nan]], "NaN or infinity in 1 of 2 rows"),
        ([[1.0], [2.0, 3.0]], "differ in length"),
        (np.zeros((2, 2, 2)), "one- or two-dimensional"),
        ([1.0, 2.0], "rows of numbers"),
    ],
)
def test_items_that_are_none(items, message):
    with pytest.raises(InvalidInput, match=message):
        voile.Space(items, metric=voile.metrics.euclidean())


def test_a_space_does_not_share_memory_with_its_caller():
    mine = np.array([[0.0], [1.0]])
    space = voile.Space(mine, metric=voile.metrics.euclidean())
    mine[0] = 99.0
    assert space.items[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        space.items[0] = 5.0


def test_nearest_and_index():
    space = voile.Space([[0.0], [1.0], [5.0]], metric=voile.metrics.euclidean())
    assert space.nearest([[0.4], [4.0]]).tolist() == [0, 2]
    assert space.index([[5.0], [0.0]]).tolist() == [2, 0]


def test_twenty_thousand_points_do_not_need_their_square():
    """20,000² doubles are 3.2 GB; blocks stay below 64 MB."""
    import tracemalloc

    points = np.random.default_rng(0).random((20_000, 2))
    space = voile.Space(points, metric=voile.metrics.euclidean())
    tracemalloc.start()
    diameter = space.diameter()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1.3 < diameter < 1.4143
    assert peak < 2**27


def test_items_may_be_labels():
    assert as_items(["a", "b"]).tolist() == ["a", "b"]
