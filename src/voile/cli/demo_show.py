"""How the demo is shown: what is being done, the command for it, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from voile.cli.show import spinner, table

if TYPE_CHECKING:
    from voile.demo._demo import Demo
    from voile.demo.steps import Event

HEADINGS = {
    "town": "A first look: one promise, eight prices",
    "text": "Text: support messages",
    "places": "Places: pick-ups of a fleet",
    "labels": "Labels: a table of patients",
    "report": "The report",
}


@contextmanager
def narrated(shown: bool) -> Iterator[Callable[[Event], None]]:
    """A function that prints each event as it comes, with a spinner while work is done."""
    if not shown:
        yield lambda event: None
        return
    last = ""

    def heading(room: str) -> None:
        nonlocal last
        if room != last:
            typer.secho(f"\n{HEADINGS.get(room, room)}", bold=True)
            last = room

    with spinner(True) as say:

        def tell(event: Event) -> None:
            from voile.demo.steps import Plan, Skipped

            if isinstance(event, Skipped):
                heading(event.room)
                typer.echo(f"  left out: {event.reason}")
            elif isinstance(event, Plan):
                heading(event.room)
                typer.secho(f"▸ {event.title}", bold=True)
                if event.command:
                    typer.secho(f"  $ {event.command}", dim=True)
                if event.note:
                    _wrapped(f"({event.note})")
                say(event.title)
            else:
                _figures(event.facts)
                for line in event.lines:
                    _wrapped(line)

        yield tell


def _wrapped(line: str) -> None:
    """A sentence in the width of the terminal, set off from the commands."""
    import shutil
    import textwrap

    width = min(100, shutil.get_terminal_size((80, 24)).columns)
    typer.echo(textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  "))


def _figures(facts: object) -> None:
    rows = facts.get("mechanisms") if isinstance(facts, dict) else None
    if rows:
        table(
            ["  mechanism", "claimed ε", "certified ε", "error km", "claim"],
            [
                [
                    f"  {row['mechanism']}",
                    f"{row['claim']:g}",
                    f"{row['certified']:.4f}",
                    f"{row['mean_error_km']:.3f}",
                    str(row["verdict"]),
                ]
                for row in rows
            ],
        )


def show_end(result: Demo) -> None:
    """Where everything lies, the last line being the report."""
    typer.echo("")
    if result.seed is not None:
        typer.echo("seeded: not for release")
    typer.echo(
        f"{len(result.found)} steps in {result.seconds:.0f} s; the commands above work in "
        f"{result.folder}/, where all files are."
    )
    if result.report is not None:
        typer.echo(f"Report: {result.report}")
