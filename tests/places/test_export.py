"""A design as source code draws what the design draws; so does one place at a time."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import voile
from voile.errors import CannotWrite, InvalidInput
from voile.optimise import _region_kernels
from voile.optimise._release_kernels import draw_each
from voile.optimise.region import RegionMechanism
from voile.places._export import source_code

pytest.importorskip("pyproj")
pytest.importorskip("numba")
BOX = (44.98, 4.97, 45.02, 5.03)
QUICK = {"box": BOX, "cells": (3, 4), "bound": False}

MAIN = r"""
#include <stdio.h>
int main(void) {
    double lat, lon, x, y;
    unsigned long long one, two, three;
    while (scanf("%lf %lf %llu %llu %llu", &lat, &lon, &one, &two, &three) == 5) {
        const uint64_t words[3] = {one, two, three};
        if (voile_project(lat, lon, &x, &y)) return 2;
        printf("%.17g %.17g %d\n", x, y, voile_draw(x, y, words));
    }
    lat = 45.0, lon = 5.0;
    if (voile_release(&lat, &lon, voile_random, 0) || lat < 44.9 || lat > 45.1) return 3;
    lat = 47.0;
    if (!voile_release(&lat, &lon, voile_random, 0) || lat == lat) return 4;
    return 0;
}
"""
SCRIPT = """
import { project, draw, release, OUTPUTS } from "./design.mjs";
import { readFileSync } from "fs";
for (const line of readFileSync(0, "utf8").trim().split("\\n")) {
  const [lat, lon, ...words] = line.split(" ");
  const [x, y] = project(+lat, +lon);
  console.log(`${x} ${y} ${draw(x, y, words.map(BigInt))}`);
}
const [c, d] = release(45, 5, () => 7n);
if (!OUTPUTS.some(([a, b]) => a === c && b === d)) process.exit(3);
release(45, 5);
let refused = false;
try { release(47, 5); } catch (problem) { refused = problem instanceof RangeError; }
if (!refused) process.exit(4);
for (const none of [[null, null], [null, 5], [45, undefined], ["45", "5"], [[], 5]]) {
  refused = false;
  try { release(...none); } catch (problem) { refused = problem instanceof RangeError; }
  if (!refused) process.exit(5);
}
"""


@pytest.fixture(scope="module", params=["spline", "bilinear", "region"])
def design(request):
    return voile.places.design(method=request.param, epsilon=1.5, **QUICK)


def asked(count=400):
    """Places on the map, on its border, on both sides of it, and random words."""
    rng = np.random.default_rng(5)
    lat, lon = 45 + rng.uniform(-0.03, 0.03, count), 5 + rng.uniform(-0.045, 0.045, count)
    lat[0], lon[0] = 45.0, 5.0
    words = rng.bit_generator.random_raw(3 * count).reshape(count, 3)
    words[1:3] = [[0] * 3, [2**64 - 1] * 3]
    words[3:9, 1] = 2**64 - 1  # the floor of a region
    return lat, lon, words


def ours(design, points, words):
    mechanism = design.mechanism
    index, weight = mechanism.grid.basis(mechanism.snap(np.clip(points, *design.box)))
    drawn = np.empty(len(points), dtype=np.intp)
    if isinstance(mechanism, RegionMechanism):
        cut = (words >> np.array([12, 2, 32], dtype=np.uint64)).astype(np.int64)
        parts = (mechanism.rows, mechanism.listed, mechanism.sums, mechanism.floor)
        _region_kernels.draw_each(index, weight, *parts, cut, drawn)
        return drawn
    targets = (words[:, 0] >> np.uint64(2)).astype(np.int64)
    draw_each(index, weight, mechanism.table, targets, drawn)
    return drawn


def lines(lat, lon, words):
    rows = zip(lat.tolist(), lon.tolist(), words.tolist(), strict=True)
    return "".join(f"{a!r} {b!r} {' '.join(map(str, w))}\n" for a, b, w in rows)


def check(design, printed, lat, lon, words):
    found = np.array([line.split() for line in printed.splitlines()], dtype=float)
    assert np.abs(found[:, :2] - design.projection.to_km(lat, lon)).max() < 1e-9  # km
    assert (found[:, 2] == ours(design, found[:, :2], words)).all()
    assert len(set(found[:, 2])) > 5


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler here")
def test_c_draws_the_same(design, tmp_path):
    done = voile.places.export(design, format="c", out=tmp_path / "design.c")
    assert done.bytes == (tmp_path / "design.c").stat().st_size
    with (tmp_path / "design.c").open("a") as file:
        file.write(MAIN)
    build = ["gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O2", "design.c", "-o", "run"]
    subprocess.run([*build, "-lm"], cwd=tmp_path, check=True)
    given = asked()
    run = subprocess.run(
        ["./run"], input=lines(*given), text=True, capture_output=True, cwd=tmp_path, check=True
    )
    check(design, run.stdout, *given)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no JavaScript engine here")
def test_javascript_draws_the_same(design, tmp_path):
    voile.places.export(design, format="js", out=tmp_path / "design.mjs")
    (tmp_path / "run.mjs").write_text(SCRIPT)
    given = asked()
    run = subprocess.run(
        ["node", "run.mjs"],
        input=lines(*given), text=True, capture_output=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    check(design, run.stdout, *given)


def test_one_place_at_a_time_draws_the_same(design):
    lat, lon, words = asked(300)
    points = design.projection.to_km(lat, lon)
    cut = [64 - bits for bits in design._one.bits]
    drawn = [
        design._one.draw(x, y, [w >> c for w, c in zip(three, cut, strict=False)])
        for (x, y), three in zip(points.tolist(), words.tolist(), strict=True)
    ]
    assert drawn == ours(design, points, words).tolist()
    one, many = (design.release(p, rng=voile.seeded_rng(1)) for p in ((45.0, 5.0), [(45.0, 5.0)]))
    assert [one] == many
    assert type(one) is tuple
    rows = {design.release((45.0, 5.0)) for _ in range(300)}
    assert len(rows) > 3  # drawn securely where nothing is said
    assert rows <= set(zip(*(axis.tolist() for axis in design.output_degrees), strict=True))


def test_one_place_is_refused_as_many_are(design):
    with pytest.raises(InvalidInput, match="within"):
        design.release((47.0, 5.0))
    with pytest.raises(InvalidInput, match="degrees"):
        design.release((95.0, 5.0))
    with pytest.raises(InvalidInput, match="on the map"):
        design.release((45.03, 5.0), outside="refuse")


def test_integers_are_summed_as_python_sums_them(design):
    """The limbs of the compiled loop against integers without end."""
    mechanism = design.mechanism
    if isinstance(mechanism, RegionMechanism):
        pytest.skip("a region's integers are looked up and not summed")
    lat, lon, _ = asked(60)
    points = np.clip(design.projection.to_km(lat, lon), *design.box)
    weights = mechanism.weights(points)
    index, basis = mechanism.grid.basis(mechanism.snap(points))
    for row, places, shares in zip(weights.tolist(), index, basis, strict=True):
        whole = [int(share * 2**52) for share in shares.tolist()]
        whole[whole.index(max(whole))] += 2**52 - sum(whole)
        tables = [mechanism.table[place].tolist() for place in places]
        sums = [
            sum(u * t[y] for u, t in zip(whole, tables, strict=True)) >> 52 for y in range(len(row))
        ]
        assert sums[-1] == 2**62
        assert row == [b - a for a, b in zip([0, *sums], sums, strict=False)]


def test_the_file_says_what_is_promised_and_holds_no_more(design, tmp_path):
    for kind in ("c", "js"):
        text = source_code(design, kind)
        assert "ε = 1.5 per km" in text
        assert "@" not in text.replace("@VERSION@", "")
    done = voile.places.export(design, out=tmp_path / "d.c")
    assert "same random bits" in str(done.report())
    with pytest.raises(CannotWrite, match="exists"):
        voile.places.export(design, out=tmp_path / "d.c")
    with pytest.raises(CannotWrite):
        voile.places.export(design, out=tmp_path / "none" / "d.c")


def test_noise_is_not_exported(tmp_path):
    laplace = voile.places.design(method="laplace", epsilon=1.5, **QUICK)
    with pytest.raises(InvalidInput, match="--method spline"):
        voile.places.export(laplace, out=tmp_path / "d.c")
    (pair,) = [laplace.release((45.0, 5.0))]
    assert len(pair) == 2


def test_a_region_too_large_for_source_code_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("voile.places._export.MOST_ENTRIES", 10)
    region = voile.places.design(method="region", epsilon=1.5, **QUICK)
    with pytest.raises(InvalidInput, match="million numbers"):
        voile.places.export(region, out=tmp_path / "region.c")
