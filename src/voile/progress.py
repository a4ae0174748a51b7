"""What long work tells while it goes on: what it does, how much is done, out of how much.

Work tells whoever listens, and knows nothing of bars, logs or notebooks. A listener holds for the
code inside a `with` block, so no function hands one on to the next.

>>> heard = []
>>> with heard_by(heard.append):
...     tell("reading", done=1, total=2)
>>> heard
[Step(what='reading', done=1, total=2, stays=False, part=None)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Step:
    """What is being done, and how much of it is done; unknown counts are None."""

    what: str
    done: float | None = None
    total: float | None = None
    stays: bool = False
    """Whether it is a line to be read later too, and not only the state of things."""
    part: Any = None
    """What the line says, as a value: a part of the result that is there already."""


Listener = Callable[[Step], None]


def _nobody(step: Step) -> None:
    """Nobody listens."""


_LISTENER: ContextVar[Listener] = ContextVar("voile.progress", default=_nobody)


def tell(what: str, *, done: float | None = None, total: float | None = None) -> None:
    """Say how far the work is; costs next to nothing where nobody listens."""
    _LISTENER.get()(Step(what, done, total))


def tell_nothing() -> None:
    """Say that nothing is under way: from here on the program waits for whoever asks it."""
    _LISTENER.get()(Step(""))


def say(line: str, part: Any = None) -> None:
    """Tell something that stays on the screen; `part` is what it says of the result, as a value."""
    _LISTENER.get()(Step(line, stays=True, part=part))


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """All that is told inside the block goes to this listener."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def about(topic: str) -> Iterator[None]:
    """All that is told inside the block is told about this.

    >>> with heard_by(print), about("the lstm"):
    ...     tell("epoch", done=1, total=30)
    Step(what='the lstm: epoch', done=1, total=30, stays=False, part=None)
    """
    outer = _LISTENER.get()
    with heard_by(lambda step: outer(replace(step, what=f"{topic}: {step.what}"))):
        yield
