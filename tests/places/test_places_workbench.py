"""Places looked at before a release: what is shown is the law that is drawn from."""

import numpy as np
import pytest

from voile.errors import InvalidInput
from voile.places.noise import PlacesNoise
from voile.places.workbench import open_places

ROWS = [
    {"driver": f"d{k % 3}", "lat": 45.0 + k / 1000, "lon": 5.0 + k / 2000, "stop": k}
    for k in range(30)
] + [{"driver": "d9", "lat": None, "lon": 5.0, "stop": 99}]


@pytest.fixture(scope="module")
def bench():
    return open_places(ROWS, trace="driver")


def test_rows_without_a_place_are_counted(bench):
    assert len(bench.points) == 30
    assert bench.left_out == 1
    assert bench.names() == ("d0", "d1", "d2")


def test_the_figures_are_those_of_the_noise(bench):
    epsilon = bench.epsilon_for("500m")
    noise, found = PlacesNoise(epsilon), bench.figures(epsilon)
    assert found.mean_error == noise.mean_error <= 0.5
    assert found.half_within == noise.error_within(0.5)
    assert noise.share_within(found.nine_in_ten_within) == pytest.approx(0.9, abs=1e-6)
    assert "odds" in found.explanation


def test_the_cloud_falls_as_the_rings_say(bench):
    """Of 20,000 draws half lie within the inner ring, up to six standard errors."""
    found = bench.figures(2.0)
    draws = np.array(bench.around(45.0, 5.0, 2.0, seed=3, count=20_000))
    apart = (draws - [45.0, 5.0]) * [111.132, 111.32 * np.cos(np.radians(45.0))]
    within = float((np.linalg.norm(apart, axis=1) <= found.half_within).mean())
    assert abs(within - 0.5) < 6 * 0.5 / np.sqrt(20_000) + 0.005


def test_a_preview_is_repeatable(bench):
    assert bench.blurred(2.0, seed=1) == bench.blurred(2.0, seed=1)
    assert bench.blurred(2.0, seed=1) != bench.blurred(2.0, seed=2)


def test_a_trace_spends_its_budget_and_no_more(bench):
    shown = bench.trace("d1", 2.0)
    assert len(shown.before) == len(shown.after) == shown.draws == 10
    assert shown.spent <= 2.0
    assert bench.trace("d1", 2.0, per="place").spent > 2.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lat": "north"}, "one of"),
        ({"trace": "who"}, "one of"),
        ({"lat": "driver"}, "none of the first"),
    ],
)
def test_what_holds_no_places_is_refused(given, said):
    with pytest.raises(InvalidInput, match=said):
        open_places(ROWS, **given)


def test_no_place_beyond_the_earth_and_no_trace_of_nobody(bench):
    with pytest.raises(InvalidInput, match="in degrees"):
        bench.around(100.0, 5.0, 2.0)
    with pytest.raises(InvalidInput, match="one of those"):
        bench.trace("d9", 2.0)
    with pytest.raises(InvalidInput, match="with its unit"):
        bench.epsilon_for("500")
