"""Charts of a comparison: calibration curves, use against distinguishability, conversions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voile.errors import MissingExtra

MARKERS = "osD^vP*XhdB<>"


def calibration_charts(cells: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Four charts as PNG and SVG from a comparison's cells (as `Comparison.to_json` gives them).

    Calibration curves for each attack with the ceiling dashed; F1 against ε_emp; nominal against
    empirical with the diagonal; and the same with nominal epsilons converted to a whole text.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", extra="neural") from None
    folder.mkdir(parents=True, exist_ok=True)
    attacks = list(dict.fromkeys(s["attack"] for cell in cells for s in cell["shown"]))
    written = []

    def page(columns: int = 1) -> Any:
        figure = Figure(figsize=(5.2 * columns + 1.2, 4.2), layout="constrained")
        return figure, figure.subplots(1, columns, squeeze=False)[0]

    def save(figure: Any, name: str) -> None:
        for kind in ("png", "svg"):
            path = folder / f"{name}.{kind}"
            figure.savefig(path, dpi=140)
            written.append(path)

    figure, axes = page(len(attacks))
    for axis, attack in zip(axes, attacks, strict=True):
        _curves(axis, cells, attack, x="epsilon")
        axis.set(title=f"{attack} attack", xlabel="nominal ε (of the mechanism's own unit)")
    axes[0].set_ylabel("empirical ε of one text (lower bound)")
    axes[-1].legend(fontsize=8)
    save(figure, "calibration")

    figure, axes = page()
    _curves(axes[0], cells, None, x="text_epsilon")
    axes[0].set(
        title="Nominal ε converted to one text, by basic composition",
        xlabel="nominal ε × units in a text",
        ylabel="empirical ε of one text, strongest attack",
    )
    axes[0].legend(fontsize=8)
    save(figure, "converted")

    figure, axes = page()
    _curves(axes[0], cells, None, x="epsilon")
    values = sorted({cell["epsilon"] for cell in cells})
    axes[0].plot(values, values, color="0.6", lw=1, label="ε = ε")
    top = max(s["ceiling"] for cell in cells for s in cell["shown"])
    axes[0].set(
        title="Nominal against empirical, strongest attack",
        xlabel="nominal ε",
        ylabel="empirical ε of one text",
        ylim=(-0.3, top * 1.12),
    )
    axes[0].legend(fontsize=8)
    save(figure, "nominal")

    if any(cell["f1"] is not None for cell in cells):
        figure, axes = page()
        for number, name in enumerate(_names(cells)):
            here = sorted(_of(cells, name), key=lambda cell: cell["epsilon"])
            x = [max(s["lower"] for s in cell["shown"]) for cell in here]
            y = [cell["f1"] for cell in here]
            axes[0].plot(x, y, marker=MARKERS[number % len(MARKERS)], label=name)
        axes[0].set(
            title="Use against distinguishability",
            xlabel="empirical ε of one text, strongest attack",
            ylabel="F1 on clean test texts",
        )
        axes[0].legend(fontsize=8)
        save(figure, "utility")
    return written


def _curves(axis: Any, cells: Sequence[Mapping[str, Any]], attack: str | None, *, x: str) -> None:
    """One line a mechanism with its interval, and the ceiling; the strongest attack if None."""
    ceilings: set[float] = set()
    for number, name in enumerate(_names(cells)):
        points = []
        for cell in _of(cells, name):
            found = [s for s in cell["shown"] if attack in (None, s["attack"])]
            if found:
                best = max(found, key=lambda s: (s["lower"], s["middle"]))
                points.append((cell[x], best))
                ceilings.add(round(best["ceiling"], 3))
        points.sort(key=lambda point: point[0])
        places = [place for place, _ in points]
        lows = [s["lower"] for _, s in points]
        tops = [min(s["upper"], s["ceiling"] * 1.1) for _, s in points]
        (line,) = axis.plot(places, lows, marker=MARKERS[number % len(MARKERS)], ms=4, label=name)
        axis.fill_between(places, lows, tops, color=line.get_color(), alpha=0.12, lw=0)
    across = axis.get_yaxis_transform()
    for height in ceilings:
        axis.axhline(height, color="0.3", ls="--", lw=1)
        axis.text(0.01, height, f" ceiling {height:.2f}", va="bottom", fontsize=8, transform=across)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter("")
    axis.set_ylim(-0.3, max(ceilings) * 1.12)
    axis.grid(alpha=0.2)


def _names(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(cell["mechanism"] for cell in cells))


def _of(cells: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    return [cell for cell in cells if cell["mechanism"] == name]
