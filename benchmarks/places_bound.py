"""How tight the lower bound is: its value, its cost, and the gap of `best` above it.

    python benchmarks/places_bound.py run --city synthetic --p 2 --epsilon 0.2 0.4 0.8 1.2 1.6
    python benchmarks/places_bound.py run --city synthetic --epsilon 1.6 --all-outputs
    python benchmarks/places_bound.py table

`run` appends to results/places_bound.jsonl. With `--all-outputs` the bound is for mechanisms that
may release any junction: the least distance to a given output is taken off (`with_any_output`), and
one dual is solved with all junctions as outputs. The losses of `best` that gaps are taken
to are those of aipo_tables.jsonl (seed 0), or of `--best`, which solves anew. `table` writes
results/places_bound.md.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from aipo_tables import SHAPES, city_problem

from voile.optimise.best import best
from voile.optimise.lower_bounds import lower_bound
from voile.optimise.problem import Problem
from voile.places.city import synthetic_city
from voile.places.problems import sampled_tasks, travel_loss

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "places_bound.jsonl"
CITIES = {"synthetic": "Synthetic, 20×15 cells", "manhattan": "Manhattan, 10×20 cells"}


def run(args: argparse.Namespace) -> None:
    problem = city_problem(args.city, 0, args.data)
    lower_bound(problem, epsilon=5.0, sweeps=1)  # compile
    for epsilon in args.epsilon:
        row = {"city": args.city, "p": args.p, "epsilon": epsilon}
        begun = time.process_time()
        if args.all_outputs:
            found = lower_bound(
                everywhere(problem, args), epsilon=epsilon, p=args.p, sweeps=args.sweeps
            )
            row |= {"anywhere": found.value, "sweeps": found.sweeps}
            row |= {"cover": float(problem.loss.min(axis=1).max())}
        elif args.best:
            made = best(problem, epsilon=epsilon, cells=SHAPES[args.city], p=args.p)
            row |= {"best": made.loss, "method": made.name}
        else:
            found = lower_bound(problem, epsilon=epsilon, p=args.p, sweeps=args.sweeps)
            row |= {"bound": found.value, "sweeps": found.sweeps}
        row["seconds"] = round(time.process_time() - begun, 1)
        with FILE.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


def everywhere(problem: Problem, args: argparse.Namespace) -> Problem:
    """The same city with all of its junctions as outputs."""
    network, prior = synthetic_city(seed=0)
    tasks = sampled_tasks(network, count=80, prior=prior, seed=0)
    loss = travel_loss(network, tasks, np.arange(len(network)))
    return replace(problem, outputs=problem.places, loss=loss)


def table() -> None:
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    older = [json.loads(line) for line in (RESULTS / "aipo_tables.jsonl").read_text().splitlines()]
    lines = [
        "# How tight the lower bound is",
        "",
        "Made by `python benchmarks/places_bound.py run …` and `table`; see its docstring. Seed 0,",
        "300 and 200 outputs, CPU seconds of two shared cores. The bound holds for mechanisms with",
        "these outputs. *before*: the sum of programs over spread parts of 100 places (200 at",
        "ε = 0.6 on the synthetic city), which `lower_bound` replaced, from aipo_tables.jsonl;",
        "so are the losses of `best` that have no time beside them.",
    ]
    for city, p in sorted({(r["city"], r["p"]) for r in rows}):
        lines += [
            "",
            f"## {CITIES[city]}, ℓ{p:g}",
            "",
            "| ε per km | `best`, km | CPU s | bound, km | sweeps | CPU s | gap | bound before | "
            "CPU s | gap before |",
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        here = [r for r in rows if (r["city"], r["p"]) == (city, p)]
        for epsilon in sorted({r["epsilon"] for r in here if "bound" in r}):
            key = {"city": city, "p": p, "epsilon": epsilon, "seed": 0}
            old = {
                r["method"]: r for r in older if all(r.get(name) == v for name, v in key.items())
            }
            anew = [r for r in here if "best" in r and r["epsilon"] == epsilon]
            loss = anew[-1]["best"] if anew else old["best"]["loss"]
            spent = f"{anew[-1]['seconds']:.0f}" if anew else ""
            was = old.get("bound, ours", {"loss": float("nan"), "seconds": float("nan")})
            for row in [r for r in here if "bound" in r and r["epsilon"] == epsilon]:
                gap = 100 * (loss / row["bound"] - 1)
                lines.append(
                    f"| {epsilon:g} | {loss:.4f} | {spent} | {row['bound']:.4f} | "
                    f"{row['sweeps']} | {row['seconds']:.0f} | {gap:.1f} % | "
                    f"{was['loss']:.4f} | {was['seconds']:.0f} | "
                    f"{100 * (old['best']['loss'] / was['loss'] - 1):.1f} % |"
                )
    (RESULTS / "places_bound.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--city", choices=CITIES, default="synthetic")
    parser.add_argument("--p", type=float, default=2.0)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.2, 0.4, 0.8, 1.2, 1.6])
    parser.add_argument("--sweeps", type=int, default=400)
    parser.add_argument("--all-outputs", action="store_true", help="of the synthetic city")
    parser.add_argument("--best", action="store_true", help="solve instead of bounding")
    parser.add_argument("--data", default="", help="a folder of roads, or a .graphml file")
    args = parser.parse_args()
    run(args) if args.what == "run" else table()
