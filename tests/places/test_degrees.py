"""Degrees in, degrees out: what a design releases, what it moves, what it refuses."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import voile
from voile.cli.app import rooms
from voile.core.randomness import seeded_rng
from voile.errors import BadFile, InvalidInput
from voile.optimise import region_start
from voile.places import size as places_size
from voile.places.outside import Outside
from voile.storage import load, save

app = rooms["places"]

pytest.importorskip("pyproj")
runner = CliRunner()
BOX = (40.70, -74.02, 40.80, -73.93)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("degrees")


@pytest.fixture(scope="module", params=["bilinear", "laplace"])
def file(request, folder):
    path = folder / f"{request.param}.voile"
    boxed(method=request.param, out=path)
    return path


def boxed(**how):
    return voile.places.design(box=BOX, cells=(3, 4), epsilon=0.8, bound=False, **how)


def places(count, seed=1):
    rng = np.random.default_rng(seed)
    return rng.uniform(BOX[0], BOX[2], count), rng.uniform(BOX[1], BOX[3], count)


def rows(lat, lon):
    return np.column_stack([lat, lon])


def written(path, lat, lon):
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["lat", "lon"])
        writer.writerows(zip(lat.tolist(), lon.tolist(), strict=True))
    return path


def test_a_design_takes_degrees_and_gives_degrees(file):
    design = load(file)
    lat, lon = places(500)
    released = design.release(list(zip(lat, lon, strict=True)), rng=seeded_rng(2))
    allowed = set(zip(*(axis.tolist() for axis in design.output_degrees), strict=True))
    assert set(released) <= allowed
    assert design.release(rows(lat, lon)).shape == (500, 2)  # secure by default
    law = design.probabilities(lat[:1], lon[:1])[0]
    plane = design.mechanism.probabilities(design.projection.to_km(lat[:1], lon[:1]))[0]
    assert (law == plane).all()


def test_degrees_are_not_taken_for_kilometres(file):
    """A frame of degrees given to the mechanism on the plane once became one single point."""
    pandas = pytest.importorskip("pandas")
    design = load(file)
    lat, lon = places(1000)
    frame = pandas.DataFrame({"lat": lat, "lon": lon})
    for given in (frame, frame.to_numpy()):
        with pytest.raises(InvalidInput, match=r"design\.release\(places\)") as caught:
            design.mechanism.release(given, seeded_rng(1))
        assert "1000 of 1000" in str(caught.value)
    # near latitude 0 degrees may look like kilometres of the map: their names tell
    named = pandas.DataFrame({"Latitude": [0.1], "Longitude": [0.2]})
    with pytest.raises(InvalidInput, match="named as degrees"):
        design.mechanism.draw(named, seeded_rng(1))
    plain = pandas.DataFrame({"x": [0.1], "y": [0.2]})
    assert design.mechanism.draw(plain, seeded_rng(1)).shape == (1,)


def test_swapped_and_far_degrees_are_refused_with_counts_only(file):
    design = load(file)
    lat, lon = places(20)
    with pytest.raises(InvalidInput, match="20 of 20") as caught:
        design.release(rows(lon, lat))
    assert "-73" not in str(caught.value)
    lat[3], lon[3] = 48.85, 2.35
    with pytest.raises(InvalidInput, match="1 of 20"):
        design.release(rows(lat, lon), outside=Outside.MOVE)
    lat[3], lon[3] = -40.75, 106.02  # the other side of the Earth
    with pytest.raises(InvalidInput, match="1 of 20"):
        design.release(rows(lat, lon))


def test_places_off_the_map_are_moved_if_they_are_few_or_it_is_said(file):
    design = load(file)
    lat, lon = places(100)
    lat[:11] = BOX[2] + 0.02
    assert design.release(rows(lat[1:], lon[1:])).shape == (99, 2)
    with pytest.raises(InvalidInput, match="11 of 100"):
        design.release(rows(lat, lon))
    assert design.release(rows(lat, lon), outside=Outside.MOVE).shape == (100, 2)
    with pytest.raises(InvalidInput, match="must lie on the map"):
        design.release(rows(lat, lon), outside=Outside.REFUSE)


def test_a_place_off_the_map_has_the_law_of_the_border(file):
    """Moving to the border separates no two places, so ε·d holds off the map too."""
    design = load(file)
    rng = np.random.default_rng(4)
    angle = rng.uniform(0, 2 * np.pi, 400)
    first = (
        design.reach
        * np.sqrt(rng.random((400, 1)))
        * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    )
    second = first + rng.normal(size=first.shape)
    second *= np.minimum(1, design.reach / np.linalg.norm(second, axis=1))[:, None]
    inside = np.clip(first, *design.box)
    assert (first != inside).any()
    degrees = [design.projection.to_degrees(x) for x in (first, second)]
    laws = [design.probabilities(*pair) for pair in degrees]
    assert np.abs(laws[0] - design.mechanism.probabilities(inside)).max() < 1e-6
    gap = np.abs(np.log(laws[0]) - np.log(laws[1])).max(axis=1)
    rounding = 0.0015 if hasattr(design.mechanism, "resolution") else 1e-9
    assert (gap <= design.guarantee.epsilon * (design.apart(first, second) + rounding)).all()


def test_a_file_follows_the_same_rules(file, folder):
    lat, lon = places(200)
    lat[:5], lon[:5] = 48.85, 2.35
    lat[5:8] = BOX[2] + 0.02
    source = written(folder / "some-far.csv", lat, lon)
    out = folder / "out.csv"
    with pytest.raises(InvalidInput, match=r"line 2: .*km of the map's centre"):
        voile.places.protect(source, mechanism=file, out=out, overwrite=True)

    def counts(**how):
        found = voile.places.protect(
            source, mechanism=file, out=out, on_error="skip", overwrite=True, **how
        )
        return found.rows.released, found.rows.skipped, found.places_outside_the_map

    assert counts() == (195, 5, 3)
    assert counts(outside="refuse") == (192, 8, 0)
    saved = json.loads((folder / "out.csv.guarantee.json").read_text())
    assert saved["distance"].startswith("geodesic km on the WGS 84 ellipsoid")


def test_a_file_of_which_much_lies_off_the_map_is_refused_unless_it_is_meant(file, tmp_path):
    lat, lon = places(100)
    lat[:30] = BOX[2] + 0.02
    source, out = written(tmp_path / "off.csv", lat, lon), tmp_path / "off-out.csv"
    command = ["protect", str(source), "--mechanism", str(file), "--out", str(out)]
    done = runner.invoke(app, command)
    assert "30 of 100" in str(done.exception)
    assert "--outside move" in str(done.exception)
    assert not out.exists()
    done = runner.invoke(app, [*command, "--outside", "move"])
    assert done.exit_code == 0, done.output
    assert "30 places lay outside the map" in done.stdout
    done = runner.invoke(app, [*command, "--outside", "perhaps"])
    assert done.exit_code == 2
    assert all(word in done.stderr for word in ("few", "move", "refuse"))
    with pytest.raises(InvalidInput, match="few, move or refuse"):
        voile.places.protect(source, mechanism=file, out=str(out), outside="perhaps")


def test_show_refuses_a_place_on_another_continent(file, folder):
    with pytest.raises(InvalidInput, match="1 of 1"):
        voile.places.show(file, at=(48.85, 2.35), out=folder / "x")


# ── what rounding leaves ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("metric", "times"), [("l2", 2**0.5), ("l1", 2.0), ("linf", 1.0)])
def test_what_holds_between_places_off_the_lattice(metric, times):
    """ε·(d + N^(1/p)·h) by the integers that are drawn; "only above h" would be untrue."""
    design = boxed(metric=metric, method="bilinear")
    mechanism, h, p = design.mechanism, design.mechanism.resolution, design.mechanism.p
    low, high = design.box
    count = np.floor((high - low) / h)
    rng = np.random.default_rng(6)
    at = low + (rng.integers(10, count - 10, (4000, 2)) + 0.499) * h
    worst = 0.0
    for step in ((1.002, 1.002), (0.71, 0.71), (1.002, 0.0), (0.002, 0.002), (0.002, -0.002)):
        other = at + np.array(step) * h
        first, second = (mechanism.weights(x).astype(np.int64) for x in (at, other))
        gap = np.log1p(np.abs(first - second) / np.minimum(first, second)).max(axis=1)
        apart = np.linalg.norm(at - other, p, axis=1)
        assert (gap <= design.guarantee.epsilon * (apart + times * h)).all()
        if step[0] > 1:
            worst = max(worst, float((gap / apart).max()))
    assert worst > 1.5 * design.guarantee.epsilon  # above one step apart, and above ε·d
    said = design.guarantee.explain()
    assert "below the resolution" not in said
    shown = {2.0: "1.42 m", 1.0: "2.01 m", np.inf: "1.01 m"}[p]
    assert f"ε·(d + {shown})" in said
    assert "ε·(d + " in mechanism.guarantee.outside[0]


# ── sizes, and what a design says of itself ────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["--cells", "200x200", "--against-aipo"], "leave out --against-aipo"),
        (["--cells", "200x200", "--box", "40.7,-74.02,40.8,-73.93"], "fewer --cells"),
        (["--cells", "200x200", "--method", "spline"], "fewer --cells"),
    ],
)
def test_a_design_that_does_not_fit_is_refused_before_any_work(monkeypatch, words, advice):
    for room in (places_size, region_start):
        monkeypatch.setattr(room, "physical_memory", lambda: 8 * 10**9)
    monkeypatch.setattr(region_start, "remapped", lambda *_, **__: pytest.fail("it began"))
    done = runner.invoke(app, ["design", "--epsilon", "0.8", "--task-count", "5", *words])
    assert isinstance(done.exception, InvalidInput)
    assert "GB" in str(done.exception)
    assert advice in str(done.exception)


def test_a_machine_that_does_not_tell_its_memory_is_not_refused(monkeypatch):
    monkeypatch.setattr(places_size, "physical_memory", lambda: None)
    places_size.require_tables(10**9, 10**9)


def test_a_design_says_how_many_places_it_can_report(folder):
    done = runner.invoke(
        app,
        ["design", "--epsilon", "0.8", "--box", "40.7,-74.02,40.8,-73.93", "--cells", "3x4",
         "--method", "laplace", "--no-bound"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "one of 12 places" in done.stdout
    assert "geodesic km on the WGS 84 ellipsoid" in done.stdout


@pytest.mark.parametrize("change", [{"unit": "m"}, {"granularity": "one year of locations"}])
def test_a_file_that_speaks_of_another_unit_or_secret_is_refused(file, tmp_path, change):
    """Degrees are projected to km, a place at a time: other words in a file are forged."""
    kind, meta, arrays = load(file).to_record()

    class Forged:
        def to_record(self):
            return kind, meta | {"inner": meta["inner"] | change}, arrays

    with pytest.raises(BadFile, match="must speak of km and of one location"):
        load(save(Forged(), tmp_path / "forged.voile"))
