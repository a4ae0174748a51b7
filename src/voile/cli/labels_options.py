"""Options that the label commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voile.errors import InvalidInput

Data = Annotated[Path, typer.Argument(help="A .csv, .jsonl or .parquet file.")]
Label = Annotated[str, typer.Option(help="The column that is the secret label.")]
Drop = Annotated[str, typer.Option(help="Columns to leave out, such as identifiers: a,b,c.")]
OnError = Annotated[
    str, typer.Option(help="Rows with missing or broken values: fail, skip or mask.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output.")]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The file has no header; columns are c1, c2, …")
]


def numbers(text: str, name: str) -> tuple[float, ...]:
    """Numbers between commas."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput(f"{name} must be numbers with commas between, got {text!r}") from None


def words(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def policy(text: str) -> Any:
    """What to do with bad rows."""
    if text not in ("fail", "skip", "mask"):
        raise InvalidInput(f"--on-error must be fail, skip or mask, got {text!r}")
    return text
