"""Values of a record as they stand in a file: what is missing, what is a number, what is a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats

ABSENT = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
MISSING = "(missing)"
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]*")


def written(value: Any) -> str:
    """A value as text, without blanks around it; nothing for a value that is not there."""
    return "" if value is None else str(value).strip()


def is_absent(value: Any) -> bool:
    """Whether a feature's value says that there is none."""
    return written(value).lower() in ABSENT


def numbers_of(values: Sequence[Any]) -> Floats:
    """Doubles, NaN for whatever is not a finite number."""
    try:
        found = np.array(list(map(float, values)), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # some are not numbers
        found = np.array([_number(value) for value in values], dtype=np.float64)
    return np.where(np.isfinite(found), found, np.nan)


def names_of(values: Sequence[Any]) -> NDArray[np.str_]:
    """Names as they stand in the file; see `is_absent` for what counts as missing."""
    return np.array([written(value) for value in values], dtype=np.str_)


def as_listed(names: Sequence[str], listed: Sequence[str]) -> dict[str, str]:
    """For each of these names that stands for a listed one, which: itself, or the same number.

    A number is the same however its fraction is written (1, 1.0 and 1. are), unless the list
    itself tells two spellings apart. Noughts and a plus in front are not how numbers are written.

    >>> as_listed(["1.0", "01", "b", "2."], ["1", "2", "a"])
    {'1.0': '1', '2.': '2'}
    """
    known = dict.fromkeys(listed)
    spelt: dict[str, list[str]] = {}
    for name in known:
        spelt.setdefault(_plain(name), []).append(name)
    found = {}
    for name in dict.fromkeys(names):
        same = [name] if name in known else spelt.get(_plain(name), [])
        if len(same) == 1:
            found[name] = same[0]
    return found


def _plain(name: str) -> str:
    """A decimal without what does not count of its fraction; other names as they are."""
    if not _DECIMAL.fullmatch(name):
        return name
    digits = name.rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def column_of(values: Sequence[Any]) -> NDArray[Any]:
    """Doubles if all that is present are finite numbers, else names; missing is NaN or a name."""
    absent = np.array([is_absent(value) for value in values], dtype=np.bool_)
    numbers = numbers_of(
        [None if gone else value for gone, value in zip(absent, values, strict=True)]
    )
    if not absent.all() and not np.isnan(numbers[~absent]).any():
        return numbers
    names = names_of(values).tolist()
    return np.array([MISSING if gone else name for gone, name in zip(absent, names, strict=True)])


def shown(value: Any) -> str:
    """A released value as text: the shortest that is read back as the same number.

    >>> shown(70.0), shown(0.1), shown(float("nan")), shown("north")
    ('70', '0.1', '', 'north')
    """
    if not isinstance(value, float):
        return str(value)
    if value != value:
        return ""
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(float(value))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
