"""A labelled table of records, or one line that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.label_reading import FEW
from voile.core.arrays import Indices
from voile.errors import InvalidInput
from voile.files import no_such_column
from voile.files.rows import OnError
from voile.labels.bins import bin_codes, bin_names
from voile.labels.spellings import Cells, odd_cells
from voile.labels.values import MISSING, column_of, is_absent, written

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
    cells: tuple[Cells | None, ...] = ()
    """How each column is written, where that tells more than its values; nothing unless asked."""

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:  # never the values
        return f"Table({len(self)} records, {len(self.names)} features, label {self.label!r})"

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels that occur, in order."""
        return tuple(np.unique(self.labels).tolist())

    def twins(self) -> int:
        """How many records have the very features of another, if some feature tells many apart."""
        codes = [np.unique(values, return_inverse=True)[1].ravel() for values in self.columns]
        if not any(int(one.max()) >= FEW for one in codes):
            return 0
        counts = np.unique(np.stack(codes), axis=1, return_counts=True)[1]
        return int(counts[counts > 1].sum())

    def select(self, keep: Indices) -> Table:
        """The records at these positions."""
        columns = tuple(column[keep] for column in self.columns)
        return replace(
            self, columns=columns, labels=self.labels[keep], lines=self.lines[keep],
            skipped=0, masked=0,
            cells=tuple(None if cells is None else cells[keep] for cells in self.cells),
        )  # fmt: skip


def table_of(
    names: Sequence[str],
    rows: Iterable[tuple[int, Sequence[Any]]],
    *,
    label: str,
    on_error: OnError = OnError.FAIL,
    drop: tuple[str, ...] = (),
    broken: int = 0,
    where: Callable[[int], str] = "line {}".format,
    edges: tuple[float, ...] = (),
    features: bool = True,
    spelling: bool = False,
    missing: bool = False,
) -> Table:
    """A table of records (line, values in the order of `names`), or of their labels alone.

    Records with missing features (empty, ?, NA, …) stop the reading (`fail`), are left out (`skip`)
    or have a value of their own there (`mask`). A label is missing if it is empty, and nothing
    else: None and NA are names of classes; such records are left out unless it is `fail`. With
    `edges` the label is a number and becomes its bin; what is no number is missing. If `missing`
    is a class of its own, records without a label are in it. Messages give line numbers, never
    values.
    """
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
    others = [i for i, name in enumerate(names) if i != position and name not in drop]
    if features and not others:
        raise InvalidInput("records must have a feature beside the label, got none")
    chosen = others if features else []
    named = _label_of(edges, missing)
    for line, row in rows:
        absent = [i for i in chosen if is_absent(row[i])]
        no_label = not named(row[position])
        if on_error is OnError.FAIL and (absent or no_label):
            name = label if no_label else names[absent[0]]
            raise InvalidInput(
                f"{where(line)}: the value of {name!r} is missing; mend it, or use --on-error skip "
                "(leave such records out) or mask (a value of its own)"
            )
        if no_label or (absent and on_error is OnError.SKIP):
            skipped += 1
            continue
        masked += bool(absent)
        kept.append((line, row))
    if not kept:
        raise InvalidInput("there must be at least one complete record, got none")
    values = [[row[i] for _, row in kept] for i in chosen]
    columns = tuple(map(column_of, values))
    table = Table(
        label=label,
        names=tuple(names[i] for i in chosen),
        columns=columns,
        labels=np.array([named(row[position]) for _, row in kept]),
        lines=np.array([line for line, _ in kept], dtype=np.intp),
        skipped=skipped,
        masked=masked,
        cells=tuple(map(odd_cells, values, columns)) if spelling else (),
    )
    _check(table)
    return table


def _label_of(edges: tuple[float, ...], missing: bool) -> Callable[[Any], str]:
    """The name of a label; nothing for one that is not there, unless that is a class."""
    named = _bin_of(edges) if edges else written
    gone = is_absent if edges else lambda value: not written(value)
    return (lambda value: MISSING if gone(value) else named(value)) if missing else named


def _bin_of(edges: tuple[float, ...]) -> Callable[[Any], str]:
    """The name of the bin that a number is in; nothing for what is none."""
    names = (*bin_names(edges), "")
    return lambda value: names[int(bin_codes(edges, [value])[0])]


def _check(table: Table) -> None:
    distinct, counts = np.unique(table.labels, return_counts=True)
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
            f"{len(table)} records; if it is a number, give its range or the edges of its "
            "bins (--edges a,b)"
        )
    if counts.min() < 2:
        raise InvalidInput(
            f"each class must have at least 2 records, {int((counts < 2).sum())} of "
            f"{len(distinct)} have one; merge rare classes"
        )
