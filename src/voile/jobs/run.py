"""A job: every row of a source released once, in order, on one or more processes."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voile.errors import CannotWrite, InvalidInput, VoileError, require
from voile.jobs.charging import ChargedPart, Charging, Stopped
from voile.jobs.parts import join_parts, write_part
from voile.jobs.records import Batch, BeyondBudget, OnError, Row, RowProblem, Transform
from voile.jobs.source import Source, format_of
from voile.jobs.workers import workers
from voile.jobs.workspace import Workspace, write_json, writing

Numbered = tuple[int, Row | RowProblem]


@dataclass(frozen=True)
class JobReport:
    """What a job did: counts, and the sums of what its transform counted."""

    output: Path
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
    """The name under which the ledger was charged."""


@dataclass(frozen=True)
class _Task:
    """One part to be drawn and written, self-contained so that it can travel to a process."""

    part: int
    records: Sequence[Numbered]
    target: Path
    columns: tuple[str, ...]
    schema: Any
    on_error: OnError
    charging: Charging | None = None
    after: int | None = None
    """The part that must be charged before this one: budgets are spent in the file's order."""


def run_job(
    source: Source,
    target: str | Path,
    make_transform: Callable[[], Transform],
    *,
    identity: Mapping[str, Any],
    added_columns: Sequence[str] = (),
    jobs: int = 1,
    batch_rows: int = 2000,
    on_error: OnError = OnError.FAIL,
    overwrite: bool = False,
    charging: Charging | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> JobReport:
    r"""Release every row of a source once and write the target when all are done.

    Rows are read in batches; each batch becomes one part, drawn by a transform, written under a
    temporary name, synced and renamed. A restart with the same source, `identity` (the settings,
    as JSON would hold them) and batch size finds the parts that exist and *never draws for their
    rows again*. The target appears by one rename when all parts are there. `make_transform` is
    called once in each process (it must be picklable for jobs > 1) so that each has a generator
    of its own. `added_columns` hold numbers and stand after the source's. `progress` gets the
    number of rows done since its last call. With `charging` each part is charged to a ledger
    before it is drawn; a job that fails for its input is refunded, since all of it is deleted
    unread. Memory: `jobs` + 2 batches, whatever the file's size.

    >>> import tempfile, pathlib
    >>> from voile.jobs import Released, open_source
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.csv").write_text("n\n1\n2\n")
    >>> def shout(batch):
    ...     rows = [{"n": row["n"] + "!"} for row in batch.rows]
    ...     return Released(rows, {"seen": len(rows)})
    >>> report = run_job(
    ...     open_source(folder / "in.csv"), folder / "out.csv", lambda: shout, identity={}
    ... )
    >>> (folder / "out.csv").read_text(), report.totals
    ('n\n1!\n2!\n', {'seen': 2})
    """
    target = Path(target)
    require(jobs >= 1, "jobs", ">= 1", jobs)
    require(batch_rows >= 1, "batch_rows", ">= 1", batch_rows)
    format_of(target)
    if target.resolve() == source.path.resolve():
        raise CannotWrite("the output must be another file than the input")
    space = Workspace(target)
    known = {
        **identity,
        "source": source.path.name,
        "fingerprint": source.fingerprint(),
        "batch_rows": batch_rows,
        "on_error": str(on_error),
        "added_columns": list(added_columns),
    }
    if charging is not None:
        known["ledger"] = charging.identity()
    start = time.monotonic()
    with writing(target):
        if not space.publishing.exists() and target.exists() and not overwrite:
            raise CannotWrite(f"{str(target)!r} exists already; choose another name or --overwrite")
        resumed = space.open(known)
        with space.locked():
            space.stopped.unlink(missing_ok=True)
            if charging is not None:
                charging = replace(charging, job=space.job())
            try:
                columns = (*source.columns, *(c for c in added_columns if c not in source.columns))
                schema = _schema(source, target, columns)
                tasks = _tasks(source, space, columns, schema, batch_rows, on_error, charging)
                notes, done_before = _draw(tasks, space, make_transform, jobs, progress)
                _publish(space, notes, columns)
            except CannotWrite:
                raise  # a full disk or a dead worker: the parts are kept, as for an interrupt
            except VoileError:
                space.remove()  # bad input or settings: nothing of this job may stay
                if charging is not None and not space.folder.exists():
                    with suppress(VoileError):  # uncharged is better, but the first error matters
                        charging.refund()
                raise
        space.remove()
    totals: Counter[str] = Counter()
    for note in notes:
        totals.update(note["totals"])
    return JobReport(
        output=target,
        rows=sum(note["rows"] for note in notes),
        skipped=sum(note["skipped"] for note in notes),
        masked=sum(note["masked"] for note in notes),
        parts=len(notes),
        resumed=done_before if resumed else 0,
        seconds=time.monotonic() - start,
        totals=dict(totals),
        over_budget=sum(note.get("over_budget", 0) for note in notes),
        job="" if charging is None else charging.job,
    )


def _schema(source: Source, target: Path, columns: Sequence[str]) -> Any:
    """The Arrow schema of a Parquet output; nothing for the others."""
    if format_of(target)[0] != "parquet":
        return None
    import pyarrow

    if source.format == "jsonl":
        raise InvalidInput("a .jsonl input must be released as .jsonl, .csv or .txt")
    fields = []
    for column in columns:
        if column not in source.columns:
            fields.append(pyarrow.field(column, pyarrow.float64()))
        elif source.types is None:
            fields.append(pyarrow.field(column, pyarrow.string()))
        else:
            fields.append(source.types.field(column))
    return pyarrow.schema(fields)


def _tasks(
    source: Source,
    space: Workspace,
    columns: tuple[str, ...],
    schema: Any,
    batch_rows: int,
    on_error: OnError,
    charging: Charging | None,
) -> Iterator[_Task]:
    for part, records in enumerate(source.batches(size=batch_rows)):
        yield _Task(part, records, space.target, columns, schema, on_error, charging)


def _draw(
    tasks: Iterator[_Task],
    space: Workspace,
    make_transform: Callable[[], Transform],
    jobs: int,
    progress: Callable[[int], None],
) -> tuple[list[dict[str, Any]], int]:
    """Draw the parts that are missing; what is known of all parts, and how many were there."""
    count = existing = 0
    last: int | None = None

    def missing() -> Iterator[_Task]:
        nonlocal count, existing, last
        for task in tasks:
            count += 1
            if space.part(task.part).exists():
                existing += 1
                progress(len(task.records))
            else:
                yield replace(task, after=last)
                last = task.part

    if not space.publishing.exists():
        for finished in workers(make_transform, _draw_part, missing(), jobs=jobs):
            progress(finished)
    else:
        count = sum(1 for _ in space.folder.glob("part-*.json"))
        existing = count
    return [json.loads(space.note(part).read_text("utf-8")) for part in range(count)], existing


def _draw_part(transform: Transform, task: _Task) -> int:
    """Draw one part and write it; the number of rows it took from the source."""
    try:
        return _draw_charged(transform, task)
    except Stopped:
        return 0  # the part that failed tells
    except BaseException:
        with suppress(OSError):
            Workspace(task.target).stopped.touch()
        raise


def _draw_charged(transform: Transform, task: _Task) -> int:
    """Charge, then draw, then write."""
    space = Workspace(task.target)
    paying: ChargedPart | None = None
    records = task.records
    if task.charging is not None:
        paying = task.charging.part(task.part, after=task.after, stopped=space.stopped.exists)
        records = paying.named(records)
    good = [row for _, row in records if not isinstance(row, RowProblem)]
    released = transform(Batch(task.part, good, None if paying is None else paying.charge))
    require(
        len(released.rows) == len(good),
        "a transform's answer",
        f"{len(good)} rows",
        len(released.rows),
    )
    if paying is not None:
        paying.check(released.rows)
    answers = iter(released.rows)
    rows: list[Row] = []
    counts = {"rows": 0, "skipped": 0, "masked": 0, "over_budget": 0}
    for line, record in records:
        answer = record if isinstance(record, RowProblem) else next(answers)
        if not isinstance(answer, RowProblem):
            rows.append(answer)
            counts["rows"] += 1
        elif isinstance(answer, BeyondBudget) and paying is not None:
            counts["over_budget"] += 1
            if paying.masks(line):
                rows.append(dict.fromkeys(task.columns))
        elif task.on_error is OnError.MASK:
            rows.append(dict.fromkeys(task.columns))
            counts["masked"] += 1
        elif task.on_error is OnError.SKIP:
            counts["skipped"] += 1
        else:
            raise InvalidInput(
                f"line {line}: {answer.reason}; mend the file, or choose --on-error skip or mask"
            )
    with writing(task.target):
        # The note first: a part that exists always has one.
        write_json(space.note(task.part), {**counts, "totals": dict(released.totals)})
        write_part(
            space.part(task.part),
            rows,
            columns=task.columns,
            target=task.target,
            schema=task.schema,
        )
    return len(task.records)


def _publish(space: Workspace, notes: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    if not any(note["rows"] + note["masked"] for note in notes):
        spent = sum(note.get("over_budget", 0) for note in notes)
        reason = "every row was skipped" if not spent else f"{spent} are beyond their budget"
        raise InvalidInput(f"no row is left to write: {reason}")
    if not space.publishing.exists():
        parts = [space.part(number) for number in range(len(notes))]
        join_parts(parts, space.joined, columns=columns, target=space.target)
        space.publishing.touch()
    if space.joined.exists():  # else the rename was the last thing an interrupted run did
        space.joined.replace(space.target)
