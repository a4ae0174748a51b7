"""Traces under one budget: sums, tests and memos are exact, liars are caught."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import voile
from voile.errors import InvalidInput
from voile.metrics.lattice import rounding_reach
from voile.places.coordinates import DEGREES
from voile.places.earth import BoxMap, Globe
from voile.places.geodesy import GEODESIC_ERROR, geodesic_km
from voile.places.knowing import Trip
from voile.places.lengths import length_km
from voile.places.noise import PlacesNoise
from voile.places.sample_trips import trips
from voile.places.split import STEPS, _error, fitted_to
from voile.places.trace_releaser import Look, MakeTraceReleaser
from voile.places.traces import Released, TraceLaw, squares
from voile.places.tracing import LARGEST_STAY, Tracing

pytest.importorskip("pyproj")
WAYS, PER = ("each", "every", "predict", "stays"), ("place", "window", "trace")


def law(way="each", per="trace", epsilon=20.0, ground=None, **more):
    return TraceLaw(epsilon, Tracing(trace="v", way=way, per=per, **more), ground or Globe())


def walk(count, seed=0, step=0.002):
    rng = np.random.default_rng(seed)
    return 45 + np.cumsum(rng.normal(0, step, count)), 5 + np.cumsum(rng.normal(0, step, count))


# ── what is spent ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("per", PER)
@settings(max_examples=12, deadline=None)
@given(count=st.integers(1, 40), seed=st.integers(0, 5))
def test_no_trace_spends_more_than_its_budget(way, per, count, seed):
    ruled = law(way, per, window=4, every=3)
    found = ruled.release(*walk(count, seed), None, voile.seeded_rng(seed))
    assert len(found.latitudes) == count
    assert found.spent <= ruled.most(count) * (1 + 1e-9)
    if way != "predict":
        assert found.spent >= 0.9 * min(ruled.most(count), ruled.epsilon) or per != "trace"


@pytest.mark.parametrize("count", [1, 2, 7, 30])
def test_no_window_holds_more_draws_than_it_may(count):
    """Every 3rd place and the last: what any 5 places in a row spend, counted one by one."""
    ruled = law("every", "window", window=5, every=3)
    drawn = ruled.drawn_places(count)
    share = ruled.share(count, len(drawn))
    for start in range(count):
        assert share * np.sum((drawn >= start) & (drawn < start + 5)) <= ruled.epsilon * (1 + 1e-9)
    each = law("each", "window", window=5)
    assert each.share(count, count) * min(5, count) <= each.epsilon * (1 + 1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stay", ["30m", "1km"])
def test_what_rounding_costs_at_most_is_said_rounded_up(way, stay):
    """Beside a lattice of 2^-10 km and, for stays, a square's half perimeter: no less is said."""
    (said,) = re.findall(r"ε·\(d \+ ([\d.]+ k?m)\)", law(way, stay=stay).guarantee.outside[0])
    more = {"stays": 1.5 * length_km(stay, "stay"), "predict": 2.0**-10}.get(way, 0.0)
    least = rounding_reach(2.0**-10 + 4 * GEODESIC_ERROR, p=2.0, dimensions=3) + more
    assert least <= length_km(said, "said") <= 1.01 * least


def test_a_trace_too_long_for_its_budget_is_refused():
    with pytest.raises(InvalidInput, match="too long for its budget"):
        law(epsilon=0.5).release(*walk(2000), None, voile.seeded_rng(1))


# ── each way's own law ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ground", [Globe(), BoxMap((44.5, 4.5, 45.5, 5.5))], ids=["globe", "map"])
def test_a_test_tells_places_apart_by_its_own_epsilon_at_most(ground):
    """The chance of *near*, summed from the integers that are drawn, at all distances."""
    ruled = law("predict", "trace", ground=ground)
    laws = ruled.predicting(30)
    away = np.arange(0, 3 * laws.near, max(1, laws.near // 150))
    logs = []
    for near in (True, False):
        low = np.full((len(away), 1), -(2**40)) if near else (laws.near - away + 1)[:, None]
        high = (laws.near - away + 1)[:, None] if near else np.full((len(away), 1), 2**40)
        logs.append(laws.test.box_log_prob(low, high))
    gaps = np.diff(away)
    for log in logs:
        assert (np.abs(np.diff(log)) <= laws.test.rate * gaps * (1 + 1e-9)).all()
    assert np.allclose(np.exp(logs[0]) + np.exp(logs[1]), 1)
    per_km = laws.test.rate / laws.noise.step * ground.stretch
    assert 29 * per_km + laws.fresh * laws.noise.epsilon <= 20.0


def repeated_share(release, away_steps, trials=600):
    """How often a second place so many steps off is answered by repeating the first release."""
    ruled = law("predict", "place", epsilon=4.0, ground=BoxMap((44.5, 4.5, 45.5, 5.5)))
    laws = ruled.predicting(2)
    again = 0
    for seed in range(trials):
        rng = voile.seeded_rng(seed)
        start = np.zeros((1, 2))
        lat, lon = laws.noise.drawn(start, rng)  # what the same seed will release first
        last = ruled.ground.to_km(lat, lon)[0][0]
        second = last + np.array([(laws.near + away_steps) * laws.noise.step, 0.0])
        points = np.stack([start[0], second])
        found = release(ruled, points, voile.seeded_rng(seed))
        again += found.latitudes[0] == found.latitudes[1]
    return again / trials


def honest_test(ruled, points, rng):
    return ruled._predicted(points, rng)


def leaking_test(ruled, points, rng):
    """A liar: the distance is compared without noise."""
    noise = ruled.predicting(2).noise
    lat, lon = noise.drawn(points[:1], rng)
    last = ruled.ground.to_km(lat, lon)[0][0]
    near = np.linalg.norm(points[1] - last) <= noise.mean_error
    twice = noise.drawn(points[1:], rng)
    return Released(
        np.array([lat[0], lat[0] if near else twice[0][0]]), np.array([lon[0], lon[0]]), 1, 0.0
    )


def test_a_test_that_leaks_is_caught():
    """20 m on either side of the threshold, the odds of an answer may change by e^(ε·40 m)."""
    allowed = math.exp(4.0 * 0.045)
    for release, caught in ((honest_test, False), (leaking_test, True)):
        inside, outside = (repeated_share(release, steps) for steps in (-20, 20))
        slack = 6.2 * 0.5 / math.sqrt(600)
        assert bool(inside - slack > (outside + slack) * allowed) is caught


def test_a_place_that_returns_is_drawn_once_and_a_memo_that_forgets_is_caught():
    """Home every other day, 300 times: the mean of the releases is one draw, not the truth."""
    home = np.tile([[45.0, 5.0], [45.03, 5.04]], (150, 1))

    def forgets(lat, lon, rng):  # a liar: the square is drawn anew at every visit
        noise = law("stays").noise(10.0)
        return noise.drawn(Globe().to_km(lat, lon)[0], rng)

    def honest(lat, lon, rng):
        found = law("stays").release(lat, lon, None, rng)
        return found.latitudes, found.longitudes

    def draws_of(way):
        lat, lon = way(*home.T, voile.seeded_rng(3))
        return len(set(zip(lat[::2], lon[::2], strict=True)))

    assert draws_of(honest) == 1
    assert draws_of(forgets) > 100


def test_noise_that_is_reused_is_caught():
    """Displacements of two places of a trace are independent: the same twice gives them away."""
    lat, lon = walk(30)

    def moved(made):
        return np.stack([made[0] - lat, made[1] - lon], axis=1).round(5)

    honest = law("each").release(lat, lon, None, voile.seeded_rng(1))
    noise = law("each").noise(20 / 30)
    once = noise.drawn(Globe().to_km(lat[:1], lon[:1])[0], voile.seeded_rng(1))
    liar = (lat + (once[0] - lat[0]), lon + (once[1] - lon[0]))
    assert len(np.unique(moved((honest.latitudes, honest.longitudes)), axis=0)) == 30
    assert len(np.unique(moved(liar), axis=0)) == 1


@given(st.floats(0.05, LARGEST_STAY), st.integers(0, 9))
@example(LARGEST_STAY, 0)
def test_a_square_s_middle_is_near(side, seed):
    """Everywhere, and near the poles most of all."""
    rng = np.random.default_rng(seed)
    polar = rng.choice([-1, 1], 4000) * (90 - rng.exponential(1, 4000).clip(0, 20))
    lat = np.concatenate([rng.uniform(-90, 90, 1000), polar, [-90.0, 90.0]])
    lon = rng.uniform(-180, 180, len(lat))
    north, east, member = squares(lat, lon, side)
    off = geodesic_km(lat, lon, north[member], east[member])
    assert off.max() <= 0.75 * side  # half of what the guarantee adds


def test_places_between_lie_on_lines_over_time_across_the_antimeridian():
    ruled = law("every", every=4)
    times = np.array([0.0, 10, 20, 90, 100])
    lat, lon = np.full(5, -17.0), np.array([179.98, 179.99, -179.99, -179.98, -179.97])
    found = ruled.release(lat, lon, times, voile.seeded_rng(1))
    a, b = found.latitudes[0], found.latitudes[4]
    assert np.allclose(found.latitudes, a + (b - a) * times / 100)
    assert (np.abs(found.longitudes) > 160).all()
    same = ruled.release(lat, lon, np.zeros(5), voile.seeded_rng(1))  # duplicate timestamps
    assert np.isfinite(same.latitudes).all()


# ── files ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def fleet(tmp_path):
    path = tmp_path / "trips.csv"
    rows = trips(6, stops=8)
    order = sorted(range(len(rows)), key=lambda i: (rows[i][1], rows[i][0]))  # interleaved
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["vehicle", "stop", "lat", "lon"])
        writer.writerows(rows[i] for i in order)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_released_trace_by_trace_whatever_its_parts(fleet, tmp_path, way):
    how = {"epsilon": 20, "trace": "vehicle", "time": "stop", "way": way, "pass_": "all", "seed": 4}
    one = voile.places.protect(fleet, out=str(tmp_path / "a.csv"), **how)
    many = voile.places.protect(fleet, out=str(tmp_path / "b.csv"), batch_rows=7, **how)
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    assert one.traces == many.traces
    assert one.traces.traces == 6
    assert one.guarantee.granularity == "one whole trace"
    text = str(one)
    assert "no place differs by more than 1 km" in text
    assert ("the same square" in text or "one square" in text) is (way == "stays")


def test_a_ledger_is_charged_once_for_each_trace(fleet, tmp_path):
    book, key = str(tmp_path / "l.db"), tmp_path / "l.key"
    voile.ledger.init(book, ledger_key=key)
    how = {"epsilon": 20, "trace": "vehicle", "pass_": "all", "person": "vehicle"}
    spent = {"ledger": book, "ledger_key": key, "budget": 50.0, "over_budget": "drop"}
    for again in (48, 48, 0):  # 20, 40, and nobody has 60
        if not again:
            with pytest.raises(voile.errors.VoileError):
                voile.places.protect(fleet, **how, **spent, overwrite=True)
            break
        done = voile.places.protect(fleet, **how, **spent, overwrite=True)
        assert done.rows.released == again


def straight(count, seed, *, step=0.001):
    """Trips at one speed in one direction."""
    rng = np.random.default_rng(seed)
    heading = rng.uniform(0, 2 * np.pi)
    along = step * np.arange(count)
    return Trip(45 + along * np.sin(heading), 5 + along * np.cos(heading), None)


def jumping(count, seed):
    return Trip(*np.random.default_rng(seed).uniform(45, 46, (2, count)), None)


def test_a_budget_is_split_as_public_trips_ask_for():
    """Who goes straight is drawn at both ends; who jumps about must be drawn everywhere."""
    lines = [straight(30, seed) for seed in range(5)]
    assert fitted_to(law("every", epsilon=20.0), lines).tracing.every >= 21
    jumps = [jumping(30, seed) for seed in range(5)]
    assert fitted_to(law("every", epsilon=2000.0), jumps).tracing.every == 1
    errors = {k: _error(law("every", every=k), lines) for k in STEPS}
    found = fitted_to(law("every"), lines)
    assert errors[found.tracing.every] == min(errors.values())
    assert replace(found, tracing=law("every").tracing) == law("every")  # nothing else changed
    with pytest.raises(InvalidInput, match="too long for the budget"):
        fitted_to(law("every", epsilon=0.0015), lines)


def test_an_equal_split_is_the_best_of_all():
    rng = np.random.default_rng(0)
    for count in (2, 5, 20):
        shares = rng.dirichlet(np.ones(count), 500) * 20
        assert (1 / shares).sum(axis=1).min() >= count**2 / 20


def test_traces_are_released_with_the_split_that_public_trips_ask_for():
    names = ("vehicle", "stop", "lat", "lon")
    fleet, others = (
        [dict(zip(names, row, strict=True)) for row in trips(count, stops=8, seed=seed)]
        for count, seed in ((6, 0), (12, 5))
    )
    how = {"epsilon": 20, "trace": "vehicle", "way": "every", "pass_": "all"}
    done = voile.places.protect(fleet, **how, every_by=others, seed=1)
    public = [
        Trip(*np.array([[r["lat"], r["lon"]] for r in others[k : k + 8]], float).T, None)
        for k in range(0, len(others), 8)
    ]
    expected = fitted_to(law("every"), public).tracing.every
    assert done.traces.every == expected
    assert f"(--every {expected}, as serves public trips best)" in str(done)
    same = voile.places.protect(fleet, **how, every=expected, seed=1)
    assert list(same.data) == list(done.data)
    with pytest.raises(InvalidInput, match="--every-by must not be the private file"):
        voile.places.protect(fleet, **how, every_by=fleet)
    with pytest.raises(InvalidInput, match="goes with --way every"):
        voile.places.protect(fleet, **(how | {"way": "each"}), every_by=others)
    with pytest.raises(InvalidInput, match="goes with --trace"):
        voile.places.protect(fleet, epsilon=2, pass_="all", every_by=others)


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("way", WAYS)
def test_a_ledger_is_charged_at_least_what_a_trace_spends(way, per, tmp_path):
    """Whatever the way and the unit: what stands in the book covers Σ ε_i of what was drawn."""
    book, key = str(tmp_path / "l.db"), tmp_path / "l.key"
    voile.ledger.init(book, ledger_key=key)
    lat, lon = walk(23)
    rows = [{"v": "a", "lat": a, "lon": b} for a, b in zip(lat, lon, strict=True)]
    how = {"epsilon": 8.0, "trace": "v", "way": way, "per": per, "window": 5, "pass_": "all"}
    done = voile.places.protect(rows, **how, person="v", ledger=book, ledger_key=key, budget=1000.0)
    (account,) = voile.ledger.show(book, person=["a"], ledger_key=str(key)).persons
    ruled = law(way, per, 8.0, window=5)
    spent = ruled.release(lat, lon, None, voile.seeded_rng(2)).spent
    assert spent <= account.spent * (1 + 1e-9)
    assert account.spent == pytest.approx(ruled.most(23))
    assert done.rows.released == 23


def test_a_trace_of_two_persons_or_with_a_nameless_row_is_released_for_nobody(tmp_path):
    book, key = str(tmp_path / "l.db"), tmp_path / "l.key"
    voile.ledger.init(book, ledger_key=key)
    people = {"one": ("ann", "ann"), "two": ("ann", "bob"), "some": ("bob", ""), "none": ("", "")}
    rows = [
        {"trip": trip, "who": who, "lat": 45.0 + 0.01 * place, "lon": 5.0}
        for place in (0, 1)
        for trip, pair in people.items()
        for who in [pair[place]]
    ]
    how = {"epsilon": 20, "trace": "trip", "pass_": "all", "person": "who", "batch_rows": 3}
    how |= {"ledger": book, "ledger_key": key, "budget": 50.0}
    done = voile.places.protect(rows, **how, on_error="skip")
    assert [row["trip"] for row in done.data] == ["one", "one"]
    assert done.traces.traces == 1
    ruled = MakeTraceReleaser(law(), DEGREES, None, "who")
    named = [[who or None for who in pair] for pair in people.values()]
    looks = [Look(["a", "a"], None, np.full((2, 2), 45.0), pair) for pair in named]
    for look, charged in zip(looks, (["ann"], [], [], []), strict=True):
        assert list(ruled.owed([look])[0]) == charged
    with pytest.raises(InvalidInput, match="one person's"):
        voile.places.protect(rows[:2] + rows[4:6], **how)


NOON = "2024-05-01T12:00:00"
ODD = {
    "one-point trace": [(NOON, 45.0, 5.0)],
    "points at sea": [(NOON, 0.0, -30.0), ("2024-05-01T12:10:00", 0.0, -30.2)],
    "duplicate timestamps": [(NOON, 45.0 + k / 500, 5.0) for k in range(12)],
    "teleporting trace": [
        (f"2024-05-01T12:{k:02d}:00", *((45.0, 5.0) if k % 2 else (-44.0, -174.0)))
        for k in range(8)
    ],
    "over the pole": [(NOON, 90.0, 0.0), (NOON, 89.999, 179.0), (NOON, -90.0, 0.0)],
    "across the antimeridian": [
        (f"2024-05-01T12:{k:02d}:00", -17.0, (179.97 + k / 100 + 180) % 360 - 180) for k in range(7)
    ],
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("way", WAYS)
def test_an_odd_trace_is_released_near_where_it_was(odd, way):
    """Each place is the Earth's: no plane is laid through a trace, no time is divided by."""
    rows = [{"who": "a", "at": at, "lat": lat, "lon": lon} for at, lat, lon in odd]
    how = {"epsilon": 40.0 * len(rows), "trace": "who", "time": "at", "way": way, "pass_": "all"}
    done = voile.places.protect(rows, **how, seed=1)
    assert (done.rows.released, done.traces.traces) == (len(rows), 1)
    before, after = (np.array([[r["lat"], r["lon"]] for r in t], float) for t in (rows, done.data))
    off = geodesic_km(*before.T, *after.T)
    if way in ("each", "stays"):  # the others repeat, or draw lines between
        assert off.max() < 3
    assert off[0] < 3
    assert [r["at"] for r in done.data] == [r["at"] for r in rows]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("per", PER)
def test_how_far_draws_fall_is_told_where_they_do_least_and_most(way, per):
    """By the law that was drawn from: its ε is what each trace's length leaves for a draw."""
    rows = [
        {"v": f"{count}", "lat": lat, "lon": lon}
        for count in (2, 9, 23)
        for lat, lon in zip(*walk(count, seed=count, step=0.02), strict=True)
    ]
    how = {"trace": "v", "way": way, "per": per, "every": 3, "window": 4}
    done = voile.places.protect(rows, epsilon=20, **how, pass_="all", batch_rows=7, seed=1)
    ruled, fall = law(way, per, every=3, window=4), done.traces.fall
    assert (fall.closest_places, fall.farthest_places) == (2, 23)
    for count, error in (
        (fall.closest_places, fall.closest_error_km),
        (fall.farthest_places, fall.farthest_error_km),
    ):
        draws = {"each": count, "every": len(law("every", every=3).drawn_places(count))}
        if way in draws:
            noise = PlacesNoise(ruled.noise(ruled.share(count, draws[way])).epsilon)
            assert noise.mean_error <= error <= 1.001 * noise.mean_error
    assert fall.closest_error_km <= fall.farthest_error_km
    if per == "trace" and way == "each":
        assert 2.36 * 23 / 20 <= fall.farthest_error_km <= 1.03 * 2.36 * 23 / 20
        assert "in one of 23 places, by the law" in str(done)
    if per == "place":
        assert "off on average, by the law" in str(done)
    told = dict(done.report().tables[0].rows)
    assert told["mean error of a draw at most, 2 places"]
    assert done.to_dict()["traces"]["fall"]["farthest_error_km"] == fall.farthest_error_km


def test_bad_rows_of_traces_are_counted():
    rows = [
        {"who": "a", "at": NOON, "lat": 45.0, "lon": 5.0},
        {"who": "c", "at": "later", "lat": 45.0, "lon": 5.0},
        {"who": "", "at": NOON, "lat": 45.0, "lon": 5.0},
        {"who": "d", "at": NOON, "lat": 985_000.0, "lon": 201_000.0},  # feet taken for degrees
    ]
    how = {"epsilon": 20, "trace": "who", "time": "at", "pass_": "all"}
    for way in WAYS:
        done = voile.places.protect(rows, **how, way=way, on_error="skip")
        assert (done.rows.released, done.rows.skipped, done.traces.traces) == (1, 3, 1)
    done = voile.places.protect(rows[::-1], **how, on_error="skip", batch_rows=1)
    assert done.traces.fall is not None  # whichever part the trace is in
    with pytest.raises(InvalidInput, match="in a trace"):
        voile.places.protect(rows, **how)


@pytest.mark.parametrize("way", WAYS)
def test_a_trace_in_feet_is_released_in_feet(way):
    """EPSG:2263 has US survey feet: the same draws as in degrees, put into it and rounded."""
    from pyproj import Transformer

    to_feet = Transformer.from_crs("EPSG:4326", "EPSG:2263", always_xy=True).transform
    lat, lon = 40.7 + np.arange(8) / 200, np.full(8, -73.95)
    east, north = to_feet(lon, lat)
    feet = [{"v": "a", "n": n, "e": e} for n, e in zip(north, east, strict=True)]
    degrees = [{"v": "a", "lat": a, "lon": b} for a, b in zip(lat, lon, strict=True)]
    how = {"epsilon": 20, "trace": "v", "way": way, "pass_": "all", "seed": 3}
    made = voile.places.protect(feet, lat="n", lon="e", crs="EPSG:2263", **how)
    same = voile.places.protect(degrees, **how)
    there = to_feet(*([row[name] for row in same.data] for name in ("lon", "lat")))
    assert np.allclose([row["e"] for row in made.data], there[0], atol=10)
    assert np.allclose([row["n"] for row in made.data], there[1], atol=10)
    assert made.guarantee == same.guarantee  # per km on the ground, not per foot


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 2, "way": "every"}, "go with --trace"),
        ({"mean_error": "1km", "trace": "vehicle"}, "must go with --epsilon"),
        ({"epsilon": 2, "trace": "nobody"}, "nobody"),
        ({"epsilon": 2, "trace": "vehicle", "time": "never"}, "never"),
        ({"epsilon": 2, "trace": "vehicle", "every": 0}, "--every"),
        ({"epsilon": 2, "trace": "vehicle", "window": 0}, "--window"),
        ({"epsilon": 2, "trace": "vehicle", "stay": "200"}, "with its unit"),
        ({"epsilon": 2, "trace": "vehicle", "stay": "20.1km"}, "20km"),
        ({"epsilon": 2, "trace": "vehicle", "way": "guess"}, "way"),
    ],
)
def test_what_cannot_be_is_refused(fleet, options, said):
    with pytest.raises(InvalidInput, match=said):
        voile.places.protect(fleet, pass_="all", **options)
