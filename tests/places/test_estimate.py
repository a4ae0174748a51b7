"""Where people are, from releases alone: closer than counting releases, with intervals."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import voile
from in_process import voile as command
from voile.errors import InvalidInput

pytest.importorskip("pyproj")
BOX = (44.8, 4.8, 45.4, 5.4)
SPOTS = np.array([[45.0, 5.0], [45.1, 5.0], [45.0, 5.15]])  # 11 km apart and more


def crowd(count, shares, seed):
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(SPOTS), count, p=shares)
    places = SPOTS[chosen] + rng.uniform(-0.003, 0.003, (count, 2))
    return chosen, places


def around(found, spot):
    """The estimated share of squares within 3 km of a spot."""
    km = (found.middles - spot) * (111.2, 111.2 * math.cos(math.radians(45)))
    return float(found.table[np.linalg.norm(km, axis=1) < 3].sum())


def test_shares_of_areas_come_closer_than_counted_releases():
    chosen, places = crowd(600, [0.6, 0.3, 0.1], seed=1)
    rows = [{"lat": a, "lon": b} for a, b in places.tolist()]
    done = voile.places.protect(rows, epsilon=0.5, box=BOX, seed=2)  # 4 km on average
    found = voile.places.estimate(done.data, epsilon=0.5, box=BOX, resamples=20)
    assert found.records == 600
    assert found.table.sum() == pytest.approx(1)
    shown = np.array([[row["lat"], row["lon"]] for row in done.data])
    for spot in range(3):
        true = float((chosen == spot).mean())
        km = (shown - SPOTS[spot]) * (111.2, 111.2 * math.cos(math.radians(45)))
        counted = float((np.linalg.norm(km, axis=1) < 3).mean())
        assert abs(around(found, SPOTS[spot]) - true) < 0.5 * abs(counted - true)
    best = found.shares[0]
    assert best.lower <= best.share <= best.upper
    assert [s.share for s in found.shares] == sorted((s.share for s in found.shares), reverse=True)
    assert "post-processing" in str(found)


@pytest.mark.parametrize("way", ["each", "every", "stays"])
def test_origins_and_destinations_come_back_in_pairs(way):
    rng = np.random.default_rng(3)
    pairs = [(0, 1)] * 70 + [(2, 0)] * 30
    rows = []
    for trace, (start, end) in enumerate(pairs):
        for step in range(4):
            lat, lon = SPOTS[start] + (SPOTS[end] - SPOTS[start]) * step / 3
            moved = rng.uniform(-0.002, 0.002, 2)
            rows.append({"v": trace, "t": step, "lat": lat + moved[0], "lon": lon + moved[1]})
    how = {"epsilon": 4.0, "trace": "v", "time": "t", "way": way, "box": BOX}
    done = voile.places.protect(rows, **how, pass_="all", seed=1)
    found = voile.places.estimate(done.data, **how, area="5km", resamples=20)
    assert found.records == 100
    near = [np.linalg.norm((found.middles - spot) * (111.2, 78.6), axis=1) < 6 for spot in SPOTS]
    share = {pair: float(found.table[np.ix_(near[pair[0]], near[pair[1]])].sum())
             for pair in [(0, 1), (2, 0), (0, 2), (1, 0)]}  # fmt: skip
    assert share[0, 1] == pytest.approx(0.7, abs=0.15)
    assert share[2, 0] == pytest.approx(0.3, abs=0.15)
    assert share[0, 2] < 0.1
    assert share[1, 0] < 0.1
    assert found.shares[0].to_lat is not None


def test_releases_too_far_apart_for_one_plane_are_refused_with_the_cause():
    wide = [{"lat": 48.86, "lon": 2.35}, {"lat": -33.9, "lon": 151.2}, {"lat": 40.7, "lon": -74}]
    with pytest.raises(InvalidInput, match="releases must lie within 1,500 km of their middle"):
        voile.places.estimate(wide, epsilon=2)


def test_what_cannot_be_estimated_is_refused():
    rows = [{"v": "a", "lat": 45.0, "lon": 5.0}] * 4
    with pytest.raises(InvalidInput, match="drawn for other places"):
        voile.places.estimate(rows, epsilon=2, trace="v", way="predict")
    with pytest.raises(InvalidInput, match="confidence"):
        voile.places.estimate(rows, epsilon=2, confidence=1.0)
    with pytest.raises(InvalidInput, match="with its unit"):
        voile.places.estimate(rows, epsilon=2, area="2")
    with pytest.raises(InvalidInput, match="go with --trace"):
        voile.places.estimate(rows, epsilon=2, way="every")
    many = [{"lat": 45 + k / 3000, "lon": 5.0} for k in range(3000)]
    with pytest.raises(InvalidInput, match="take larger areas"):
        voile.places.estimate(many, epsilon=2, area="20m")


# ── the guarantee file beside a release ────────────────────────────────────────────────────────

TRACED = "--trace v --time t"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Traces and places, released into files: one command each."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    rows = [
        (trace, step, *(SPOTS[trace % 3] + rng.uniform(-0.01, 0.01, 2)))
        for trace in range(12)
        for step in range(4)
    ]
    lines = "".join(f"{v},{t},{lat:.5f},{lon:.5f}\n" for v, t, lat, lon in rows)
    Path("in.csv").write_text("v,t,lat,lon\n" + lines)
    box = ",".join(map(str, BOX))
    for how in (
        f"{TRACED} --pass v,t --out traces.csv",
        f"--drop v,t --box {box} --out places.csv",
    ):
        code, _, err = command("places", "protect", "in.csv", "--epsilon", "8", *how.split())
        assert code == 0, err
    return box


SMALL = ("--area", "5km", "--resamples", "20", "--json")


def estimated(*arguments):
    return command("places", "estimate", *arguments, *SMALL)


def test_the_guarantee_file_says_epsilon_as_its_reader_would(files):
    for asked in (("places.csv", "--box", files), ("traces.csv", *TRACED.split())):
        code, out, err = estimated(*asked)
        assert code == 0, err
        assert (code, out, err) == estimated(*asked, "--epsilon", "8")
        Path(asked[0] + ".guarantee.json").rename("elsewhere.json")
        code, _, err = estimated(*asked)
        assert code == 2
        assert "--epsilon must be given" in err
        assert estimated(*asked, "--guarantee", "elsewhere.json")[1] == out
        assert estimated(*asked, "--epsilon", "8")[1] == out
    followed = ("places", "follow", "in.csv", "traces.csv", "--public", "in.csv", *TRACED.split())
    told = command(*followed, "--side", "3km", "--guarantee", "elsewhere.json", "--json")
    assert told[0] == 0, told[2]
    assert told == command(*followed, "--side", "3km", "--epsilon", "8", "--json")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("places.csv --box {box} --epsilon 4", "guarantee file says, 8.0, got 4.0"),
        ("places.csv", "says otherwise; it was made by: voile places protect in.csv"),
        ("traces.csv --trace v", "says otherwise"),
        ("traces.csv --trace v --time t --way every", "says otherwise"),
        ("traces.csv --trace v --time t --guarantee places.csv.guarantee.json", "written for"),
        ("traces.csv --trace v --time t --guarantee none.json", "there is no none.json"),
        ("traces.csv --trace v --time t --guarantee other.json", "that of released places"),
        ("traces.csv --trace v --time t --guarantee absurd.json", "does not write"),
        ("changed.csv --trace v --time t", "changed since"),
    ],
)
def test_what_the_guarantee_file_contradicts_is_refused(files, asked, why):
    kept = json.loads(Path("traces.csv.guarantee.json").read_text())
    Path("changed.csv.guarantee.json").write_text(json.dumps(kept))
    Path("changed.csv").write_text(Path("traces.csv").read_text() + "11,4,45.0,5.0\n")
    Path("other.json").write_text(json.dumps(kept | {"domain": "labels"}))
    Path("absurd.json").write_text(json.dumps(kept | {"guarantee": {"epsilon": "much"}}))
    code, out, err = estimated(*asked.format(box=files).split())
    assert (code, out) == (2, "")
    assert why in err


def test_a_release_in_memory_vouches_for_itself():
    rows = [{"lat": 45.0 + k / 1000, "lon": 5.0} for k in range(30)]
    box = (44, 4, 46, 6)
    done = voile.places.protect(rows, epsilon=4, box=box, seed=1)
    how = {"box": tuple(map(float, box)), "area": "5km", "resamples": 20}
    found = voile.places.estimate(done.data, guarantee=done, **how)
    assert found.shares == voile.places.estimate(done.data, epsilon=4, **how).shares
    public = [{"lat": 45.0, "lon": 5.0 + k / 1000} for k in range(30)]
    moved = voile.places.protect(rows, epsilon=4, box=box, remap=public, seed=1)
    with pytest.raises(InvalidInput, match="neither moved nor restored"):
        voile.places.estimate(moved.data, guarantee=moved, **how)
