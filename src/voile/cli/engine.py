"""Options of every command whose work can be spread over processes or machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from voile.jobs import Engine

InputFile = Annotated[
    str, typer.Argument(help="CSV, JSONL, Parquet or text; .gz allowed; a path or a URL (s3://…).")
]
OutputFile = Annotated[
    str | None, typer.Option("--out", help="Output, a path or a URL; default FILE.protected.…")
]
Jobs = Annotated[int, typer.Option(help="Processes; 0 takes all cores.")]
EngineName = Annotated[
    str, typer.Option("--engine", help="local: processes here. ray: a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(help="Of the Ray cluster: auto or HEAD:PORT; else one is started here."),
]


def chosen_engine(name: str, jobs: int, address: str | None) -> Engine:
    """The engine that these options name."""
    import os

    from voile.jobs import engine_named

    return engine_named(name, jobs=jobs or os.cpu_count() or 1, address=address)


def default_output(file: str, ending: str | None = None) -> str:
    """`FILE.protected` in the same folder, with the file's own endings or with another.

    >>> default_output("s3://bucket/trips.csv.gz")
    's3://bucket/trips.protected.csv.gz'
    """
    folder, slash, name = file.rpartition("/")
    stem, dot, endings = name.partition(".")
    shown = f"{dot}{endings}" if ending is None else ending
    return f"{folder}{slash}{stem}.protected{shown}"
