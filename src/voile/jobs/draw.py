"""One part: read, drawn, written, committed. Both engines make a part here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.randomness import Generator, keyed_rng
from voile.errors import InvalidInput, require
from voile.files.cutting import Piece
from voile.files.fitting import fitting
from voile.files.locations import Location
from voile.files.parts import delimiter_for, part_bytes
from voile.files.pieces import Block
from voile.files.rows import ColumnRows, OnError, Row, RowProblem, UntouchedColumn
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
    target: Location | None
    """The output; none for what stays in memory."""
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
    assert task.target is not None  # what has none is drawn by `draw_rows` alone
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
    """Draw, write, commit."""
    target = space.target
    drawn = draw_rows(releaser, task, stopped=space.stopped.exists)
    content = part_bytes(
        drawn.rows,
        columns=task.columns,
        target=target.name,
        schema=task.schema,
        delimiter=delimiter_for(task.source, target.name),
    )
    drawn.settle()
    with writing(target):
        facts = {**drawn.counts, "totals": dict(drawn.totals), "read": task.piece.mark}
        return space.commit(task.part, content, facts)


@dataclass(frozen=True)
class Drawn:
    """A part's rows as they are to be written; nobody has seen them yet."""

    rows: Sequence[Row]
    lines: Sequence[int]
    """Where each row stands in the source."""
    masked: frozenset[int]
    """The places among the rows that were emptied."""
    counts: Mapping[str, int]
    totals: Mapping[str, float]
    charge: PartCharge | None

    def settle(self) -> None:
        """Return once the charge is on disk: until then the rows must not leave the memory."""
        if self.charge is not None:
            self.charge.settle()


def draw_rows(
    releaser: Releaser, task: PartTask, *, stopped: Callable[[], bool] = lambda: False
) -> Drawn:
    """Read, plan, charge, draw, and keep what may be written; nothing is written here."""
    block = task.source.read(task.piece)
    if task.target is not None:
        block = fitting(block, (*task.source.columns, *task.dropped), task.target.name)
    batch = Batch(task.part, block.rows)
    planned = _plan(releaser, batch)
    each = task.charging is not None and not task.charging.beforehand
    charge = _charged(task, batch, planned, stopped) if each else None
    problems = dict(planned.problems) if charge is None else charge.problems(planned.problems)
    replaced = _drawn(releaser, planned, problems, len(batch), task.rng())
    order, lines = _order(block, problems, task)
    masked = frozenset(place for place, row in enumerate(order) if row is None)
    counts = _counts(block, problems, order, len(masked), task)
    rows = _kept(block, replaced, order, task)
    return Drawn(rows, lines, masked, counts, replaced.totals, charge)


def _plan(releaser: Releaser, batch: Batch) -> Planned:
    """What is to be drawn; an empty batch costs nothing, and the next part waits for its charge."""
    return releaser.plan(batch) if len(batch) else Planned(None, lambda: Bill.listed([]))


def _charged(
    task: PartTask, batch: Batch, planned: Planned, stopped: Callable[[], bool]
) -> PartCharge:
    """Charge the part before anything is drawn for it."""
    assert task.charging is not None
    charge = PartCharge(
        task.charging,
        batch.column(task.charging.person),
        job=task.job,
        part=task.part,
        after=task.after,
        stopped=stopped,
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


def _counts(
    block: Block,
    problems: Mapping[int, RowProblem],
    order: Sequence[int | None],
    masked: int,
    task: PartTask,
) -> dict[str, int]:
    """How many rows were kept, left out and masked."""
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
    return counts


def _kept(
    block: Block, replaced: Replaced, order: Sequence[int | None], task: PartTask
) -> Sequence[Row]:
    """The rows to write, in the source's order."""
    if isinstance(block.rows, ColumnRows):
        return _by_column({**block.rows.columns, **replaced.columns}, order, task)
    changed = [
        _in_order(row, {name: values[place] for name, values in replaced.columns.items()}, task)
        for place, row in enumerate(block.rows)
    ]
    empty = dict.fromkeys(task.columns)
    return [empty if place is None else changed[place] for place in order]


def _in_order(row: Row, new: Row, task: PartTask) -> Row:
    """A JSON record with new values, its fields in the order of the columns.

    In its own order a field that it lacked, and that was drawn, would stand last and tell of it.
    """
    every = {**row, **new}
    names = dict.fromkeys([*(name for name in task.columns if name in every), *every])
    return {name: every[name] for name in names if name not in task.dropped}


def _by_column(
    columns: Mapping[str, Sequence[Any]], order: Sequence[int | None], task: PartTask
) -> ColumnRows:
    chosen = {name: columns[name] for name in task.columns if name in columns}
    if isinstance(order, range):  # nothing is left out: the columns as they are
        return ColumnRows(chosen)
    return ColumnRows(
        {
            name: values.chosen(order)
            if isinstance(values, UntouchedColumn)
            else [None if place is None else values[place] for place in order]
            for name, values in chosen.items()
        }
    )


def _order(
    block: Block, problems: Mapping[int, RowProblem], task: PartTask
) -> tuple[Sequence[int | None], Sequence[int]]:
    """For each row to write its place among the readable rows, None if masked, and its line."""
    if not block.problems and not problems:
        return range(len(block.lines)), block.lines
    order: list[int | None] = []
    lines: list[int] = []
    place = 0
    for position, line in enumerate(block.lines):
        problem = block.problems.get(position)
        own = place if problem is None else None
        if problem is None:
            problem = problems.get(place)
            place += 1
        if problem is None or _masks(problem, line, task):
            order.append(own if problem is None else None)
            lines.append(line)
    return order, lines


def _masks(problem: RowProblem, line: int, task: PartTask) -> bool:
    """Whether a row stays, emptied, or is left out; an error if the job must stop."""
    where = task.source.where(line)
    if isinstance(problem, BeyondBudget) and task.charging is not None:
        return task.charging.keeps(where)
    if isinstance(problem, Telling):
        raise InvalidInput(f"{where}: {problem.reason}")
    if task.on_error is OnError.FAIL:
        what = "the data" if task.source.in_memory else "the file"
        raise InvalidInput(
            f"{where}: {problem.reason}; mend {what}, or choose --on-error skip or mask"
        )
    return task.on_error is OnError.MASK
