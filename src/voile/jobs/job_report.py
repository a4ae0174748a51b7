"""What a job did, added up from the notes of its parts, and how far it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voile.errors import InvalidInput
from voile.files.formats import format_of
from voile.files.source import Source
from voile.jobs.workspace import Note
from voile.progress import tell


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
    sha256: str = ""
    """Of the finished output's bytes."""
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


class Progress:
    """How far a job is: by rows where their number is known, else by how much was read."""

    def __init__(self, source: Source, size: int) -> None:
        self.rows = self.read = 0
        self.count = source.count
        packed = bool(format_of(source.location.name).packing)
        self.size = None if packed else size

    def add(self, note: Note) -> None:
        """One more part is there."""
        self.rows += sum(note.get(key, 0) for key in ("rows", "skipped", "masked", "over_budget"))
        self.read += int(note["read"].split()[0])
        by_rows = self.count is not None
        total = self.count if by_rows else self.size
        done = (self.rows if by_rows else self.read) if total else None
        tell(f"releasing: {self.rows:,} rows", done=done, total=total)


def check_rows_left(notes: Sequence[Note]) -> None:
    """Refuse a release that holds nothing."""
    if not any(note["rows"] + note["masked"] for note in notes):
        spent = sum(note.get("over_budget", 0) for note in notes)
        reason = "every row was skipped" if not spent else f"{spent} are beyond their budget"
        raise InvalidInput(f"no row is left to write: {reason}")
