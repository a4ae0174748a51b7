"""pandas tables: read by column, given back with their index, their names and their types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from voile.errors import InvalidInput
from voile.files.column_names import THE_INDEX
from voile.files.pieces import TEXT_COLUMN
from voile.files.tables import Changes, RowLabels
from voile.files.tables.values import FrameTable, have_fractions

INDEX = "index"
"""What an index without a name is called."""


@dataclass(frozen=True)
class PandasTable(FrameTable):
    """A pandas DataFrame whose columns are strings; an index that says something is among them.

    An index of names, keys or times is data as a column is: it is released in clear if it comes
    back, so it must be seen by whoever asks what does. One that counts rows stays as it is;
    other whole numbers below a million stay too, as `row_labels`, for they are no feature.
    """

    labels: Mapping[str, Hashable]
    """What the columns were called."""
    levels: tuple[str, ...]
    """The columns that were the index."""
    index_names: tuple[Hashable, ...]
    says_where: bool | None = None
    """Of points: whether they came with their reference system."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where the owner finds each column: by its number, or in the index."""
    row_labels: RowLabels | None = None
    alone: str | None = None
    """The column that a Series is."""

    def changed(self, changes: Changes) -> Any:
        """The same kind, with the index and types of what stays."""
        out = [name for name in changes.dropped if name in self.columns]
        kept = self.frame.drop(columns=out).take(list(changes.rows))
        for name in kept.columns:
            if name not in changes.columns:
                kept[name] = _untouched(kept[name], changes.masked)
        for name, values in changes.columns.items():
            old = self.frame[name].dtype if name in self.columns else None
            kept[name] = _column(values, kept.index, old)
        kept.attrs = {}  # notes of the owner's that no option speaks of
        if self.row_labels is not None and self.row_labels.name in changes.dropped:
            kept = kept.reset_index(drop=True)
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
    """New values in the column's type, if they fit it; a category's list is made of them alone."""
    import pandas

    if isinstance(old, pandas.CategoricalDtype):
        return _category(_column(values, index, old.categories.dtype), old)
    truths = old is not None and pandas.api.types.is_bool_dtype(old)
    whole = old is not None and pandas.api.types.is_integer_dtype(old)
    fits = not (whole and have_fractions(values))
    fits = fits and (not truths or all(isinstance(value, bool) for value in values))
    if old is not None and fits:
        try:
            return pandas.Series(list(values), index=index, dtype=old)
        except (TypeError, ValueError, OverflowError):
            pass
    return pandas.Series(list(values), index=index)


def _category(column: Any, old: Any) -> Any:
    """Values as a category of no others; in the old order where that has all of them."""
    import pandas

    drawn = set(column.dropna())
    if not old.ordered or not drawn <= set(old.categories):
        return column.astype("category")
    kept = [value for value in old.categories if value in drawn]
    return column.astype(pandas.CategoricalDtype(kept, ordered=True))


def pandas_table(data: Any) -> PandasTable:
    """A DataFrame, or a Series as a column of its own."""
    import pandas

    if isinstance(data, pandas.DataFrame):
        return frame_table(data, "the DataFrame", lambda made: made)
    column = TEXT_COLUMN if data.name is None else str(data.name)

    def give_back(frame: Any) -> Any:
        return frame[column].rename(data.name)

    table = frame_table(data.rename(column).to_frame(), "the Series", give_back)
    return replace(table, alone=column)


def require_one_header(frame: Any, called: str) -> None:
    """Refuse a frame whose columns have names of several levels."""
    if frame.columns.nlevels > 1:
        raise InvalidInput(f"{called} must have one row of column names, it has several")


def frame_table(frame: Any, called: str, give_back: Callable[[Any], Any]) -> PandasTable:
    """A DataFrame under names that are strings, with its index among the columns if it has one."""
    require_one_header(frame, called)
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
    return PandasTable(
        copy, called, give_back, labels, levels, index_names,
        places={**_level_places(levels), **numbered(names)},
        row_labels=None if levels else _row_labels(frame.index, names),
    )  # fmt: skip


def numbered(names: Sequence[str]) -> dict[str, str]:
    """Columns by their numbers.

    >>> numbered(["a", "b"])
    {'a': 'column 1', 'b': 'column 2'}
    """
    return {name: f"column {place}" for place, name in enumerate(names, 1)}


def _level_places(levels: Sequence[str]) -> dict[str, str]:
    if len(levels) == 1:
        return {levels[0]: THE_INDEX}
    return {name: f"level {place} of the index" for place, name in enumerate(levels, 1)}


def _row_labels(index: Any, names: Sequence[str]) -> RowLabels | None:
    """What a nameless index of whole numbers is called; nothing if it only counts rows.

    Numbers that follow one another, or at equal steps in a RangeIndex, say which row it is and
    no more. Those of a filtered frame say which rows are missing; any others may be keys.
    """
    import pandas

    numbers = index.to_numpy().astype(np.int64)
    if isinstance(index, pandas.RangeIndex) or bool((np.diff(numbers) == 1).all()):
        return None
    free = INDEX if INDEX not in names else f"row_{INDEX}"
    return RowLabels(free, in_order=bool(index.is_monotonic_increasing and index.is_unique))


def row_numbers(index: Any) -> bool:
    """Whether an index may count rows: whole numbers that nobody named, below a million.

    Larger ones are telephone numbers and accounts sooner than rows that somebody left over.
    """
    import pandas

    return (
        not isinstance(index, pandas.MultiIndex)
        and index.name is None
        and not index.hasnans
        and pandas.api.types.is_integer_dtype(index.dtype)
        and (not len(index) or bool(0 <= index.min() <= index.max() < 1_000_000))
    )


def _level_names(index: Any) -> tuple[str, ...]:
    several = len(index.names) > 1
    return tuple(
        (f"{INDEX}_{place}" if several else INDEX) if name is None else str(name)
        for place, name in enumerate(index.names, 1)
    )
