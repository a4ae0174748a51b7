"""Figures 3, 4, 8 and 9 of the mPL paper from the cells of ampl_tables.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from ampl_report import METHODS, NAMES, Found, share
from ampl_tables import DATASETS, EDGES, EPSILONS, GRID, LEARNED, SHARES

COMPARED = (((1.0, 1.0), "EM", "tab:blue"), ((0.0, 0.0), "nothing released", "tab:orange"))


def charts(folder: Path, found: Found) -> None:
    """Figures 3, 4, 8 and 9."""
    import matplotlib

    matplotlib.use("Agg")
    figure_3(folder / "ampl_figure_3.png", found)
    figure_4(folder / "ampl_figure_4.png", found)
    figure_8(folder / "ampl_figure_8.png", found)
    figure_9(folder / "ampl_figure_9.png", found)


def figure_3(path: Path, found: Found) -> None:
    """Distribution of leakage on AG News at ε = 0.3, EM and the control."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True, constrained_layout=True)
    for axis, attacker in zip(axes, LEARNED, strict=True):
        for strengths, name, colour in COMPARED:
            cells = [found.cell("ag_news", attacker, 0.3, strengths, s) for s in found.seeds]
            counts = np.sum([line["histogram"] for line in cells if line], axis=0)
            if np.ndim(counts):
                axis.stairs(counts / counts.sum(), EDGES, label=name, color=colour)
        axis.axvline(0.3, color="0.4", linestyle="--", linewidth=1)
        axis.set_title(attacker)
        axis.set_xlabel("mPL of a triple")
        axis.set_xlim(0, 0.6)
        axis.set_yscale("log")
    axes[0].set_ylabel("share of triples")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def figure_4(path: Path, found: Found) -> None:
    """Expected loss by method, with and without the remap."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), sharey=True, constrained_layout=True)
    for axis, dataset in zip(axes, DATASETS, strict=True):
        for number, method in enumerate(METHODS):
            for remapped, colour in ((False, "0.7"), (True, "tab:green")):
                values = [
                    found.utility[dataset, e, found.strengths(dataset, e, method)][
                        "remapped" if remapped else "plain"
                    ]
                    for e in EPSILONS if (dataset, e) in found.adapted
                ]  # fmt: skip
                places = number + np.linspace(-0.25, 0.25, len(values))
                label = "remapped" if remapped else "as drawn"
                axis.bar(places, values, width=0.2, color=colour, label=None if number else label)
        axis.set_xticks(range(len(METHODS)), METHODS)
        axis.set_title(f"{NAMES[dataset]}, ε = 0.3, 0.4, 0.5")
    axes[0].set_ylabel("expected utility loss")
    axes[1].legend(frameon=False, loc="upper right")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def figure_8(path: Path, found: Found) -> None:
    """Loss against violations over a grid of strengths."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(5.5, 4), constrained_layout=True)
    for one in GRID:
        for two in GRID:
            line = found.cell("ag_news", "transformer", 0.5, (one, two), 0)
            worth = found.utility.get(("ag_news", 0.5, (one, two)))
            if line and worth:
                axis.scatter(share(line), worth["plain"], color="tab:blue")
                axis.annotate(f"{one:g}, {two:g}", (share(line), worth["plain"]), fontsize=7,
                              xytext=(3, 3), textcoords="offset points")  # fmt: skip
    nothing = [found.cell("ag_news", "transformer", 0.5, (0.0, 0.0), s) for s in found.seeds]
    for line in nothing:
        if line:
            axis.axvline(share(line), color="tab:orange", linewidth=0.8)
    axis.set_xlabel("violations, % (lines: releases that carry nothing, a seed each)")
    axis.set_ylabel("expected loss, not remapped")
    axis.set_title("AG News, transformer, ε = 0.5; strengths of pii, poii")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def figure_9(path: Path, found: Found) -> None:
    """Learning curve of the lstm on AG News at ε = 0.5."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(5.5, 5), sharex=True, constrained_layout=True)
    for strengths, name, colour in COMPARED:
        rows = []
        for part in SHARES:
            cells = [
                found.cell("ag_news", "lstm", 0.5, strengths, s, share=part) for s in (0, 1, 2)
            ]
            kept = [(line["cosine"], share(line)) for line in cells if line]
            if kept:
                rows.append((part, *np.mean(kept, axis=0), *np.std(kept, axis=0)))
        table = np.array(rows).reshape(-1, 5)
        for axis, column in zip(axes, (1, 2), strict=True):
            axis.errorbar(table[:, 0], table[:, column], yerr=table[:, column + 2], marker="o",
                          capsize=3, color=colour, label=name)  # fmt: skip
    axes[0].set_ylabel("cosine of guess and truth")
    axes[1].set_ylabel("violations, %")
    axes[1].set_xlabel("share of the training documents")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
