"""A job: every row of a source released once, in order, by whatever engine."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from voile.errors import CannotWrite, VoileError, require
from voile.files.disk import LocalFile
from voile.files.fitting import check_fits
from voile.files.formats import format_of
from voile.files.locations import Location, location, sha256_of
from voile.files.parts import delimiter_for, join_parts
from voile.files.rows import OnError
from voile.files.source import Source
from voile.jobs.charging import Charging
from voile.jobs.draw import PartTask, draw_part
from voile.jobs.engines import Engine
from voile.jobs.job_report import JobReport, Progress, check_rows_left, report_of
from voile.jobs.records import Releaser
from voile.jobs.sharing import Prepared, SharesDraws, key_of_seed, prepared
from voile.jobs.unchanged import check_piece, check_unchanged
from voile.jobs.workers import Processes
from voile.jobs.workspace import Note, Workspace, write_json, writing


def run_job(
    source: Source,
    target: str | os.PathLike[str] | Location,
    make_releaser: Callable[[], Releaser] | SharesDraws,
    *,
    identity: Mapping[str, Any],
    added_columns: Sequence[str] = (),
    dropped_columns: Sequence[str] = (),
    jobs: int = 1,
    engine: Engine | None = None,
    batch_rows: int = 2000,
    on_error: OnError = OnError.FAIL,
    overwrite: bool = False,
    charging: Charging | None = None,
    seed: int | None = None,
    guarantee: Callable[[JobReport], Mapping[str, Any]] | None = None,
    private: bool = False,
) -> JobReport:
    r"""Release every row of a source once and write the target when all are done.

    The source is cut into pieces of `batch_rows` records; each becomes one part, drawn by a
    releaser, written, and committed by a name that can be created once. A restart with the same
    source, `identity` (the settings, as JSON would hold them) and batch size finds the parts that
    exist and *never draws for their rows again*, whichever engine made them. The target appears in
    one step when all parts are there. `engine` says who makes the parts, `jobs` processes here
    unless given; `make_releaser` is called once in each process (it must be picklable for more
    than one). `added_columns` hold numbers and stand after the source's; `dropped_columns` can be
    read by the releaser and are not written. How far it is, is told to `voile.progress`.
    With `charging` each part is charged to a ledger before it is
    drawn (or all at once beforehand, where parts share draws: `voile.jobs.sharing`); a job that
    fails for its input is refunded, since all of it is deleted unread. What
    `guarantee` says of the finished job is written to `<target>.guarantee.json` just before the
    target appears: no release stands without it. What is `private` stays its owner's. Memory: the
    pieces under way, whatever the file's size.

    >>> import tempfile, pathlib
    >>> from voile.jobs import Planned, Replaced, open_source
    >>> from voile.ledger import Bill
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.csv").write_text("n\n1\n2\n")
    >>> class Shout:
    ...     def plan(self, batch):
    ...         numbers = batch.column("n")
    ...         return Planned(numbers, lambda: Bill.listed([((1.0, 0.0, 1),)] * len(numbers)))
    ...     def draw(self, planned, paid, rng):
    ...         return Replaced({"n": [n + "!" for n in planned.secrets]}, {"seen": len(paid)})
    >>> report = run_job(
    ...     open_source(folder / "in.csv"), folder / "out.csv", Shout, identity={}
    ... )
    >>> (folder / "out.csv").read_text(), report.totals
    ('n\n1!\n2!\n', {'seen': 2})
    """
    out = location(target)
    require(batch_rows >= 1, "batch_rows", ">= 1", batch_rows)
    chosen = Processes(jobs) if engine is None else engine
    format_of(out.name)
    if same_file(out, source.location):
        raise CannotWrite("the output must be another file than the input")
    chosen.check(out)
    space = Workspace(out)
    known = {
        **identity,
        "source": source.location.name,
        "fingerprint": source.fingerprint(),
        "batch_rows": batch_rows,
        "on_error": str(on_error),
        "added_columns": list(added_columns),
    }
    if source.encoding:
        known["encoding"] = source.encoding
    if dropped_columns:
        known["dropped_columns"] = sorted(dropped_columns)
    if charging is not None:
        known["ledger"] = charging.identity()
    size, _ = source.location.facts()
    start = time.monotonic()
    with writing(out):
        space.clear_remains()
        check_output(out, overwrite=overwrite)
        space, resumed = space.open(known)
        with space.locked():
            space.stopped.remove()
            try:
                added = (c for c in added_columns if c not in source.columns)
                columns = (*(c for c in source.columns if c not in dropped_columns), *added)
                check_fits(source, out.name, columns)
                schema = _schema(source, out, columns)

                def tasks() -> Iterator[PartTask]:
                    for piece in source.pieces(size=batch_rows):
                        yield PartTask(
                            space.job, piece, source, out, columns, schema, on_error, part_key(),
                            charging, dropped=frozenset(dropped_columns), seed=seed,
                        )  # fmt: skip

                ready = Prepared(_nobody)
                if not space.publishing.exists():  # else all is drawn, and the key is gone
                    ready = prepared(
                        make_releaser,
                        tasks,
                        key=space.shared_key if seed is None else partial(key_of_seed, seed),
                        engine=chosen,
                        charging=charging,
                        job=space.job,
                    )
                notes, existing = _draw(tasks, space, ready, chosen, Progress(source, size))
                report = report_of(str(out), notes, existing if resumed else 0, space.job)
                _join(
                    source,
                    space,
                    notes,
                    columns,
                    lambda: check_unchanged(source, notes, size=size, batch_rows=batch_rows),
                )
                if guarantee is not None:
                    whole = space.joined if space.joined.exists() else out
                    report = replace(report, sha256=sha256_of(whole))
                    report = replace(report, guarantee=guarantee(report))
                    said = out.beside(out.name + ".guarantee.json")
                    write_json(said, report.guarantee)
                    said.readable_like(source.location)
                if space.joined.exists():  # else an interrupted run had just given it its name
                    if not private:
                        space.joined.readable_like(source.location)
                    if charging is not None:
                        charging.ledger.finish(space.job)
                    space.joined.move(out, overwrite=overwrite)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"the finished parts are kept in {space.folder}; repeat the command to "
                    "continue, or delete that folder to give up"
                ) from None
            except CannotWrite:
                raise  # a full disk or a dead worker: the parts are kept, as for an interrupt
            except VoileError:
                space.remove()  # bad input or settings: nothing of this job may stay
                if charging is not None and not space.folder.exists():
                    with suppress(VoileError):  # charged for nothing is bad, hiding why is worse
                        charging.ledger.refund(space.job)
                raise
        with suppress(OSError):  # the output stands; what is left is cleared away by the next run
            space.remove()
    return replace(report, seconds=time.monotonic() - start)


def check_output(target: str | os.PathLike[str] | Location, *, overwrite: bool) -> None:
    """Refuse an output that exists, unless it may be replaced or was just about to be finished.

    Cheap: a command asks this before it loads anything.
    """
    out = location(target)
    if not overwrite and out.exists() and not Workspace(out).publishing.exists():
        raise CannotWrite(f"{str(out)!r} exists already; choose another name or --overwrite")


def _nobody() -> Releaser:
    raise AssertionError("all parts are drawn")


def part_key() -> int:
    """A key for one part's draws, from the operating system; kept in memory only."""
    return secrets.randbits(128)


def same_file(one: Location, other: Location) -> bool:
    """Whether both are one file, however it is named."""
    if isinstance(one, LocalFile) and isinstance(other, LocalFile):
        return one.path.resolve() == other.path.resolve()
    return str(one) == str(other)


def _schema(source: Source, target: Location, columns: Sequence[str]) -> Any:
    """The Arrow schema of a Parquet output, without its owner's notes; nothing for the others.

    Each column may be empty: what was drawn or masked can be.
    """
    if format_of(target.name)[0] != "parquet":
        return None
    import pyarrow

    fields = []
    for column in columns:
        if column not in source.columns:
            fields.append(pyarrow.field(column, pyarrow.float64()))
        elif source.types is None:
            fields.append(pyarrow.field(column, pyarrow.string()))
        else:
            fields.append(source.types.field(column).with_nullable(True).remove_metadata())
    return pyarrow.schema(fields)


def _draw(
    tasks: Callable[[], Iterator[PartTask]],
    space: Workspace,
    ready: Prepared,
    engine: Engine,
    progress: Progress,
) -> tuple[list[Note], int]:
    """Make the parts that are missing; the notes of all parts, and how many were there."""
    notes: dict[int, Note] = {part: space.read_note(part) for part in sorted(space.committed())}
    there = len(notes)
    for note in notes.values():
        progress.add(note)
    done = space.publishing.exists()
    while not done:  # a second time only for parts whose turn to be charged had not come
        done = True
        held = ready.held(tasks())
        for part, made in engine.run(ready.make, draw_part, _missing(held, notes)):
            if made is None:
                done = False
            else:
                notes[part] = made
                progress.add(made)
    return [notes[part] for part in sorted(notes)], there


def _missing(tasks: Iterator[PartTask], notes: Mapping[int, Note]) -> Iterator[PartTask]:
    """The parts to be made. Each is charged after the one before it, all before which are paid."""
    there = dict(notes)
    last: int | None = None
    for task in tasks:
        check_piece(task.piece, there)
        if task.part not in there:
            yield replace(task, after=last)
            last = task.part


def _join(
    source: Source,
    space: Workspace,
    notes: Sequence[Note],
    columns: Sequence[str],
    check: Callable[[], None],
) -> None:
    """Join the parts under a name of their own, if the input is still what was read."""
    check_rows_left(notes)
    if not space.publishing.exists():
        parts = [space.rows_of(note) for note in notes]
        join_parts(
            parts,
            space.joined,
            columns=columns,
            target=space.target.name,
            delimiter=delimiter_for(source, space.target.name),
        )
        check()
        space.check()  # nobody else has published and cleared away meanwhile
        space.publishing.write(b"")
    space.key.remove()  # nothing is drawn any more
