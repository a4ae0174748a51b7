"""The table of neighbours on the command line: a bar while it is made, a word on old ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from voile.jobs import Source
    from voile.text.settings import TextRecipe

NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache", help="Keep nothing on disk of what was worked out for the vocabulary."
    ),
]


def with_neighbours(recipe: TextRecipe, source: Source, *, quiet: bool) -> TextRecipe:
    """The recipe after its table of neighbours was made, if it pays."""
    from voile.mechanisms._neighbours import cache_folder, delete_telling_caches
    from voile.text.neighbours import fill_neighbours

    said = delete_telling_caches(cache_folder())
    if said:
        typer.echo(f"note: {said}", err=True)
    with _bar(quiet=quiet) as progress:
        return fill_neighbours(recipe, source, progress)


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Words done of how many and the time left, on standard error; gone at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True, quiet=quiet)
    columns = (
        TextColumn("neighbours of all words, once for this vocabulary"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeLeft(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("words", total=None, visible=False)
        yield lambda done, rows: bar.update(task, completed=done, total=rows, visible=True)
