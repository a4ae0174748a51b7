"""The local engine: one process, or several that each make their own transform."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from voile.errors import CannotWrite, require
from voile.files.locations import Location

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Made = TypeVar("Made")

_made: Any = None
"""What `make` made in this worker process."""


@dataclass(frozen=True)
class Processes:
    """Processes of this machine: one, or several that each make a transform."""

    jobs: int = 1

    def __post_init__(self) -> None:
        require(self.jobs >= 1, "jobs", ">= 1", self.jobs)

    def check(self, output: Location) -> None:
        """Several processes need storage that they share."""
        if self.jobs > 1 and not output.shared:
            raise CannotWrite(f"{output} is seen by one process alone; use one job")

    def run(
        self,
        make: Callable[[], Made],
        work: Callable[[Made, Task], Answer],
        tasks: Iterator[Task],
    ) -> Iterator[Answer]:
        """`work(make(), task)` for every task, answers as they come; `make` once a process.

        With one job everything happens here. With more, fresh processes are started (not forked: a
        forked copy of a generator would repeat its draws), and at most jobs + 2 tasks are under
        way, so that memory does not grow with the file.
        """
        if self.jobs == 1:
            made = make()
            for task in tasks:
                yield work(made, task)
            return
        import multiprocessing
        from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
        from concurrent.futures.process import BrokenProcessPool

        context = multiprocessing.get_context("spawn")
        with (
            _one_thread_each(),
            ProcessPoolExecutor(
                self.jobs, mp_context=context, initializer=_start, initargs=(make, os.getpid())
            ) as pool,
        ):
            running: set[Future[Answer]] = set()
            try:
                for task in tasks:
                    running.add(pool.submit(_run, work, task))
                    if len(running) >= self.jobs + 2:
                        done, running = wait(running, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in done)
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            except BrokenProcessPool:
                raise CannotWrite(
                    "a worker process died (out of memory?); the finished parts are kept, repeat "
                    "the command to continue, with fewer --jobs if need be"
                ) from None
            finally:
                for future in running:
                    future.cancel()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started here do not each take all cores for their matrix products."""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    added = [name for name in names if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _start(make: Callable[[], Any], parent: int) -> None:
    global _made
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's business
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    _made = make()


def _leave_with(parent: int) -> None:
    """End this worker when its job was killed: an orphan must not go on drawing."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _run(work: Callable[[Any, Any], Answer], task: Any) -> Answer:
    return work(_made, task)
