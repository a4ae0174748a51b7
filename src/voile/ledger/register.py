"""Persons by number, so that all that is done for each row of a part is one look-up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.errors import InvalidInput
from voile.ledger.people import HASH_BYTES, Key, person_name

NOBODY, _UNKNOWN = 0, -1
LARGEST = 2**20
"""Persons that are remembered; then all are forgotten and asked for anew."""

_HASH = np.dtype((np.void, HASH_BYTES))
_NEW_LINE, _NOUGHT, _MOST_DIGITS = 10, 48, 7

Numbers = NDArray[np.intp]
Hashes = NDArray[np.void]


class _ByValue(dict[Any, int]):
    """A number for each value of a person column; what was not seen before is asked for."""

    def __init__(self, ask: Callable[[Any], int]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, value: Any) -> int:
        found = self._ask(value)
        # Nobody is not remembered: no NaN equals another, so they would pile up. Nor are 0 and 1,
        # to which False and True are equal, who are nobody.
        if found != NOBODY and value not in (0, 1):
            self[value] = found
        return found


class Register:
    """Numbers for the persons that a process has met, in the order in which it met them.

    They mean nothing outside the process: what is written and hashed are the keyed hashes.

    >>> register = Register(Key(bytes(32)))
    >>> register.numbers(["ann", " bob", "ann", "", 7, 7.0]).tolist()
    [1, 2, 1, 0, 3, 3]
    >>> register.numbers(["8", "7", "8"]).tolist()
    [4, 3, 4]
    """

    def __init__(self, key: Key | None) -> None:
        self._key = key
        self._by_value = _ByValue(self._of_value)
        self._ids = np.empty(0, dtype=np.int32)  # at a plain number, who is called by it
        self._by_hash: dict[bytes, int] = {bytes(HASH_BYTES): NOBODY}
        self._hashes: Hashes = np.zeros(1024, dtype=_HASH)
        self._unwritten: list[bytes] = []  # the last ones, which the array does not hold yet
        self._scratch: Numbers = np.empty(1024, dtype=np.intp)

    def __len__(self) -> int:
        return len(self._by_hash)

    def numbers(self, values: Sequence[Any]) -> Numbers:
        """Each value's person; `NOBODY` where it names none."""
        ids = plain_numbers(values)
        if ids is not None:
            return self._by_id(ids)
        try:
            looked_up = map(self._by_value.__getitem__, values)
            return np.fromiter(looked_up, dtype=np.intp, count=len(values))
        except TypeError:  # a list or the like, which names nobody
            return self.numbers([person_name(value) for value in values])

    def _by_id(self, ids: NDArray[np.int64]) -> Numbers:
        top = int(ids.max(initial=0)) + 1
        if top > len(self._ids):
            wider = np.full(2 * top, _UNKNOWN, dtype=np.int32)
            wider[: len(self._ids)] = self._ids
            self._ids = wider
        found = self._ids[ids]
        if found.min(initial=0) == _UNKNOWN:
            new = np.sort(ids[found == _UNKNOWN])
            new = new[np.diff(new, prepend=-1) > 0]
            self._ids[new] = self.of_hashes(self._keyed.persons(map(str, new.tolist())))
            found = self._ids[ids]
        return found.astype(np.intp)

    def _of_value(self, value: Any) -> int:
        name = person_name(value)
        if name is None:
            return NOBODY
        return int(self.of_hashes(self._keyed.persons([name]))[0])

    def of_hashes(self, persons: Sequence[bytes]) -> Numbers:
        """The numbers of keyed hashes; a new one gets the next number."""
        known = self._by_hash
        looked_up = map(known.get, persons, repeat(_UNKNOWN))
        found = np.fromiter(looked_up, dtype=np.intp, count=len(persons))
        for place in np.flatnonzero(found == _UNKNOWN).tolist():
            person = persons[place]
            number = known.setdefault(person, len(known))
            if number == len(known) - 1:
                self._unwritten.append(person)
            found[place] = number
        return found

    @property
    def _keyed(self) -> Key:
        if self._key is None:
            raise InvalidInput("the ledger's key is needed for this: give --ledger-key FILE")
        return self._key

    def hashes(self, numbers: Numbers) -> Hashes:
        """The keyed hashes, one for each; noughts for nobody."""
        if self._unwritten:
            size = len(self)
            if size > len(self._hashes):
                wider = np.zeros(2 * size, dtype=_HASH)
                wider[: len(self._hashes)] = self._hashes
                self._hashes = wider
            new = np.frombuffer(b"".join(self._unwritten), dtype=_HASH)
            self._hashes[size - len(new) : size] = new
            self._unwritten.clear()
        return self._hashes[numbers]

    def grouped(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The distinct persons, and for each row which of them: np.unique without sorting."""
        if len(self) > len(self._scratch):
            self._scratch = np.empty(2 * len(self), dtype=np.intp)
        at = np.arange(len(numbers))
        self._scratch[numbers] = at
        people = numbers[self._scratch[numbers] == at]
        self._scratch[people] = np.arange(len(people))
        return people, self._scratch[numbers]

    def order(self, people: Numbers) -> Numbers:
        """An order of persons that says nothing about that of the rows: by keyed hash."""
        first = self.hashes(people).view(">u8")[:: HASH_BYTES // 8]
        return np.argsort(first.astype(np.uint64))


def plain_numbers(values: Sequence[Any]) -> NDArray[np.int64] | None:
    """The values as numbers if each is one below 10⁷ as `str` writes it, else None.

    Read from the bytes of all values together, which takes a quarter of the time of as many
    look-ups in a dictionary. "07", "+7" and " 7" are not plain: they are left to `person_name`.

    >>> plain_numbers(["12", "0", "7"]), plain_numbers(["12", "07"]), plain_numbers(["12", 7])
    (array([12,  0,  7]), None, None)
    """
    try:
        text = "\n".join([*values, ""])
    except TypeError:
        return None
    if not text[:1].isdecimal() or not text.isascii():
        return None
    raw = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    ends = np.flatnonzero(raw == _NEW_LINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts
    digits = raw - np.uint8(_NOUGHT)  # anything below a nought wraps to above nine
    if len(ends) != len(values) or lengths.min() < 1 or lengths.max() > _MOST_DIGITS:
        return None
    if np.count_nonzero(digits > 9) != len(ends) or (digits[starts] == 0)[lengths > 1].any():
        return None
    found = np.zeros(len(values), dtype=np.int64)
    for place in range(int(lengths.max())):
        here = lengths > place
        found = np.where(here, 10 * found + digits[np.where(here, starts + place, 0)], found)
    return found
