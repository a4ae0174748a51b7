"""`--pass` and `--drop`: the columns that no mechanism changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

Pass = Annotated[
    str | None,
    typer.Option("--pass", help="Other columns to release IN CLEAR: a,b,c or all."),
]
Drop = Annotated[str | None, typer.Option("--drop", help="Other columns to leave out: a,b,c.")]


def dropped_columns(drop: str | None) -> tuple[str, ...]:
    """The columns of `--drop`, by name."""
    from voile.errors import InvalidInput
    from voile.jobs import named_columns

    names = named_columns(drop)
    if names == "all":
        raise InvalidInput("--drop must name its columns, got all")
    return tuple(names)


def show_in_brief(lines: Sequence[str]) -> None:
    """The first lines of a summary; those that speak of what stands in clear in amber."""
    for line in lines:
        clear = "IN CLEAR" in line
        typer.secho(line, fg=typer.colors.YELLOW if clear else None, bold=clear)
