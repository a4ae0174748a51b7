"""Tables and small charts for a terminal, plain where it is not one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]

EIGHTHS = " ▏▎▍▌▋▊▉█"


def print_json(value: Any) -> None:
    """One JSON document on standard output; null stands for an infinity, which JSON lacks."""
    typer.echo(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """The value with null for what is no finite number.

    >>> plain({"upper": float("inf"), "bins": (1, 2.5)})
    {'upper': None, 'bins': [1, 2.5]}
    """
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table; words to the left, numbers to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(_is_number(row[index]) for row in rows)
        shown.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    Console(soft_wrap=False).print(shown)


def bars(
    *, title: str, rows: Sequence[tuple[str, float, str]], baseline: float, width: int = 40
) -> None:
    """Horizontal bars for shares between 0 and 1, with the share known beforehand."""
    typer.echo(title)
    label = max(len("(before)"), *(len(name) for name, _, _ in rows))
    for name, share, note in rows:
        typer.echo(f"  {name:>{label}} {bar(share, width)} {100 * share:6.2f} %   {note}")
    typer.echo(f"  {'(before)':>{label}} {bar(baseline, width)} {100 * baseline:6.2f} %")


@contextmanager
def spinner(shown: bool, *, every: float = 20.0) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is going on.

    Where that is no terminal, the latest line is printed every so many seconds: a log shows that
    work goes on, and a quick command leaves none.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not shown:
        yield lambda line: None
    elif console.is_terminal:
        with console.status("…") as status:
            yield lambda line: status.update(line)
    else:
        with _logged(every) as say:
            yield say


@contextmanager
def _logged(every: float) -> Iterator[Callable[[str], None]]:
    import threading
    import time

    begun, done, latest = time.monotonic(), threading.Event(), ["working"]

    def tick() -> None:
        while not done.wait(every):
            typer.echo(f"{latest[0]} ({time.monotonic() - begun:.0f} s)", err=True)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()

    def say(line: str) -> None:
        latest[0] = line

    try:
        yield say
    finally:
        done.set()
        thread.join()


def bar(share: float, width: int) -> str:
    """A bar of eighth blocks, padded to its full width.

    >>> bar(0.5, 4)
    '██  '
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(width)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
