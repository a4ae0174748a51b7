"""What an output cannot hold is found out before anybody is charged and anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from voile.errors import InvalidInput
from voile.files.arrow_columns import holds
from voile.files.formats import format_of
from voile.files.geojson import LAT, LON
from voile.files.parquet import require_parquet
from voile.files.pieces import TEXT_COLUMN, Block
from voile.files.rows import ColumnRows, Row, RowProblem
from voile.files.source import Source


def check_fits(source: Source, target: str, columns: Sequence[str]) -> None:
    """Refuse an output whose format cannot hold these columns."""
    kind = format_of(target).kind
    if kind == "txt" and tuple(columns) != (TEXT_COLUMN,):
        raise InvalidInput(
            f"a .txt output holds the text alone, got {len(columns)} columns; "
            "write to .csv or .jsonl instead"
        )
    if kind == "geo":
        raise InvalidInput(
            f"a file of points such as {target!r} is written from one alone, and {source.name} is "
            "none; write to .geojson, .csv or .parquet instead"
        )
    if kind == "geojson" and not {LAT, LON} <= set(columns):
        raise InvalidInput(
            f"a .geojson output must have the columns {LAT} and {LON}, it has not; write to .csv "
            "or .jsonl instead"
        )
    if kind == "parquet":
        require_parquet()
    if kind == "parquet" and source.format in ("jsonl", "geojson"):
        raise InvalidInput(
            f"a .{source.format} input must be released as .{source.format}, .csv or .txt"
        )
    if source.types is None:
        return
    for column in columns:
        type_ = source.types.field(column).type if column in source.columns else None
        if type_ is not None and not holds(kind, type_):
            raise InvalidInput(
                f"a .{kind} output must be able to hold every column, and the type of {column!r} "
                f"({type_}) is not one that it can; write to .parquet, or leave the column out"
            )


def fitting(block: Block, known: Sequence[str], target: str) -> Block:
    """The block with rows that the output cannot hold among its problems."""
    kind = format_of(target).kind
    if kind not in ("csv", "txt"):
        return block
    if kind == "csv" and isinstance(block.rows, ColumnRows):
        return block
    names = frozenset(known)
    found = {
        place: problem
        for place, row in enumerate(block.rows)
        if (problem := _unfit_csv(row, names) if kind == "csv" else _unfit_text(row)) is not None
    }
    return block.without(found) if found else block


def _unfit_csv(row: Row, names: frozenset[str]) -> RowProblem | None:
    more = len(row.keys() - names)
    if not more:
        return None
    return RowProblem(
        f"it has {more} field{'s' if more > 1 else ''} that the first record lacks, which a .csv "
        "output would lose; write to .jsonl"
    )


def _unfit_text(row: Row) -> RowProblem | None:
    text = row.get(TEXT_COLUMN)
    if isinstance(text, str) and ("\n" in text or "\r" in text):
        return RowProblem("its text has a line end, which a .txt output cannot hold")
    return None
