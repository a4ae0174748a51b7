"""Tables 1–3 of the AIPO paper (violations, loss, seconds) with all methods, and a chart.

    python benchmarks/aipo_tables.py run --city synthetic --epsilon 0.2 0.4 0.6
    python benchmarks/aipo_tables.py run --city manhattan --data ../shared/data/manhattan
    python benchmarks/aipo_tables.py run --city goldcoast --data ../shared/data/goldcoast
    python benchmarks/aipo_tables.py tables

`run` appends one line a method to results/aipo_tables.jsonl and skips what is there already;
`tables` writes results/aipo_tables.md and .svg from those lines. Cities: the synthetic one (20×15
cells), Manhattan (10×20 cells; streets as long as the great circle) and the Gold Coast (10×20
cells; streets without the connectors of zones). A seed draws the tasks, the prior's districts
(synthetic) and the points of the violation test. Seconds are CPU seconds of all cores together,
which a busy machine disturbs least.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from voile.reproducing.aipo import EPSILONS, FILE, SHAPES, city_problem, methods, one_method

RESULTS = Path(__file__).parent / "results"
PAPER = {"EM": 59, "Laplace": 61, "RMP": 10}
"""Percent by which the paper's AIPO is below these, in its own tables."""


def run(args: argparse.Namespace) -> None:
    path = RESULTS / FILE
    done = {_key(row) for row in _rows(path)}
    for seed in args.seed:
        problem = city_problem(args.city, seed, args.data)
        for epsilon in args.epsilon:
            for name in methods(problem, SHAPES[args.city], epsilon, args.p, args.bound_sweeps):
                row = {
                    "city": args.city,
                    "p": args.p,
                    "epsilon": epsilon,
                    "seed": seed,
                    "method": name,
                }
                if _key(row) in done or (args.methods and name not in args.methods):
                    continue
                row |= one_method(problem, name, row, sweeps=args.bound_sweeps)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)


def tables() -> None:
    rows = _rows(RESULTS / FILE)
    text = [
        "# AIPO's tables, with all methods",
        "",
        "Made by `python benchmarks/aipo_tables.py run …` and `tables`; see its docstring. The",
        "methods marked *(cells)* are private between cell centres only; AIPO-R not even there.",
        "The bounds are those of `lower_bound`. A dash: not run. Seconds of the methods are those",
        "of seed 0, most of them from before the solver took several outputs at once; it needs",
        "about a third less since (`places_solver.md` has times on two free cores).",
        "*LP (cells)* is solved over a 1.05-spanner, which puts it 2 to 4 % above the full",
        "program, *all pairs* is that. Rows of Manhattan and the synthetic city are from before",
        "two defaults changed, those of the Gold Coast from after: *ConstOPT* then took",
        "`near=10` (now the authors' 50: on Manhattan, ℓ2, ε = 0.2 and 0.4, 3.574 and 3.650 km",
        "instead of 3.575 and 3.650, in 13 and 11 CPU s instead of 0.5 and 0.4, with 0.19 and",
        "0.28 % of pairs violating); *Laplace + remap* gathered",
        "its noise in the output cells (now in 2 or 3 times finer ones: at ε = 1.6 on these",
        "cities 1.9 % less loss for ℓ2 and 2.9 to 3.1 % for ℓ1), and so did `best` where it",
        "hands that over. The spline of `best` has at most 1,100 coefficients: with more",
        "outputs than that its grid is coarser than theirs.",
        "",
        "## What `best` gains",
        "",
        "Mean over the seeds that were run, with the smallest and the largest. The gap is that of",
        "`best` over the certified lower bound, for seed 0.",
        "",
        *_gains(rows),
        "",
        "## Beside the paper's own figures",
        "",
        *_beside(rows),
        "",
    ]
    for city, p in sorted({(r["city"], r["p"]) for r in rows}, key=str):
        here = [r for r in rows if (r["city"], r["p"]) == (city, p)]
        first = [r for r in here if r["seed"] == 0]
        shape = "×".join(map(str, SHAPES[city]))
        text += [f"## {city.capitalize()}, ℓ{p:g}, {shape} cells", ""]
        for field, title, form in (
            ("loss", "Expected loss, km", "{:.3f}"),
            ("violations", "Violating pairs among 1,000 places, %", "{:.2f}"),
            ("supremum", "Certified or proved supremum of the privacy loss, per km", "{:.4f}"),
            ("seconds", "CPU seconds", "{:.1f}"),
        ):
            text += [f"### {title}, seed 0", "", *_table(first, field, form), ""]
        several = _complete(here)
        if several:
            text += ["### Expected loss over five seeds, mean ± 1.96 standard deviations, km", ""]
            text += [*_table(several, "loss", "{:.3f}"), ""]
            text += [f"Violating pairs in any of them: {_violating(several)}.", ""]
    (RESULTS / "aipo_tables.md").write_text("\n".join(text), encoding="utf-8")
    _chart(rows)


def _beside(rows: list[dict[str, Any]]) -> list[str]:
    """AIPO against each baseline, in percent: the paper's figure, ours, and its code's setting."""
    loss = {_key(r): r["loss"] for r in rows if r["seed"] == 0}
    settings = [("EM", "EM"), ("Laplace", "Laplace"), ("EM + remap", "RMP")]
    settings += [("Laplace + remap", ""), ("EM (code)", "EM"), ("RMP (code)", "RMP")]
    lines = [
        "How far AIPO is below (−) or above (+) each baseline, seed 0; *the paper's* is the figure",
        "that it reports (EM −59 %, Laplace −61 %, RMP −10 %). The rows *(code)* repeat a setting",
        "of its public code: output places are drawn anew while the loss table is loaded from a",
        "file, so that a method that chooses by distance is scored with the losses of other",
        "places, at random, and one that optimises the loss table, as AIPO does, is not. Its",
        "*Laplace* is the exponential kernel of EM, its *RMP* the remap of that by the loss table.",
        "There AIPO is far below EM, at the paper's figure for some ε and not for others; its",
        "−10 % against RMP is not reached. With tables that match, AIPO is near EM and EM +",
        "remap, on either side, and above Laplace noise from ε = 0.4 on, remapped or not.",
        "",
        "| city | baseline | the paper's | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |",
        "| --- | --- | ---: |" + " ---: |" * len(EPSILONS),
    ]
    for city, p in sorted({(r["city"], r["p"]) for r in rows}, key=str):
        for other, paper in settings:
            cells = []
            for epsilon in EPSILONS:
                pair = [loss.get((city, p, epsilon, 0, name)) for name in ("AIPO", other)]
                known = pair[0] is not None and pair[1] is not None
                cells.append(_signed(pair[0] / pair[1] - 1) if known else "–")
            if any(cell != "–" for cell in cells):
                said = f"−{PAPER[paper]} %" if paper else "–"
                row = " | ".join([f"{city.capitalize()}, ℓ{p:g}", other, said, *cells])
                lines.append(f"| {row} |")
    return lines


def _signed(share: float) -> str:
    return f"{100 * share:+.0f} %".replace("-", "−")


def _complete(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of each method and epsilon of which all five seeds are there."""
    kept = []
    for name in _ORDER:
        for epsilon in EPSILONS:
            here = [r for r in rows if (r["method"], r["epsilon"]) == (name, epsilon)]
            kept += here if len(here) == 5 else []
    return kept


def _violating(rows: list[dict[str, Any]]) -> str:
    """Which methods violate in any row, and by how many percent of the pairs."""
    shown = []
    for name in _ORDER:
        shares = [r["violations"] for r in rows if r["method"] == name and r["violations"]]
        if shares:
            shown.append(f"{name} ({min(shares):.2g} … {max(shares):.2g} %)")
    return ", ".join(shown) or "none"


def _gains(rows: list[dict[str, Any]]) -> list[str]:
    """How far `best` is below AIPO and Laplace + remap, and above the bound, in percent."""
    lines = [
        "| city | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |",
        "| --- |" + " ---: |" * len(EPSILONS),
    ]
    loss = {_key(r): r["loss"] for r in rows}
    for city, p in sorted({(r["city"], r["p"]) for r in rows}, key=str):
        for other, words in (
            ("AIPO", "below AIPO"),
            ("Laplace + remap", "below Laplace + remap"),
            ("bound, ours", "gap"),
        ):
            cells = []
            for epsilon in EPSILONS:
                pairs = [
                    (loss[city, p, epsilon, seed, "best"], loss[city, p, epsilon, seed, other])
                    for seed in range(5)
                    if (city, p, epsilon, seed, "best") in loss
                    and (city, p, epsilon, seed, other) in loss
                ]
                values = [100 * (1 - a / b) if other != "bound, ours" else 100 * (a / b - 1)
                          for a, b in pairs]  # fmt: skip
                values = [round(value, 6) + 0.0 for value in values]  # no "-0.0" where they agree
                shown = f"{np.mean(values):.1f} %" if values else "–"
                if len(values) > 1:
                    shown += f" ({min(values):.1f} … {max(values):.1f})"
                cells.append(shown)
            if any(cell != "–" for cell in cells):
                lines.append(
                    f"| {city.capitalize()}, ℓ{p:g}: {words} | " + " | ".join(cells) + " |"
                )
    return lines


def _table(rows: list[dict[str, Any]], field: str, form: str) -> list[str]:
    epsilons = sorted({r["epsilon"] for r in rows})
    names = list(dict.fromkeys(name for name in _ORDER if any(r["method"] == name for r in rows)))
    lines = [
        "| method | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " |",
        "| --- |" + " ---: |" * len(epsilons),
    ]
    for name in names:
        cells = []
        for epsilon in epsilons:
            values = [
                r[field]
                for r in rows
                if r["method"] == name and r["epsilon"] == epsilon and r[field] is not None
            ]
            if field == "supremum" and name.startswith("bound"):
                values = []
            spread = f" ± {1.96 * np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
            cells.append(form.format(np.mean(values)) + spread if values else "–")
        if any(cell != "–" for cell in cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


_ORDER = (
    "EM",
    "Laplace",
    "TEM",
    "EM + remap",
    "Laplace + remap",
    "ConstOPT (cells)",
    "LP (cells)",
    "LP (cells, all pairs)",
    "AIPO-R (not private)",
    "AIPO",
    "(d)",
    "(e)",
    "(f)",
    "best",
    "bound, paper",
    "bound, ours",
)


def _chart(rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    groups = sorted({(r["city"], r["p"]) for r in rows}, key=str)
    figure, axes = plt.subplots(1, len(groups), figsize=(5.2 * len(groups), 4.2), squeeze=False)
    shown = ("EM", "Laplace + remap", "AIPO", "(e)", "best", "bound, ours")
    for axis, (city, p) in zip(axes[0], groups, strict=True):
        for name in shown:
            points: dict[float, float] = {}
            for r in rows:
                if (r["city"], r["p"], r["seed"], r["method"]) == (city, p, 0, name):
                    points[r["epsilon"]] = r["loss"]
            if points:
                xs = sorted(points)
                axis.plot(
                    xs,
                    [points[x] for x in xs],
                    marker="o",
                    markersize=3.5,
                    linewidth=2.4 if name == "best" else 1.3,
                    label=name,
                    linestyle="--" if name.startswith("bound") else "-",
                )
        axis.set(title=f"{city.capitalize()}, ℓ{p:g}", xlabel="ε per km")
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.25)
    axes[0][0].set_ylabel("expected loss, km")
    axes[0][0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(RESULTS / "aipo_tables.svg")


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["city"], row["p"], row["epsilon"], row["seed"], row["method"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("--city", choices=tuple(SHAPES), default="synthetic")
    one.add_argument("--data", default="../shared/data/manhattan")
    one.add_argument("--p", type=float, default=2.0)
    one.add_argument("--epsilon", type=float, nargs="+", default=EPSILONS)
    one.add_argument("--seed", type=int, nargs="+", default=(0,))
    one.add_argument("--methods", nargs="*", default=())
    one.add_argument("--bound-sweeps", type=int, default=400)
    commands.add_parser("tables")
    chosen_args = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    run(chosen_args) if chosen_args.command == "run" else tables()
