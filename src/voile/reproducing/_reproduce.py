"""The papers' figures, tables and theorems, run again."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from voile.errors import CannotWrite, InvalidInput
from voile.files.modes import make_private_folder, write_private
from voile.options import Option, use_case
from voile.progress import about, say
from voile.report.result import plain
from voile.reproducing.experiment import OUTCOMES, Outcome, Size, Work
from voile.reproducing.papers import ENTRIES, Entry, entry
from voile.reproducing.reproduced import Listed, Reproduced


@use_case("reproduce")
def reproduce(
    what: Annotated[
        tuple[str, ...],
        Option("Names such as teda-3, ampl-1, aipo-2; none, or list, lists them.", shown=True),
    ] = (),
    *,
    size: Annotated[Size, Option("small ends in minutes; paper is as large as we can.")] = "small",
    data: Annotated[
        Path | None,
        Option("Folder that holds atis, imdb, ag_news, manhattan, …, where a run needs them."),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            "Folder for outcomes, a page, and every cell: a run goes on from there.",
            "Output",
            writes=True,
        ),
    ] = None,
) -> Reproduced:
    """Run a figure, table or theorem of the papers again, and say what holds.

    Example: `voile reproduce teda-3 --size small --out runs`

    >>> reproduce("uel-5.2").outcomes[0].verdict    # false as stated
    'does not'
    """
    if not what or what == ("list",):
        return Reproduced((), tuple(_listed(one) for one in ENTRIES))
    chosen = [_runnable(entry(id)) for id in what]
    folder = None if out is None else _writable(Path(out))
    if data is not None and not Path(data).is_dir():
        raise InvalidInput("--data must name a folder, one that holds atis, imdb, ag_news, …")
    found = Reproduced(tuple(run(one, size, data, folder) for one in chosen))
    if folder is not None:
        found.report(folder / "reproduced.html")
    return found


def run(one: Entry, size: Size, data: Path | None, folder: Path | None) -> Outcome:
    """Run one entry, its cells kept in the folder, and write what came out there."""
    say(f"{one.id}, {size}: {one.small if size == 'small' else one.paper_size}")
    module, _, name = one.home.partition(":")
    experiment: Any = getattr(import_module(module), name)
    work = Work(size, None if data is None else Path(data), folder)
    with about(one.id):
        found = experiment(work)
    outcome = Outcome(
        one.id, size, found.setting, tuple(found.measured), tuple(found.claims),
        round(work.seconds, 1),
    )  # fmt: skip
    if folder is not None:
        text = json.dumps(plain(outcome), indent=1, ensure_ascii=False)
        make_private_folder(folder / OUTCOMES)
        write_private(folder / OUTCOMES / f"{one.id}-{size}.json", text + "\n")
    return outcome


def _runnable(one: Entry) -> Entry:
    if not one.runs:
        why = one.instead or f"a theorem that {one.checked} holds"
        raise InvalidInput(f"{one.id} ({one.item}) cannot be run here: {why}")
    return one


def _listed(one: Entry) -> Listed:
    instead = one.instead or (f"held by {one.checked}" if one.checked else "")
    return Listed(one.id, one.item, one.says, one.small, one.paper_size, instead)


def _writable(folder: Path) -> Path:
    try:
        make_private_folder(folder)
    except OSError as problem:
        raise CannotWrite(f"cannot write {folder}: {problem.strerror or problem}") from problem
    return folder
