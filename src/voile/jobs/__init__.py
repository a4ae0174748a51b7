"""Releasing a whole file: batches in, parts on disk, one finished file out.

A release cannot be taken back, and releasing a record twice with fresh noise spends its budget
twice. So a job draws each part once, keeps it, and shows the output only when it is whole.
"""

from voile.jobs.engines import Engine, Processes, Ray, engine_named, spread
from voile.jobs.locations import Location, location
from voile.jobs.records import (
    Batch,
    ColumnRows,
    OnError,
    Released,
    Replaced,
    RowProblem,
    Transform,
)
from voile.jobs.run import JobReport, run_job
from voile.jobs.source import Source, open_source

__all__ = [
    "Batch",
    "ColumnRows",
    "Engine",
    "JobReport",
    "Location",
    "OnError",
    "Processes",
    "Ray",
    "Released",
    "Replaced",
    "RowProblem",
    "Source",
    "Transform",
    "engine_named",
    "location",
    "open_source",
    "run_job",
    "spread",
]
