"""Charts of label leakage, written as PNG, SVG or PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voile.errors import CannotWrite, MissingExtra
from voile.tasks.labels_audit import LabelReport
from voile.tasks.labels_compare import Comparison

INK, RED, BLUE, GREEN = "#333333", "#b5332e", "#2a6f97", "#3f7d4e"
COLOURS = {"label DP": RED, "label DP-CF": GREEN, "local DP": BLUE}


def chart_audit(report: LabelReport, path: str | Path) -> Path:
    """Expected and total leakage over epsilon, and the features that carry the rest."""
    plot = _pyplot()
    figure, (left, right) = plot.subplots(
        1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=[3, 2]
    )
    at = sorted(report.audit.at, key=lambda p: p.epsilon)
    epsilons = [p.epsilon for p in at]
    total, expected = [p.total.value for p in at], [p.expected for p in at]
    left.fill_between(epsilons, expected, total, color=RED, alpha=0.15, label="unexpected")
    left.fill_between(
        epsilons, [p.total.lower for p in at], [p.total.upper for p in at], color=RED, alpha=0.3
    )
    left.plot(epsilons, total, "o--", color=RED, label="features and randomised label")
    left.plot(epsilons, expected, "o-", color=INK, label="what ε announces")
    left.axhline(at[0].without_release, color=BLUE, lw=1, label="features alone")
    left.set(xscale="log", xlabel="ε of the label", ylabel="attacker's accuracy")
    left.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
    left.minorticks_off()
    left.legend(frameon=False, fontsize=8)
    left.set_title("How often the label is guessed", fontsize=10, loc="left")
    shown = report.features[:12][::-1]
    places = range(len(shown))
    right.barh(places, [max(0.0, s.alone or 0.0) for s in shown], color=BLUE, alpha=0.35,
               label="alone, over guessing")  # fmt: skip
    right.barh(places, [max(0.0, s.shuffled) for s in shown], height=0.4, color=RED,
               label="lost when shuffled")  # fmt: skip
    right.set_yticks(places, [s.name for s in shown], fontsize=8)
    right.set(xlabel="accuracy")
    right.legend(
        frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=2
    )
    right.set_title("Which features carry it", fontsize=10, loc="left")
    return _saved(figure, path, plot)


def chart_comparison(found: Comparison, path: str | Path, *, title: str = "") -> Path:
    """AUC against leakage, a line a mechanism, epsilon beside each point."""
    plot = _pyplot()
    figure, axes = plot.subplots(figsize=(6.4, 4.6), layout="constrained")
    draw_comparison(found, axes)
    axes.set_title(title or "Usefulness against leakage", fontsize=10, loc="left")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5,
                  frameon=False, fontsize=8)  # fmt: skip
    return _saved(figure, path, plot)


def draw_comparison(found: Comparison, axes: Any) -> None:
    """The lines of `chart_comparison`, on axes of the caller's."""
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


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as problem:
        raise MissingExtra("matplotlib", extra="labels") from problem
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot

    return plot


def _saved(figure: Any, path: str | Path, plot: Any) -> Path:
    target = Path(path)
    try:
        figure.savefig(target, dpi=150)
    except (OSError, ValueError) as problem:
        raise CannotWrite(f"cannot write the chart {target}: {problem}") from None
    finally:
        plot.close(figure)
    return target
