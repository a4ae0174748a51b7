"""The commands that belong to no one domain."""

from __future__ import annotations

from typing import Annotated

import typer

from voile.cli.rooms import group
from voile.cli.showing import print_json
from voile.surface import ABOUT
from voile.surface import schema as schema_of

app = typer.Typer(
    cls=group(""),
    help="Blur text, places and labels under a guarantee you can state, and measure what shows.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _room(name: str, about: str) -> typer.Typer:
    """The commands of one room."""
    made = typer.Typer(
        cls=group(name), no_args_is_help=True, help=about, rich_markup_mode="markdown"
    )
    made.callback()(lambda: None)
    app.add_typer(made, name=name)
    return made


rooms = {name: _room(name, about) for name, about in ABOUT.items()}


def _version(asked: bool) -> None:
    if asked:
        from voile.version import __version__

        typer.echo(f"voile {__version__}")
        raise typer.Exit


@app.callback()
def voile(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The frame of all commands."""


@app.command()
def schema(
    command: Annotated[
        list[str] | None, typer.Argument(help="Of one command only, such as: text audit.")
    ] = None,
) -> None:
    """Print the JSON Schema of what commands print with --json.

    Example: `voile schema text audit`
    """
    print_json(schema_of(" ".join(command) if command else None))
