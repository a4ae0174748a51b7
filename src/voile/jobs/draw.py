"""One part: read, drawn, written, committed. Both engines make a part here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voile.errors import InvalidInput, require
from voile.jobs.locations import Location
from voile.jobs.parts import part_bytes
from voile.jobs.pieces import Block, Piece
from voile.jobs.records import (
    Batch,
    ColumnRows,
    OnError,
    Released,
    Replaced,
    Row,
    RowProblem,
    Transform,
)
from voile.jobs.source import Source
from voile.jobs.workspace import Note, Workspace, writing


@dataclass(frozen=True)
class PartTask:
    """One part to be made, self-contained so that it can travel to a process or a machine.

    `job` names the job across restarts and engines; with `part` it names what is released here.
    """

    job: str
    piece: Piece
    source: Source
    target: Location
    columns: tuple[str, ...]
    schema: Any
    on_error: OnError
    key: int

    @property
    def part(self) -> int:
        """The part's number."""
        return self.piece.part


def draw_part(transform: Transform, task: PartTask) -> tuple[int, Note]:
    """Make one part and commit it; its number and its note, whoever committed it first.

    A task may come twice (its node died after the commit and before the answer): then nothing is
    drawn again.
    """
    space = Workspace(task.target, task.job)
    space.check()
    if space.note(task.part).exists():
        return task.part, space.read_note(task.part)
    block = task.source.read(task.piece)
    released = _drawn(transform, Batch(task.part, block.rows, task.key))
    rows, counts = _kept(block, released, task)
    content = part_bytes(rows, columns=task.columns, target=task.target.name, schema=task.schema)
    with writing(task.target):
        note = space.commit(task.part, content, {**counts, "totals": dict(released.totals)})
    return task.part, note


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
    block: Block, released: Released | Replaced, task: PartTask
) -> tuple[Sequence[Row], dict[str, int]]:
    """The rows to write, in the file's order, and how many were kept, left out and masked."""
    if isinstance(released, Replaced):
        problems = dict(released.problems)
    else:
        problems = {i: r for i, r in enumerate(released.rows) if isinstance(r, RowProblem)}
    order = _order(block, problems, task.on_error)
    masked = sum(place is None for place in order) if not isinstance(order, range) else 0
    counts = {
        "rows": len(order) - masked,
        "skipped": len(block.lines) - len(order),
        "masked": masked,
    }
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
    empty = dict.fromkeys(task.columns)
    return [empty if place is None else changed[place] for place in order], counts


def _by_column(
    columns: Mapping[str, Sequence[Any]], order: Sequence[int | None], task: PartTask
) -> ColumnRows:
    chosen = {name: columns[name] for name in task.columns if name in columns}
    if isinstance(order, range):  # nothing is left out: the columns as they are
        return ColumnRows(chosen)
    return ColumnRows(
        {
            name: [None if place is None else values[place] for place in order]
            for name, values in chosen.items()
        }
    )


def _order(
    block: Block, problems: Mapping[int, RowProblem], on_error: OnError
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
        if on_error is OnError.FAIL:
            raise InvalidInput(
                f"line {line}: {problem.reason}; mend the file, or choose --on-error skip or mask"
            )
        if on_error is OnError.MASK:
            order.append(None)
    return order
