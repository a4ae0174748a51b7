"""Window descent against the solve of a whole, on one grid: loss and CPU seconds.

    python benchmarks/places_windows.py run --city synthetic
    python benchmarks/places_windows.py run --city goldcoast --data FOLDER
    python benchmarks/places_windows.py table

Grids that one solve can just afford, so that both can be had: three times as many cells along an
axis as outputs (8×6 on the synthetic city, 5×8 on the Gold Coast), ℓ2, ε from 0.4 to 1.6. Also the
same as a region, and Laplace noise with a remap, which windows begin from at 0.9 ε. `run` skips
what is in results/places_windows.jsonl; `table` writes results/places_windows.md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from voile.optimise.continuous import smooth_spline
from voile.optimise.laplace_remap import laplace_remap
from voile.optimise.problem import Problem
from voile.optimise.region_descent import region_descent
from voile.optimise.region_problem import as_region
from voile.optimise.windows import window_descent
from voile.places.city import synthetic_city
from voile.places.problems import road_problem, sampled_tasks
from voile.reproducing.aipo import goldcoast

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "places_windows.jsonl"
CITIES = {"synthetic": (8, 6), "goldcoast": (5, 8)}
METHODS = ("Laplace + remap", "one solve", "windows", "region")


def city(name: str, data: str) -> Problem:
    """Places, outputs and losses."""
    if name == "synthetic":
        network, prior = synthetic_city(seed=0)
    else:
        network = goldcoast(Path(data))
        prior = np.full(len(network), 1 / len(network))
    tasks = sampled_tasks(network, count=80, prior=prior, seed=0)
    return road_problem(network, cells=CITIES[name], tasks=tasks, prior=prior)


def one(problem: Problem, method: str, epsilon: float, cells: tuple[int, int]) -> dict:
    fine = (3 * cells[0], 3 * cells[1])
    how = {"epsilon": epsilon, "cells": fine}
    if method == "Laplace + remap":
        made = laplace_remap(problem, epsilon=epsilon, cells=cells)
        loss = made.expected_loss(problem.places, problem.loss, problem.prior)
        return {"loss": loss, "certificate": epsilon, "grid": None}
    if method == "one solve":
        found = smooth_spline(problem, tolerance=1e-4, **how)
    elif method == "windows":
        found = window_descent(problem, noise_cells=cells, side=12, **how)
    else:
        found = region_descent(as_region(problem), side=12, **how)
    made = found.mechanism
    return {
        "loss": found.loss, "certificate": made.certificate().epsilon, "grid": made.grid.cells
    }  # fmt: skip


def run(args: argparse.Namespace) -> None:
    begun, rows = time.monotonic(), known()
    done = {(r["city"], r["epsilon"], r["method"]) for r in rows}
    problem = city(args.city, args.data)
    for epsilon in args.epsilon:
        for method in METHODS:
            if (args.city, epsilon, method) in done:
                continue
            if time.monotonic() - begun > args.seconds:
                return
            cpu = time.process_time()
            row = {"city": args.city, "epsilon": epsilon, "method": method}
            row |= one(problem, method, epsilon, CITIES[args.city])
            row["seconds"] = round(time.process_time() - cpu, 1)
            with FILE.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)


def known() -> list[dict]:
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def table() -> None:
    lines = [
        "# Window descent against one solve of the whole",
        "",
        "Made by `python benchmarks/places_windows.py run …` and `table`; see its docstring. CPU",
        "seconds of two shared cores, compilation in the first row of a run. Both are on the same",
        "grid; a region takes a finer one where ε asks for it. All are certified at ε.",
        "",
        "| city | ε per km | method | grid | loss km | against one solve | certificate | CPU s |",
        "| --- | ---: | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    rows = known()
    for name in CITIES:
        here = [r for r in rows if r["city"] == name]
        for epsilon in sorted({r["epsilon"] for r in here}):
            found = {r["method"]: r for r in here if r["epsilon"] == epsilon}
            for method in (m for m in METHODS if m in found):
                r = found[method]
                grid = "–" if r["grid"] is None else "×".join(map(str, r["grid"]))
                against = "–"
                if "one solve" in found:
                    against = f"{100 * (r['loss'] / found['one solve']['loss'] - 1):+.1f} %"
                lines.append(
                    f"| {name} | {epsilon:g} | {method} | {grid} | {r['loss']:.4f} | {against} | "
                    f"{r['certificate']:.6f} | {r['seconds']:.0f} |"
                )
    (RESULTS / "places_windows.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--city", choices=CITIES, default="synthetic")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.4, 0.8, 1.2, 1.6])
    parser.add_argument("--data", default="", help="the folder of the Gold Coast")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after the row under way")
    args = parser.parse_args()
    run(args) if args.what == "run" else table()
