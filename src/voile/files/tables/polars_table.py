"""polars tables: read by column, given back with their schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voile.files.pieces import TEXT_COLUMN
from voile.files.tables import Changes
from voile.files.tables.values import FrameTable


class PolarsTable(FrameTable):
    """A polars DataFrame."""

    def changed(self, changes: Changes) -> Any:
        """The same kind, with the schema of what stays."""
        import polars

        kept = self.frame.drop(list(changes.dropped))[list(changes.rows)]
        if changes.masked:
            seen = polars.Series([i not in changes.masked for i in range(len(changes.rows))])
            masked = polars.when(seen).then(polars.all()).otherwise(None)
            kept = kept.select(masked.name.keep())
        made = [self._column(name, values) for name, values in changes.columns.items()]
        return self.give_back(kept.with_columns(made))

    def _column(self, name: str, values: Sequence[Any]) -> Any:
        """New values in the column's type; in their own if they do not fit it."""
        import polars

        if name in self.columns:
            try:
                return polars.Series(name, list(values), dtype=self.frame.schema[name])
            except (polars.exceptions.PolarsError, TypeError, ValueError, OverflowError):
                pass
        return polars.Series(name, list(values), strict=False)


def polars_table(data: Any) -> PolarsTable:
    """A DataFrame, or a Series as a column of its own."""
    import polars

    if isinstance(data, polars.DataFrame):
        return PolarsTable(data, "the DataFrame", lambda made: made)
    name = data.name or TEXT_COLUMN
    frame = data.rename(name).to_frame()
    return PolarsTable(frame, "the Series", lambda made: made[name].rename(data.name))
