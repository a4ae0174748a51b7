"""Text on the command line."""

from __future__ import annotations

import typer

from voile.cli.rooms import group

app = typer.Typer(
    cls=group("text"),
    no_args_is_help=True,
    help="Release text word by word, and measure utility and leakage.",
    rich_markup_mode="markdown",
)
