"""What a job did, of a file or in memory: the counts and totals of its parts together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voile.errors import InvalidInput
from voile.jobs.workspace import Note


@dataclass(frozen=True)
class JobReport:
    """What a job did: counts, and the sums of what its releaser counted."""

    output: str
    rows: int
    skipped: int
    masked: int
    parts: int
    resumed: int
    seconds: float
    totals: Mapping[str, float] = field(default_factory=dict)
    over_budget: int = 0
    """Rows that the ledger did not cover: masked or dropped, as `charging` says."""
    job: str = ""
    """The job's own name; a ledger was charged under it."""
    guarantee: Mapping[str, Any] = field(default_factory=dict)
    """What the guarantee file says."""


def report_of(output: str, notes: Sequence[Note], resumed: int, job: str) -> JobReport:
    """The counts and totals of all parts together."""
    totals: Counter[str] = Counter()
    for note in notes:
        totals.update(note["totals"])
    return JobReport(
        output=output,
        rows=sum(note["rows"] for note in notes),
        skipped=sum(note["skipped"] for note in notes),
        masked=sum(note["masked"] for note in notes),
        parts=len(notes),
        resumed=resumed,
        seconds=0.0,
        totals=dict(totals),
        over_budget=sum(note.get("over_budget", 0) for note in notes),
        job=job,
    )


def check_rows_left(notes: Sequence[Note]) -> None:
    """Refuse a release that holds nothing."""
    if not any(note["rows"] + note["masked"] for note in notes):
        spent = sum(note.get("over_budget", 0) for note in notes)
        reason = "every row was skipped" if not spent else f"{spent} are beyond their budget"
        raise InvalidInput(f"no row is left to write: {reason}")
