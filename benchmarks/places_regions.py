"""Whole regions by window descent on a sparse table: time, memory, loss, certificate.

    python benchmarks/places_regions.py run --city goldcoast --data FOLDER --cells 200x200
    python benchmarks/places_regions.py run --city metropolis --cells 200x200 --minutes 9
    python benchmarks/places_regions.py run --cells 60x60 --size 15 --side 60 --jobs 2 --anew
    python benchmarks/places_regions.py table

`run` goes on where it ended or was cut (state in --scratch, every ten minutes and at the end) and
appends a line to results/places_regions.jsonl whenever it ends, with the CPU seconds of all its
parts, of the processes that solve windows too where --jobs asks for them, and the peak memory of
all together (with --anew it begins anew); `table` writes results/places_regions.md. The metropolis:
50 × 50 km, a jittered lattice of streets of which a fifth is missing, twelve districts; 80 tasks.
The Gold Coast is 29 × 43 km with 3,698 junctions once the connectors of its zones are cut, every
junction alike. One output a cell (fewer where cells share a nearest junction), a spline on as many
cells.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import resource
import time
from functools import partial
from pathlib import Path

import numpy as np

from voile.core.randomness import seeded_rng
from voile.interrupts import best_so_far
from voile.jobs.engines import engine_named, spread_out
from voile.optimise.region_descent import region_descent
from voile.optimise.region_problem import RegionProblem
from voile.places.problems import road_region, sampled_tasks
from voile.places.projection import Projection
from voile.places.roads import RoadNetwork, connected
from voile.reproducing.aipo import goldcoast
from voile.storage import save

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "places_regions.jsonl"
ALONE = "1 × local"


def metropolis(side: int, *, seed: int = 0, size: float = 50.0) -> tuple[RoadNetwork, np.ndarray]:
    """Streets on a square of `size` km, side × side junctions, and where people are."""
    rng = np.random.default_rng(seed)
    lattice = np.stack(np.meshgrid(*[np.arange(side) + 0.5] * 2, indexing="ij"), -1).reshape(-1, 2)
    points = (lattice + rng.uniform(-0.35, 0.35, lattice.shape)) * size / side - size / 2
    number = np.arange(side * side).reshape(side, side)
    edges = np.concatenate(
        [
            np.stack([number[:-1].ravel(), number[1:].ravel()], 1),
            np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1),
        ]
    )
    edges = edges[rng.random(len(edges)) > 0.2]
    directed = np.concatenate([edges, edges[rng.random(len(edges)) > 0.1][:, ::-1]])
    lengths = 1.05 * np.linalg.norm(points[directed[:, 0]] - points[directed[:, 1]], axis=1)
    network = connected(points, directed, lengths, Projection(45.0, 5.0))
    centres = rng.uniform(-0.4 * size, 0.4 * size, (12, 2))
    spread = rng.uniform(0.03, 0.1, 12) * size
    apart = ((network.points[:, None] - centres) ** 2).sum(axis=2)
    blobs = np.exp(-apart / (2 * spread**2)) / spread**2
    prior = 0.25 / len(network) + 0.75 * blobs.sum(axis=1) / blobs.sum()
    return network, prior / prior.sum()


def region(args: argparse.Namespace) -> RegionProblem:
    """The city's region problem."""
    rows, columns = map(int, args.cells.split("x"))
    if args.city == "goldcoast":
        network = goldcoast(Path(args.data))
        prior = np.full(len(network), 1 / len(network))
    else:
        network, prior = metropolis(args.side, size=args.size)
    tasks = sampled_tasks(network, count=80, prior=prior, seed=0)
    return road_region(network, cells=(columns, rows), tasks=tasks, prior=prior)


def cpu_apart() -> tuple[float, float]:
    """CPU seconds of this process, and of those that it started and that ended."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, others = (used.ru_utime + used.ru_stime for used in both)
    return own, others


def cpu_seconds() -> float:
    """Of both together."""
    return sum(cpu_apart())


def worker_megabytes() -> int:
    """At most in use so far by a process that this one started and that is at work.

    Not RUSAGE_CHILDREN: a process begins as a copy of the one that starts it, and counts as it.
    """
    most = 0
    for child in multiprocessing.active_children():
        try:
            status = Path(f"/proc/{child.pid}/status").read_text()
        except OSError:
            continue  # it just ended
        most = max([most, *map(int, re.findall(r"VmHWM:\s+(\d+) kB", status))])
    return round(most / 1024)


def own_megabytes() -> int:
    """At most in use so far by this process."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def run(args: argparse.Namespace) -> None:
    begun, cpu = time.monotonic(), cpu_seconds()
    rows, columns = map(int, args.cells.split("x"))
    name = f"{args.city}-{args.cells}-{args.epsilon:g}-{args.size:g}"
    scratch = Path(args.scratch) / f"{name}.npz"
    scratch.parent.mkdir(parents=True, exist_ok=True)
    kept = dict(np.load(scratch)) if scratch.exists() and not args.anew else None
    spent = float(kept.pop("cpu")) if kept else 0.0
    saved, clock, last, worker = time.monotonic(), [], None, 0
    problem = region(args)
    mapped = cpu_seconds() - cpu

    def write(state) -> None:
        part = scratch.with_suffix(".part.npz")
        np.savez(part, cpu=spent + cpu_seconds() - cpu, **state.record())
        os.replace(part, scratch)

    with best_so_far() as keeping:

        def keep(state) -> None:
            nonlocal saved, last, worker
            last, worker = state, max(worker, worker_megabytes())
            clock.append((cpu_apart()[0], time.monotonic()))
            keeping.asked = keeping.asked or time.monotonic() - begun > 60 * args.minutes
            if time.monotonic() - saved > 600:
                saved = time.monotonic()
                write(state)

        found = region_descent(
            problem, epsilon=args.epsilon, cells=(columns, rows), sweeps=args.sweeps, kept=kept,
            keep=keep, spread=partial(spread_out, engine=engine_named(args.engine, jobs=args.jobs)),
        )  # fmt: skip
    if last is not None:
        write(last)
    made = found.mechanism
    drawn = cpu_seconds()
    window = (clock[-1][0] - clock[0][0]) / max(1, len(clock) - 1)
    window += cpu_apart()[1] / max(1, len(clock))  # those that solve are counted when they ended
    apart = (clock[-1][1] - clock[0][1]) / max(1, len(clock) - 1)
    made.draw(problem.places[np.arange(100_000) % len(problem.places)], seeded_rng(0))
    row = {
        "city": args.city,
        "cells": args.cells,
        "km": [round(b - a, 1) for a, b in zip(problem.low, problem.high, strict=True)],
        "epsilon": args.epsilon,
        "places": len(problem.places),
        "outputs": len(made.outputs),
        "entries": found.entries,
        "began": found.began_at,
        "loss": found.loss,
        "certificate": made.certificate().epsilon,
        "sweeps": found.sweeps,
        "windows": found.windows,
        "planned": found.planned,
        "rejected": found.rejected,
        "whole": not keeping.asked,
        "cpu_map": round(mapped, 1),
        "cpu_seconds": round(spent + cpu_seconds() - cpu, 1),
        "cpu_window": round(window, 2),
        "cpu_rest": round(cpu_seconds() - cpu - window * len(clock), 1),
        "megabytes": own_megabytes() + args.jobs * worker,
        "worker_megabytes": worker,
        "seconds": round(time.monotonic() - begun, 1),
        "seconds_window": round(apart, 2),
        "by": f"{args.jobs} × {args.engine}",
        "us_per_draw": round(10 * (cpu_seconds() - drawn), 2),
    }
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(row, flush=True)
    if args.save:
        save(made, args.save)


def in_all(row: dict) -> str:
    """CPU seconds of the whole run, measured or at the price of the windows that were solved."""
    if row["whole"]:
        return f"{row['cpu_seconds']:.0f}"
    if "planned" not in row:
        return "?"
    return f"{row['cpu_rest'] + row['cpu_window'] * row['planned']:.0f}"


def table() -> None:
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    rows.sort(key=lambda r: r["whole"])  # a run that was cut does not take a whole one's place
    last = {(r["city"], r["cells"], r["epsilon"], *r["km"], r.get("by", ALONE)): r for r in rows}
    lines = [
        "# Whole regions",
        "",
        "Made by `python benchmarks/places_regions.py run …` and `table`; see its docstring. The",
        "last line of each run, a whole one if there is: *whole* says whether all windows of its",
        "sweeps were solved when it ended (what there is at any moment is a certified design);",
        "*sweeps* are those behind it. CPU seconds are of all parts of a run that was cut,",
        "each of which makes its start anew, and of the processes that solve windows; *a window*",
        "is what one takes, *in all* what the whole run would take at that price, in one part.",
        "*Began*: Laplace noise with a remap at 0.9 ε. Losses are those of the windows that were",
        "solved, nothing else.",
        "*By* so many processes, *clock* on a machine of two cores, which others used as well;",
        "*peak* is of all processes together, the largest of each; after ≤, a process that solves",
        "windows was counted as large as the one that started it, and what a window takes was not",
        "told apart.",
        "",
        "| region | km | cells | ε | places | outputs | million numbers | began, km | loss, km | "
        "certificate | sweeps | windows | rejected | whole | by | clock s | CPU s | a window | "
        "in all | peak MB | µs a draw |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
        "--- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for r in sorted(last.values(), key=lambda r: (r["city"], r["entries"])):
        km, cells = "×".join(map(str, r["km"])), r["cells"].replace("x", "×")
        rough = r.get("by", ALONE) != ALONE and "worker_megabytes" not in r
        lines.append(
            f"| {r['city']} | {km} | {cells} | {r['epsilon']:g} | {r['places']:,} | "
            f"{r['outputs']:,} | {r['entries'] / 1e6:.1f} | {r['began']:.4f} | {r['loss']:.4f} | "
            f"{r['certificate']:.6f} | {r['sweeps']} | "
            f"{r['windows']} of {r.get('planned', '?')} | "
            f"{r['rejected']} | {'yes' if r['whole'] else 'no'} | {r.get('by', ALONE)} | "
            f"{r.get('seconds', '?')} | {r['cpu_seconds']:.0f} | "
            f"{'?' if rough else r.get('cpu_window') or '?'} | {in_all(r)} | "
            f"{'≤ ' * rough}{r['megabytes']:,} | {r['us_per_draw']:.1f} |"
        )
    (RESULTS / "places_regions.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--city", choices=("goldcoast", "metropolis"), default="metropolis")
    parser.add_argument("--cells", default="200x200")
    parser.add_argument("--epsilon", type=float, default=1.6)
    parser.add_argument("--sweeps", type=int, default=2)
    parser.add_argument("--size", type=float, default=50.0, help="of the metropolis, km")
    parser.add_argument("--side", type=int, default=200, help="of the metropolis, junctions")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--data", default="", help="the folder of the Gold Coast")
    parser.add_argument("--scratch", default="/tmp/voile-regions")
    parser.add_argument("--save", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--engine", default="local")
    parser.add_argument("--anew", action="store_true")
    args = parser.parse_args()
    run(args) if args.what == "run" else table()
