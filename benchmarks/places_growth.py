"""Time and memory of (e), (f), `best` and regions against the number of cells, and a chart.

    python benchmarks/places_growth.py run --cells 8x10 12x16 15x20
    python benchmarks/places_growth.py chart

`run` measures each size in a process of its own (peak memory is the process's) and appends a line
to results/places_growth.jsonl; `chart` writes results/places_growth.md and .svg. ε = 0.4 per km.
Regions, from 12×12 cells of 250 m to 200×200, are those of the metropolis at ε = 1.6 that
places_regions.py measured; where it was cut, CPU seconds are start, windows solved at their price
times all windows of the run, and the end, and the row says so.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
EPSILON = 0.4


def one(cells: str, method: str) -> None:
    from voile.optimise.best import best
    from voile.optimise.continuous import bilinear_cone, smooth_spline
    from voile.places.city import synthetic_city
    from voile.places.problems import road_problem, sampled_tasks

    rows, columns = map(int, cells.split("x"))
    network, prior = synthetic_city(seed=0)
    tasks = sampled_tasks(network, count=80, prior=prior, seed=0)
    warm = road_problem(network, cells=(4, 3), tasks=tasks, prior=prior)
    problem = road_problem(network, cells=(columns, rows), tasks=tasks, prior=prior)
    work = {
        "(e)": lambda p, c: bilinear_cone(p, epsilon=EPSILON, cells=c, tolerance=1e-4),
        "(f)": lambda p, c: smooth_spline(p, epsilon=EPSILON, cells=c, tolerance=1e-4),
        "best": lambda p, c: best(p, epsilon=EPSILON, cells=c),
    }[method]
    work(warm, (4, 3))  # compile
    begun, cpu = time.perf_counter(), time.process_time()
    found = work(problem, (columns, rows))
    row = {
        "cells": cells,
        "method": method,
        "outputs": len(problem.outputs),
        "seconds": round(time.perf_counter() - begun, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "loss": found.loss,
    }
    with (RESULTS / "places_growth.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(row, flush=True)


def regions() -> list[dict]:
    """The last line of each size of the metropolis that places_regions.py has measured."""
    text = (RESULTS / "places_regions.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    rows.sort(key=lambda r: r["whole"])  # one that was cut only where there is no other
    last = {r["cells"]: r for r in rows if r["city"] == "metropolis"}
    return [
        {
            "method": f"region ({r['sweeps']} sweep{'s' * (r['sweeps'] > 1)})"
            if r["whole"]
            else f"region ({r['windows']} of {r['planned']})",
            "cells": r["cells"],
            "outputs": r["outputs"],
            "seconds": None,
            "cpu_seconds": r["cpu_seconds"]
            if r["whole"]
            else r["cpu_rest"] + r["cpu_window"] * r["planned"],
            "megabytes": r["megabytes"],
            "loss": r["loss"],
        }
        for r in last.values()
    ]


def chart() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    text = (RESULTS / "places_growth.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    rows += regions()
    rows.sort(key=lambda r: (r["method"], r["outputs"]))
    lines = [
        "# Growth with the number of cells",
        "",
        f"Synthetic city, ε = {EPSILON} per km, one output a cell (fewer where cells share a "
        "nearest junction). Regions: a metropolis at ε = 1.6 in cells of 250 m, outputs that the "
        "start uses, so many whole sweeps of windows; *n of m*: so many windows were solved, CPU "
        "seconds are for all m at their price. Peak MB is that of its processes together at most "
        "(places_regions.md). Made by `python benchmarks/places_growth.py`.",
        "",
        "| method | cells | outputs | seconds | CPU seconds | peak MB | loss km |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {r['method']} | {r['cells'].replace('x', '×')} | {r['outputs']} | "
        f"{r['seconds'] or '–'} | {r['cpu_seconds']:.1f} | {r['megabytes']} | {r['loss']:.4f} |"
        for r in rows
    ]
    (RESULTS / "places_growth.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    for method in dict.fromkeys(r["method"].split(" (")[0] or r["method"] for r in rows):
        here = [r for r in rows if r["method"].startswith(method)]
        here.sort(key=lambda r: r["outputs"])
        size = [r["outputs"] for r in here]
        axes[0].loglog(size, [r["cpu_seconds"] for r in here], marker="o", label=method)
        axes[1].loglog(size, [r["megabytes"] for r in here], marker="o", label=method)
    axes[0].set(xlabel="outputs", ylabel="CPU seconds")
    axes[1].set(xlabel="outputs", ylabel="peak MB")
    axes[0].legend(frameon=False)
    for axis in axes:
        axis.grid(alpha=0.25, which="both")
    figure.tight_layout()
    figure.savefig(RESULTS / "places_growth.svg")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "one", "chart"))
    parser.add_argument("--cells", nargs="+", default=["8x10", "12x16", "15x20", "20x27", "30x40"])
    parser.add_argument("--methods", nargs="+", default=["(e)", "(f)", "best"])
    args = parser.parse_args()
    if args.what == "one":
        one(args.cells[0], args.methods[0])
    elif args.what == "chart":
        chart()
    else:
        for size in args.cells:
            for method in args.methods:
                subprocess.run(
                    [sys.executable, __file__, "one", "--cells", size, "--methods", method],
                    check=True,
                )
