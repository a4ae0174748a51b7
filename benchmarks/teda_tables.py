"""Tables and charts of `teda_figures.py` from the lines it has written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from voile.report.calibration_charts import calibration_charts

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
                    calibration_charts([_charted(row) for row in chart], folder / f"teda-{name}")
    lines += _pivots(rows)
    (folder / "teda_figures.md").write_text("\n".join(lines), encoding="utf-8")


TITLES = {
    "figure3-atis": "Figure 3 (top), ATIS: word mechanisms, external embedding attack",
    "figure3-snips": "Figure 3 (top), SNIPS: word mechanisms, external embedding attack",
    "internal": "Figure 3 (bottom), ATIS: noisy vector (internal) against rewritten text",
    "rewriters": "Token and triple rewriters, external embedding attack",
    "figure5": "Figure 5, ATIS: more trials (overlap attack, uniform candidates)",
    "figure2": "Figure 2 in small, ATIS: SmolLM2-135M as judge of TEM",
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


def _pivots(rows: Sequence[Cell]) -> list[str]:
    """Figures 6, 8 and 9: TEM on ATIS, one column a setting; k = 2 and λ = −10⁴ from figure 3."""
    known = [
        row
        for row in rows
        if row["section"] in ("figure3-atis", "figure6", "figure8") and row["mechanism"] == "tem"
    ]
    found = {(row["epsilon"], row["k"], row["lambda"]): row for row in known}
    epsilons = sorted({row["epsilon"] for row in known if row["section"] != "figure3-atis"})
    far = -10_000.0
    pictures = {
        "Figure 6, ATIS: candidate selection (TEM, k = 2)": [
            ("far apart (λ = −10,000)", 2, far, ""),
            ("uniform (0)", 2, 0.0, ""),
            ("alike (10,000)", 2, 10_000.0, ""),
        ],
        "Figure 8, ATIS: number of candidates (TEM, far apart)": [
            (f"k = {k}", k, far, "") for k in (2, 4, 8, 16)
        ],
        "Figure 9, ATIS: estimators (TEM, k = 2)": [
            ("reduced, far apart", 2, far, ""),
            ("symmetric, far apart", 2, far, "symmetric_"),
            ("symmetric, uniform", 2, 0.0, "symmetric_"),
        ],
    }
    lines: list[str] = []
    for title, columns in pictures.items():
        body = [
            [f"{e:g}"]
            + [
                shown(found[e, k, t], prefix) if (e, k, t) in found else "–"
                for _, k, t, prefix in columns
            ]
            for e in epsilons
        ]
        if body:
            names = ["ε a word", *(name for name, *_ in columns)]
            lines += [f"## {title}", "", "| " + " | ".join(names) + " |"]
            lines += ["|" + " --- |" * len(names)]
            lines += ["| " + " | ".join(row) + " |" for row in body]
            lines += ["", "Embedding attack, T = 10,000.", ""]
    return lines


def _charted(row: Cell) -> Cell:
    one = {name: row[name] for name in ("attack", "lower", "middle", "upper", "ceiling")}
    one["success"] = row["successes"] / row["trials"]
    return {
        "mechanism": row["mechanism"],
        "epsilon": row["epsilon"],
        "text_epsilon": row["epsilon"] * row["units"],
        "shown": [one],
        "f1": None,
    }
