"""Tables in memory: read by column, and given back as what they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Changes:
    """What becomes of a table's rows and columns.

    `rows` are the places of the rows that stay, in order; the values of those at `masked` (places
    among the rows that stay) are empty. `columns` has new values, one for each row that stays, of
    columns that are replaced or stand after all others.
    """

    rows: Sequence[int]
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    masked: frozenset[int] = frozenset()


@dataclass(frozen=True)
class RowLabels:
    """An index of whole numbers that is no column: it stays with its rows, in clear."""

    name: str
    """By which it is passed or dropped."""
    in_order: bool
    """Whether they are row numbers with gaps, as a filter leaves them: then nobody need name it."""


class Table(Protocol):
    """Columns in memory. What is given back is of the kind that came in."""

    @property
    def called(self) -> str:
        """In a message: the DataFrame, the list."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        ...

    def __len__(self) -> int:
        """How many rows there are."""
        ...

    def part(self, start: int, stop: int) -> Mapping[str, Sequence[Any]]:
        """The columns of some rows; values are read when they are asked for."""
        ...

    def changed(self, changes: Changes) -> Any:
        """The same kind of data, changed."""
        ...
