"""The picture of docs/explanation/posterior-leakage.md: leakage grows with what else is read.

    python benchmarks/posterior_figure.py

A chain of secrets with two values, each equal to the one before with probability p and each
released by randomised response at ε = 1. Exact: forward–backward over every possible sequence of
releases around the secret in the middle, and the largest leakage among them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from voile.reproducing.theorems import worst_in_a_chain

TARGET = Path(__file__).parent.parent / "docs" / "explanation" / "posterior-leakage.png"
AGREE = (0.5, 0.7, 0.9, 0.98)
READ = (1, 3, 5, 7, 9, 11)


def main() -> None:
    """Compute and draw."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    shades = plt.colormaps["viridis"](np.linspace(0.85, 0.1, len(AGREE)))
    for agree, colour in zip(AGREE, shades, strict=True):
        values = [worst_in_a_chain(agree, read) for read in READ]
        print(agree, np.round(values, 4))
        axis.plot(READ, values, "o-", ms=4, lw=1.3, color=colour)
        axis.annotate(f"equal {100 * agree:g} %", (READ[-1], values[-1]), fontsize=8,
                      textcoords="offset points", xytext=(6, -3), color=colour)  # fmt: skip
    axis.axhline(1.0, color="#b5332e", lw=1, ls="--")
    axis.annotate("ε of one release", (1, 1.0), fontsize=8, color="#b5332e",
                  textcoords="offset points", xytext=(0, -12))  # fmt: skip
    axis.set(xlabel="releases read around the secret, its own included", xlim=(0.5, 13.2),
             ylabel="largest posterior leakage", xticks=READ, ylim=(0, None))  # fmt: skip
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    figure.savefig(TARGET, dpi=130)


if __name__ == "__main__":
    main()
