"""Reading labelled records, whatever file or frame they lie in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from voile.errors import InvalidInput
from voile.files.rows import OnError, Row, RowProblem
from voile.files.source import Source, open_source
from voile.labels.table import Table, table_of
from voile.ledger import person_name
from voile.options import Data, Option, Options
from voile.values import one_of

Records = Annotated[Data, Option("A .csv, .jsonl or .parquet file.", reads="private")]
Label = Annotated[str, Option("The column that is the secret label.", shown=True)]


@dataclass(frozen=True)
class Reading(Options):
    """How labelled records are read."""

    drop: Annotated[
        tuple[str, ...],
        Option("Columns to leave out, such as identifiers: a,b,c.", shown=True),
    ] = ()
    header: Annotated[bool, Option("A CSV file begins with column names; else c1, c2, …")] = True
    person: Annotated[
        str | None,
        Option(
            "The column that says whose record it is: of each person the first is read alone.",
            shown=True,
        ),
    ] = None
    on_error: Annotated[
        Literal["fail", "skip", "mask"],
        Option("Rows with missing or broken values: fail, skip or mask.", "Running"),
    ] = "fail"

    @property
    def policy(self) -> OnError:
        """What happens to such a row."""
        return OnError(one_of(self.on_error, tuple(OnError), "--on-error"))


AS_WRITTEN = Reading()


def read_labelled(
    data: Data,
    *,
    label: str,
    reading: Reading = AS_WRITTEN,
    edges: tuple[float, ...] = (),
    spelling: bool = False,
) -> Table:
    """A labelled table from any file or frame that `open_source` takes; see `table_of`."""
    return table_from(
        open_source(data, header=reading.header),
        label=label,
        on_error=reading.policy,
        drop=reading.drop,
        edges=edges,
        spelling=spelling,
        person=reading.person,
    )


def table_from(
    source: Source,
    *,
    label: str,
    on_error: OnError,
    drop: tuple[str, ...] = (),
    edges: tuple[float, ...] = (),
    features: bool = True,
    spelling: bool = False,
    missing: bool = False,
    person: str | None = None,
) -> Table:
    """The records of a source as a labelled table; a number is cut at the edges of its bins.

    Of each `person` the first record alone, for several are not independent: whoever is fitted to
    one of them knows the others. Their column is no feature.
    """
    require_label(source, label)
    rows, broken = [], 0
    for line, row in first_of_each(source, person):
        if not isinstance(row, RowProblem):
            rows.append((line, [row.get(name) for name in source.columns]))
        elif on_error is OnError.SKIP:
            broken += 1
        else:
            where = source.where(line)
            raise InvalidInput(f"{where}: {row.reason}; mend it or use --on-error skip")
    return table_of(
        source.columns,
        rows,
        label=label,
        on_error=on_error,
        drop=drop if person is None else (*drop, person),
        broken=broken,
        where=source.where,
        edges=edges,
        features=features,
        spelling=spelling,
        missing=missing,
    )


def require_label(source: Source, label: str) -> None:
    """Refuse a label that is no column of the file."""
    source.must_have(label, what="the label")


def one_record_each(
    source: Source, person: str | None, on_error: OnError
) -> list[Mapping[str, Any]]:
    """The records of a source; of a person who is named the first one, however they are spelled.

    Who is the same person is what a ledger says; a row that names nobody is left out.
    """
    rows: list[Mapping[str, Any]] = []
    for line, row in first_of_each(source, person):
        if not isinstance(row, RowProblem):
            rows.append(row)
        elif on_error is not OnError.SKIP:
            raise InvalidInput(f"{source.where(line)}: {row.reason}; mend it or --on-error skip")
    return rows


def first_of_each(source: Source, person: str | None) -> Iterator[tuple[int, Row | RowProblem]]:
    """Every record with its line; of a person the first that is readable, and nobody's none."""
    source.must_have(person, what="--person")
    seen: set[str | None] = {None}
    for line, row in source.rows():
        if person is not None and not isinstance(row, RowProblem):
            name = person_name(row.get(person))
            if name in seen:
                continue
            seen.add(name)
        yield line, row
