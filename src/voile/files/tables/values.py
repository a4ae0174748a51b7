"""A cell of any table as a plain value, the same whichever library holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voile.errors import InvalidInput
from voile.files.column_names import called
from voile.files.rows import UntouchedColumn

if TYPE_CHECKING:
    import narwhals as nw

_PLAIN = (str, bool, int, float, dict, list)


def plain(value: Any) -> Any:
    """Text, a number, a truth value, a list or a dictionary; nothing for what is missing.

    What is none of these (a date, a decimal, an identifier) becomes the text that it writes.

    >>> import datetime
    >>> plain(np.float64("nan")), plain(np.int8(3)), plain(datetime.date(2024, 5, 6))
    (None, 3, '2024-05-06')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, _PLAIN) and type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    written = str(value)
    return None if written in ("NaT", "<NA>") else written


def have_fractions(values: Sequence[Any]) -> bool:
    """Whether some are no whole numbers: a type of integers, as Arrow has them, would cut these.

    >>> have_fractions([1, 2.0, "a", None]), have_fractions([48.7])
    (False, True)
    """
    return any(isinstance(value, float) and not value.is_integer() for value in values)


def plain_values(values: Sequence[Any], name: str, *, first: int = 1) -> list[Any]:
    """A column of plain values; what cannot be written is named by its row."""
    found: list[Any] = []
    for number, value in enumerate(values, first):
        try:
            found.append(plain(value))
        except Exception:  # whatever an object of the user's says of itself
            raise InvalidInput(
                f"{called(name)} must hold text, numbers or times, and row {number} holds "
                "something else; leave the column out"
            ) from None
    return found


class ListColumn(UntouchedColumn):
    """A column of plain values."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def values(self) -> list[Any]:
        """The values."""
        return self._values

    def chosen(self, order: Sequence[int | None]) -> ListColumn:
        """The values at these places; nothing where there is no place."""
        return ListColumn([None if place is None else self._values[place] for place in order])


@dataclass(frozen=True)
class FrameTable:
    """A pandas or polars DataFrame; `give_back` makes a Series of it if it came as one."""

    frame: Any
    called: str
    give_back: Callable[[Any], Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.frame.columns)

    def __len__(self) -> int:
        return len(self.frame)

    def part(self, start: int, stop: int) -> Mapping[str, Sequence[Any]]:
        """The columns of some rows."""
        import narwhals as nw

        rows = nw.from_native(self.frame, eager_only=True)[start:stop]
        return {name: FrameColumn(rows[name], name, start + 1) for name in rows.columns}


class FrameColumn(UntouchedColumn):
    """A column of a pandas or polars table; `first` is the number of its first row."""

    def __init__(
        self,
        series: nw.Series[Any],
        name: str,
        first: int = 1,
        order: Sequence[int | None] | None = None,
    ) -> None:
        self.series, self.name, self.first, self.order = series, name, first, order

    def __len__(self) -> int:
        return len(self.series if self.order is None else self.order)

    @cached_property
    def values(self) -> list[Any]:
        """Plain values, one for each row."""
        found = self._read()
        if self.order is None:
            return found
        return [None if place is None else found[place] for place in self.order]

    def _read(self) -> list[Any]:
        try:
            missing, found = self.series.is_null().to_list(), self.series.to_list()
        except Exception:  # a type that its library cannot hand out
            raise InvalidInput(
                f"{called(self.name)} must hold text, numbers or times, its type cannot be read; "
                "leave the column out"
            ) from None
        present = [None if gone else value for value, gone in zip(found, missing, strict=True)]
        if self.series.dtype.is_integer():
            return present
        return plain_values(present, self.name, first=self.first)

    def chosen(self, order: Sequence[int | None]) -> FrameColumn:
        """The values at these places; nothing where there is no place."""
        return FrameColumn(self.series, self.name, self.first, order)
