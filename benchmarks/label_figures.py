"""Figures 1 and 2 of the unexpected-leakage paper, on its data and two more.

    python benchmarks/label_figures.py [--repeats 5] [--adult PATH] [--records 2000]

Writes benchmarks/results/label_figures.md, label_figure_1.png and label_figure_2.png. Data: the
simulation of Wu et al. (two classes, features N(e_y, σ·I) in 100 dimensions; σ = 0.1 high, σ = 1
low correlation), Breast Cancer Wisconsin (ships with scikit-learn), and Adult where its file is
found (default: ../shared/data/adult/adult.data beside the checkout).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from voile.audit.labels import audit_labels
from voile.core.randomness import seeded_rng
from voile.labels._audit import prepared, sampled
from voile.labels._compare import compare_table
from voile.labels.compared import ComparedLabels
from voile.labels.table import Table
from voile.reproducing.uel import (
    EPSILONS,
    adult,
    breast_cancer,
    integrated_total,
    simulated,
    true_total,
)

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
COLOURS = {"label DP": "#b5332e", "label DP-CF": "#3f7d4e", "local DP": "#2a6f97"}
INK = "#333333"


def figure_1(tables: dict[str, Table], lines: list[str]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plot

    figure, axes = plot.subplots(
        1, len(tables), figsize=(3.6 * len(tables), 3.6), layout="constrained", sharey=True
    )
    lines += ["## Figure 1: leakage against ε (label DP, features clear)", ""]
    lines += ["| data | ε | ε announces | total | 95 % interval | true total | unexpected |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        columns, _, labels = prepared(table)
        found = audit_labels(columns, labels, classes=2, epsilons=EPSILONS, rng=seeded_rng(5))
        variance = {"high": 0.1, "low": 1.0}.get(name.split()[-1])
        for p in found.at:
            truth = "" if variance is None else f"{true_total(variance, p.epsilon):.3f}"
            lines.append(
                f"| {name} | {p.epsilon:g} | {p.expected:.3f} | {p.total.value:.3f} | "
                f"{p.total.lower:.3f} – {p.total.upper:.3f} | {truth} | {p.unexpected.value:+.3f} |"
            )
        axis.plot(
            EPSILONS, [p.total.value for p in found.at], "o--", color="#b5332e", label="total"
        )
        axis.plot(EPSILONS, [p.expected for p in found.at], "o-", color="#333333", label="expected")
        if variance is not None:
            grid = np.geomspace(0.1, 8, 60)
            axis.plot(
                grid, [true_total(variance, e) for e in grid], color="#3f7d4e", lw=1, label="truth"
            )
        axis.axhline(found.at[0].features_alone, color="#2a6f97", lw=0.8, label="features alone")
        axis.set(xscale="log", xlabel="ε of the label", title=name)
    axes[0].set_ylabel("attacker's accuracy")
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(RESULTS / "label_figure_1.png", dpi=130)
    lines.append("")


def draw_comparison(found: ComparedLabels, axes: Any) -> None:
    """AUC against leakage, a line a mechanism, epsilon beside each point."""
    for name, colour in COLOURS.items():
        points = [p for p in found.points if p.mechanism == name]
        if not points:
            continue
        axes.errorbar(
            [p.leakage for p in points], [p.auc for p in points],
            xerr=[p.leakage_error for p in points], yerr=[p.auc_error for p in points],
            fmt="o-", color=colour, lw=1, ms=4, label=name,
        )  # fmt: skip
        for p in points:
            axes.annotate(f"{p.epsilon:g}", (p.leakage, p.auc), textcoords="offset points",
                          xytext=(4, -9), fontsize=7, color=colour)  # fmt: skip
    axes.axhline(found.clean_auc, color=INK, lw=0.8, ls=":", label="clean records")
    axes.axvline(found.features_alone, color=INK, lw=0.8, ls="--", label="features alone")
    axes.set(xlabel="total leakage (attacker's accuracy)", ylabel="test AUC")


def figure_2(tables: dict[str, Table], lines: list[str], repeats: int) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plot

    figure, axes = plot.subplots(
        1, len(tables), figsize=(4.2 * len(tables), 4.0), layout="constrained"
    )
    lines += [f"## Figure 2: AUC against total leakage, means of {repeats} splits", ""]
    lines += [
        "| data | mechanism | ε | leakage | cap | AUC |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    crossings = []
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        start = time.monotonic()
        few = (
            len(table.names) <= 2
        )  # cheap, so the spread of label DP at ε = 0.1 can be averaged out
        found = compare_table(table, rng=seeded_rng(11), repeats=repeats * (4 if few else 1))
        for p in found.points:
            cap = "none" if p.cap is None else f"{p.cap:.3f}"
            lines.append(
                f"| {name} | {p.mechanism} | {p.epsilon:g} | {p.leakage:.3f} ± "
                f"{p.leakage_error:.3f} | {cap} | {p.auc:.3f} ± {p.auc_error:.3f} |"
            )
        for kind in ("local DP", "label DP-CF"):
            beaten = [
                (pair.better.epsilon, pair.than.epsilon)
                for pair in found.crossings
                if pair.better.mechanism == kind
            ]
            text = "; ".join(f"ε = {b:g} beats label ε = {w:g}" for b, w in beaten) or "nowhere"
            crossings.append(f"| {name} | {kind} | {text} |")
        draw_comparison(found, axis)
        axis.set_title(name, fontsize=10)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False
    )
    figure.savefig(RESULTS / "label_figure_2.png", dpi=130)
    lines += ["", "### Where label DP is beaten", ""]
    lines += [
        "A point beats a label-DP point if it leaks no more on average and its AUC is higher by "
        "Welch's t at 5 % shared over all pairs of a data set.",
        "",
        "| data | mechanism | where |",
        "| --- | --- | --- |",
        *crossings,
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--adult", type=Path, default=HERE.parents[1] / "shared/data/adult/adult.data"
    )
    parser.add_argument("--records", type=int, default=2000)
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for variance in (0.1, 1.0):  # the closed form must be the definition
        for epsilon in (0.1, 2.0):
            gap = true_total(variance, epsilon) - integrated_total(variance, epsilon)
            assert abs(gap) < 1e-6
    tables = {
        "simulated high": simulated(0.1, records=asked.records, dimensions=100, seed=1),
        "simulated low": simulated(1.0, records=asked.records, dimensions=100, seed=2),
        "breast cancer": breast_cancer(),
    }
    if asked.adult.exists():
        whole = adult(asked.adult)
        tables["adult"] = sampled(whole, 2 * asked.records, seeded_rng(3))[0]
    lines = [
        "# Label leakage: the paper's figures",
        "",
        f"`python benchmarks/label_figures.py --repeats {asked.repeats} --records {asked.records}`",
        "",
        "Records: " + ", ".join(f"{name} {len(table):,}" for name, table in tables.items()) + ".",
        "",
    ]
    figure_1(tables, lines)
    two = {
        "simulated high, 2 features": simulated(0.1, records=asked.records, dimensions=2, seed=4)
    }
    figure_2(two | tables, lines, asked.repeats)
    lines += ["![Figure 1](label_figure_1.png)", "", "![Figure 2](label_figure_2.png)", ""]
    (RESULTS / "label_figures.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
