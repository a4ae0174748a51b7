"""The commands that belong to no one domain."""

from __future__ import annotations

from typing import Annotated

import typer

from voile.cli.rooms import group
from voile.cli.showing import print_json

app = typer.Typer(
    cls=group(""),
    help="Blur text, places and labels under a guarantee you can state, and measure what shows.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def room(name: str, about: str) -> typer.Typer:
    """The commands of one room."""
    made = typer.Typer(
        cls=group(name), no_args_is_help=True, help=about, rich_markup_mode="markdown"
    )
    made.callback()(lambda: None)
    app.add_typer(made, name=name)
    return made


text_app = room("text", "Release text word by word, and measure utility and leakage.")
places_app = room("places", "Blur places with mechanisms solved for a map, certified on it.")
labels_app = room("labels", "Labelled records: what the features give away, and how to share.")
ledger_app = room("ledger", "A budget for each person: who has spent how much, by keyed hash.")


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
    from voile.surface import schema as task

    print_json(task(" ".join(command) if command else None))
