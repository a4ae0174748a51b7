"""What columns of a file seem to hold, from their names and first values: a guess to be mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from voile.files.column_signs import sign_of
from voile.files.columns_in_clear import SAMPLE
from voile.files.rows import RowProblem
from voile.files.source import Source

Role = Literal["text", "latitude", "longitude", "label", "person", "time", "number", "other"]

_NAMED: Mapping[Role, tuple[str, ...]] = {
    "latitude": ("lat", "latitude", "y_lat"),
    "longitude": ("lon", "lng", "long", "longitude"),
    "person": ("person", "user", "userid", "user_id", "customer", "customer_id", "driver",
               "patient", "patient_id", "client", "member", "author", "vehicle", "taxi", "device"),
    "time": ("time", "timestamp", "date", "datetime", "when", "created", "created_at"),
    "label": ("label", "class", "target", "diagnosis", "outcome", "topic", "income", "y"),
}  # fmt: skip
FEWEST, MOST = 2, 20
"""A label has so many different values."""


@dataclass(frozen=True)
class GuessedColumn:
    """A column, what it seems to hold, and what identifies people in it, if anything."""

    name: str
    role: Role
    sign: str
    distinct: int
    missing: int


@dataclass(frozen=True)
class Glance:
    """The first rows of a source, as text, and what its columns seem to hold."""

    columns: tuple[GuessedColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    looked_at: int
    more: bool
    """Whether there are rows that were not looked at."""
    bad: int
    """Rows among those looked at that could not be read."""

    def first(self, role: Role) -> str | None:
        """The name of the first column of this role."""
        return next((column.name for column in self.columns if column.role == role), None)


def glance(source: Source, *, shown: int = 8, letters: int = 160) -> Glance:
    """Look at the first rows of a source; however large it is, no more is read."""
    read = [row for _, row in islice(source.rows(), SAMPLE + 1)]
    rows = [row for row in read[:SAMPLE] if not isinstance(row, RowProblem)]
    names = list(dict.fromkeys([*source.columns, *(name for row in rows for name in row)]))
    columns = tuple(_guessed(name, [row.get(name) for row in rows]) for name in names)
    first = tuple(
        tuple(_begun(_written(row.get(name)), letters) for name in names) for row in rows[:shown]
    )
    looked_at = min(len(read), SAMPLE)
    return Glance(columns, first, looked_at, len(read) > SAMPLE, looked_at - len(rows))


def _guessed(name: str, values: Sequence[Any]) -> GuessedColumn:
    written = [text for text in map(_written, values) if text]
    distinct = len(set(written))
    return GuessedColumn(
        name, _role(name, written, distinct), sign_of(name, values), distinct,
        len(values) - len(written),
    )  # fmt: skip


def _role(name: str, values: Sequence[str], distinct: int) -> Role:
    """By name where that is plain, else by what the values are like.

    >>> _role("review", ["a table for two, please"] * 3, 3), _role("stars", ["5", "4.5"], 2)
    ('text', 'number')
    """
    plain = name.strip().lower()
    numbers = [number for number in map(_number, values) if number is not None]
    numeric = bool(values) and len(numbers) == len(values)
    if plain in _NAMED["latitude"] and numeric and all(abs(n) <= 90 for n in numbers):
        return "latitude"
    if plain in _NAMED["longitude"] and numeric and all(abs(n) <= 180 for n in numbers):
        return "longitude"
    if plain in _NAMED["person"]:
        return "person"
    if plain in _NAMED["time"]:
        return "time"
    if values and not numeric and sum(len(v.split()) for v in values) >= 4 * len(values):
        return "text"
    few = FEWEST <= distinct <= MOST and 5 * distinct <= len(values)
    if few and (plain in _NAMED["label"] or not numeric):
        return "label"
    return "number" if numeric else "other"


def _begun(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[:letters]}…"


def _written(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
