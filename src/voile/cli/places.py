"""Places on the command line."""

from __future__ import annotations

import typer

from voile.cli.rooms import group

app = typer.Typer(
    cls=group("places"),
    no_args_is_help=True,
    help="Blur places with mechanisms solved for a map, certified on all of it.",
    rich_markup_mode="markdown",
)


@app.callback()
def places() -> None:
    """The frame of the room's commands."""
