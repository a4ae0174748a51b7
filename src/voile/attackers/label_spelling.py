"""How a cell is written, beside what it says: a nought in front, decimals, blanks, its ends.

A column that stands in clear is released character by character, so an attacker reads that too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices

LONGEST = 40
"""Lengths and blanks are told apart up to here."""
_NOUGHT = re.compile(r"[+-]?0[0-9]")
_DECIMALS = re.compile(r"[+-]?[0-9]*[.,]([0-9]*)")
_WORDS = ("", "?", "-", "na", "n/a", "nan", "null", "none")
"""What is written for what is missing; capitals count apart."""


def as_written(values: NDArray[np.str_]) -> NDArray[np.bytes_]:
    """Cells as bytes: by their type an attacker knows them from names, which have no blanks."""
    return np.char.encode(values, "utf-8", "surrogatepass")


def spelling_of(cells: NDArray[np.bytes_]) -> Floats:
    """How each cell is written, in nine numbers.

    Its length, blanks in front and behind, its first and last character, whether a nought leads a
    number, decimals (−1 without a point), capitals, which word for missing it is (−1 for none).

    >>> spelling_of(as_written(np.array(["07 ", "1.50"])))[:, [0, 2, 5, 6]].tolist()
    [[2.0, 1.0, 1.0, -1.0], [4.0, 0.0, 0.0, 2.0]]
    """
    distinct, inverse = np.unique(cells, return_inverse=True)
    table = np.array([_spelt(cell.decode("utf-8", "surrogatepass")) for cell in distinct.tolist()])
    return np.asarray(table.reshape(len(distinct), -1)[inverse.ravel()], dtype=np.float64)


def _spelt(cell: str) -> tuple[float, ...]:
    text = cell.strip()
    first, last = (ord(text[0]), ord(text[-1])) if text else (-1, -1)
    point = _DECIMALS.fullmatch(text)
    capitals = 2 * text.isupper() + text.islower()
    gone = _WORDS.index(text.lower()) if text.lower() in _WORDS else -1
    return (
        min(len(text), LONGEST),
        min(len(cell) - len(cell.lstrip()), LONGEST),
        min(len(cell) - len(cell.rstrip()), LONGEST),
        first,
        last,
        bool(_NOUGHT.match(text)),
        -1 if point is None else min(len(point[1]), LONGEST),
        capitals,
        gone,
    )


Encoded = tuple[Any, Floats]


def learn_spelling(
    values: NDArray[Any], labels: Indices, seed: int
) -> tuple[Encoded, Callable[[NDArray[Any]], Encoded]]:
    """Cells for linear classifiers one by one, for trees as numbers; labels are not asked."""
    from sklearn.preprocessing import OneHotEncoder

    apart = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5)
    apart.fit(spelling_of(values))

    def encode(others: NDArray[Any]) -> Encoded:
        table = spelling_of(others)
        return apart.transform(table), table

    return encode(values), encode
