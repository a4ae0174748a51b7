"""A comparison's charts as pictures in a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voile.report.model import Chart
from voile.report.pictures import write_charts
from voile.text.comparison_charts import calibration_chart, use_chart


def calibration_charts(
    cells: Sequence[Mapping[str, Any]], folder: Path, *, sources: Sequence[Path | str] = ()
) -> list[Path]:
    """Write the charts of a comparison's cells (as `Comparison.to_json` gives them), PNG and SVG.

    `calibration`: empirical against nominal ε, by the strongest attack; the same for each attack if
    there are several; `converted`: with nominal ε of a whole text; `frontier`: use against
    empirical ε, where use was measured.
    """
    charts = [calibration_chart(cells), *_by_attack(cells)]
    charts.append(calibration_chart(cells, x="text_epsilon", name="converted"))
    for use in ("f1", "similarity"):
        if any(cell.get(use) is not None for cell in cells):
            charts.append(use_chart(cells, use=use, chosen=None))
            break
    return write_charts(charts, folder, sources=sources)


def _by_attack(cells: Sequence[Mapping[str, Any]]) -> list[Chart]:
    attacks = list(dict.fromkeys(s["attack"] for cell in cells for s in cell["shown"]))
    if len(attacks) < 2:
        return []
    charts, among = [], list(dict.fromkeys(str(cell["mechanism"]) for cell in cells))
    for attack in attacks:
        only = [
            {**cell, "shown": [s for s in cell["shown"] if s["attack"] == attack]}
            for cell in cells
            if any(s["attack"] == attack for s in cell["shown"])
        ]
        name = re.sub(r"[^a-z0-9]+", "-", attack.lower()).strip("-")
        charts.append(calibration_chart(only, name=f"calibration-{name}", among=among))
    return charts
