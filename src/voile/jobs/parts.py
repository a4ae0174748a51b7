"""Writing parts of a release, and joining them into one file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from voile.errors import CannotWrite, InvalidInput
from voile.jobs.records import Row
from voile.jobs.source import TEXT_COLUMN, format_of


def write_part(
    path: Path, rows: Sequence[Row], *, columns: Sequence[str], target: Path, schema: Any = None
) -> None:
    """Rows in the target's format, under their final name only when all bytes are on disk."""
    kind, zipped = format_of(target)
    writers: dict[str, Callable[[Sequence[Row], Sequence[str]], bytes]] = {
        "csv": _csv_bytes,
        "jsonl": _jsonl_bytes,
        "txt": _text_bytes,
    }
    temporary = path.with_name(path.name + ".tmp")
    if kind == "parquet":
        _write_parquet(temporary, rows, schema)
    else:
        content = writers[kind](rows, columns)
        # No time stamp: one release, one sequence of bytes.
        temporary.write_bytes(gzip.compress(content, 6, mtime=0) if zipped else content)
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def join_parts(
    parts: Sequence[Path], joined: Path, *, columns: Sequence[str], target: Path
) -> None:
    """All parts in order as one file in the target's format."""
    kind, zipped = format_of(target)
    if kind == "parquet":
        _join_parquet(parts, joined)
    else:
        with joined.open("wb") as file:
            if kind == "csv":
                head = _csv_bytes([dict(zip(columns, columns, strict=True))], columns)
                file.write(gzip.compress(head, mtime=0) if zipped else head)
            for part in parts:
                with part.open("rb") as content:
                    shutil.copyfileobj(cast(BinaryIO, content), file, 2**20)
    with joined.open("rb+") as file:
        os.fsync(file.fileno())


def _csv_bytes(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([row.get(column) for column in columns] for row in rows)
    return text.getvalue().encode("utf-8")


def _jsonl_bytes(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")


def _text_bytes(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    if tuple(columns) != (TEXT_COLUMN,):
        raise InvalidInput(
            f"a .txt output holds the text alone, got {len(columns)} columns; "
            "write to .csv or .jsonl instead"
        )
    return "".join((row[TEXT_COLUMN] or "") + "\n" for row in rows).encode("utf-8")


def _write_parquet(path: Path, rows: Sequence[Row], schema: Any) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        table = pyarrow.Table.from_pylist(list(rows), schema=schema)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        raise InvalidInput(
            "released values must fit the types of the Parquet columns, some do not; "
            "write to .jsonl instead"
        ) from None
    parquet.write_table(table, path)


def _join_parquet(parts: Sequence[Path], joined: Path) -> None:
    import pyarrow.parquet as parquet

    if not parts:
        raise CannotWrite("there is no row left to write; every row was skipped")
    with parquet.ParquetWriter(joined, parquet.read_schema(parts[0])) as writer:
        for part in parts:
            for batch in parquet.ParquetFile(part).iter_batches():
                writer.write_batch(batch)
