"""pandas tables: read by column, given back with their index, their names and their types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from voile.errors import InvalidInput
from voile.files.pieces import TEXT_COLUMN
from voile.files.tables import Changes
from voile.files.tables.values import FrameColumn


@dataclass(frozen=True)
class PandasTable:
    """A pandas DataFrame whose columns are strings; an index that says something is among them.

    An index of names, keys or times is data as a column is: it is released in clear if it comes
    back, so it must be seen by whoever asks what does. One of plain row numbers stays as it is.
    """

    frame: Any
    called: str
    labels: Mapping[str, Hashable]
    """What the columns were called."""
    levels: tuple[str, ...]
    """The columns that were the index."""
    index_names: tuple[Hashable, ...]
    give_back: Callable[[Any], Any]
    says_where: bool | None = None
    """Of points: whether they came with their reference system."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.frame.columns)

    def __len__(self) -> int:
        return len(self.frame)

    def part(self, start: int, stop: int) -> Mapping[str, Sequence[Any]]:
        """The columns of some rows."""
        rows = nw.from_native(self.frame.iloc[start:stop], eager_only=True)
        return {name: FrameColumn(rows[name], name, start + 1) for name in rows.columns}

    def changed(self, changes: Changes) -> Any:
        """The same kind, with the index and types of what stays."""
        kept = self.frame.drop(columns=list(changes.dropped)).take(list(changes.rows))
        for name in kept.columns:
            if name not in changes.columns:
                kept[name] = _untouched(kept[name], changes.masked)
        for name, values in changes.columns.items():
            old = self.frame[name].dtype if name in self.columns else None
            kept[name] = _column(values, kept.index, old)
        kept.attrs = {}  # notes of the owner's that no option speaks of
        return self.give_back(self._as_it_was(kept))

    def _as_it_was(self, frame: Any) -> Any:
        """Columns and index under their own names again."""
        levels = [name for name in self.levels if name in frame.columns]
        if levels:
            names = dict(zip(self.levels, self.index_names, strict=True))
            frame = frame.set_index(levels).rename_axis(index=[names[level] for level in levels])
        elif self.levels:
            frame = frame.reset_index(drop=True)
        frame.columns = [self.labels.get(name, name) for name in frame.columns]
        return frame


def _untouched(column: Any, masked: frozenset[int]) -> Any:
    """A column that nobody changed: empty at some places, and silent about rows that are not there.

    Whole numbers and truth values get a type that has empty values and keeps the others exact.
    A category's list of values loses those that no row has: they were rows that are left out.
    """
    import pandas

    if masked:
        kinds = {"i": "Int64", "u": "UInt64", "b": "boolean"}
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in kinds:
            column = column.astype(kinds[column.dtype.kind])
        column = column.where([place not in masked for place in range(len(column))])
    if isinstance(column.dtype, pandas.CategoricalDtype):
        column = column.cat.remove_unused_categories()
    return column


def _column(values: Sequence[Any], index: Any, old: Any) -> Any:
    """New values in the column's type (that of its values for a category), if they fit it."""
    import pandas

    if isinstance(old, pandas.CategoricalDtype):
        old = old.categories.dtype
    truths = old is not None and pandas.api.types.is_bool_dtype(old)
    if old is not None and (not truths or all(isinstance(value, bool) for value in values)):
        try:
            return pandas.Series(list(values), index=index, dtype=old)
        except (TypeError, ValueError, OverflowError):
            pass
    return pandas.Series(list(values), index=index)


def pandas_table(data: Any) -> PandasTable:
    """A DataFrame, or a Series as a column of its own."""
    import pandas

    if isinstance(data, pandas.DataFrame):
        return frame_table(data, "the DataFrame", lambda made: made)
    column = TEXT_COLUMN if data.name is None else str(data.name)

    def give_back(frame: Any) -> Any:
        return frame[column].rename(data.name)

    return frame_table(data.rename(column).to_frame(), "the Series", give_back)


def frame_table(frame: Any, called: str, give_back: Callable[[Any], Any]) -> PandasTable:
    """A DataFrame under names that are strings, with its index among the columns if it has one."""
    import pandas

    if isinstance(frame.columns, pandas.MultiIndex):
        raise InvalidInput(f"{called} must have one row of column names, it has several")
    names = [str(label) for label in frame.columns]
    labels = dict(zip(names, frame.columns, strict=True))
    levels = () if row_numbers(frame.index) else _level_names(frame.index)
    if len({*names, *levels}) < len(names) + len(levels):
        raise InvalidInput(
            f"{called} must have distinct column names, its index among them, got some twice"
        )
    index_names = tuple(frame.index.names)
    copy = frame.copy(deep=False).set_axis(names, axis="columns")
    if levels:
        copy = copy.set_axis(frame.index.set_names(list(levels)), axis="index").reset_index()
    return PandasTable(copy, called, labels, levels, index_names, give_back)


def row_numbers(index: Any) -> bool:
    """Whether an index only counts rows: whole numbers that nobody named, below a million.

    Larger ones are telephone numbers and accounts sooner than rows that somebody left over.
    """
    import pandas

    return (
        not isinstance(index, pandas.MultiIndex)
        and index.name is None
        and pandas.api.types.is_integer_dtype(index.dtype)
        and (not len(index) or bool(0 <= index.min() <= index.max() < 1_000_000))
    )


def _level_names(index: Any) -> tuple[str, ...]:
    several = len(index.names) > 1
    return tuple(
        (f"index_{place}" if several else "index") if name is None else str(name)
        for place, name in enumerate(index.names, 1)
    )
