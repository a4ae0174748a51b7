"""Labels: how much a labelled file gives away, and ways to share it."""

from __future__ import annotations

import typer

from voile.cli.rooms import group

app = typer.Typer(
    cls=group("labels"),
    no_args_is_help=True,
    help="Labelled records: what the features give away, and how to share them.",
)
