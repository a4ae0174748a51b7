"""Dates in a column of names: read as an analyst would, by one format for the whole column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats

DAY = 86_400.0
MOSTLY = 0.95
"""So large a share of the values must be dates for the column to be one."""
TRIED = 200
YEARS = (1900, 2100)
GONE = "(missing)"
"""How a table writes a name that is missing."""

_DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")


def dates_of(names: NDArray[np.str_]) -> Floats | None:
    """Seconds since 1970 for each name, NaN for what is no date; None if the column is not dates.

    ISO 8601 is tried first (whole numbers like 20240131 too), then the forms of the day with and
    without a time. Where day and month could be exchanged, the order that reads more values is
    taken.

    >>> found = dates_of(np.array(["1970-01-02", "1970-01-03T12:00:00"]))
    >>> found is not None and (found / DAY).tolist()
    [1.0, 2.5]
    >>> dates_of(np.array(["C50.9", "E11.2"])) is None
    True
    """
    distinct, inverse, counts = np.unique(names, return_inverse=True, return_counts=True)
    there = distinct != GONE
    if not there.any():
        return None
    few = np.flatnonzero(there)[:: max(1, int(there.sum()) // TRIED)].tolist()
    tried, weights = distinct[few].tolist(), counts[few]
    best, most = None, 0
    for read in _readers():
        read_well = [_seconds(name, read) is not None for name in tried]
        hits = int(weights[read_well].sum())
        if hits > most:
            best, most = read, hits
        if all(read_well):
            break
    if best is None or most < MOSTLY * weights.sum():
        return None
    seconds = [_seconds(name, best) for name in distinct.tolist()]
    found = np.array([np.nan if at is None else at for at in seconds])
    share = counts[np.isfinite(found)].sum() / counts[there].sum()
    return np.asarray(found[inverse]) if share >= MOSTLY else None


def parts_of(seconds: Floats) -> Floats:
    """Day, year, month, day of month, day of week, day of year, hour of each date; NaN if none."""
    known = np.where(np.isfinite(seconds), seconds, 0.0)
    days = np.floor(known / DAY)
    stamps = days.astype("int64").astype("datetime64[D]")
    years = stamps.astype("datetime64[Y]")
    months = stamps.astype("datetime64[M]")
    table = np.stack(
        [
            known / DAY,
            years.astype("int64") + 1970.0,
            months.astype("int64") % 12 + 1.0,
            (stamps - months.astype("datetime64[D]")).astype("int64") + 1.0,
            (days + 3) % 7,
            (stamps - years.astype("datetime64[D]")).astype("int64") + 1.0,
            np.floor((known - days * DAY) / 3600),
        ],
        axis=1,
    )
    table[~np.isfinite(seconds)] = np.nan
    return table


def _readers() -> Iterator[Callable[[str], datetime]]:
    yield datetime.fromisoformat
    for day in _DAYS:
        for time in _TIMES:
            yield lambda name, form=day + time: datetime.strptime(name, form)  # type: ignore[misc]


def _seconds(name: str, read: Callable[[str], datetime]) -> float | None:
    try:
        at = read(name)
        if not YEARS[0] <= at.year <= YEARS[1]:
            return None
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
