"""One draw: from C, from JavaScript, from Python one by one and in a batch, and loading a design.

Repeat with: `python benchmarks/places_export.py [--cells 15x20] [--out FILE]`

A spline on the embedded made-up city. CPU time of one process each, so that other work on the
machine counts little; compilers as they are found here. What C draws is checked against Python by
`tests/places/test_export.py`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import voile

MAIN = r"""
#include <stdio.h>
#include <time.h>
int main(void) {
    uint64_t s = 88172645463325252ull;
    long sum = 0;
    const int n = 2000000;
    clock_t t = clock();
    for (int i = 0; i < n; i++) {
        s ^= s << 13; s ^= s >> 7; s ^= s << 17;
        double u = ((s >> 20) % 1000003) / 1000003.0, v = ((s >> 10) % 1000033) / 1000033.0;
        double x = voile_low[0] + (voile_high[0] - voile_low[0]) * u;
        double y = voile_low[1] + (voile_high[1] - voile_low[1]) * v;
        const uint64_t word = s * 0x9E3779B97F4A7C15ull;
        sum += voile_draw(x, y, &word);
    }
    double draw = 1e9 * (double)(clock() - t) / CLOCKS_PER_SEC / n;
    t = clock();
    for (int i = 0; i < n; i++) {
        double x, y;
        sum += voile_project(45 + (i % 100) / 1000.0, 5 + (i % 77) / 1000.0, &x, &y) + (x > 0);
    }
    printf("%.0f %.0f %ld\n", draw, 1e9 * (double)(clock() - t) / CLOCKS_PER_SEC / n, sum);
    return 0;
}
"""
SCRIPT = """
import { project, draw } from "./d.mjs";
let sum = 0;
const run = (n) => {
  for (let i = 0; i < n; i++) sum += draw((i % 97) / 20, (i % 89) / 20, BigInt(i) << 44n);
};
run(5000);
const t = process.cpuUsage().user;
run(20000);
console.log((process.cpuUsage().user - t) / 20000 * 1000);
"""
LOAD = """
import time
t = time.process_time()
import voile
d = voile.load("d.voile")
a = time.process_time() - t
d.release((45.0, 5.0))
print(a, time.process_time() - t)
"""


def main() -> None:
    """Measure and write the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--cells", default="15x20")
    options.add_argument("--out", default="benchmarks/results/places_export.md")
    given = options.parse_args()
    design = voile.places.design(cells=given.cells, epsilon=0.8, method="spline", bound=False)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        voile.save(design, folder / "d.voile")
        voile.places.export(design, out=folder / "d.c")
        voile.places.export(design, format="js", out=folder / "d.mjs")
        sizes = {k: (folder / k).stat().st_size / 1e6 for k in ("d.voile", "d.c", "d.mjs")}
        if shutil.which("gcc"):
            with (folder / "d.c").open("a") as file:
                file.write(MAIN)
            subprocess.run(["gcc", "-O2", "d.c", "-o", "d", "-lm"], cwd=folder, check=True)
            told = subprocess.run(["./d"], cwd=folder, capture_output=True, text=True, check=True)
            draw, project, _ = told.stdout.split()
            rows += [("C, one draw (gcc -O2)", f"{draw} ns"), ("C, degrees to km", f"{project} ns")]
        if shutil.which("node"):
            (folder / "run.mjs").write_text(SCRIPT)
            told = subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, text=True)
            rows.append(("JavaScript, one draw (Node)", f"{float(told.stdout) / 1000:.1f} µs"))
        told = subprocess.run(
            [sys.executable, "-c", LOAD], cwd=folder, capture_output=True, text=True, check=True
        )
        loaded, first = (float(v) for v in told.stdout.split())
    rows += [
        ("Python, one place, degrees to degrees", f"{_each(design, (45.0, 5.0), 3000):.0f} µs"),
        ("Python, a list of one", f"{_each(design, [(45.0, 5.0)], 1000):.0f} µs"),
        ("Python, each of 200,000 (draws alone)", f"{_batch(design):.2f} µs"),
        ("import voile and load the design", f"{loaded:.2f} s"),
        ("the same, and the first release", f"{first:.2f} s"),
    ]
    text = "\n".join(
        [
            "# One draw from a design of splines",
            "",
            f"`python benchmarks/places_export.py --cells {given.cells}`; "
            f"{len(design.mechanism.outputs)} outputs, {design.mechanism.grid.size} coefficients; "
            "CPU time of one process.",
            "",
            "| what | CPU time |",
            "| --- | ---: |",
            *(f"| {what} | {value} |" for what, value in rows),
            "",
            "Files: " + ", ".join(f"{k[1:]} {v:.1f} MB" for k, v in sizes.items()) + ".",
            "",
        ]
    )
    Path(given.out).write_text(text, encoding="utf-8")
    print(text)


def _each(design: voile.places.PlacesDesign, places: object, times: int) -> float:
    design.release(places)
    begun = time.process_time()
    for _ in range(times):
        design.release(places)
    return (time.process_time() - begun) / times * 1e6


def _batch(design: voile.places.PlacesDesign) -> float:
    low, high = design.box
    points = low + np.random.default_rng(0).random((200_000, 2)) * (high - low)
    rng = voile.secure_rng()
    design.mechanism.draw(points[:10], rng)
    begun = time.process_time()
    design.mechanism.draw(points, rng)
    return (time.process_time() - begun) / len(points) * 1e6


if __name__ == "__main__":
    main()
