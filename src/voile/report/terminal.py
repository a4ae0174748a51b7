"""A report on a terminal: what stands in clear, the answer and the verdict first."""

from __future__ import annotations

import io
from typing import Any

from voile.audit.finding import Verdict
from voile.report.blocks import SIGNS, shown
from voile.report.model import Report, Table

MOST_ROWS = 20
"""Rows of a table that a terminal shows; the page and JSON hold all."""
EIGHTHS = " ▏▎▍▌▋▊▉█"
_COLOURS = {Verdict.VIOLATED: "bold red", Verdict.HOLDS: "green", Verdict.OPEN: "yellow"}


def show(report: Report, console: Any) -> None:
    """Print a report: what stands in clear, the answer, the verdict, then what they rest on."""
    from rich.text import Text

    def line(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    for text in report.at_risk:
        line(text, "bold red")
    for text in report.in_clear:
        line(text, "bold yellow")
    if report.stamp:
        line(report.stamp.upper() + ".", "bold red")
    line(report.answer, "bold" if console.is_terminal else "")
    if report.verdict is not None:
        line(f"{SIGNS[report.verdict]} {report.because}", _COLOURS[report.verdict])
    for text in report.guarantee:
        line(text)
    for text in report.notes:
        line(text)
    for table in (*(t for t in report.tables if not t.detail), *report.for_owner):
        console.print()
        show_table(table, console)
    for before, after in report.sample:
        line(f"before: {before}", "dim" if console.is_terminal else "")
        line(f" after: {after}")
    if report.sample:
        line("Drawn apart from the release; do not hand this sample on.")
    if report.not_protected:
        console.print()
    for text in report.not_protected:
        line(f"Not covered: {text}", "dim" if console.is_terminal else "")
    for part in report.parts:
        console.print()
        line(part.title, "bold")
        show(part, console)


def as_text(report: Report, *, width: int = 100) -> str:
    """The same as plain text."""
    from rich.console import Console

    out = io.StringIO()
    show(report, Console(file=out, width=width, color_system=None))
    return out.getvalue().rstrip("\n")


def show_table(table: Table, console: Any) -> None:
    """A table: words to the left, numbers to the right, shares as bars where it asks for them."""
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(box=None, pad_edge=False, header_style="bold")
    if table.caption:
        console.print(Text(table.caption), soft_wrap=True)
    for index, column in enumerate(table.columns):
        numeric = bool(table.rows) and all(not isinstance(row[index], str) for row in table.rows)
        drawn.add_column(column, justify="right" if numeric else "left", overflow="fold")
    bars = table.columns.index(table.bars) if table.bars else None
    if bars is not None:
        drawn.add_column("")
    for row in table.rows[:MOST_ROWS]:
        cells = [Text(shown(value)) for value in row]
        if bars is not None:
            share = row[bars]
            cells.append(Text(bar(share, 30) if isinstance(share, int | float) else ""))
        drawn.add_row(*cells)
    console.print(drawn)
    left = len(table.rows) - MOST_ROWS
    if left > 0:
        console.print(Text(f"… and {left:,} more rows (--json or --report shows them)"))


def bar(share: float, width: int) -> str:
    """A bar of eighth blocks, padded to its full width.

    >>> bar(0.5, 4)
    '██  '
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(width)
