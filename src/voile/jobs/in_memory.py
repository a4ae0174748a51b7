"""A release of data in memory: drawn as a file's parts are, given back as what came in.

Nothing is written: no part, no note, no output. So there is nothing to continue either. A release
that stops halfway is forgotten before anybody saw it, and its charges are taken back.
"""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from voile.core.keyed_streams import KEY_BYTES
from voile.errors import InvalidInput, VoileError, require
from voile.files.in_memory import InMemory, same_kind
from voile.files.rows import ColumnRows, OnError, UntouchedColumn
from voile.files.source import Source
from voile.files.tables import Changes
from voile.jobs.charging import Charging
from voile.jobs.draw import Drawn, PartTask, draw_rows
from voile.jobs.job_report import JobReport, check_rows_left, report_of
from voile.jobs.records import Releaser
from voile.jobs.run import part_key
from voile.jobs.sharing import SharesDraws, key_of_seed, prepared
from voile.jobs.workers import Processes
from voile.progress import tell


def release_in_memory(
    source: Source,
    make_releaser: Callable[[], Releaser] | SharesDraws,
    *,
    added_columns: Sequence[str] = (),
    dropped_columns: Sequence[str] = (),
    batch_rows: int = 2000,
    on_error: OnError = OnError.FAIL,
    charging: Charging | None = None,
    seed: int | None = None,
    guarantee: Callable[[JobReport], Mapping[str, Any]] | None = None,
) -> tuple[Any, JobReport]:
    """Release every row of data in memory once; data of the same kind, and what was done.

    The options mean what they mean for `run_job`. The parts are drawn one after the other in this
    process, each charged before it is drawn; the data is handed out once all charges are on disk.

    >>> from voile.jobs import Planned, Replaced, open_source
    >>> from voile.ledger import Bill
    >>> class Shout:
    ...     def plan(self, batch):
    ...         return Planned(batch.column("text"), lambda: Bill.listed([]))
    ...     def draw(self, planned, paid, rng):
    ...         return Replaced({"text": [text.upper() for text in planned.secrets]})
    >>> data, report = release_in_memory(open_source(["hello", "you"]), Shout)
    >>> data, report.rows
    (['HELLO', 'YOU'], 2)
    """
    require(batch_rows >= 1, "batch_rows", ">= 1", batch_rows)
    if not isinstance(source, InMemory):
        raise InvalidInput("what is released in memory must be in memory, got a file")
    started, job = time.monotonic(), uuid.uuid4().hex
    added = tuple(name for name in added_columns if name not in source.columns)
    columns = (*(name for name in source.columns if name not in dropped_columns), *added)

    def task(piece: Any) -> PartTask:
        return PartTask(
            job, piece, source, None, columns, None, on_error, part_key(), charging,
            piece.part - 1 if piece.part else None, frozenset(dropped_columns), seed,
        )  # fmt: skip

    try:
        ready = prepared(
            make_releaser,
            lambda: map(task, source.pieces(size=batch_rows)),
            key=_fresh_key if seed is None else partial(key_of_seed, seed),
            engine=Processes(),
            charging=charging,
            job=job,
        )
        parts = _parts(source, ready.make(), task, batch_rows)
        notes = [{**part.counts, "totals": part.totals} for part in parts]
        check_rows_left(notes)
        data = same_kind(source, _changes(parts, columns, frozenset(dropped_columns)))
        report = report_of("", notes, 0, job)
        if guarantee is not None:
            report = replace(report, guarantee=guarantee(report))
        if charging is not None:
            charging.ledger.finish(job)
    except (VoileError, KeyboardInterrupt):
        if charging is not None:
            with suppress(VoileError):  # charged for nothing is bad, hiding why is worse
                charging.ledger.refund(job)
        raise
    return data, replace(report, seconds=time.monotonic() - started)


def _fresh_key() -> bytes:
    """The key of draws that parts share: in memory alone, and forgotten with the release."""
    return secrets.randbits(8 * KEY_BYTES).to_bytes(KEY_BYTES, "little")


def _parts(
    source: InMemory, releaser: Releaser, task: Callable[[Any], PartTask], batch_rows: int
) -> list[Drawn]:
    parts: list[Drawn] = []
    done = 0
    for piece in source.pieces(size=batch_rows):
        drawn = draw_rows(releaser, task(piece))
        drawn.settle()
        parts.append(drawn)
        done += len(piece.content)
        tell(f"releasing: {done:,} rows", done=done, total=len(source.table))
    return parts


def _changes(parts: Sequence[Drawn], columns: Sequence[str], dropped: frozenset[str]) -> Changes:
    """What became of the source's rows and columns in all parts together."""
    rows = [line - 1 for part in parts for line in part.lines]
    masked: set[int] = set()
    before = 0
    for part in parts:
        masked.update(before + place for place in part.masked)
        before += len(part.lines)
    changed: dict[str, Sequence[Any]] = {}
    for name in columns:
        chunks = [_values(part, name) for part in parts]
        if not all(isinstance(chunk, UntouchedColumn) for chunk in chunks):
            changed[name] = [_python(value) for chunk in chunks for value in chunk]
    return Changes(rows, changed, dropped, frozenset(masked))


def _values(part: Drawn, name: str) -> Sequence[Any]:
    assert isinstance(part.rows, ColumnRows)  # as tables are read
    found = part.rows.columns.get(name)
    return [None] * len(part.rows) if found is None else found


def _python(value: Any) -> Any:
    """A number of NumPy's as one of Python's, which every kind of data takes."""
    return value.item() if isinstance(value, np.generic) else value
