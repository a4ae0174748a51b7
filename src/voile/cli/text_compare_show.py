"""How a comparison and a calibration are shown and written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voile.cli.show import plain, table
from voile.text.frontier import SHAPE

if TYPE_CHECKING:
    from voile.text.frontier import Cell, Comparison

CAUTION = (
    "ε_emp: what this attack shows of one whole text, a lower bound on its epsilon. A small value "
    "means “not broken by this attack”, never “safe”."
)
IN_CLEAR = "Rewriters of words leave the number of words, punctuation and case in clear: "


def caution(attacks: Sequence[str]) -> str:
    """How to read an audit by these attacks."""
    seen = "the shape attack reads them." if SHAPE in attacks else "no attack here looked at them."
    return f"{CAUTION} {IN_CLEAR}{seen}"


def show_calibration(
    found: Any, findings: list[Any], claim: float | None, *, symmetric: bool
) -> None:
    """A row for each attack, then what was played."""
    rows = []
    for a, finding in zip(found.attributed, findings, strict=True):
        e, right = a.estimated(symmetric=symmetric), a.estimate
        rows.append(
            [
                a.attack,
                f"{100 * right.successes / right.trials:.1f} %",
                f"{e.lower:.3f}",
                _number(e.upper),
                f"{e.ceiling:.2f}",
                "–" if claim is None else str(finding.verdict),
            ]
        )
    table(["attack", "right", "ε_emp ≥", "this attack ≤", "ceiling", "claim"], rows)
    game = found.game
    typer.echo(
        f"{len(game):,} trials, {game.sets.shape[1]} candidates each out of {len(game.pool):,} "
        f"texts ({game.duplicates:,} duplicates dropped)"
        + ("; estimated from true and false positives." if symmetric else ".")
    )
    if found.kept:
        typer.echo(f"{found.kept:,} of the releases were made by an earlier run, and were read.")
    if found.attributed[0].empty:
        typer.echo(f"{found.attributed[0].empty:,} releases were empty.")
    for a in found.attributed:
        if a.note:
            typer.echo(f"{a.attack}: {a.note}.")
    typer.echo(caution([a.attack for a in found.attributed]))


def show_comparison(found: Comparison) -> None:
    """A row for each mechanism and epsilon, then how to read it."""
    names = list(dict.fromkeys(s.attack for cell in found.cells for s in cell.shown))
    columns = ["mechanism", "ε", "for", *(f"ε_emp {n}" for n in names)]
    useful = any(cell.f1 is not None for cell in found.cells)
    hidden = any(cell.attribute_f1 is not None for cell in found.cells)
    columns += (["F1"] if useful else []) + (["attr. F1"] if hidden else [])
    columns += ["similar", "rows/s"]
    rows = []
    for cell in found.cells:
        row = [cell.mechanism, f"{cell.epsilon:g}", cell.granularity.removeprefix("one ")]
        row += [_interval(cell, name) for name in names]
        row += [f"{cell.f1:.3f}"] if cell.f1 is not None else []
        row += [f"{cell.attribute_f1:.3f}"] if cell.attribute_f1 is not None else []
        row.append("–" if cell.similarity is None else f"{cell.similarity:.2f}")
        row.append(f"{cell.rows_per_second:,.0f}")
        rows.append(row)
    table(columns, rows)
    clean = f" F1 of the clean texts: {found.clean_f1:.3f}." if found.clean_f1 is not None else ""
    form = " (symmetric form)" if found.symmetric else ""
    top = max(s.ceiling for cell in found.cells for s in cell.shown)
    typer.echo(
        f"{found.trials:,} trials each, {found.candidates} candidates, ceiling {top:.2f}{form} "
        f"(printed as “≥”); intervals hold together with probability "
        f"{1 - found.failure_probability:g}.{clean}"
    )
    for cell in found.cells:
        for s in cell.shown:
            if s.note:
                typer.echo(f"{cell.mechanism} at ε = {cell.epsilon:g}, {s.attack}: {s.note}.")
    typer.echo(caution(found.attacks))


def _interval(cell: Cell, name: str) -> str:
    for s in cell.shown:
        if s.attack == name:
            full = s.lower >= s.ceiling
            return f"≥ {s.lower:.2f}" if full else f"{s.lower:.2f} – {_number(s.upper)}"
    return "–"


def _number(value: float) -> str:
    return "∞" if value == float("inf") else f"{value:.2f}"


def write_comparison(found: Comparison, out: Path, file_read: Path) -> None:
    """JSON, CSV and charts in a folder; none is readable by more than its owner and the file is."""
    import csv

    from voile.files import make_private_folder, open_private, write_private
    from voile.text.calibration_charts import calibration_charts

    content = found.to_json()
    make_private_folder(out)
    text = json.dumps(
        plain(content | {"caution": caution(found.attacks)}), indent=2, ensure_ascii=False
    )
    write_private(out / "comparison.json", text)
    with open_private(out / "comparison.csv", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        keys = [k for k in content["cells"][0] if k != "shown"]
        writer.writerow(
            [
                *keys,
                "attack",
                "lower",
                "middle",
                "upper",
                "ceiling",
                "success",
                "note",
                "is_evidence",
            ]
        )
        for cell in content["cells"]:
            for s in cell["shown"]:
                writer.writerow([*(cell[k] for k in keys), *s.values()])
    calibration_charts(content["cells"], out, sources=[file_read])
