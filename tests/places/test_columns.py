"""Columns beside places: each is passed or dropped by name, and what passes is said first."""

from __future__ import annotations

import csv
import json
import time
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

import voile
from voile.cli.app import rooms
from voile.errors import InvalidInput
from voile.places.columns import instant

app = rooms["places"]

pytest.importorskip("pyproj")
runner = CliRunner()
HEAD = ("email", "pickup", "lat", "lon", "stop")
MAIL = "ada@example.org"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("columns")
    voile.places.design(
        box=(45.0, 5.0, 45.05, 5.05), cells="2x3", epsilon=1.0, method="laplace", bound=False,
        out=made / "town.voile",
    )  # fmt: skip
    with (made / "trips.csv").open("w", newline="") as file:
        csv.writer(file).writerow(HEAD)
        csv.writer(file).writerows(
            (MAIL, f"2024-05-01 08:{i:02d}", 45.0 + i / 1000, 5.02, i % 3) for i in range(40)
        )
    return made


def protect(folder, *words):
    command = ["protect", str(folder / "trips.csv"), "--mechanism", str(folder / "town.voile")]
    return runner.invoke(app, [*command, "--out", str(folder / "out.csv"), "--overwrite", *words])


def test_nothing_is_released_until_every_column_is_named(folder):
    done = protect(folder)
    assert isinstance(done.exception, InvalidInput)
    said = str(done.exception)
    assert "email (looks like e-mail addresses), pickup" in said
    assert MAIL not in said
    assert not (folder / "out.csv").exists()
    with pytest.raises(InvalidInput, match="got neither for"):
        voile.places.protect(
            folder / "trips.csv", mechanism=folder / "town.voile", out=folder / "out.csv"
        )
    done = protect(folder, "--pass", "lat", "--drop", "email,pickup,stop")
    assert "it is what is protected" in str(done.exception)


def test_what_passes_is_said_first_recorded_and_never_green(folder):
    page = folder / "page.html"
    done = protect(folder, "--pass", "pickup,stop", "--drop", "email", "--report", str(page))
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("IN CLEAR: the columns pickup")
    assert lines[1].startswith("Times IN CLEAR (pickup) narrow places down")
    assert "Left out: the columns email" in lines
    assert "Part of what is released stands in clear." in " ".join(done.stdout.split())
    with (folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["pickup", "lat", "lon", "stop"]
    assert MAIL not in (folder / "out.csv").read_text()
    saved = json.loads((folder / "out.csv.guarantee.json").read_text())
    assert saved["columns"]["passed_in_clear"] == ["pickup", "stop"]
    assert saved["columns"]["dropped"] == ["email"]
    assert saved["times_in_clear"] == ["pickup"]
    assert not saved["columns"]["passed_all"]
    shown = page.read_text()
    assert "IN CLEAR: the columns pickup" in shown
    assert "Times IN CLEAR (pickup)" in shown
    assert 'class="verdict open"' in shown
    assert 'class="verdict holds"' not in shown


def test_all_may_pass_and_that_is_recorded(folder):
    done = protect(folder, "--pass", "all")
    assert done.exit_code == 0, done.output
    assert "email (looks like e-mail addresses)" in done.stdout.splitlines()[0]
    saved = json.loads((folder / "out.csv.guarantee.json").read_text())
    assert saved["columns"]["passed_all"]
    assert saved["columns"]["looks_like_identifiers"]["email"] == "e-mail addresses"


def test_without_other_columns_nothing_is_said_and_it_holds(folder):
    page = folder / "page.html"
    done = protect(folder, "--drop", "email,pickup,stop", "--report", str(page))
    assert done.exit_code == 0, done.output
    assert "IN CLEAR" not in done.stdout
    assert "Times IN CLEAR" not in done.stdout
    assert "stands in clear" not in done.stdout
    assert 'class="verdict holds"' in page.read_text()


def test_a_field_that_only_later_records_have_is_a_bad_row(folder):
    """JSON lets a record have a field of its own, which nobody named."""
    path = folder / "trips.jsonl"
    rows = [{"lat": 45.02, "lon": 5.02} for _ in range(1200)]
    rows[1100]["name"] = "Ada"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InvalidInput, match="line 1101") as caught:
        voile.places.protect(path, mechanism=folder / "town.voile", out=folder / "out.jsonl")
    assert "Ada" not in str(caught.value)
    assert not (folder / "out.jsonl").exists()


# ── names that voile or GDAL made, and heights ─────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", ["altitude", "track_fid", "track_seg_id", "track_seg_point_id", "ele", "time"]
)
def test_columns_that_no_user_named_are_told_by_their_names(name):
    rows = [{name: i, "lat": 45.0, "lon": 5.0} for i in range(3)]
    with pytest.raises(InvalidInput, match=f"got neither for {name}"):
        voile.places.protect(rows, epsilon=2)


def test_heights_that_pass_are_said_to_narrow_places_down(tmp_path):
    file = tmp_path / "peaks.geojson"
    points = [{"type": "Point", "coordinates": [5.0 + i / 100, 45.0, 1900 + i]} for i in range(3)]
    features = [{"type": "Feature", "properties": {}, "geometry": point} for point in points]
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    done = voile.places.protect(file, epsilon=2, pass_=("altitude",))
    assert done.heights_in_clear == ("altitude",)
    assert "Heights IN CLEAR (altitude) narrow places down" in str(done)
    dropped = voile.places.protect(file, epsilon=2, drop=("altitude",), overwrite=True)
    assert dropped.heights_in_clear == ()
    assert "Heights" not in str(dropped)


# ── times ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("pickup", ["01/05/2024 08:00", "02/05/2024 09:10"], True),
        ("pickup", ["1.5.24", "2.5.24"], True),
        ("pickup", ["Wed May 1 08:00:00 2024", "Thu May 2 09:10:00 2024"], True),
        ("pickup", ["8:05", "9:15"], True),
        ("pickup", [1714550400, 1714554000], True),
        ("pickup", ["1714550400123", "1714554000456"], True),
        ("startTs", ["a", "b"], True),
        ("pickup", [1714550400, 17], False),
        ("pickup", [950_000_000, 2_500_000_000], False),
        ("mac", ["12:34:56:78:9a:bc", "12:34:56:78:9a:bd"], False),
        ("flat", ["3", "4"], False),
    ],
)
def test_times_that_pass_are_known_however_they_are_written(name, values, told):
    rows = [{"lat": 45.0, "lon": 5.0, name: value} for value in values]
    done = voile.places.protect(rows, epsilon=2, pass_=(name,))
    assert done.times_in_clear == ((name,) if told else ())


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_a_time_without_a_zone_is_utc_wherever_it_is_read(zone, monkeypatch):
    """Also in the hour that a clock of summer time goes through twice."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        told = ["2024-11-03T01:30:00", "2024-11-03 02:30:00", datetime(2024, 11, 3, 3, 30)]
        assert [instant(one) for one in told] == [1730597400.0, 1730601000.0, 1730604600.0]
        assert instant("2024-11-03T01:30:00Z") == 1730597400.0
        assert instant("2024-11-03T01:30:00-04:00") == 1730611800.0
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "other", ["2024-05-01T08:00:00Z", 1714550400, datetime(2024, 5, 1, 8, tzinfo=UTC)]
)
def test_times_of_several_kinds_are_refused(other):
    rows = [
        {"trip": "a", "at": at, "lat": 45.0 + i / 1000, "lon": 5.0}
        for i, at in enumerate(["2024-05-01T07:00:00", other, "2024-05-01T09:00:00"])
    ]
    how = {"epsilon": 20, "trace": "trip", "time": "at"}
    with pytest.raises(InvalidInput, match="must hold times of one kind, and some are dates with"):
        voile.places.protect(rows, **how, pass_="all", batch_rows=1)
    with pytest.raises(InvalidInput, match="must hold times of one kind"):
        voile.places.follow(rows, rows, **how, public=rows)
    alike = [row | {"at": rows[0]["at"]} for row in rows]
    assert voile.places.protect(alike, **how, pass_="all").rows.released == 3
