"""Places looked at before a release: what is shown is the law that is drawn from."""

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput, VoileError
from voile.places.noise import PlacesNoise
from voile.places.roads_shown import roads_shown
from voile.places.sample_trips import city, write_city, write_trips
from voile.places.trace_read import read_trace
from voile.places.tracing import Tracing
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
    assert found.mean_error == noise.mean_error <= 0.5 < PlacesNoise(epsilon - 0.02).mean_error
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


SHARED = Tracing(trace="driver")


def test_a_trace_spends_its_budget_and_no_more(bench):
    shown = bench.trace("d1", 2.0, tracing=SHARED)
    assert len(shown.before) == len(shown.after) == shown.draws == 10
    assert 1.9 < shown.spent <= 2.0
    assert shown.figures.epsilon * 10 == pytest.approx(shown.spent)
    assert shown.figures.mean_error > 9 * bench.figures(2.0).mean_error
    assert bench.trace("d1", 2.0, tracing=None).spent == 20.0


def test_a_trace_is_drawn_with_what_the_whole_of_it_leaves_a_place():
    """Also where only its beginning is shown: as `places protect` shares epsilon."""
    rows = [{"driver": "one", "lat": 45.0, "lon": 5.0} for _ in range(900)]
    long = open_places(rows, trace="driver").trace("one", 90.0, tracing=SHARED)
    assert (len(long.after), long.places, long.draws) == (600, 900, 900)
    assert 0.09 < long.figures.epsilon <= 0.1
    made = voile.places.protect(rows, epsilon=90.0, trace="driver", drop=("driver",), seed=1)
    released = np.array([(row["lat"], row["lon"]) for row in made.data])
    away = (released - [45.0, 5.0]) * [111.132, 111.32 * np.cos(np.radians(45.0))]
    mean = float(np.linalg.norm(away, axis=1).mean())
    assert mean == pytest.approx(long.figures.mean_error, rel=0.2), "six standard errors"


@pytest.mark.parametrize("tracing", [None, SHARED, Tracing(trace="driver", way="stays")])
def test_one_trace_is_the_same_alone_and_among_all(bench, tracing):
    every = bench.blurred(20.0, tracing=tracing, seed=4)
    rows = bench.rows_of("d1")
    assert (
        tuple(every[row] for row in rows) == bench.trace("d1", 20.0, tracing=tracing, seed=4).after
    )


@pytest.mark.parametrize("per", ["trace", "window", "place"])
@pytest.mark.parametrize("way", ["each", "every", "predict", "stays"])
def test_a_mean_error_of_a_trace_becomes_its_epsilon(bench, way, per):
    tracing = Tracing(trace="driver", way=way, per=per, stay="50m")
    epsilon = bench.epsilon_for("800m", tracing, "d1")
    error = bench.trace("d1", epsilon, tracing=tracing).figures.mean_error
    assert 0.7 < error <= 0.8


def test_times_order_a_trace():
    rows = [{"who": "a", "lat": 45.0 + k, "lon": 5.0, "at": -k} for k in range(3)]
    found = open_places(rows, trace="who", time="at").trace("a", 5.0, tracing=SHARED)
    assert [lat for lat, _ in found.before] == [47.0, 46.0, 45.0]


# ── who reads the whole trace ──────────────────────────────────────────────────────────────────


def test_a_reader_of_a_whole_trace_who_knows_the_others(tmp_path):
    trips = open_places(str(write_trips(tmp_path / "t.csv", vehicles=8)), trace="vehicle")
    tracing = Tracing(trace="vehicle")
    clear = read_trace(trips, "v001", 3000.0, tracing=tracing)
    assert clear.released_error_m < 60, "no draw has more than ε = 100 per km"
    assert clear.guess_error_m < 60, "no worse than what is there"
    assert clear.home_in_release
    assert clear.others == 7
    blurred = read_trace(trips, "v001", 12.0, tracing=tracing)
    assert blurred.released_error_m > 500
    shown = trips.trace("v001", 12.0, tracing=tracing)
    away = (np.array(shown.after) - shown.before) * [111.132, 111.32 * np.cos(np.radians(45.0))]
    mean = 1000 * float(np.linalg.norm(away, axis=1).mean())
    assert blurred.released_error_m == pytest.approx(mean, rel=0.01), "it reads what is shown"
    assert len(blurred.guesses) == 12


def test_nobody_is_read_where_nobody_else_is_known():
    rows = [{"who": "a", "lat": 45.0, "lon": 5.0}] * 5
    assert read_trace(open_places(rows, trace="who"), "a", 5.0, tracing=SHARED) is None


# ── streets ────────────────────────────────────────────────────────────────────────────────────


def test_streets_of_a_file_and_of_the_made_up_city(tmp_path):
    folder = write_city(tmp_path / "city")
    trips = open_places(str(write_trips(tmp_path / "t.csv", vehicles=2)))
    found = roads_shown(trips.points, str(folder))
    network, _ = city()
    assert len(found.streets) == len({tuple(sorted(edge)) for edge in network.edges.tolist()})
    assert "city" in found.description
    assert roads_shown(trips.points).streets, "trips of the made-up city lie in it"
    elsewhere = open_places([{"lat": 52.5 + k / 100, "lon": 13.4} for k in range(9)])
    assert roads_shown(elsewhere.points).streets == ()
    with pytest.raises(VoileError, match="there is no file"):
        roads_shown(trips.points, str(tmp_path / "none.graphml"))


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
        bench.trace("d9", 2.0, tracing=None)
    with pytest.raises(InvalidInput, match="with its unit"):
        bench.epsilon_for("500")
