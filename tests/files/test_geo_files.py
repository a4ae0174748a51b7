"""Files of points: GeoPackage, FlatGeobuf, GPX and GeoParquet come back as what they were."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

import voile
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.files.source import open_source

geopandas = pytest.importorskip("geopandas")
pytest.importorskip("pyogrio")
from shapely.geometry import LineString, Point  # noqa: E402

LAT, LON = [40.7484, 40.6892, 40.8], [-73.9857, -74.0445, -73.9]
FEET = 2263
GPX = """<?xml version="1.0"?>
<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">
<metadata><name>Ann's secret ride</name></metadata>
<trk><name>home</name><trkseg>
<trkpt lat="40.7" lon="-73.9"><ele>5</ele><time>2020-01-01T00:00:00Z</time></trkpt>
<trkpt lat="40.71" lon="-73.91"><ele>6</ele><time>2020-01-01T00:01:00Z</time></trkpt>
</trkseg></trk></gpx>"""


@pytest.fixture
def frame():
    points = [Point(x, y) for x, y in zip(LON, LAT, strict=True)]
    return geopandas.GeoDataFrame({"n": [1, 2, 3]}, geometry=points, crs=4326)


def written(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        how = {"SPATIAL_INDEX": "NO"} if path.suffix == ".fgb" else {}  # an index sorts rows
        frame.to_file(path, layer="people of interest", engine="pyogrio", **how)
    return path


def read(path):
    if str(path).endswith("parquet"):
        return geopandas.read_parquet(path)
    return geopandas.read_file(path, engine="pyogrio")


def test_columns_beside_points_are_counted_as_their_owner_counts_them():
    points = [Point(2, 48, 35)]
    frame = geopandas.GeoDataFrame({"n": [1]}, geometry=points, crs=4326)
    frame["Zoë"] = [2]  # behind the geometry, which is one column
    with pytest.raises(InvalidInput, match=r"for n, column 3, altitude \(the z of the points\);"):
        voile.places.protect(frame, epsilon=2)


@pytest.mark.parametrize("ending", ["gpkg", "fgb", "parquet"])
def test_a_file_in_feet_comes_back_in_feet(frame, tmp_path, ending):
    """Row by row the same places as of the frame in degrees, under the same seed."""
    path = written(frame.to_crs(FEET), tmp_path / f"in.{ending}")
    assert open_source(path).columns == ("n", "lat", "lon")
    done = voile.places.protect(path, epsilon=2, pass_=("n",), seed=1)
    plain = voile.places.protect(frame, epsilon=2, pass_=("n",), seed=1).data
    made = read(done.output)
    assert done.output == str(tmp_path / f"in.protected.{ending}")
    assert made.crs.to_epsg() == FEET
    assert made["n"].tolist() == [1, 2, 3]
    assert made.geometry.x.min() > 800_000
    apart = made.distance(plain.to_crs(FEET))
    assert apart.max() < 7  # lattice points may differ by a step where feet round otherwise
    assert made.distance(frame.to_crs(FEET)).min() > 10
    beside = json.loads((tmp_path / f"in.protected.{ending}.guarantee.json").read_text())
    assert beside["rows"]["released"] == 3
    assert beside["output_sha256"] is not None
    assert b"people of interest" not in Path(done.output).read_bytes()


def test_a_track_comes_back_as_a_track_and_its_name_stays_behind(tmp_path):
    path = tmp_path / "ride.gpx"
    path.write_text(GPX)
    source = open_source(path)
    assert {"track_fid", "track_seg_id", "ele", "time", "lat", "lon"} <= set(source.columns)
    done = voile.places.protect(path, epsilon=2, pass_="all")
    text = Path(done.output).read_text()
    assert done.times_in_clear == ("time",)
    assert text.count("<trkpt") == 2
    assert "2020-01-01T00:01:00Z" in text
    assert "secret" not in text
    assert 'lat="40.7"' not in text
    rest = tuple(c for c in source.columns if c not in ("lat", "lon"))
    done = voile.places.protect(path, epsilon=2, drop=rest, overwrite=True)
    assert Path(done.output).read_text().count("<wpt") == 2  # without a track, points by themselves


def test_who_may_not_read_the_input_may_not_read_the_output(frame, tmp_path):
    path = written(frame, tmp_path / "in.gpkg")
    path.chmod(0o600)
    done = voile.places.protect(path, epsilon=2, pass_="all")
    for name in (done.output, done.output + ".guarantee.json"):
        assert stat.S_IMODE(os.stat(name).st_mode) == 0o600
    assert {p.name for p in tmp_path.iterdir()} == {
        "in.gpkg", "in.protected.gpkg", "in.protected.gpkg.guarantee.json",
    }  # fmt: skip


def test_an_output_that_exists_stays_unless_it_may_be_replaced(frame, tmp_path):
    path = written(frame, tmp_path / "in.gpkg")
    (tmp_path / "in.protected.gpkg").write_text("mine")
    with pytest.raises(CannotWrite, match="exists already"):
        voile.places.protect(path, epsilon=2, pass_="all")
    with pytest.raises(CannotWrite, match="another file"):
        voile.places.protect(path, epsilon=2, pass_="all", out=str(path), overwrite=True)
    with pytest.raises(InvalidInput, match="written to one"):
        voile.places.protect(path, epsilon=2, pass_="all", out=str(tmp_path / "o.csv"))
    assert voile.places.protect(path, epsilon=2, pass_="all", overwrite=True).rows.released == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"out": "o.csv"}, r"got 'o\.csv'"),
        ({"out": "in.gpkg", "overwrite": True}, "another file"),
        ({"drop": ("lat",), "out": "o.gpkg"}, "keep its points"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_anybody_is_charged(
    frame, tmp_path, monkeypatch, options, said
):
    """And by the name that was given, not by that of a file in between."""
    monkeypatch.chdir(tmp_path)
    frame["text"] = ["a", "b", "c"]
    written(frame, tmp_path / "in.gpkg")
    books = {"ledger": "l.db", "ledger_key": tmp_path / "l.key"}
    voile.ledger.init(**books)
    how = {"column": "text", "epsilon": 3, "pass_": "all", "person": "n", "budget": 100.0}
    with pytest.raises((InvalidInput, CannotWrite), match=said):
        voile.text.protect("in.gpkg", **how, **books, **options)
    assert not list(tmp_path.glob("*guarantee*"))
    assert voile.ledger.show("l.db", ledger_key=books["ledger_key"]).people == 0


@pytest.mark.parametrize("ending", ["gpkg", "gpx", "fgb"])
def test_a_table_of_degrees_becomes_no_such_file(tmp_path, ending):
    """They are written whole, from points alone; a job of parts says so before it begins."""
    path = tmp_path / "in.csv"
    path.write_text("lat,lon\n48.85,2.35\n")
    with pytest.raises(
        InvalidInput, match=r"written from one alone, and in\.csv is none; write to \.geojson"
    ):
        voile.places.protect(path, epsilon=2, out=str(tmp_path / f"o.{ending}"))
    assert [p.name for p in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("ending", ["gpkg", "gpx", "fgb"])
def test_what_is_no_such_file_is_said_to_be_none(tmp_path, ending):
    path = tmp_path / f"in.{ending}"
    path.write_text("Ann,40.7,-73.9\n")
    with pytest.raises(BadFile, match="cannot be read as points") as found:
        voile.places.protect(path, epsilon=2)
    assert "Ann" not in str(found.value)


@pytest.mark.parametrize("how", [{}, {"trace": "n"}])
def test_rows_that_an_index_sorted_by_place_are_refused(frame, tmp_path, how):
    """Neighbours in such a file are neighbours on the ground: their noise would average out."""
    path = tmp_path / "in.fgb"
    frame.to_file(path, engine="pyogrio")  # with an index, as GDAL does it unless told not to
    with pytest.raises(InvalidInput, match=r"in\.fgb must not be sorted by place"):
        voile.places.protect(path, epsilon=2, pass_="all", **how)
    assert open_source(path).sorted_by_place
    for name in ("plain.fgb", "in.gpkg"):
        assert not open_source(written(frame, tmp_path / name)).sorted_by_place
    done = voile.places.protect(read(path).sample(frac=1), epsilon=2, pass_="all", **how)
    assert "sorted by place" in str(done)


def test_shapes_layers_and_nothing_are_refused(frame, tmp_path):
    line = geopandas.GeoDataFrame({"n": [1]}, geometry=[LineString([(0, 0), (1, 1)])], crs=4326)
    with pytest.raises(InvalidInput, match="must be points"):
        voile.places.protect(written(line, tmp_path / "l.gpkg"), epsilon=2)
    with pytest.raises(InvalidInput, match="at least one row"):
        voile.places.protect(written(frame.iloc[:0], tmp_path / "e.gpkg"), epsilon=2)
    two = written(frame, tmp_path / "two.gpkg")
    frame.to_file(two, layer="second", engine="pyogrio", mode="a")
    with pytest.raises(InvalidInput, match="one layer of points, it holds 2"):
        voile.places.protect(two, epsilon=2)
    with pytest.raises(InvalidInput, match=r"converted to \.gpkg"):
        voile.places.protect("in.shp", epsilon=2)
    with pytest.raises(InvalidInput, match="on a disk"):
        open_source("memory://in.gpkg")


def test_text_reads_them_too(frame, tmp_path):
    """One reader: what places read, others read."""
    frame["text"] = ["a b", "c d", "e f"]
    assert [row["text"] for _, row in open_source(written(frame, tmp_path / "t.gpkg")).rows()] == [
        "a b", "c d", "e f",
    ]  # fmt: skip
    assert np.isfinite(frame.geometry.x).all()


@pytest.mark.parametrize("ending", ["gpkg", "fgb", "parquet", "memory"])
@pytest.mark.filterwarnings("ignore:'crs' was not provided")
def test_points_of_no_named_system_wait_for_one(frame, tmp_path, ending):
    """Feet that nobody calls feet are no degrees, nor are degrees feet because somebody says so."""
    feet, known = frame.to_crs(FEET), frame.to_crs(FEET)
    bare = feet.set_crs(None, allow_override=True)
    degrees = frame.set_crs(None, allow_override=True)
    if ending != "memory":
        bare, degrees, known = (
            written(data, tmp_path / f"{name}.{ending}")
            for name, data in (("bare", bare), ("degrees", degrees), ("known", known))
        )
    how = {"epsilon": 2, "pass_": ("n",), "seed": 1}
    for data in (bare, degrees):
        with pytest.raises(InvalidInput, match="it names none; say --crs"):
            voile.places.protect(data, **how)
    with pytest.raises(InvalidInput, match="it names none"):
        voile.places.follow(degrees, degrees, public=degrees, epsilon=2, trace="n")
    with pytest.raises(InvalidInput, match="names its reference system itself"):
        voile.places.protect(known, **how, crs=f"EPSG:{FEET}")
    for data, crs in ((bare, FEET), (degrees, 4326)):
        done = voile.places.protect(data, **how, crs=f"EPSG:{crs}")
        made = done.data if ending == "memory" else read(done.output)
        plain = voile.places.protect(frame, **how).data.to_crs(FEET)
        assert made.crs is None
        assert made.set_crs(crs).to_crs(FEET).distance(plain).max() < 7


@pytest.mark.parametrize("named", ["who", None])
def test_what_the_rows_of_a_file_go_by_comes_back(frame, tmp_path, named):
    index = ["ann", "bob", "cy"]
    path = tmp_path / "in.parquet"
    frame.set_axis(index).rename_axis(named).to_parquet(path)
    column = named or "index"
    assert open_source(path).columns == (column, "n", "lat", "lon")
    done = voile.places.protect(path, epsilon=2, pass_=(column,), drop=("n",))
    assert read(done.output)[column].tolist() == index
    done = voile.places.protect(path, epsilon=2, pass_=("n",), drop=(column,), overwrite=True)
    assert list(read(done.output).columns) == ["n", "geometry"]
    frame.iloc[[0, 2]].to_parquet(path)  # plain numbers are none
    assert open_source(path).columns == ("n", "lat", "lon")
