"""Which columns of a file say something by how their cells are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.label_reading import FEW, Kind, read_as
from voile.attackers.label_spelling import as_written
from voile.labels.values import is_absent, shown

Cells = NDArray[np.bytes_]
MOST_DECIMALS = 8


def odd_cells(values: Sequence[Any], column: NDArray[Any]) -> Cells | None:
    """The cells of a column as they stand in the file, where the values alone do not give them.

    Where blanks around them, words for what is missing, or numbers are not all written alike,
    where more numbers were rounded than chance rounds, and where nearly every record has its own
    (an identifier may end in a digit that tells).
    """
    cells = ["" if value is None else str(value) for value in values]
    number = column.dtype.kind == "f"
    odd = _differ(cells) or _own(column)
    odd = odd or (number and (_odd(cells, column) or _rounded(cells, column)))
    return as_written(np.array(cells)) if odd else None


def _differ(cells: Sequence[str]) -> bool:
    """Whether some have blanks around them and others do not, or gaps go by several names."""
    distinct = set(cells)
    blanks = {(len(c) - len(c.lstrip()), len(c) - len(c.rstrip())) for c in distinct}
    return len(blanks) > 1 or len({cell.strip() for cell in distinct if is_absent(cell)}) > 1


def _own(column: NDArray[Any]) -> bool:
    """Whether nearly every record has a code or a whole number of its own."""
    read = read_as(column)
    if read.kind not in (Kind.CODES, Kind.NUMBER) or read.distinct <= len(column) / 2:
        return False
    return read.kind is Kind.CODES or bool((column[~np.isnan(column)] % 1 == 0).all())


def _odd(cells: Sequence[str], numbers: NDArray[Any]) -> bool:
    """Whether no one way of writing gives all of the numbers as they stand there."""
    distinct = {
        (cell.strip(), float(number))
        for cell, number in zip(cells, numbers.tolist(), strict=True)
        if number == number
    }
    places = max((len(cell.partition(".")[2]) for cell, _ in distinct), default=0)
    ways = (shown, repr, f"{{:.{min(places, 20)}f}}".format)
    return not any(all(cell == way(number) for cell, number in distinct) for way in ways)


def _rounded(cells: Sequence[str], numbers: NDArray[Any]) -> bool:
    """Whether more numbers than chance, one in ten, have fewer decimals than the others have.

    From eight decimals on they count as eight: so many are a computer's. Few numbers are told apart
    by classifiers themselves.
    """
    if read_as(numbers).distinct <= FEW:
        return False
    there = np.flatnonzero(~np.isnan(numbers)).tolist()
    ends = [cells[at].strip().partition(".")[2].rstrip("0") for at in there]
    decimals = np.minimum([len(end) for end in ends], MOST_DECIMALS)
    fewer = int((decimals < decimals.max(initial=0)).sum())
    return fewer > 0.1 * len(there) + 3 * np.sqrt(0.09 * len(there))
