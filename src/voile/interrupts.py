"""Ctrl-C on long work that improves an answer: the first one asks for the best so far.

Work says `worth_keeping()` as soon as it has an answer, and looks at `asked_to_stop()` now and
then. Before there is an answer, and the second time, an interrupt ends the work as it always does.

>>> asked_to_stop()
False
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass
class Keeping:
    """Whether there is an answer yet, and whether somebody wants to have it now."""

    worth: bool = False
    asked: bool = False

    def interrupt(self, number: int, frame: Any) -> None:
        """What SIGINT does inside the block."""
        if self.asked or not self.worth:
            raise KeyboardInterrupt
        self.asked = True


_KEEPING: ContextVar[Keeping | None] = ContextVar("voile.keeping", default=None)
_HANDED: ContextVar[Keeping | None] = ContextVar("voile.handed", default=None)


@contextmanager
def stopped_by(keeping: Keeping) -> Iterator[None]:
    """Inside the block, whoever holds `keeping` can ask for the best so far: where no signal is.

    >>> mine = Keeping()
    >>> with stopped_by(mine), best_so_far():
    ...     worth_keeping()
    ...     mine.asked = mine.worth
    ...     asked_to_stop()
    True
    """
    token = _HANDED.set(keeping)
    try:
        yield
    finally:
        _HANDED.reset(token)


@contextmanager
def best_so_far() -> Iterator[Keeping]:
    """Inside the block the first Ctrl-C asks for the best so far, once there is something.

    Only the main thread hears of signals: elsewhere, and where somebody else handles them, it is
    for whoever called the work `stopped_by`.
    """
    keeping = _HANDED.get() or Keeping()
    main = threading.current_thread() is threading.main_thread()
    ours = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    token = _KEEPING.set(keeping)
    if ours:
        signal.signal(signal.SIGINT, keeping.interrupt)
    try:
        yield keeping
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        _KEEPING.reset(token)


def worth_keeping() -> None:
    """Say that there is an answer now, which an interrupt shall not lose."""
    keeping = _KEEPING.get()
    if keeping is not None:
        keeping.worth = True


def asked_to_stop() -> bool:
    """Whether somebody wants the best so far."""
    keeping = _KEEPING.get()
    return keeping is not None and keeping.asked
