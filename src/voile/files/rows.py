"""Records as they are read: a row, what is wrong with one, and rows kept column by column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, overload

Row = Mapping[str, Any]
"""One record: column name to value. CSV and text values are strings, as they stand in the file."""


class OnError(StrEnum):
    """What happens to a row that cannot be read or released."""

    FAIL = "fail"  # stop; nothing is written
    SKIP = "skip"  # leave the row out
    MASK = "mask"  # keep the row, with every value empty


@dataclass(frozen=True)
class RowProblem:
    """Why a row cannot be released; `reason` never repeats what the row holds."""

    reason: str


class UntouchedColumn(Sequence[Any], ABC):
    """A column as its table holds it, whose plain values are made only if somebody asks for one.

    What nobody asks for goes from table to table as it is, whatever its type.
    """

    @cached_property
    @abstractmethod
    def values(self) -> list[Any]:
        """Plain values, one for each row: text, numbers, truth values, or nothing."""

    @abstractmethod
    def chosen(self, order: Sequence[int | None]) -> UntouchedColumn:
        """The values at these places; nothing where there is no place."""

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self.values[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)


class ColumnRows(Sequence[Row]):
    """Rows that are kept column by column; a dictionary is made only for a row that is asked for.

    A dictionary a row costs more than drawing a place does, so a transform that changes one or two
    columns reads `columns` and never makes one.

    >>> rows = ColumnRows({"id": ["1", "2"], "text": ["a", "b"]})
    >>> len(rows), rows[1]
    (2, {'id': '2', 'text': 'b'})
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> ColumnRows: ...
    def __getitem__(self, index: int | slice) -> Row | ColumnRows:
        if isinstance(index, slice):
            return ColumnRows({name: values[index] for name, values in self.columns.items()})
        return {name: values[index] for name, values in self.columns.items()}

    def __iter__(self) -> Iterator[Row]:
        names = tuple(self.columns)
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))
