"""What a command does around its use case: check its outputs, show progress, show the result."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voile.options import UseCase
from voile.progress import Step, heard_by

if TYPE_CHECKING:
    from voile.cli.saved_recipe import SavedRecipe
    from voile.report.model import Report
    from voile.report.result import Result

EVERY = 20.0
"""Seconds between two lines of progress where there is no terminal."""


@dataclass(frozen=True)
class Wanted:
    """What is to become of a result; checked before the work begins."""

    report: Path | None
    charts: Path | None
    as_json: bool
    recipe: SavedRecipe | None = None


def prepared(
    case: UseCase,
    options: Mapping[str, Any],
    *,
    report: Path | None,
    charts: Path | None,
    save_recipe: Path | None = None,
    as_json: bool,
) -> Wanted:
    """Refuse what could not be written in the end."""
    from voile.errors import CannotWrite, InvalidInput

    if report is not None or charts is not None:
        from voile.report.pictures import require_charts

        require_charts()
    if report is not None:
        if report.suffix.lower() not in (".html", ".htm"):
            raise InvalidInput(f"--report must name an .html file, got {report.name}")
        if not report.parent.is_dir():
            raise CannotWrite(f"cannot write {report}: its folder does not exist")
        if report.is_dir():
            raise CannotWrite(f"--report must name a file, {report} is a folder")
        _probe(report.parent, report)
    if charts is not None:
        if charts.exists() and not charts.is_dir():
            raise CannotWrite(f"--charts must name a folder, {charts} is a file")
        there = next(folder for folder in (charts, *charts.absolute().parents) if folder.is_dir())
        _probe(there, charts)
    return Wanted(report, charts, as_json, _recipe(save_recipe, case, options))


def _recipe(path: Path | None, case: UseCase, options: Mapping[str, Any]) -> SavedRecipe | None:
    if path is None:
        return None
    from voile.cli.saved_recipe import saved_recipe

    return saved_recipe(path, case, options)


def _probe(folder: Path, wanted: Path) -> None:
    """A report that cannot be written must be known before the release, which cannot be undone."""
    from voile.errors import writing
    from voile.files import probe_folder

    with writing(wanted):
        probe_folder(folder)


def finish(result: Result, wanted: Wanted) -> None:
    """Show the result, write what was asked for, and exit with 1 if a claim was violated."""
    if wanted.recipe is not None:
        wanted.recipe.write()
    if wanted.report is not None or wanted.charts is not None:
        result.report(wanted.report, charts=wanted.charts)
    piped = result._piped()
    if wanted.as_json:
        print_json(result)
    elif piped is not None:
        typer.echo(piped, nl=False)
    else:
        _show(result._on_screen())
    if result.hash_key:
        typer.echo(
            "Key of the private files' hashes in the report, to be kept by you alone: "
            f"{result.hash_key}",
            err=True,
        )
    for where in (wanted.report, wanted.charts):
        if where is not None and not wanted.as_json:
            typer.echo(f"Wrote {where}")
    if result.violated:
        raise typer.Exit(1)


def _show(report: Report) -> None:
    """In colours on a terminal; plain into a pipe, which may close before the end."""
    from rich.console import Console

    from voile.report.terminal import as_text, show

    console = Console(soft_wrap=False, highlight=False)
    if console.is_terminal:
        show(report, console)
    else:
        typer.echo(as_text(report, width=console.width))


def print_json(value: Any) -> None:
    """One JSON document on standard output; null stands for an infinity, which JSON lacks."""
    from voile.report.result import plain

    typer.echo(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def heard(*, quiet: bool) -> Iterator[None]:
    """Progress on standard error: a bar with the time left, or a line now and then in a log.

    Quiet, there is none, and what a user's own code prints goes there: another program reads what
    is on standard output.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if quiet:
        with redirect_stdout(sys.stderr):
            yield
    elif console.is_terminal:
        with _bar(console):
            yield
    else:
        with _log():
            yield


@contextmanager
def _bar(console: Any) -> Iterator[None]:
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("…", total=None)

        def hear(step: Step) -> None:
            if step.stays:
                progress.console.print(step.what, highlight=False, markup=False, soft_wrap=True)
                return
            progress.update(task, visible=bool(step.what))
            if step.done is None or progress.tasks[0].total != step.total:
                progress.reset(task, total=step.total, description=step.what)
            progress.update(task, description=step.what, completed=step.done or 0, total=step.total)

        with heard_by(hear):
            yield


@contextmanager
def _log() -> Iterator[None]:
    """The latest step every so many seconds; a quick command leaves none."""
    begun, ended, latest = time.monotonic(), threading.Event(), [Step("working")]
    since = (begun, 0.0)  # when the present step began, and how much of it was done then

    def tick() -> None:
        while not ended.wait(EVERY):
            now = time.monotonic()
            if latest[0].what:
                typer.echo(_line(latest[0], now - begun, now - since[0], since[1]), err=True)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:

        def hear(step: Step) -> None:
            nonlocal since
            if step.stays:
                typer.echo(step.what)
                return
            before, latest[0] = latest[0], step
            if (step.what, step.total) != (before.what, before.total):
                since = (time.monotonic(), step.done or 0.0)

        with heard_by(hear):
            yield
    finally:
        ended.set()
        thread.join()


def _line(step: Step, seconds: float, here: float, before: float) -> str:
    """What is told of a step, after so many seconds, so many of them `here` in this step."""
    if step.done is None:
        return f"{step.what} ({seconds:.0f} s)"
    if step.total is None:
        return f"{step.what}: {step.done:,.0f} ({seconds:.0f} s)"
    gained, rest = step.done - before, step.total - step.done
    left = f", about {rest * here / gained:,.0f} s left" if gained > 0 and rest > 0 else ""
    return f"{step.what}: {step.done:,.0f} of {step.total:,.0f} ({seconds:.0f} s{left})"
