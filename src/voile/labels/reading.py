"""Reading labelled records, whatever file they lie in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from voile.errors import InvalidInput
from voile.files import no_such_column
from voile.files.disk import LocalFile
from voile.jobs import Location, RowProblem, Source, location, open_source
from voile.labels.table import OnError, Table, read_table, table_of

_OTHERS = (".jsonl", ".ndjson", ".parquet", ".gz")


def read_labelled(
    data: str | Path | Location,
    *,
    label: str,
    header: bool = True,
    on_error: OnError = "fail",
    drop: tuple[str, ...] = (),
) -> Table:
    """A labelled table from CSV (with or without a header), JSONL or Parquet; see `table_of`."""
    place = location(data)
    if isinstance(place, LocalFile) and not place.name.lower().endswith(_OTHERS):
        return read_table(place.path, label=label, header=header, on_error=on_error, drop=drop)
    if not header:
        raise InvalidInput("--no-header must go with a local .csv file, got another format")
    source = open_source(place)
    require_label(source, label)
    rows, broken = [], 0
    for line, values in _values(source):
        if not isinstance(values, RowProblem):
            rows.append((line, values))
        elif on_error == "skip":
            broken += 1
        else:
            raise InvalidInput(f"line {line}: {values.reason}; mend it or use --on-error skip")
    return table_of(
        list(source.columns), rows, label=label, on_error=on_error, drop=drop, broken=broken
    )


def _values(source: Source) -> Iterator[tuple[int, list[Any] | RowProblem]]:
    for line, row in source.rows():
        yield line, row if isinstance(row, RowProblem) else [row.get(c) for c in source.columns]


def require_label(source: Source, label: str) -> None:
    """Refuse a label that is no column of the file."""
    if label not in source.columns:
        raise no_such_column(label, source.columns, what="the label")


def file_digest(place: Location) -> str:
    """The SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with place.open() as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()
