"""The commands that belong to no one domain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voile.cli import (
    labels,
    places,
    text,
)
from voile.cli.reporting import begin
from voile.cli.rooms import group
from voile.cli.show import AsJson, print_json

app = typer.Typer(
    cls=group(""),
    help="Blur text, places and labels under a guarantee you can state, and measure what shows.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


app.add_typer(text.app, name="text")
app.add_typer(places.app, name="places")
app.add_typer(labels.app, name="labels")
app.add_typer(
    typer.Typer(
        cls=group("ledger"),
        no_args_is_help=True,
        help="A budget for each person: who has spent how much, by keyed hash.",
        rich_markup_mode="markdown",
    ),
    name="ledger",
)


def _version(asked: bool) -> None:
    if asked:
        from voile import __version__

        typer.echo(f"voile {__version__}")
        raise typer.Exit


@app.callback()
def voile(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The frame of all commands."""
    begin(context)


@app.command()
def schema(
    command: Annotated[
        list[str] | None, typer.Argument(help="Of one command only, such as: text audit.")
    ] = None,
) -> None:
    """Print the JSON Schema of what commands print with --json.

    Example: `voile schema text audit`
    """
    from voile.report.schema import schema as task

    print_json(task(" ".join(command) if command else None))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder to write into.")] = Path("demo"),
    room: Annotated[
        list[str] | None, typer.Option(help="Only town, text, places or labels; may be repeated.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable draws, for experiments: not for release.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Go the whole road on made-up data: protect, audit, adapt, design; end with one report.

    Example: `voile demo --out demo`
    """
    from voile.cli.demo_show import narrated, show_end
    from voile.demo._demo import ROOMS
    from voile.demo._demo import demo as task

    with narrated(not as_json) as tell:
        result = task(out, seed=seed, rooms=tuple(room) if room else ROOMS, tell=tell)
    if as_json:
        typer.echo((result.folder / "summary.json").read_text(encoding="utf-8").rstrip())
        return
    show_end(result)
