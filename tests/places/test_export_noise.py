"""Noise without a design as source code: the same integers from the same random words."""

from __future__ import annotations

import shutil
import subprocess
from decimal import Decimal, localcontext

import numpy as np
import pytest

import voile
from voile.core import discrete_gaussian, lattice_laplace
from voile.errors import InvalidInput
from voile.places.earth import BoxMap, Globe
from voile.places.exported import noise_code
from voile.places.lengths import length_words
from voile.places.noise import PlacesNoise
from voile.places.public_places import PublicPlaces

pytest.importorskip("pyproj")
BOX = (44.9, 4.9, 45.1, 5.1)
GROUNDS = {"globe": Globe(), "box": BoxMap(BOX)}
WORDS = 300

MAIN = r"""
#include <stdio.h>
#define WORDS 300
static unsigned long long words[WORDS];
static int given;
static int source(void *state, void *bytes, size_t count) {
    (void)state;
    if (given >= WORDS || count != 8) return -1;
    uint64_t word = words[given++];
    memcpy(bytes, &word, 8);
    return 0;
}
int main(void) {
    double lat, lon, point[VOILE_AXES];
    while (scanf("%lf %lf", &lat, &lon) == 2) {
        int64_t lattice[VOILE_AXES];
        for (int i = 0; i < WORDS; i++) if (scanf("%llu", &words[i]) != 1) return 2;
        if (voile_space(lat, lon, point)) return 3;
        for (int i = 0; i < VOILE_AXES; i++) {
            printf("%.17g ", point[i]);
            lattice[i] = (int64_t)rint(point[i] / voile_step);
            printf("%lld ", (long long)lattice[i]);
        }
        given = 0;
        if (voile_noise(lattice, source, 0)) return 4;
        for (int i = 0; i < VOILE_AXES; i++) {
            printf("%lld ", (long long)lattice[i]);
            point[i] = (double)lattice[i] * voile_step;
        }
        voile_ground(point, &lat, &lon);
        printf("%d %.17g %.17g\n", given, lat, lon);
    }
    lat = 45.0, lon = 5.0;
    if (voile_release(&lat, &lon, voile_random, 0) || !(lat > 44 && lat < 46)) return 5;
    lat = 45.0, lon = 5.0, given = WORDS;  /* no words left: nothing is reported */
    if (!voile_release(&lat, &lon, source, 0) || lat == lat) return 6;
    lat = 91;
    if (!voile_release(&lat, &lon, voile_random, 0) || lat == lat) return 7;
    return 0;
}
"""
SCRIPT = """
import { space, noise, ground, release } from "./noise.mjs";
import { readFileSync } from "fs";
const step = %r;
for (const line of readFileSync(0, "utf8").trim().split("\\n")) {
  const [lat, lon, ...words] = line.split(" ");
  let given = 0;
  const point = space(+lat, +lon);
  const lattice = point.map((x) => BigInt(Math.round(x / step)));
  const drawn = noise(lattice, () => BigInt(words[given++]));
  const found = ground(drawn.map((x) => Number(x) * step));
  console.log([...point.flatMap((x, i) => [x, lattice[i]]), ...drawn, given, ...found].join(" "));
}
const [a] = release(45, 5);
if (!(a > 44 && a < 46)) process.exit(3);
let refused = false;
try { release(91, 5); } catch (problem) { refused = problem instanceof RangeError; }
if (!refused) process.exit(4);
for (const none of [[null, null], [null, 5], [45, undefined], ["45", "5"], [[], 5]]) {
  refused = false;
  try { release(...none); } catch (problem) { refused = problem instanceof RangeError; }
  if (!refused) process.exit(5);
}
"""


def tie(row, axes, law, *, past=False):
    """Make the first trial's 64 bits those of its chance itself: they cannot settle it.

    Past the table, after one step: three quarters of its chance, which is accepted.
    """
    chosen = np.searchsorted(np.cumsum(law.weights[:-1]), row[0] >> np.uint64(2), side="right")
    t, first, second = int(law.eighths[chosen]), int(row[1]), int(row[1 + axes])
    k = int(np.searchsorted(discrete_gaussian.SUMS, np.uint64(first >> 2), side="right"))
    size = k * t + ((second >> 32) * t >> 32)
    with localcontext() as context:
        context.prec = 60
        chance = (-Decimal(size * size) / (128 * t * t)).exp() * discrete_gaussian.HEIGHT
        if past:
            row[1 + 2 * axes] = int(chance * 2 * 2**64 * 3 / 4)
            row[1 + 3 * axes] |= np.uint64(2**63)
        else:
            row[1 + 2 * axes] = int(chance * 2**64 / discrete_gaussian.WEIGHTS[k])


def asked(ground, law):
    """Places, and for each its random words: usual ones, the scales and trials past the tables."""
    rng = np.random.default_rng(4)
    count = 120
    words = rng.bit_generator.random_raw(count * WORDS).reshape(count, WORDS)
    words[:20, 0] = 2**64 - 1  # a scale past the table
    words[20:40, 1] = np.uint64(int(discrete_gaussian.SUMS[79]) << 2)  # a trial past the table
    words[20:40, 1 + ground.dimensions] |= np.uint64(2**62)  # fair
    words[40, 1] = 2**64 - 1  # proposes nothing
    for row in words[20:30]:
        tie(row, ground.dimensions, law, past=True)
    for row in words[60:80]:
        tie(row, ground.dimensions, law)
    lat, lon = 45 + rng.uniform(-0.1, 0.1, count), 5 + rng.uniform(-0.1, 0.1, count)
    if isinstance(ground, Globe):
        lat[50:] = np.linspace(-90, 90, count - 50)
        lon[50:] = np.linspace(-180, 180, count - 50)
    return lat, lon, words


class Words:
    """A generator of these 64-bit words."""

    def __init__(self, words):
        self.words, self.given = words, 0

    def bits(self, rng, size, *, bits):
        self.given += size
        found = self.words[self.given - size : self.given]
        assert len(found) == size
        return found >> np.uint64(64 - bits)


def check(printed, noise, lat, lon, words, monkeypatch):
    axes = noise.ground.dimensions
    rows = [line.split() for line in printed.splitlines()]
    assert len(rows) == len(lat)
    points = noise.ground.to_km(lat, lon)[0]
    for row, place, mine in zip(rows, points, words, strict=True):
        assert np.abs(np.array(row[: 2 * axes : 2], float) - place).max() < 1e-9  # km
        start = np.array([int(x) for x in row[1 : 2 * axes : 2]])
        assert np.abs(start - place / noise.step).max() <= 0.5 + 1e-6
        source = Words(mine)
        for module in (discrete_gaussian, lattice_laplace):
            monkeypatch.setattr(module, "uniform_bits", source.bits)
        drawn = noise.noise.add(start[None], None)[0]
        assert drawn.tolist() == [int(x) for x in row[2 * axes : 3 * axes]]
        assert source.given == int(row[3 * axes])
        back = noise.ground.to_degrees(drawn[None] * noise.step)
        theirs = np.array([row[-2:]], float).T
        away = np.subtract(*(Globe().to_km(*pair)[0] for pair in (back, theirs)))
        assert np.abs(away).max() < 1e-8  # km
    monkeypatch.undo()


def lines(lat, lon, words):
    rows = zip(lat.tolist(), lon.tolist(), words.tolist(), strict=True)
    return "".join(f"{a!r} {b!r} {' '.join(map(str, w))}\n" for a, b, w in rows)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler here")
@pytest.mark.parametrize("doubt", [None, 2.0], ids=["usual", "all settled exactly"])
@pytest.mark.parametrize("where", GROUNDS)
def test_c_draws_the_same(where, doubt, tmp_path, monkeypatch):
    noise = PlacesNoise(2.0, GROUNDS[where])
    (tmp_path / "noise.c").write_text(noise_code(noise, "c", doubt=doubt) + MAIN)
    build = ["gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O2", "noise.c", "-o", "run"]
    subprocess.run([*build, "-lm"], cwd=tmp_path, check=True)
    given = asked(noise.ground, noise.noise)
    run = subprocess.run(
        ["./run"], input=lines(*given), text=True, capture_output=True, cwd=tmp_path, check=True
    )
    check(run.stdout, noise, *given, monkeypatch)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no JavaScript engine here")
@pytest.mark.parametrize("doubt", [None, 2.0], ids=["usual", "all settled exactly"])
@pytest.mark.parametrize("where", GROUNDS)
def test_javascript_draws_the_same(where, doubt, tmp_path, monkeypatch):
    noise = PlacesNoise(2.0, GROUNDS[where])
    (tmp_path / "noise.mjs").write_text(noise_code(noise, "js", doubt=doubt))
    (tmp_path / "run.mjs").write_text(SCRIPT % noise.step)
    given = asked(noise.ground, noise.noise)
    run = subprocess.run(
        ["node", "run.mjs"],
        input=lines(*given), text=True, capture_output=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    check(run.stdout, noise, *given, monkeypatch)


def test_the_file_says_what_is_promised_and_what_is_left(tmp_path):
    done = voile.places.export(epsilon=2, format="js", out=tmp_path / "n.mjs")
    text = (tmp_path / "n.mjs").read_text()
    assert "ε = 2 per km" in text
    assert "@" not in text
    assert done.mean_error == PlacesNoise(2.0).mean_error
    assert length_words(done.mean_error, bound=True) in str(done)
    by_error = voile.places.export(mean_error="500m", box=BOX, out=tmp_path / "n.c")
    assert by_error.mean_error <= 0.5
    assert f"ε = {by_error.epsilon:g} per km" in (tmp_path / "n.c").read_text()


def test_what_is_no_noise_or_two_things_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="give one of --epsilon"):
        voile.places.export(out=tmp_path / "n.c")
    with pytest.raises(InvalidInput, match="go with noise"):
        voile.places.export("city.voile", epsilon=2, out=tmp_path / "n.c")
    with pytest.raises(InvalidInput, match="within"):
        voile.places.export(epsilon=2, box=(-80, -170, 80, 170), out=tmp_path / "n.c")
    public = PublicPlaces(np.array([45.0]), np.array([5.0]), False)
    with pytest.raises(InvalidInput, match="on the host"):
        noise_code(PlacesNoise(2.0, Globe(), public), "c")
