"""Work in independent pieces: what they are is said here, who does them is the caller's choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

Piece = TypeVar("Piece")
Answer = TypeVar("Answer")


class Over(Protocol):
    """Does `work(common, piece)` for every piece and answers in their order, here or elsewhere.

    Pieces must not depend on each other, nor draw from a generator that they share: then the
    answers are the same whoever does them. `voile.jobs.spread` is one, for processes and clusters.
    """

    def __call__(
        self, work: Callable[[Any, Piece], Answer], pieces: Iterable[Piece], /, *, common: Any
    ) -> list[Answer]:
        """The answers."""
        ...


def in_turn(
    work: Callable[[Any, Piece], Answer], pieces: Iterable[Piece], /, *, common: Any
) -> list[Answer]:
    """One piece after the other, in this process.

    >>> in_turn(pow, [1, 2, 3], common=2)
    [2, 4, 8]
    """
    return [work(common, piece) for piece in pieces]
