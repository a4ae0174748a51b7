"""Figure 1 of the TEM paper: accuracy and membership attack against epsilon, on IMDB.

    python benchmarks/tem_imdb.py [--reviews 2500] [--words 100] [--top 10000] [--seeds 5]

Needs torch and matplotlib, and IMDB as `train.csv.gz` and `test.csv.gz` in ../shared/data/imdb
(or --data). As in the paper (appendix C): the target is trained on privatised TR1 and tested on
original TE1; the shadow is trained on TE2; the attack learns from the shadow's outputs on TE2
("in") and TE1 ("out") and is tested with the target's on TR1 ("in") and TR2 ("out"). Classifier:
mean of word vectors, then a linear layer, 20 epochs, batches of 64, Adam. Attack: 2 × 64 units.
Smaller than the paper, which has 12,500 whole reviews a half and 300 dimensions: that takes
`--reviews 12500 --words 5000 --top 50000`, and hours for Madlib's nearest words.
Writes benchmarks/results/tem_imdb.md and .svg.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from voile.reproducing.tem import EPSILONS, Bench, Sizes


def interval(values: list[float]) -> str:
    """Mean and 95 % interval over trials (Student's t)."""
    from scipy.stats import t

    half = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.3f} ± {half:.3f}"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path)
    options.add_argument("--reviews", type=int, default=2500)
    options.add_argument("--words", type=int, default=100)
    options.add_argument("--top", type=int, default=10_000)
    options.add_argument("--seeds", type=int, default=5)
    chosen = options.parse_args()
    here = Path(__file__).resolve().parent
    data = chosen.data or here.parent.parent / "shared" / "data" / "imdb"
    torch.set_num_threads(1)
    bench = Bench(Sizes(chosen.reviews, chosen.words, chosen.top), data)
    ways = [("baseline", 0.0), *((name, e) for name in ("TEM", "Madlib") for e in EPSILONS)]
    found: dict[tuple[str, float], dict[str, list[float]]] = {}
    start = time.time()
    for seed in range(chosen.seeds):
        for name, epsilon in ways:
            row = bench.run(name, epsilon, seed)
            cell = found.setdefault((name, epsilon), {})
            for what, value in row.items():
                cell.setdefault(what, []).append(value)
            print(f"{time.time() - start:6.0f} s seed {seed} {name} {epsilon:g}: {row}", flush=True)
    write(here / "results", found, chosen, time.time() - start)


def write(
    folder: Path,
    found: dict[tuple[str, float], dict[str, list[float]]],
    chosen: argparse.Namespace,
    seconds: float,
) -> None:
    lines = [
        "# TEM against Madlib on IMDB",
        "",
        f"`python benchmarks/tem_imdb.py --reviews {chosen.reviews} --words {chosen.words} "
        f"--top {chosen.top} --seeds {chosen.seeds}`, {seconds:.0f} s.",
        f"{chosen.reviews:,} reviews a half, first {chosen.words} words of each, "
        f"{chosen.top:,} words of GloVe 50d; mean and 95 % interval over {chosen.seeds} trials.",
        "",
        "| mechanism | ε | words kept | accuracy | attack AUC |",
        "| --- | --- | --- | --- | --- |",
    ]
    for (name, epsilon), cell in found.items():
        shown = "–" if name == "baseline" else f"{epsilon:g}"
        lines.append(
            f"| {name} | {shown} | {np.mean(cell['kept']):.3f} | {interval(cell['accuracy'])} | "
            f"{interval(cell['auc'])} |"
        )
    folder.mkdir(exist_ok=True)
    (folder / "tem_imdb.md").write_text("\n".join(lines) + "\n")
    chart(folder / "tem_imdb.svg", found)


def chart(path: Path, found: dict[tuple[str, float], dict[str, list[float]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from scipy.stats import t

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for axis, what, title in zip(
        axes, ("accuracy", "auc"), ("accuracy on originals", "membership attack, AUC"), strict=True
    ):
        base = found["baseline", 0.0][what]
        axis.axhline(np.mean(base), color="0.4", linestyle="--", label="baseline")
        for name, colour in (("TEM", "tab:blue"), ("Madlib", "tab:orange")):
            points = [(e, cell[what]) for (n, e), cell in found.items() if n == name]
            values = np.array([cell for _, cell in points])
            scale = t.ppf(0.975, values.shape[1] - 1) / np.sqrt(values.shape[1])
            half = scale * values.std(axis=1, ddof=1)
            axis.errorbar(
                [e for e, _ in points],
                values.mean(axis=1),
                yerr=half,
                marker="o",
                capsize=3,
                label=name,
                color=colour,
            )
        axis.axhline(0.5, color="0.8", linewidth=0.8)
        axis.set_xscale("log", base=2)
        axis.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
        axis.set_xlabel("ε per word and unit of distance")
        axis.set_title(title)
    axes[0].legend(frameon=False)
    figure.savefig(path)
    figure.savefig(path.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
