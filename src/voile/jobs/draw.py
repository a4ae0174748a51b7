"""One part: read, drawn, written, committed. Both engines make a part here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from voile.errors import InvalidInput, require
from voile.files.arrow_columns import ArrowColumn
from voile.files.cutting import Piece
from voile.files.fitting import fitting
from voile.files.locations import Location
from voile.files.parts import part_bytes
from voile.files.pieces import Block
from voile.files.rows import ColumnRows, OnError, Row, RowProblem
from voile.files.source import Source
from voile.jobs.charging import Charging, NotYet, PartCharge, WhenSpent
from voile.jobs.records import Batch, BeyondBudget, Released, Replaced, Telling, Transform
from voile.jobs.workspace import Note, Workspace, writing
from voile.ledger import Bill


@dataclass(frozen=True)
class PartTask:
    """One part to be made, self-contained so that it can travel to a process or a machine.

    `job` names the job across restarts and engines; with `part` it names what is released here.
    `after` is the part that must be charged before this one, if a ledger is kept.
    """

    job: str
    piece: Piece
    source: Source
    target: Location
    columns: tuple[str, ...]
    schema: Any
    on_error: OnError
    key: int
    charging: Charging | None = None
    after: int | None = None
    dropped: frozenset[str] = frozenset()
    """Columns that are read and not written."""

    @property
    def part(self) -> int:
        """The part's number."""
        return self.piece.part


def draw_part(transform: Transform, task: PartTask) -> tuple[int, Note | None]:
    """Make one part and commit it; its number and its note, whoever committed it first.

    A task may come twice (its node died after the commit and before the answer): then nothing is
    drawn again. No note if it is not this part's turn to be charged: it must be made again later.
    """
    space = Workspace(task.target, task.job)
    space.check()
    if space.note(task.part).exists():
        return task.part, space.read_note(task.part)
    try:
        return task.part, _made(transform, task, space)
    except NotYet:
        return task.part, None
    except BaseException:
        if task.charging is not None:
            with suppress(OSError):
                space.stopped.write(b"")
        raise


def _made(transform: Transform, task: PartTask, space: Workspace) -> Note:
    """Read, charge, draw, write, commit."""
    block = fitting(task.source.read(task.piece), task.source.columns, task.target.name)
    batch = Batch(task.part, block.rows, task.key)
    paid: PartCharge | None = None
    if task.charging is not None:
        paid = PartCharge(
            task.charging,
            batch.column(task.charging.person),
            job=task.job,
            part=task.part,
            after=task.after,
            stopped=space.stopped.exists,
        )
        batch = replace(batch, charge=paid)
        if not len(batch):
            paid(Bill.listed([]))  # the next part waits for this one's charge
    released = _drawn(transform, batch)
    rows, counts = _kept(block, released, task, paid)
    content = part_bytes(rows, columns=task.columns, target=task.target.name, schema=task.schema)
    if paid is not None:
        paid.settle()
    with writing(task.target):
        facts = {**counts, "totals": dict(released.totals), "read": task.piece.mark}
        return space.commit(task.part, content, facts)


def _drawn(transform: Transform, batch: Batch) -> Released | Replaced:
    if not len(batch):
        return Released([])
    released = transform(batch)
    if isinstance(released, Released):
        lengths = [len(released.rows)]
    else:
        lengths = [len(values) for values in released.columns.values()]
    wrong = [length for length in lengths if length != len(batch)]
    require(not wrong, "a transform's answer", f"{len(batch)} rows", wrong)
    return released


def _kept(
    block: Block, released: Released | Replaced, task: PartTask, paid: PartCharge | None
) -> tuple[Sequence[Row], dict[str, int]]:
    """The rows to write, in the file's order, and how many were kept, left out and masked."""
    problems: Mapping[int, RowProblem]
    if isinstance(released, Replaced):
        problems = dict(released.problems)
    else:
        problems = {i: r for i, r in enumerate(released.rows) if isinstance(r, RowProblem)}
    if paid is not None:
        problems = paid.problems(problems)
    order = _order(block, problems, task)
    masked = sum(place is None for place in order) if not isinstance(order, range) else 0
    counts = {
        "rows": len(order) - masked,
        "skipped": len(block.lines) - len(order),
        "masked": masked,
    }
    over = sum(isinstance(problem, BeyondBudget) for problem in problems.values())
    if over and task.charging is not None:
        # Counted apart from bad rows, whether they were masked or left out.
        counts["masked" if task.charging.when_spent is WhenSpent.MASK else "skipped"] -= over
        counts["over_budget"] = over
    if isinstance(released, Replaced):
        if isinstance(block.rows, ColumnRows):
            return _by_column({**block.rows.columns, **released.columns}, order, task), counts
        changed: Sequence[Any] = [
            {**row, **dict(zip(released.columns, values, strict=True))}
            for row, values in zip(
                block.rows, zip(*released.columns.values(), strict=True), strict=True
            )
        ]
    else:
        changed = released.rows
    if task.dropped:
        changed = [_without(row, task.dropped) for row in changed]
    empty = dict.fromkeys(task.columns)
    return [empty if place is None else changed[place] for place in order], counts


def _without(row: Row | RowProblem, dropped: frozenset[str]) -> Row | RowProblem:
    if isinstance(row, RowProblem):
        return row
    return {name: value for name, value in row.items() if name not in dropped}


def _by_column(
    columns: Mapping[str, Sequence[Any]], order: Sequence[int | None], task: PartTask
) -> ColumnRows:
    chosen = {name: columns[name] for name in task.columns if name in columns}
    if isinstance(order, range):  # nothing is left out: the columns as they are
        return ColumnRows(chosen)
    return ColumnRows(
        {
            name: values.chosen(order)
            if isinstance(values, ArrowColumn)
            else [None if place is None else values[place] for place in order]
            for name, values in chosen.items()
        }
    )


def _order(
    block: Block, problems: Mapping[int, RowProblem], task: PartTask
) -> Sequence[int | None]:
    """For each row to write its place among the readable rows, None for a masked one."""
    if not block.problems and not problems:
        return range(len(block.lines))
    order: list[int | None] = []
    place = 0
    for position, line in enumerate(block.lines):
        problem = block.problems.get(position)
        if problem is None:
            problem = problems.get(place)
            if problem is None:
                order.append(place)
            place += 1
        if problem is None:
            continue
        if isinstance(problem, BeyondBudget) and task.charging is not None:
            if task.charging.keeps(line):
                order.append(None)
        elif isinstance(problem, Telling):
            raise InvalidInput(f"line {line}: {problem.reason}")
        elif task.on_error is OnError.FAIL:
            raise InvalidInput(
                f"line {line}: {problem.reason}; mend the file, or choose --on-error skip or mask"
            )
        elif task.on_error is OnError.MASK:
            order.append(None)
    return order
