"""Figures 1 and 2 of the unexpected-leakage paper, on its data and on Adult, with every mechanism.

    voile reproduce uel-1 uel-2 --size paper --data DATA --out benchmarks/results
    python benchmarks/label_figures.py [--data DATA] [--kept]

The experiment is `voile.reproducing.uel` and `uel_ways`; its cells lie in a file of results,
label_figures.jsonl, one a split, so the first command goes on where it stopped. The second draws:
label_figures.md, label_figure_1.png and label_figure_2.png, and computes only what is missing.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot
import numpy as np

from voile.labels._compare import blind, compared
from voile.labels.compared import ComparedLabels
from voile.labels.synthetic import NAME as YARDSTICK
from voile.mechanisms import rr_with_prior
from voile.reproducing import uel, uel_ways
from voile.reproducing.experiment import Work

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
COLOURS = {
    "label DP": "#b5332e", "label DP-CF": "#3f7d4e", "local DP": "#2a6f97",
    "sampled column": "#8a5aa8", YARDSTICK: "#999999",
}  # fmt: skip
OTHERS = ("local DP", "label DP-CF", "sampled column")
INK = "#333333"


def figure_1(work: Work) -> list[str]:
    """Leakage against ε, with the truth where it is known."""
    tables = uel.tables_of(work)
    rows = uel.leakages(work, tables)
    figure, axes = plot.subplots(
        1, len(tables), figsize=(3.6 * len(tables), 3.6), layout="constrained", sharey=True
    )
    lines = [
        "## Figure 1: leakage against ε (label DP, features clear)", "",
        "| data | ε | ε announces | total | 95 % interval | true total | unexpected |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for axis, name in zip(axes, tables, strict=True):
        at = [row for row in rows if row["data"] == name]
        for p in at:
            true = uel.truth(name, p["epsilon"])
            lines.append(
                f"| {name} | {p['epsilon']:g} | {p['expected']:.3f} | {p['total']:.3f} | "
                f"{p['lower']:.3f} – {p['upper']:.3f} | {'' if true is None else f'{true:.3f}'} | "
                f"{p['total'] - p['expected']:+.3f} |"
            )
        epsilons, total = [p["epsilon"] for p in at], np.array([p["total"] for p in at])
        ends = np.array([[p["lower"], p["upper"]] for p in at]).T
        axis.errorbar(
            epsilons, total, yerr=np.abs(ends - total), fmt="o--", color="#b5332e", label="total",
            capsize=2,
        )  # fmt: skip
        axis.plot(epsilons, [p["expected"] for p in at], "o-", color=INK, label="announced")
        if uel.truth(name, 1.0) is not None:
            grid = np.geomspace(0.1, 8, 60)
            axis.plot(
                grid, [uel.truth(name, e) for e in grid], color="#3f7d4e", lw=1, label="truth"
            )
        axis.axhline(at[0]["alone"], color="#2a6f97", lw=0.8, label="features alone")
        axis.set(xscale="log", xlabel="ε of the label", title=name)
    axes[0].set_ylabel("attacker's accuracy")
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(RESULTS / "label_figure_1.png", dpi=110)
    return [*lines, ""]


def draw(found: ComparedLabels, axes: Any) -> None:
    """AUC against leakage, a line a mechanism, epsilon beside each point, two errors each way."""
    for name, colour in COLOURS.items():
        points = [p for p in found.points if p.mechanism == name]
        axes.errorbar(
            [p.leakage for p in points], [p.auc for p in points],
            xerr=[2 * p.leakage_error for p in points], yerr=[2 * p.auc_error for p in points],
            fmt="o-", color=colour, lw=1, ms=4, label=name, capsize=2,
        )  # fmt: skip
        for p in points if name != YARDSTICK else ():
            axes.annotate(f"{p.epsilon:g}", (p.leakage, p.auc), textcoords="offset points",
                          xytext=(4, -9), fontsize=7, color=colour)  # fmt: skip
    axes.axhline(found.clean_auc, color=INK, lw=0.8, ls=":", label="clean records")
    axes.axvline(found.features_alone, color=INK, lw=0.8, ls="--", label="features alone")
    axes.set(xlabel="total leakage (attacker's accuracy)", ylabel="test AUC", ylim=(0.45, 1.02))


def prior_row(name: str, one: uel_ways.Setting, found: ComparedLabels, epsilon: float) -> str:
    """RR with a prior, by its law: with two classes it is label DP, or one answer for all."""
    shares = np.unique(one.table.labels, return_counts=True)[1] / len(one.table)
    channel = rr_with_prior(list(one.table.classes), prior=shares, epsilon=epsilon)
    if len(channel.outputs) == 2:
        return f"| {name} | {epsilon:g} | the same law as label DP | |"
    return f"| {name} | {epsilon:g} | one answer for all: {found.features_alone:.3f} | 0.5 |"


def as_far_as_kept(work: Work) -> dict[str, uel_ways.Setting]:
    """Tables of which two splits or more are kept, with so many splits."""
    found = {}
    for name, one in uel_ways.settings(work).items():
        cell = uel_ways.named(2, name, one.table)
        kept = [r for r in work.kept(uel.FILE) if all(r.get(k) == v for k, v in cell.items())]
        if len(kept) >= 2:
            found[name] = replace(one, splits=min(one.splits, len(kept)))
    return found


def figure_2(work: Work, asked: dict[str, uel_ways.Setting]) -> list[str]:
    """Use against leakage for every way."""
    figure, axes = plot.subplots(2, 3, figsize=(12.6, 8.0), layout="constrained")
    sizes, rows, priors, beaten = [], [], [], []
    for axis, (name, one) in zip(axes.flat, asked.items(), strict=False):
        each = uel_ways.repeats(work, name, one)
        found = compared(each, guess=blind(one.table), draws=1)
        sizes.append(f"| {name} | {len(one.table):,} | {len(one.table.names)} | {one.splits} | "
                     f"{found.clean_auc:.3f} | {found.features_alone:.3f} |")  # fmt: skip
        for p in found.points:
            cap = "none" if p.cap is None else f"{p.cap:.3f}"
            rows.append(
                f"| {name} | {p.mechanism} | {p.epsilon:g} | {p.leakage:.3f} ± "
                f"{p.leakage_error:.3f} | {cap} | {p.auc:.3f} ± {p.auc_error:.3f} | {p.analyst} |"
            )
        priors += [prior_row(name, one, found, epsilon) for epsilon in one.label]
        for kind in OTHERS:
            weak = [f"ε = {pair.better.epsilon:g} ({pair.better.auc:.3f} against "
                    f"{pair.than.auc:.3f})"
                    for pair in uel_ways.beating(each, kind, uel_ways.WEAKEST)]  # fmt: skip
            sure = [f"ε = {pair.better.epsilon:g} beats ε = {pair.than.epsilon:g}"
                    for pair in found.crossings if pair.better.mechanism == kind]  # fmt: skip
            beaten.append(f"| {name} | {kind} | {'; '.join(weak) or 'nowhere'} | "
                          f"{'; '.join(sure) or 'nowhere'} |")  # fmt: skip
        draw(found, axis)
        axis.set_title(f"{name} ({one.splits} splits)", fontsize=10)
    for axis in list(axes.flat)[len(asked) :]:
        axis.set_visible(False)
    figure.legend(
        *axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=7,
        frameon=False,
    )  # fmt: skip
    figure.savefig(RESULTS / "label_figure_2.png", dpi=100)
    return [
        "## Figure 2: AUC against total leakage", "",
        "| data | records | features | splits | AUC of clean records | features alone leak |",
        "| --- | --- | --- | --- | --- | --- |", *sizes, "",
        "Means over random splits, one draw of noise each, ± their standard error; the analyst who "
        "counts on a split is the best of the *other* splits; *cap* is what no attacker exceeds. "
        f"*{YARDSTICK}* is a curator's made-up records, another trust model.", "",
        "| data | mechanism | ε | leakage | cap | AUC | analyst |",
        "| --- | --- | --- | --- | --- | --- | --- |", *rows, "",
        "Randomised response with a prior (`prior`), by its law, given the true shares of the "
        "classes:", "",
        "| data | ε | leakage | AUC |", "| --- | --- | --- | --- |", *priors, "",
        "### Where label DP is beaten", "",
        "A point beats a label-DP point if, split by split, it leaks no more (half a point of "
        "accuracy aside) and its AUC is higher, both by Wilcoxon's signed-rank test. *At ε = 0.1* "
        "is the paper's question: the pairs of one mechanism with label DP at 0.1 share 5 %. *At "
        "any ε*: all pairs of a table share it.", "",
        "| data | mechanism | beats label DP at ε = 0.1 | at any ε |",
        "| --- | --- | --- | --- |", *beaten, "",
    ]  # fmt: skip


def integrated_total(variance: float, epsilon: float) -> float:
    """The definition, Σ_ỹ E[max_y P(y|x) R(ỹ|y)], by numerical integration."""
    from scipy.integrate import quad
    from scipy.stats import norm

    mean, deviation = 1 / variance, np.sqrt(2 / variance)
    keep = 1 / (1 + np.exp(-epsilon))

    def density(t: float) -> float:
        p = 1 / (1 + np.exp(-t))
        both = norm.pdf(t, mean, deviation) + norm.pdf(t, -mean, deviation)
        best = max(p * keep, (1 - p) * (1 - keep)) + max(p * (1 - keep), (1 - p) * keep)
        return float(0.5 * both * best)

    reach = mean + 12 * deviation
    return float(quad(density, -reach, reach, limit=400)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared/data")
    parser.add_argument("--kept", action="store_true", help="draw what is kept, compute nothing")
    asked = parser.parse_args()
    for variance in (0.1, 1.0):  # the closed form must be the definition
        for epsilon in (0.1, 2.0):
            gap = uel.true_total(variance, epsilon) - integrated_total(variance, epsilon)
            assert abs(gap) < 1e-6
    work = Work("paper", asked.data, RESULTS)
    lines = [
        "# Label leakage: the paper's figures", "",
        "`voile reproduce uel-1 uel-2 --size paper --data DATA --out benchmarks/results`, then "
        "`python benchmarks/label_figures.py --data DATA`.", "",
    ]  # fmt: skip
    said = HERE / "label_figures_said.md"
    lines += [said.read_text(encoding="utf-8")] if said.exists() else []
    lines += figure_1(work)
    lines += figure_2(work, as_far_as_kept(work) if asked.kept else uel_ways.settings(work))
    if work.seconds >= 1:
        lines.insert(2, f"{work.seconds:.0f} CPU seconds for all cells.")
    lines += ["![Figure 1](label_figure_1.png)", "", "![Figure 2](label_figure_2.png)", ""]
    (RESULTS / "label_figures.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
