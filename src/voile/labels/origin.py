"""Which records a recipe was made from: one digest of all of them, whatever they lie in."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from voile.files.rows import RowProblem
from voile.files.source import Source
from voile.labels.values import ABSENT, written
from voile.ledger.people import one_spelling

_WIDTH = 2**256


@dataclass(frozen=True)
class Origin:
    """The SHA-256 of some records as a whole, over these columns; nothing of a single one.

    The order of rows and columns, other columns, and the format do not count, nor how a number or
    what is missing is written; numbers count to six digits.
    """

    digest: str = ""
    columns: tuple[str, ...] = ()
    records: int = 0

    def is_of(self, source: Source) -> bool:
        """Whether a source holds these very records; one that holds more is not read to its end."""
        if not self.digest or not set(self.columns) <= {*source.columns}:
            return False
        return origin_of(source, self.columns, most=self.records) == self


NOWHERE = Origin()


def origin_of(source: Source, columns: Sequence[str], *, most: int | None = None) -> Origin:
    """Of a source's readable records, by the columns that a recipe knows.

    The sum of the rows' hashes is hashed again, so that order does not count and no row is held;
    reading ends after `most` records and one more.
    """
    names = tuple(sorted(columns))
    total = records = 0
    for row in _rows(source, names):
        if most is not None and records == most:
            return NOWHERE
        content = "\x1f".join(row).encode("utf-8", "surrogatepass")
        total = (total + int.from_bytes(hashlib.sha256(content).digest(), "big")) % _WIDTH
        records += 1
    whole = "\x1f".join([str(records), *names, f"{total:x}"]).encode("utf-8", "surrogatepass")
    return Origin(hashlib.sha256(whole).hexdigest(), names, records)


def _rows(source: Source, names: Sequence[str]) -> Iterator[list[str]]:
    for _, row in source.rows():
        if not isinstance(row, RowProblem):
            yield [_plain(row.get(name)) for name in names]


def _plain(value: Any) -> str:
    """A value as every format has it.

    >>> [_plain(v) for v in (42, "42.0", " 042", 0.1, "NA", None, float("nan"), True, "north ")]
    ['42', '42', '42', '0.1', '', '', '', 'True', 'north']
    """
    text = written(value)
    if text.lower() in ABSENT:
        return ""
    try:
        number = math.nan if isinstance(value, bool) else float(text)
    except ValueError:
        return one_spelling(text)
    return f"{number:.6g}" if math.isfinite(number) else text
