"""Tables and charts of `teda_figures.py` from the lines it has written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from voile.report.pictures import write_charts
from voile.reproducing.teda import FAR
from voile.text import comparison
from voile.text.comparison_charts import comparison_charts

Cell = dict[str, Any]


def write_tables(rows: Sequence[Cell], folder: Path) -> None:
    """results/teda_figures.md and a folder of charts for each data set."""
    lines = [
        "# TeDA's figures, in shape",
        "",
        "By `python benchmarks/teda_figures.py run` and `tables`. ε_emp is an interval at 1 % for "
        "what this attack shows of the ε of one text; its left end is the lower bound. “≥” is a "
        "cell at its ceiling. Seconds are wall clock; the column “load” is the machine's load "
        "average on its two cores when the cell ended, so that slow cells can be told from busy "
        "ones.",
        "",
        (folder / "teda_findings.md").read_text(encoding="utf-8"),
    ]
    for row in [row for row in rows if row["section"] == "auditor"][-1:]:
        values, seconds = row["values"], row["seconds"]
        lines += [
            "## LDP-Auditor's randomised response",
            "",
            f"k = 100, ε = 1, 10⁶ trials a side, {len(values)} audits: mean "
            f"{np.mean(values):.3f}, standard deviation {np.std(values, ddof=1):.3f}, from "
            f"{min(values):.3f} to {max(values):.3f}; median {np.median(seconds):.2f} s an audit. "
            "LDP-Auditor's one printed audit gave 0.961 and took 12.7 s on this kind of machine; "
            "with counts at their expectation the bound is 0.955, so 0.961 is an ordinary draw.",
            "",
        ]
    for section, title in TITLES.items():
        here = [row for row in rows if row["section"] == section]
        if section in ("internal", "rewriters"):
            here.sort(key=lambda r: (r["data"], r["mechanism"], r["attack"], r["epsilon"]))
        if here:
            lines += [f"## {title}", "", *_plain(here), ""]
            if section.startswith(("figure3", "internal", "rewriters")):
                for data in sorted({row["data"] for row in here}):
                    chart = [row for row in here if row["data"] == data]
                    name = section if data in section else f"{section}-{data}"
                    charts = comparison_charts([_charted(row) for row in chart], each_attack=True)
                    write_charts(charts, folder / f"teda-{name}")
    lines += _varied(rows, folder)
    (folder / "teda_figures.md").write_text("\n".join(lines), encoding="utf-8")


TITLES = {
    "figure3-atis": "Figure 3 (top), ATIS: word mechanisms, external embedding attack",
    "figure3-snips": "Figure 3 (top), SNIPS: word mechanisms, external embedding attack",
    "internal": "Figure 3 (bottom): noisy vector (internal) against rewritten text",
    "rewriters": "Token and triple rewriters, external embedding attack",
    "figure5": "Figure 5, ATIS: more trials (overlap attack, uniform candidates)",
    "figure2": "Figure 2 in small, ATIS: SmolLM2-135M as judge of TEM, by likelihood",
}


def shown(row: Cell, prefix: str = "") -> str:
    low, high, top = (row[f"{prefix}{end}"] for end in ("lower", "upper", "ceiling"))
    if low >= top:
        return f"≥ {low:.2f}"
    return f"{low:.2f} – {'∞' if high >= 1e9 else f'{high:.2f}'}"


def _plain(rows: Sequence[Cell]) -> list[str]:
    head = [
        "mechanism", "data", "unit", "ε", "attack", "T", "texts", "ε_emp", "ceiling",
        "s rewriting", "s audit", "load",
    ]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in rows:
        values = [
            row["mechanism"], row["data"].upper(), row["unit"], f"{row['epsilon']:g}",
            row["attack"], f"{row['trials']:,}", f"{row['texts']:,}", shown(row),
            f"{row['ceiling']:.2f}", f"{row['s_rewriting']:.0f}", f"{row['s_audit']:.0f}",
            f"{row['load']:g}",
        ]  # fmt: skip
        lines.append("| " + " | ".join(values) + " |")
    notes = sorted({row["note"] for row in rows if row["note"]})
    return [*lines, *([""] if notes else []), *notes]


Setting = tuple[str, int, float, str]
FIGURES: dict[str, tuple[str, list[Setting]]] = {
    "figure6": (
        "Figure 6, ATIS: candidate selection (k = 2)",
        [
            ("far apart (λ = −10,000)", 2, FAR, ""),
            ("uniform (0)", 2, 0.0, ""),
            ("alike (10,000)", 2, -FAR, ""),
        ],
    ),
    "figure8": (
        "Figure 8, ATIS: number of candidates (far apart)",
        [(f"k = {k}", k, FAR, "") for k in (2, 4, 8, 16)],
    ),
    "figure9": (
        "Figure 9, ATIS: estimators (k = 2)",
        [
            ("reduced, far apart", 2, FAR, ""),
            ("symmetric, far apart", 2, FAR, "symmetric_"),
            ("symmetric, uniform", 2, 0.0, "symmetric_"),
        ],
    ),
}
"""Title and settings of a figure: a column's name, k, λ, and which estimator's fields it shows."""


def _varied(rows: Sequence[Cell], folder: Path) -> list[str]:
    """Figures 6, 8 and 9 as tables and pictures: ATIS, a column and a panel for each setting.

    Two candidates far apart are cells of figure 3.
    """
    known = [
        row
        for row in rows
        if (row.get("data"), row.get("attack"), row.get("trials")) == ("atis", "embedding", 10_000)
    ]
    found = {(row["mechanism"], row["epsilon"], row["k"], row["lambda"]): row for row in known}
    ablated = [row for row in known if row["section"] in ("figure6", "figure8")]
    ablated.sort(key=lambda row: (row["unit"] == "one text", row["epsilon"]))
    order = list(dict.fromkeys(row["mechanism"] for row in ablated))
    pairs = {(row["mechanism"], row["epsilon"]) for row in ablated}
    body = sorted(pairs, key=lambda pair: (order.index(pair[0]), pair[1]))
    lines: list[str] = []
    for figure, (title, columns) in FIGURES.items() if body else ():
        head = ["mechanism", "unit", "texts", "ε", *(name for name, *_ in columns)]
        lines += [f"## {title}", "", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
        for name, epsilon in body:
            cells = [(found.get((name, epsilon, k, t)), prefix) for _, k, t, prefix in columns]
            one = next(cell for cell, _ in cells if cell)
            said = [shown(cell, prefix) if cell else "–" for cell, prefix in cells]
            values = [name, one["unit"], f"{one['texts']:,}", f"{epsilon:g}", *said]
            lines.append("| " + " | ".join(values) + " |")
        lines += ["", "Embedding attack, T = 10,000.", ""]
        _panels(folder / f"teda-{figure}.png", columns, found, order)
    return lines


def _panels(
    path: Path,
    columns: Sequence[Setting],
    found: Mapping[tuple[str, float, int, float], Cell],
    names: Sequence[str],
) -> None:
    """A panel a setting: lower bounds against nominal ε, a line a mechanism, intervals as bands."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    width = 3.1 * len(columns)
    figure, axes = plt.subplots(
        1, len(columns), figsize=(width, 3.8), sharex=True, sharey=True, constrained_layout=True
    )
    for axis, (title, size, temperature, prefix) in zip(axes, columns, strict=True):
        for number, name in enumerate(names):
            line = sorted(
                (epsilon, cell)
                for (mechanism, epsilon, k, t), cell in found.items()
                if (mechanism, k, t) == (name, size, temperature)
            )
            if line:
                places = [epsilon for epsilon, _ in line]
                low, high, tops = (
                    [min(cell[f"{prefix}{end}"], cell[f"{prefix}ceiling"]) for _, cell in line]
                    for end in ("lower", "upper", "ceiling")
                )
                colour, mark = f"C{number}", "osD^v"[number % 5]
                axis.plot(places, low, mark + "-", ms=4, lw=1.4, color=colour, label=name)
                axis.fill_between(places, low, high, color=colour, alpha=0.15, lw=0)
                axis.axhline(tops[0], color="0.4", linestyle="--", linewidth=0.8)
        axis.set_xscale("log")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("nominal ε (of its own unit)")
    axes[0].set_ylabel("empirical ε of one text, at least")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _charted(row: Cell) -> comparison.Cell:
    ends = {name: row[name] for name in ("attack", "lower", "middle", "upper", "ceiling")}
    return comparison.Cell(
        mechanism=row["mechanism"],
        epsilon=row["epsilon"],
        granularity=row["unit"],
        basis="",
        text_epsilon=row["epsilon"] * row["units"],
        shown=(comparison.Shown(**ends, success=row["successes"] / row["trials"]),),
        f1=None,
        attribute_f1=None,
        similarity=None,
        empty=0,
        seconds=0.0,
        rows_per_second=0.0,
    )
