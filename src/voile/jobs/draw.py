"""One part: read, drawn, written, committed. Both engines make a part here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.randomness import Generator, keyed_rng
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
from voile.jobs.records import Batch, BeyondBudget, Planned, Releaser, Replaced, Telling
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
    seed: int | None = None

    @property
    def part(self) -> int:
        """The part's number."""
        return self.piece.part

    def rng(self) -> Generator:
        """The part's generator, the same for every attempt at it: keyed, or of the seed.

        If a part is tried twice at once (a node was thought dead and is not), the attempt that
        commits first is kept. Had the two drawn differently, how long a draw took would choose
        between them, and the released law would no longer be the certified one. With one key there
        is nothing to choose from. A seeded one does not depend on how many processes work.
        """
        if self.seed is None:
            return keyed_rng(self.key)
        return np.random.default_rng([self.seed, self.part])


def draw_part(releaser: Releaser, task: PartTask) -> tuple[int, Note | None]:
    """Make one part and commit it; its number and its note, whoever committed it first.

    A task may come twice (its node died after the commit and before the answer): then nothing is
    drawn again. No note if it is not this part's turn to be charged: it must be made again later.
    """
    space = Workspace(task.target, task.job)
    space.check()
    if space.note(task.part).exists():
        return task.part, space.read_note(task.part)
    try:
        return task.part, _made(releaser, task, space)
    except NotYet:
        return task.part, None
    except BaseException:
        if task.charging is not None:
            with suppress(OSError):
                space.stopped.write(b"")
        raise


def _made(releaser: Releaser, task: PartTask, space: Workspace) -> Note:
    """Read, plan, charge, draw, write, commit."""
    block = fitting(task.source.read(task.piece), task.source.columns, task.target.name)
    batch = Batch(task.part, block.rows)
    planned = _plan(releaser, batch)
    charge = None if task.charging is None else _charged(task, batch, planned, space)
    problems = dict(planned.problems) if charge is None else charge.problems(planned.problems)
    replaced = _drawn(releaser, planned, problems, len(batch), task.rng())
    rows, counts = _kept(block, replaced, problems, task)
    content = part_bytes(rows, columns=task.columns, target=task.target.name, schema=task.schema)
    if charge is not None:
        charge.settle()
    with writing(task.target):
        facts = {**counts, "totals": dict(replaced.totals), "read": task.piece.mark}
        return space.commit(task.part, content, facts)


def _plan(releaser: Releaser, batch: Batch) -> Planned:
    """What is to be drawn; an empty batch costs nothing, and the next part waits for its charge."""
    return releaser.plan(batch) if len(batch) else Planned(None, lambda: Bill.listed([]))


def _charged(task: PartTask, batch: Batch, planned: Planned, space: Workspace) -> PartCharge:
    """Charge the part before anything is drawn for it."""
    assert task.charging is not None
    charge = PartCharge(
        task.charging,
        batch.column(task.charging.person),
        job=task.job,
        part=task.part,
        after=task.after,
        stopped=space.stopped.exists,
    )
    charge.pay(planned.bill())
    return charge


def _drawn(
    releaser: Releaser,
    planned: Planned,
    problems: Mapping[int, RowProblem],
    count: int,
    rng: Generator,
) -> Replaced:
    """Draw for the rows that are paid for and have no problem."""
    if not count:
        return Replaced({})
    paid = np.ones(count, dtype=np.bool_)
    paid[list(problems)] = False
    replaced = releaser.draw(planned, paid, rng)
    wrong = [len(values) for values in replaced.columns.values() if len(values) != count]
    require(not wrong, "a releaser's answer", f"{count} rows", wrong)
    return replaced


def _kept(
    block: Block, replaced: Replaced, problems: Mapping[int, RowProblem], task: PartTask
) -> tuple[Sequence[Row], dict[str, int]]:
    """The rows to write, in the file's order, and how many were kept, left out and masked."""
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
    if isinstance(block.rows, ColumnRows):
        return _by_column({**block.rows.columns, **replaced.columns}, order, task), counts
    changed: Sequence[Row] = [
        {**row, **{name: values[place] for name, values in replaced.columns.items()}}
        for place, row in enumerate(block.rows)
    ]
    if task.dropped:
        changed = [_without(row, task.dropped) for row in changed]
    empty = dict.fromkeys(task.columns)
    return [empty if place is None else changed[place] for place in order], counts


def _without(row: Row, dropped: frozenset[str]) -> Row:
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
