"""Places from a user's file: coordinates in degrees, and which rows make one trace."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.jobs import ColumnsInClear, RowProblem, Source, open_source
from voile.options import Data
from voile.places.coordinates import DEGREES, Coordinates, words_of

_TIMES = frozenset(
    ["time", "times", "timestamp", "date", "datetime", "hour", "minute", "day", "weekday", "month",
     "ts", "epoch", "utc", "when", "at"]
)  # fmt: skip
_HEIGHTS = frozenset(["altitude", "alt", "ele", "elevation"])
_TIME = re.compile(
    r"\s*(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?!\w)"
    r"|(?:\D.*\s)?\d{1,2}:\d{2}(?![\d:]*\w:))"
)
_EPOCH, _YEARS = (946_684_800.0, 2_524_608_000.0), 20 * 366 * 86_400.0
"""Seconds since 1970 of the years 2000 and 2050; a column of times spans a few of these years."""


def read_degrees(data: Data, columns: Coordinates = DEGREES) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of all rows; a row without them is named by its line."""
    source = open_source(data)
    needed = " and ".join(columns.names)
    lines, values = _columns(
        source, columns.names, do=f"{needed} are needed; name others with --lat and --lon"
    )
    columns.check(source)
    table = columns.degrees(values)
    wrong = np.flatnonzero(np.isnan(table).any(axis=1))
    if len(wrong):
        raise InvalidInput(
            f"{source.name}, {source.where(lines[wrong[0]])}: {columns.wanted}; "
            f"{len(wrong):,} rows are not so: mend them or leave them out"
        )
    return table[:, 0], table[:, 1]


def read_both(
    original: Data, released: Data, columns: Coordinates = DEGREES
) -> tuple[Floats, Floats]:
    """Latitude and longitude of each row (n × 2) of two files whose rows correspond."""
    truth, shown = (np.stack(read_degrees(data, columns), axis=1) for data in (original, released))
    require(len(truth) == len(shown), "the files", "of equally many rows", (len(truth), len(shown)))
    return truth, shown


def read_traces(data: Data, column: str) -> list[Indices]:
    """The rows of each trace, in their order: those with the same value of a column.

    Blanks around it do not count, as where traces are released.
    """
    _, member = np.unique(np.char.strip(read_names(data, column)), return_inverse=True)
    order = np.argsort(member, kind="stable")
    return list(np.split(order, np.flatnonzero(np.diff(member[order])) + 1))


def read_names(
    data: Data, column: str, *, do: str = "name the trace column with --trace"
) -> NDArray[np.str_]:
    """The trace of every row, or what else a column calls it."""
    _, (names,) = _columns(open_source(data), (column,), do=do)
    return np.array([str(name) for name in names])


def read_times(data: Data, column: str) -> Floats:
    """Seconds of every row's time; a row without one is named by its line."""
    source = open_source(data)
    lines, (values,) = _columns(source, (column,), do="name the column of times with --time")
    refuse_mixed(time_kinds(values), source.name, column)
    found = np.array([instant(value) for value in values])
    wrong = np.flatnonzero(~np.isfinite(found))
    if len(wrong):
        raise InvalidInput(
            f"{source.name}, {source.where(lines[wrong[0]])}: {column} must be a number or an ISO "
            f"date and time; {len(wrong):,} rows are not so"
        )
    return found


def instant(value: Any) -> float:
    """Seconds of a time: a number, or an ISO date and time; NaN for anything else.

    A time that names no zone is read in UTC, whatever the zone of the machine.

    >>> instant("2024-05-01T00:00:10") - instant("2024-05-01 00:00:00"), instant("later")
    (10.0, nan)
    >>> instant("1970-01-02T00:00:00")
    86400.0
    """
    return _read(value)[0]


def time_kinds(values: Sequence[Any]) -> frozenset[str]:
    """In which ways times are told: as numbers, without a zone, with one."""
    return frozenset(kind for _, kind in map(_read, values) if kind)


def refuse_mixed(kinds: frozenset[str], where: str, column: str) -> None:
    """Refuse a column of times that are told in several ways: nothing says how they compare."""
    if len(kinds) > 1:
        raise InvalidInput(
            f"{where}: {column} must hold times of one kind, and some are "
            f"{', others '.join(sorted(kinds))}; write all in one way"
        )


def _read(value: Any) -> tuple[float, str]:
    """Seconds of a time, and how it was told; not a number, and nothing, for what is none."""
    try:
        number = math.nan if isinstance(value, datetime) else float(value)
        return (number, "numbers") if math.isfinite(number) else _dated(value)
    except (TypeError, ValueError, OverflowError):
        return _dated(value)


def _dated(value: Any) -> tuple[float, str]:
    try:
        at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
        kind = "dates without a zone" if at.tzinfo is None else "dates with a zone"
        seconds = (at.replace(tzinfo=UTC) if at.tzinfo is None else at).timestamp()
    except (ValueError, OverflowError, OSError):
        return math.nan, ""
    return seconds, kind if math.isfinite(seconds) else ""


def times_among(source: Source, clear: ColumnsInClear) -> list[str]:
    """Which of the columns that pass in clear look like times, as they may be called in a message.

    A time beside a blurred place narrows it down: whoever met a person at a known hour finds their
    rows, and the times of a trace say how far apart its places can be.
    """
    rows = [row for _, row in islice(source.rows(), 100) if not isinstance(row, RowProblem)]
    return [
        clear.shown[name]
        for name in clear.passed
        if _is_time(name, [str(row.get(name) or "") for row in rows])
    ]


def heights_among(clear: ColumnsInClear) -> list[str]:
    """Which of the columns that pass in clear are called heights: few places lie so high."""
    return [clear.shown[name] for name in clear.passed if words_of(name) & _HEIGHTS]


def _is_time(name: str, values: Sequence[str]) -> bool:
    dated = sum(_TIME.match(value) is not None for value in values)
    return bool(words_of(name) & _TIMES) or 0 < len(values) <= 2 * dated or _are_seconds(values)


def _are_seconds(values: Sequence[str]) -> bool:
    """Whether these are whole seconds, or thousandths and finer, since 1970, in few years."""
    found = [float(value) for value in values if value.strip().replace(".", "", 1).isdecimal()]
    if not found or 2 * len(found) < len(values):
        return False
    low, high = _EPOCH
    return any(
        low * unit <= min(found) and max(found) <= high * unit and np.ptp(found) <= _YEARS * unit
        for unit in (1.0, 1e3, 1e6, 1e9)
    )


def _columns(
    source: Source, names: Sequence[str], *, do: str
) -> tuple[list[int], tuple[list[Any], ...]]:
    """The lines of all rows, and what they hold in these columns."""
    source.must_have(*names, what=f"the column of {source.name}", do=do)
    lines: list[int] = []
    values: tuple[list[Any], ...] = tuple([] for _ in names)
    for line, row in source.rows():
        if isinstance(row, RowProblem):
            raise InvalidInput(f"{source.name}, {source.where(line)}: {row.reason}")
        lines.append(line)
        for name, column in zip(names, values, strict=True):
            column.append(row.get(name))
    return lines, values
