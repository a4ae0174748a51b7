"""A labelled table of records, or one line that says what is wrong with it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Indices
from voile.errors import InvalidInput
from voile.files import no_such_column, require_regular
from voile.labels.values import column_of, is_absent, written

OnError = Literal["fail", "skip", "mask"]
MOST_CLASSES = 100


@dataclass(frozen=True, eq=False)
class Table:
    """Features by column and labels, record by record; `lines` says where each stood in the file.

    A column is numeric (doubles) if every value present is a finite number, else text. What is
    missing is NaN among numbers and `(missing)` among names.
    """

    label: str
    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    labels: NDArray[Any]
    lines: Indices
    skipped: int = 0
    masked: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:  # never the values
        return f"Table({len(self)} records, {len(self.names)} features, label {self.label!r})"

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels that occur, in order."""
        return tuple(np.unique(self.labels).tolist())

    def select(self, keep: Indices) -> Table:
        """The records at these positions."""
        columns = tuple(column[keep] for column in self.columns)
        return replace(
            self, columns=columns, labels=self.labels[keep], lines=self.lines[keep],
            skipped=0, masked=0,
        )  # fmt: skip


def read_table(
    path: str | Path,
    *,
    label: str,
    header: bool = True,
    on_error: OnError = "fail",
    drop: tuple[str, ...] = (),
) -> Table:
    """Read a CSV file whose column `label` is the secret; the other columns are features.

    Without a header the columns are called c1, c2, … . For the rest see `table_of`.
    """
    names, rows, broken = _rows(Path(path), header=header, on_error=on_error)
    return table_of(names, rows, label=label, on_error=on_error, drop=drop, broken=broken)


def table_of(
    names: Sequence[str],
    rows: Iterable[tuple[int, Sequence[Any]]],
    *,
    label: str,
    on_error: OnError = "fail",
    drop: tuple[str, ...] = (),
    broken: int = 0,
) -> Table:
    """A table of records (line, values in the order of `names`).

    Records with missing features (empty, ?, NA, …) stop the reading (`fail`), are left out (`skip`)
    or have a value of their own there (`mask`). A label is missing if it is empty, and nothing
    else: None and NA are names of classes; such records are left out unless it is `fail`. Messages
    give line numbers, never values.
    """
    if on_error not in ("fail", "skip", "mask"):
        raise InvalidInput(f"on_error must be fail, skip or mask, got {on_error!r}")
    if label not in names:
        raise no_such_column(label, names, what="the label")
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise InvalidInput(
            f"columns to drop must be among the file's {len(names)}, {len(unknown)} are not: "
            f"{', '.join(map(repr, unknown[:5]))}"
        )
    position = names.index(label)
    kept, skipped, masked = [], broken, 0
    chosen = [i for i, name in enumerate(names) if i != position and name not in drop]
    for line, row in rows:
        absent = [i for i in chosen if is_absent(row[i])]
        no_label = not written(row[position])
        if on_error == "fail" and (absent or no_label):
            where = label if no_label else names[absent[0]]
            raise InvalidInput(
                f"line {line}: the value of {where!r} is missing; mend it, or use --on-error skip "
                "(leave such records out) or mask (a value of its own)"
            )
        if no_label or (absent and on_error == "skip"):
            skipped += 1
            continue
        masked += bool(absent)
        kept.append((line, row))
    if not kept:
        raise InvalidInput("the file must hold at least one complete record, got none")
    table = Table(
        label=label,
        names=tuple(names[i] for i in chosen),
        columns=tuple(column_of([row[i] for _, row in kept]) for i in chosen),
        labels=np.array([written(row[position]) for _, row in kept]),
        lines=np.array([line for line, _ in kept], dtype=np.intp),
        skipped=skipped,
        masked=masked,
    )
    _check(table)
    return table


def _rows(
    path: Path, *, header: bool, on_error: OnError
) -> tuple[list[str], list[tuple[int, list[str]]], int]:
    require_regular(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, skipinitialspace=True)
            return _parsed(reader, header=header, on_error=on_error)
    except OSError as problem:
        raise InvalidInput(f"cannot read {path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} must be UTF-8 text; convert it first") from None
    except csv.Error as problem:
        raise InvalidInput(f"{path} is not a CSV file: {problem}") from None


def _parsed(
    reader: Any, *, header: bool, on_error: OnError
) -> tuple[list[str], list[tuple[int, list[str]]], int]:
    lines: Iterator[list[str]] = (row for row in reader if row)
    first = next(lines, None)
    if first is None:
        raise InvalidInput("the file must hold a header and records, got an empty file")
    names = [cell.strip() for cell in first] if header else [f"c{i + 1}" for i in range(len(first))]
    if len(set(names)) != len(names):
        raise InvalidInput("column names must differ, some are repeated")
    rows = [] if header else [(reader.line_num, [cell.strip() for cell in first])]
    skipped = 0
    for row in lines:
        if len(row) == len(names):
            rows.append((reader.line_num, [cell.strip() for cell in row]))
        elif on_error == "skip":
            skipped += 1
        else:
            raise InvalidInput(
                f"line {reader.line_num}: must have {len(names)} values, got {len(row)}; mend it "
                "or use --on-error skip"
            )
    if not rows:
        raise InvalidInput("the file must hold records below its header, got none")
    return names, rows, skipped


def _check(table: Table) -> None:
    distinct, counts = np.unique(table.labels, return_counts=True)
    if not table.names:
        raise InvalidInput("the file must have a feature beside the label, got none")
    if len(distinct) < 2:
        raise InvalidInput(
            f"the label {table.label!r} must take at least two values, got one in all "
            f"{len(table)} records: there is nothing to hide or to learn"
        )
    try:
        fractional = bool((np.array(distinct, dtype=float) % 1 != 0).any())
    except ValueError:
        fractional = False
    many = len(distinct) > max(20, len(table) // 20)
    if (fractional and len(distinct) > 20) or len(distinct) > MOST_CLASSES or many:
        raise InvalidInput(
            f"the label {table.label!r} must be a class, got {len(distinct)} distinct values in "
            f"{len(table)} records; cut it into classes first"
        )
    if counts.min() < 2:
        raise InvalidInput(
            f"each class must have at least 2 records, {int((counts < 2).sum())} of "
            f"{len(distinct)} have one; merge rare classes"
        )
