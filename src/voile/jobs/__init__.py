"""Releasing a whole file: batches in, parts on disk, one finished file out.

A release cannot be taken back, and releasing a record twice with fresh noise spends its budget
twice. So a job draws each part once, keeps it, and shows the output only when it is whole.
"""

from voile.files.columns_in_clear import (
    ColumnsInClear,
    Named,
    columns_in_clear,
    named_columns,
)
from voile.files.locations import Location, location
from voile.files.rows import ColumnRows, OnError, RowProblem
from voile.files.source import Source, open_source
from voile.jobs.charging import Charging, WhenSpent
from voile.jobs.engines import Engine, Processes, Ray, engine_named, spread
from voile.jobs.in_memory import release_in_memory
from voile.jobs.job_report import JobReport
from voile.jobs.records import Batch, BeyondBudget, Planned, Releaser, Replaced, Telling
from voile.jobs.run import check_output, run_job

__all__ = [
    "Batch",
    "BeyondBudget",
    "Charging",
    "ColumnRows",
    "ColumnsInClear",
    "Engine",
    "JobReport",
    "Location",
    "Named",
    "OnError",
    "Planned",
    "Processes",
    "Ray",
    "Releaser",
    "Replaced",
    "RowProblem",
    "Source",
    "Telling",
    "WhenSpent",
    "check_output",
    "columns_in_clear",
    "engine_named",
    "location",
    "named_columns",
    "open_source",
    "release_in_memory",
    "run_job",
    "spread",
]
