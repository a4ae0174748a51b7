"""Noise without a design: its distances are the Earth's, its law is what is said of it."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import voile
from voile.errors import InvalidInput
from voile.places.earth import BoxMap, Globe
from voile.places.geodesy import geodesic_epsilon, geodesic_km, stretch
from voile.places.noise import PlacesNoise, noise_of_error
from voile.places.public_places import PublicPlaces
from voile.places.sample_trips import write_city, write_trips

pytest.importorskip("pyproj")
PARIS = (48.80, 2.25, 48.92, 2.43)
DATELINE = (-18.5, 179.5, -17.5, -179.5)
POLE = (89.0, -180.0, 90.0, 180.0)
anywhere = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


# ── the ground ─────────────────────────────────────────────────────────────────────────────────


@given(anywhere, anywhere)
def test_no_chord_is_longer_than_the_way_along_the_ground(one, other):
    (a, b), _ = Globe().to_km(*np.array([one, other]).T)
    way = geodesic_km(*(np.array([v]) for v in (*one, *other)))[0]
    assert np.linalg.norm(a - b) <= way + 1e-9
    if way < 100:  # and hardly shorter where it matters
        assert np.linalg.norm(a - b) >= way * (1 - 2e-5) - 1e-9


@given(anywhere, st.floats(-5, 5))
def test_the_globe_is_that_of_proj_and_goes_there_and_back(place, height):
    from pyproj import Transformer

    (point,), _ = Globe().to_km(*np.array([place]).T)
    to_space = Transformer.from_crs("EPSG:4979", "EPSG:4978", always_xy=True)
    theirs = np.array(to_space.transform(place[1], place[0], 0.0)) / 1000
    assert np.abs(point - theirs).max() < 1e-8
    above = np.array(to_space.transform(place[1], place[0], 1000 * height)) / 1000
    lat, lon = Globe().to_degrees(above[None])
    back = geodesic_km(lat, lon, *(np.array([v]) for v in place))[0]
    assert back < 1e-6


@pytest.mark.parametrize("box", [PARIS, DATELINE, POLE, (40.0, -5.0, 45.0, 2.0)])
def test_what_a_map_lengthens_is_taken_off(box):
    noise = PlacesNoise(2.0, BoxMap(box))
    strength = noise.noise.rate / noise.step
    assert noise.noise.steepest() <= noise.noise.rate
    assert strength * stretch(noise.reach) <= 2.0 < strength * stretch(noise.reach) * (1 + 1e-9)
    assert geodesic_epsilon(strength, noise.ground.stretch) <= 2.0


def test_a_map_that_one_plane_cannot_bear_is_refused():
    with pytest.raises(InvalidInput, match="750 km"):
        PlacesNoise(2.0, BoxMap((20.0, -120.0, 50.0, -70.0))).noise  # noqa: B018


# ── the law ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ground", [Globe(), BoxMap(DATELINE)], ids=["globe", "dateline"])
@pytest.mark.parametrize("apart", [0.003, 0.2, 5.0])
def test_no_release_tells_two_places_apart_by_more_than_epsilon(ground, apart):
    """Log-probabilities of the very lattice points that are drawn; distances on the ellipsoid."""
    noise = PlacesNoise(0.8, ground)
    rng = np.random.default_rng(1)
    bearing, size = rng.uniform(0, 2 * np.pi, 60), apart / 111.2
    lat = np.full(60, -17.98)
    lon = np.full(60, 179.98)
    to_lat, to_lon = lat + size * np.cos(bearing), lon + size * np.sin(bearing) / math.cos(0.314)
    to_lon = (to_lon + 180) % 360 - 180  # half of the pairs lie on both sides of the seam
    true = geodesic_km(lat, lon, to_lat, to_lon)
    here, there = (
        np.rint(noise.located(*p)[0] / noise.step) for p in ((lat, lon), (to_lat, to_lon))
    )
    outputs = np.rint(here[:40] + rng.normal(0, 3 / noise.step, (40, here.shape[1])))
    outputs = np.concatenate([outputs, here[:1] + 4 * (here - there)])  # straight behind
    reach = math.sqrt(ground.dimensions) * noise.step
    largest = 0.0
    for x, y, d in zip(here, there, true, strict=True):
        logs = [noise.noise.log_prob(((outputs - p) ** 2).sum(axis=1)) for p in (x, y)]
        loss = float(np.abs(logs[0] - logs[1]).max())
        assert loss <= 0.8 * (d + reach)
        largest = max(largest, loss / (0.8 * d))
    if apart > 0.1:  # what is promised is also spent
        assert largest > 0.9


@pytest.mark.parametrize("ground", [Globe(), BoxMap(PARIS)], ids=["globe", "map"])
def test_errors_are_what_the_law_says(ground):
    noise = PlacesNoise(2.0, ground)
    count = 200_000
    lat, lon = np.full(count, 48.8584), np.full(count, 2.2945)
    found = geodesic_km(lat, lon, *noise.drawn(noise.located(lat, lon)[0], voile.seeded_rng(3)))
    slack = 6.2 * found.std() / math.sqrt(count)  # once in 10⁹
    assert noise.mean_error - 0.002 - slack <= found.mean() <= noise.mean_error + slack
    share = (found <= noise.error_within(0.9)).mean()
    assert abs(share - 0.9) < 6.2 * 0.3 / math.sqrt(count) + 0.001
    factor = {3: 0.75 * math.pi, 2: 2.0}[ground.dimensions]
    assert noise.mean_error == pytest.approx(factor / 2.0, rel=0.004)


@pytest.mark.parametrize("wanted", [0.05, 0.5, 30.0])
@pytest.mark.parametrize("ground", [Globe(), BoxMap(PARIS)], ids=["globe", "map"])
def test_an_error_is_kept_by_the_least_epsilon(ground, wanted):
    found = noise_of_error(wanted, ground, None)
    assert found.mean_error <= wanted < PlacesNoise(found.epsilon * 0.998, ground).mean_error
    assert float(f"{found.epsilon:.4g}") == found.epsilon


@pytest.mark.parametrize("ground", [Globe(), BoxMap((44.8, 4.8, 45.2, 5.2))], ids=["globe", "map"])
def test_a_bayes_remap_is_the_least_of_all_expected_distances(ground):
    """Against every public place, the belief summed from the law's own scales."""
    rng = np.random.default_rng(4)
    degrees = np.stack([45 + rng.normal(0, 0.03, 60), 5 + rng.normal(0, 0.03, 60)])
    noise = PlacesNoise(1.0, ground, PublicPlaces(*degrees, bayes=True))
    points = ground.to_km(*degrees)[0]
    noisy = points[:20] + rng.normal(0, 1.5, (20, points.shape[1]))
    lat, lon = noise.remap.moved(noisy, ground, noise.log_law)
    scales, shares = noise.noise.scales * noise.step, np.exp(noise.noise.log_shares)
    for row, place in enumerate(noisy):
        away = np.linalg.norm(points - place, axis=1)[:, None]
        law = (shares / scales**ground.dimensions * np.exp(-(away**2) / (2 * scales**2))).sum(
            axis=1
        )
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)
        costs = (law / law.sum()) @ apart
        chosen = np.flatnonzero((degrees[0] == lat[row]) & (degrees[1] == lon[row]))[0]
        assert costs[chosen] <= costs.min() * (1 + 1e-6)


def test_a_bayes_remap_serves_better_where_people_are_at_the_public_places():
    rng = np.random.default_rng(5)
    dense = rng.normal(0, 0.004, (150, 2)) + np.array([45.0, 5.0])
    places = np.concatenate([dense, rng.uniform(-0.15, 0.15, (50, 2)) + np.array([45.0, 5.0])])
    public = [{"lat": a, "lon": b} for a, b in places.tolist()]
    people = [{"lat": a, "lon": b} for a, b in places[rng.integers(0, 200, 400)].tolist()]
    off = {}
    for by in ("nearest", "bayes"):
        done = voile.places.protect(people, epsilon=0.5, remap=public, remap_by=by, seed=1)
        shown = np.array([[row["lat"], row["lon"]] for row in done.data])
        true = np.array([[row["lat"], row["lon"]] for row in people])
        off[by] = geodesic_km(*true.T, *shown.T).mean()
        assert {tuple(row) for row in shown.tolist()} <= {
            tuple(p) for p in places.round(6).tolist()
        }
        assert ("least far off on average" in str(done)) is (by == "bayes")
        assert done.guarantee.epsilon == 0.5
    assert off["bayes"] < 0.8 * off["nearest"]
    with pytest.raises(InvalidInput, match="goes with --remap"):
        voile.places.protect(people, epsilon=0.5, remap_by="bayes")


def test_a_remap_releases_public_places_only():
    public = PublicPlaces(np.array([48.85, 48.86, 48.90]), np.array([2.30, 2.35, 2.40]))
    noise = PlacesNoise(2.0, remap=public)
    lat, lon = np.full(500, 48.858), np.full(500, 2.349)
    got = noise.drawn(noise.located(lat, lon)[0], voile.seeded_rng(1))
    rows = set(zip(*(axis.tolist() for axis in got), strict=True))
    assert rows == {(48.85, 2.30), (48.86, 2.35), (48.90, 2.40)}
    plain = PlacesNoise(2.0)
    exact = plain.drawn(plain.located(lat, lon)[0], voile.seeded_rng(1))
    near = public.nearest(*exact)
    assert all((a == b).all() for a, b in zip(near, got, strict=True))
    for i in range(20):
        ways = geodesic_km(
            *(np.full(3, axis[i]) for axis in exact), public.latitudes, public.longitudes
        )
        assert public.latitudes[ways.argmin()] == got[0][i]


@pytest.mark.parametrize("by", ["nearest", "bayes"])
def test_the_private_file_is_no_list_of_public_places(by):
    rng = np.random.default_rng(4)
    people = [{"lat": 45 + a, "lon": 5 + b} for a, b in rng.normal(0, 0.1, (40, 2)).tolist()]
    junctions = [{"lat": 45 + a, "lon": 5 + b} for a, b in rng.normal(0, 0.1, (60, 2)).tolist()]
    copies = {
        "itself": people,
        "in another order": people[::-1],
        "some": people[:2],
        "rounded": [{name: round(value, 5) for name, value in row.items()} for row in people],
        "among others": [*people, *junctions[:39]],
    }
    for copy in copies.values():
        with pytest.raises(InvalidInput, match="--remap must not be the private file"):
            voile.places.protect(people, epsilon=2, remap=copy, remap_by=by)
    public = [*junctions, *people[:20]]  # some people are at public places
    stations = junctions[:12]  # all people are, several at each
    for private, known in ((people, public), (stations * 5, stations)):
        done = voile.places.protect(private, epsilon=2, remap=known, remap_by=by, seed=1)
        assert done.rows.released == len(private)


@pytest.mark.parametrize("by", ["nearest", "bayes"])
@pytest.mark.parametrize("away", [0.0, 30.0])
def test_how_far_a_remap_moves_draws_is_told_and_noise_is_told_for_noise(by, away):
    """Public places here, and 30 degrees off, where no bound of the noise holds for releases."""
    rng = np.random.default_rng(6)
    people = [{"lat": 45 + a, "lon": 5 + b} for a, b in rng.normal(0, 0.1, (300, 2)).tolist()]
    spots = rng.normal((45, 5 + away), 0.1, (80, 2))
    public = [{"lat": a, "lon": b} for a, b in spots.tolist()]
    how = {"epsilon": 1, "remap": public, "remap_by": by, "seed": 3}
    done = voile.places.protect(people, **how, batch_rows=70)
    fall, said = done.fall, str(done)
    assert "Noise alone, before the remap, moves a place by at most 2.36 km" in said
    assert ("mean error at most", "2.36 km") not in done.report().tables[0].rows
    noise = PlacesNoise(1.0, remap=PublicPlaces(*spots.T, by == "bayes"))
    true = noise.located(*np.array([[row["lat"], row["lon"]] for row in people]).T)[0]
    lat, lon, km = noise.drawn_and_moved(true, voile.seeded_rng(3))
    same = noise.drawn(true, voile.seeded_rng(3))
    assert (same[0] == lat).all()
    assert (same[1] == lon).all()
    assert km.max() / 1.3 < fall.moved_most_km < 1.3 * km.max()
    assert abs(fall.moved_mean_km / km.mean() - 1) < 0.2
    assert ("That is far" in said) is (away > 0)
    assert done.to_dict()["fall"]["moved_mean_km"] == fall.moved_mean_km
    plain = voile.places.protect(people, epsilon=1)
    assert plain.fall.moved_mean_km is None
    assert ("mean error at most", "2.36 km") in plain.report().tables[0].rows


# ── files and tables ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def trips(tmp_path):
    return write_trips(tmp_path / "trips.csv", vehicles=5)


def test_a_file_needs_no_design(trips, tmp_path):
    done = voile.places.protect(trips, epsilon=2, pass_=("stop",), drop=("vehicle",))
    with open(done.output, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 60
    assert list(rows[0]) == ["stop", "lat", "lon"]
    said = json.loads((tmp_path / "trips.protected.csv.guarantee.json").read_text())
    assert said["guarantee"]["epsilon"] == 2
    assert said["guarantee"]["basis"] == "proved"
    assert said["mechanism"] == "Laplace noise, the whole Earth"
    assert "any two places on Earth" in said["distance"]
    assert 1.17 < said["fall"]["mean_km"] < 1.19
    text = str(done.report())
    assert "1.18 km" in text or "1.19 km" in text
    assert "ε·(d + 1.7 m)" in "\n".join(done.explanation)


def _places(path):
    with open(path, newline="") as file:
        rows = csv.DictReader(file)
        return {(f"{float(row['lat']):.5f}", f"{float(row['lon']):.5f}") for row in rows}


def test_an_error_in_place_of_epsilon_and_roads_to_move_to(trips, tmp_path):
    city = write_city(tmp_path / "city")
    how = {"mean_error": "500m", "remap": city, "pass_": "all", "overwrite": True}
    done = voile.places.protect(trips, **how)
    assert 4.70 < done.guarantee.epsilon < 4.75
    assert done.fall.mean_km <= 0.5
    assert done.fall.public_places == 754
    assert "nearest of 754 public places" in str(done.report())
    public, got = (_places(path) for path in (city / "points.csv", done.output))
    assert len(got - public) <= 2  # the last digit of a degree may round the other way
    closer = voile.places.protect(trips, **how, box=(44.9, 4.8, 45.1, 5.2))
    assert 3.99 < closer.guarantee.epsilon < 4.02  # two coordinates need less noise than three


def test_metres_feet_and_wkt_are_the_same_places(tmp_path):
    """New York in degrees, in US feet and as text: the same seed draws the same places."""
    pandas = pytest.importorskip("pandas")
    from pyproj import Transformer

    lat, lon = np.array([40.7484, 40.6892]), np.array([-73.9857, -74.0445])
    east, north = Transformer.from_crs(4326, 2263, always_xy=True).transform(lon, lat)
    assert min(east) > 900_000  # feet
    degrees = pandas.DataFrame({"lat": lat, "lon": lon})
    feet = pandas.DataFrame({"y": north, "x": east})
    wkt = pandas.DataFrame(
        {"at": [f"POINT ({x!r} {y!r})" for x, y in zip(lon.tolist(), lat.tolist(), strict=True)]}
    )
    one = voile.places.protect(degrees, epsilon=2, seed=1).data
    two = voile.places.protect(feet, epsilon=2, seed=1, lat="y", lon="x", crs="EPSG:2263").data
    three = voile.places.protect(wkt, epsilon=2, seed=1, wkt="at").data
    back = Transformer.from_crs(2263, 4326, always_xy=True).transform(two["x"], two["y"])
    assert np.abs(one["lon"] - back[0]).max() < 3e-5
    assert np.abs(one["lat"] - back[1]).max() < 3e-5
    shown = [f"POINT ({x:.6f} {y:.6f})" for x, y in zip(one["lon"], one["lat"], strict=True)]
    assert three["at"].tolist() == shown


def test_feet_are_never_taken_for_degrees():
    with pytest.raises(InvalidInput, match="degrees within"):
        voile.places.protect([(201_000.0, 985_000.0)] * 3, epsilon=2)


@pytest.mark.parametrize(
    ("crs", "northing", "easting", "strays"),
    [
        ("EPSG:2263", 200_000, 984_250, False),
        ("EPSG:32118", 200_000, 984_250, True),  # feet, taken for metres
        ("EPSG:2263", 60_960, 300_000, True),  # metres, taken for feet
        ("EPSG:2263", 984_250, 200_000, True),  # swapped
        ("EPSG:2263", 40.75, -73.99, True),  # degrees
        ("EPSG:3832", 0, 3_300_000, False),  # an area across the antimeridian
    ],
)
@pytest.mark.parametrize("how", [{}, {"trace": "t"}])
def test_places_that_are_none_of_their_system_are_told_first(crs, northing, easting, strays, how):
    rows = [{"lat": northing, "lon": easting, "t": 1}] * 3
    done = voile.places.protect(rows, epsilon=2, crs=crs, pass_=("t",), **how)
    assert (done.places_outside_the_system, done.reference_system) == (3 * strays, crs)
    first = f"3 of 3 places lie outside the area that {crs} is for."
    assert done.report().not_protected[0].startswith(first) == strays
    alone = voile.places.protect([(northing, easting)], epsilon=2, crs=crs)
    assert (str(alone.report().verdict) == "open") == strays


@pytest.mark.parametrize(
    ("lat", "lon"),
    [
        ("pickup_longitude", "pickup_latitude"),
        ("endLon", "endLat"),
        ("easting", "northing"),
        ("lat", "lat"),
        ("c", "lat"),
    ],
)
def test_names_that_say_that_they_are_swapped_are_refused(lat, lon):
    """Within ±90 both ways, they would be places elsewhere, where a degree has other kilometres."""
    with pytest.raises(InvalidInput, match="must name the latitude"):
        voile.places.protect([{lat: 40.75, lon: -73.99}], epsilon=2, lat=lat, lon=lon)


def test_names_that_say_nothing_or_both_are_taken():
    for lat, lon in (("y", "x"), ("lat_lon_1", "lat_lon_2"), ("lonely", "flat")):
        made = voile.places.protect([{lat: 40.75, lon: -73.99}], epsilon=2, lat=lat, lon=lon)
        assert made.rows.released == 1


def test_degrees_are_not_cut_to_whole_ones(tmp_path):
    """Nor do the notes of a file, which may say where its points were, go with what is released."""
    path = tmp_path / "in.parquet"
    column = pyarrow.field("lat", pyarrow.float64(), metadata={"max": "48.8584"})
    schema = pyarrow.schema([column, ("lon", pyarrow.int64())], metadata={"home": "48.8584"})
    parquet.write_table(pyarrow.table({"lat": [48.5], "lon": [2]}, schema=schema), path)
    with pytest.raises(InvalidInput, match=r"such as float64, and in in\.parquet it is int64"):
        voile.places.protect(path, epsilon=2)
    table = parquet.read_table(path)
    (lon,) = voile.places.protect(table, epsilon=2).data["lon"].to_pylist()
    assert not lon.is_integer()
    parquet.write_table(table.cast(schema.set(1, pyarrow.field("lon", pyarrow.float64()))), path)
    done = voile.places.protect(path, epsilon=2)
    assert b"48.8584" not in Path(done.output).read_bytes()
    feet = pyarrow.table({"lat": [200_000], "lon": [984_250]})
    parquet.write_table(feet, path)
    done = voile.places.protect(path, epsilon=2, crs="EPSG:2263", overwrite=True)
    assert parquet.read_schema(done.output).types == [pyarrow.int64()] * 2  # whole feet are as good


def test_a_ledger_is_charged_epsilon_for_each_place(trips, tmp_path):
    books = {
        "ledger": str(tmp_path / "l.db"),
        "person": "vehicle",
        "ledger_key": tmp_path / "l.key",
    }
    voile.ledger.init(books["ledger"], ledger_key=books["ledger_key"])
    done = voile.places.protect(
        trips,
        epsilon=2,
        drop=("stop",),
        pass_=("vehicle",),
        budget=10.0,
        over_budget="drop",
        **books,
    )
    assert done.rows.released == 5 * 5
    assert done.rows.over_budget == 5 * 7


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "--epsilon 2"),
        ({"epsilon": 2, "mean_error": "1km"}, "give one of"),
        ({"mean_error": "500"}, "with its unit"),
        ({"mean_error": "1m"}, "must lie between"),
        ({"mean_error": "0 m"}, "with its unit"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1e9}, "per km"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": 2, "crs": "EPSG:1"}, "reference system"),
        ({"epsilon": 2, "crs": "EPSG:4978"}, "on a map or in degrees"),
        ({"epsilon": 2, "wkt": "nothing"}, "nothing"),
        ({"epsilon": 2, "box": (1.0, 2.0, 3.0, 2.0)}, "a box"),
        ({"epsilon": 2, "box": (-60.0, -120.0, 50.0, -70.0)}, "750 km"),
        ({"mechanism": "none.voile", "remap": "poi.csv"}, "go with noise"),
        ({"epsilon": 2, "remap": "none.csv"}, "existing file"),
    ],
)
def test_what_cannot_be_is_refused(trips, options, said):
    with pytest.raises(InvalidInput, match=said):
        voile.places.protect(trips, pass_="all", **options)
    assert not trips.with_name("trips.protected.csv").exists()


def test_places_beyond_a_map_are_bad_rows_and_lines_are_no_points(tmp_path):
    rows = [(48.85, 2.3)] * 50 + [(-33.9, 151.2)]
    done = voile.places.protect(rows, epsilon=2, box=PARIS, on_error="skip")
    assert done.rows.released == 50
    assert done.rows.skipped == 1
    with pytest.raises(InvalidInput, match="within 18"):
        voile.places.protect(rows, epsilon=2, box=PARIS)
    pandas = pytest.importorskip("pandas")
    shapes = pandas.DataFrame({"g": ["POINT (2 48)", "LINESTRING (0 0, 1 1)", "POINT EMPTY", None]})
    done = voile.places.protect(shapes, epsilon=2, wkt="g", on_error="skip")
    assert done.rows.released == 1
    assert done.rows.skipped == 3


def test_a_point_keeps_the_name_of_its_system():
    rows = [{"at": text} for text in ("POINT (2 48)", "srid = 4326 ; point (2 48)")]
    shown = [row["at"] for row in voile.places.protect(rows, epsilon=2, wkt="at").data]
    assert shown[0].startswith("POINT (")
    assert shown[1].startswith("SRID=4326;POINT (")
    feet = [{"at": f"{srid}POINT (985000 201000)"} for srid in ("SRID=2263;", "")]
    made = voile.places.protect(feet, epsilon=2, wkt="at", crs="EPSG:2263", pass_=())
    assert [row["at"].partition("POINT")[0] for row in made.data] == ["SRID=2263;", ""]
    again = voile.places.protect(made.data, epsilon=2, wkt="at", crs="EPSG:2263")
    assert again.rows.released == 2  # what is written can be read


def test_a_point_that_names_another_system_is_a_bad_row():
    at = ["POINT (2 48)", "SRID=4326;POINT (2 48)", "SRID=27700;POINT (50 60)"]
    rows = [{"at": text} for text in (*at, "srid = 2263 ; point (50 60)", "SRID=0;POINT (2 48)")]
    done = voile.places.protect(rows, epsilon=2, wkt="at", on_error="skip")
    assert (done.rows.released, done.rows.skipped) == (2, 3)
    with pytest.raises(InvalidInput, match="of no other SRID"):
        voile.places.protect(rows, epsilon=2, wkt="at")
    grid = [{"at": f"{srid}POINT (530000 180000)"} for srid in ("", "SRID=27700;", "SRID=4326;")]
    done = voile.places.protect(grid, epsilon=2, wkt="at", crs="EPSG:27700", on_error="skip")
    assert (done.rows.released, done.rows.skipped) == (2, 1)


@pytest.mark.parametrize("wrong", [True, "2_3", "_1", np.True_])
def test_what_only_python_takes_for_a_number_is_no_place(wrong):
    rows = [{"lat": 48.0, "lon": 2.0}, {"lat": wrong, "lon": 2.0}, {"lat": "48.1", "lon": wrong}]
    done = voile.places.protect(rows, epsilon=2, on_error="skip")
    assert (done.rows.released, done.rows.skipped) == (1, 2)


@pytest.mark.parametrize("trace", [{}, {"trace": "id"}])
def test_a_file_of_json_lines_has_numbers_for_coordinates_throughout(tmp_path, trace):
    """Whether a part had text or numbers is nothing that a release tells."""
    rows = [{"id": 0, "lat": 48.0, "lon": "2.0"}, {"id": 1, "lat": "48.0", "lon": "2.0"}] * 2
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = voile.places.protect(path, epsilon=2, pass_="all", batch_rows=1, **trace)
    with open(done.output) as file:
        made = [json.loads(line) for line in file]
    assert {type(row[name]) for row in made for name in ("lat", "lon")} == {float}
