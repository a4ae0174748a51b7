"""Who makes the parts: processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol

from voile.errors import InvalidInput, require
from voile.files.locations import Location
from voile.jobs.ray_tasks import Ray
from voile.jobs.workers import Answer, Made, Processes, Task

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Runs tasks somewhere. What a task does, and that it counts once, is not its business."""

    def check(self, output: Location) -> None:
        """Refuse an output that those who make the parts could not write to."""
        ...

    def run(
        self,
        make: Callable[[], Made],
        work: Callable[[Made, Task], Answer],
        tasks: Iterator[Task],
    ) -> Iterator[Answer]:
        """`work(made, task)` for every task, answers as they come; `make()` once a process."""
        ...


def engine_named(name: str, *, jobs: int = 1, address: str | None = None) -> Engine:
    """The engine of a command line: local with so many jobs, or ray at an address.

    >>> engine_named("local", jobs=2)
    Processes(jobs=2)
    """
    require(name in ENGINES, "engine", " or ".join(ENGINES), repr(name))
    if name == "ray":
        return Ray(address, jobs if jobs > 1 else None)
    if address is not None:
        raise InvalidInput("an address must go with --engine ray")
    return Processes(jobs)


def spread(
    work: Callable[[Any, Task], Answer],
    items: Iterable[Task],
    *,
    common: Any = None,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Answer]:
    """`work(common, item)` for every item, answers in the items' order.

    For what is computed and not released: designs, comparisons, audits over seeds. `common` is what
    all items share; it travels once to each process or node. Errors of an item are the caller's.

    >>> spread(pow, [1, 2, 3], common=2)
    [2, 4, 8]
    """
    found = []
    for answer in spread_out(work, items, common=common, engine=engine):
        found.append(answer)
        progress(len(found))
    return found


def spread_out(
    work: Callable[[Any, Task], Answer],
    items: Iterable[Task],
    *,
    common: Any = None,
    engine: Engine | None = None,
) -> Iterator[Answer]:
    """The same as they come, in the items' order: one that is early waits for those before it.

    Items are taken when there is room for them, so that what they are may depend on answers.

    >>> next(spread_out(pow, [1, 2, 3], common=2))
    2
    """
    early: dict[int, Answer] = {}
    wanted = 0
    numbered: Iterator[tuple[int, Task]] = iter(enumerate(items))
    chosen = Processes() if engine is None else engine
    for number, answer in chosen.run(partial(_given, common), partial(_numbered, work), numbered):
        early[number] = answer
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1


def _given(common: Any) -> Any:
    return common


def _numbered(
    work: Callable[[Any, Any], Answer], common: Any, item: tuple[int, Any]
) -> tuple[int, Answer]:
    return item[0], work(common, item[1])
